#pragma once
/*
 * attempt: how one try of a task ended, and what follows from it. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/task_state.h"

struct task_def;

/* Why a task is in the state it is in. Stored as a number: add at the end only. */
#define REASON_MAP(X)                                                                              \
    X(NONE, "")                                                                                    \
    X(EXIT, "exit")                                                                                \
    X(SIGNAL, "signal")                                                                            \
    X(TIMEOUT, "timeout")                                                                          \
    X(LOST_OWNER, "lost_owner")                                                                    \
    X(EXEC_ERROR, "exec_error")                                                                    \
    X(TEMPLATE_ERROR, "template_error")                                                            \
    X(CANCELLED, "cancelled")                                                                      \
    X(LIMIT, "limit")                                                                              \
    X(RESULT, "result")                                                                            \
    X(UPSTREAM, "upstream")                                                                        \
    X(CONDITION, "condition")                                                                      \
    X(NOT_CHOSEN, "not_chosen")                                                                    \
    X(EMPTY, "empty")                                                                              \
    X(INSTANCES, "instances")                                                                      \
    X(MARKED, "marked")                                                                            \
    X(NOT_SELECTED, "not_selected")                                                                \
    X(QUEUE_TIMEOUT, "queue_timeout")                                                              \
    X(FAIL_FAST, "fail_fast")                                                                      \
    X(INTERNAL, "internal")                                                                        \
    X(POOL, "pool")                                                                                \
    X(CAP, "cap")                                                                                  \
    X(STOPPING, "stopping")                                                                        \
    X(CLEARING, "clearing")

enum reason {
#define X(name, text) REASON_##name,
    REASON_MAP(X)
#undef X
        REASON_COUNT
};

const char *reason_name(enum reason reason);
NODISCARD bool reason_parse(const char *name, enum reason *out); /* false leaves *out alone */

/* Random and never repeated: together with the attempt number it is the fencing token. */
struct nonce {
    unsigned char bytes[16];
};

struct attempt_end {
    enum reason reason;
    int exit_code;          /* REASON_EXIT: the code; REASON_SIGNAL: the signal */
    enum task_state result; /* REASON_RESULT, CONDITION, EMPTY: the state asked for */
    bool for_good;          /* a failure after which no other try is wanted */
};

struct attempt_verdict {
    enum task_state state; /* SUCCESS, FAILED, SKIPPED, CANCELLED or UP_FOR_RETRY */
    int64_t delay_ms;      /* UP_FOR_RETRY: how long to wait */
};

/*
 * What an attempt's end means under the task's policy. `failures` is the retry budget used before
 * it, `chance` in [0, 1) is for jitter.
 */
struct attempt_verdict attempt_decide(const struct task_def *task, int64_t failures,
                                      const struct attempt_end *end, double chance);
