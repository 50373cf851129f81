#include "model/task_token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/hmac.h"
#include "base/str.h"

/* What else the key may ever be for, its codes are others. */
static const char PURPOSE[] = "eider task token";

struct task_token task_token_make(const struct task_token_key *key, int64_t task, int64_t attempt,
                                  const struct nonce *nonce)
{
    struct task_token token = {.task = task, .attempt = attempt};
    char hex[SHA256_HEX_MAX];
    char about[80];
    int length =
        snprintf(about, sizeof about, "%s %" PRId64 " %" PRId64 " ", PURPOSE, task, attempt);
    CHECK(length > 0 && (size_t)length < sizeof about);
    struct hmac hmac;
    hmac_init(&hmac, key->bytes, sizeof key->bytes);
    hmac_add(&hmac, about, (size_t)length);
    hmac_add(&hmac, nonce->bytes, sizeof nonce->bytes);
    (void)hmac_finish_hex(&hmac, hex);
    memcpy(token.proof, hex, sizeof token.proof - 1);
    return token;
}

const char *task_token_format(const struct task_token *token, char out[static TASK_TOKEN_MAX])
{
    int length = snprintf(out, TASK_TOKEN_MAX, TASK_TOKEN_PREFIX "%" PRId64 "_%" PRId64 "_%s",
                          token->task, token->attempt, token->proof);
    CHECK(length > 0 && length < TASK_TOKEN_MAX);
    return out;
}

/* The number before the next '_', which *at is moved behind. */
static bool take_number(const char **at, int64_t *out)
{
    char digits[20];
    size_t length = strcspn(*at, "_");
    if ((*at)[length] != '_' || length >= sizeof digits)
        return false;
    memcpy(digits, *at, length);
    digits[length] = '\0';
    *at += length + 1;
    return str_parse_i64(digits, 1, INT64_MAX, out);
}

bool task_token_parse(const char *text, struct task_token *out)
{
    struct task_token token = {0};
    char again[TASK_TOKEN_MAX];
    if (!str_starts_with(text, TASK_TOKEN_PREFIX))
        return false;
    const char *at = text + strlen(TASK_TOKEN_PREFIX);
    if (!take_number(&at, &token.task) || !take_number(&at, &token.attempt) ||
        strlen(at) != sizeof token.proof - 1 ||
        strspn(at, "0123456789abcdef") != sizeof token.proof - 1)
        return false;
    memcpy(token.proof, at, sizeof token.proof);
    /* One token has one text: neither "+1" nor "01" is a number here. */
    if (!str_equal(task_token_format(&token, again), text))
        return false;
    *out = token;
    return true;
}
