#pragma once
/*
 * task_token: what the processes of a task show the API. Pure.
 *
 *   eda_TASK_ATTEMPT_PROOF
 *
 * The proof is a code of the task's number, the attempt and the nonce of its claim, by a key that
 * only the store has. So nothing is kept of it, and it is good for as long as that claim is held.
 * It cannot be made from the nonce alone: that is no secret, since processes carry it in
 * EIDER_CLAIM and may print it, and workers over HTTP are told theirs.
 *
 * Ownership  Values; nothing is allocated.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/attempt.h"

#define TASK_TOKEN_PREFIX "eda_"

enum {
    TASK_TOKEN_KEY_BYTES = 32,
    TASK_TOKEN_PROOF_BYTES = 16,
    TASK_TOKEN_PROOF_MAX = 2 * TASK_TOKEN_PROOF_BYTES + 1, /* as a text */
    TASK_TOKEN_MAX = 80,
};

struct task_token_key {
    uint8_t bytes[TASK_TOKEN_KEY_BYTES];
};

struct task_token {
    int64_t task;
    int64_t attempt;
    char proof[TASK_TOKEN_PROOF_MAX]; /* lower-case hexadecimal */
};

/* That of the claim with this nonce. */
struct task_token task_token_make(const struct task_token_key *key, int64_t task, int64_t attempt,
                                  const struct nonce *nonce);
/* Returns `out`. */
const char *task_token_format(const struct task_token *token, char out[static TASK_TOKEN_MAX]);
/* Only what task_token_format writes is one; whether its proof holds is not looked at. */
NODISCARD bool task_token_parse(const char *text, struct task_token *out);
