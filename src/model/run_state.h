#pragma once
/*
 * run_state: the states of a run, and its verdict.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

#define RUN_STATE_MAP(X)                                                                           \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(SUCCESS, "success")                                                                          \
    X(FAILED, "failed")                                                                            \
    X(CANCELLED, "cancelled")

enum run_state {
#define X(name, text) RUN_##name,
    RUN_STATE_MAP(X)
#undef X
        RUN_STATE_COUNT
};

const char *run_state_name(enum run_state state);
NODISCARD bool run_state_parse(const char *name, enum run_state *out);
bool run_state_is_final(enum run_state state);

/* Verdict of a run whose tasks are all final. */
enum run_state run_verdict(bool cancel_asked, int64_t failures);
