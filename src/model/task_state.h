#pragma once
/*
 * task_state: the states of a task instance and which may follow which.
 *
 * The table is the only statement of what may happen; the store refuses the rest.
 * A verdict (final state) changes only by clear, which starts a new generation.
 */
#include <stdbool.h>

#include "base/attrs.h"

/*    name               stored and shown as */
#define TASK_STATE_MAP(X)                                                                          \
    X(NONE, "none")                                                                                \
    X(SCHEDULED, "scheduled")                                                                      \
    X(QUEUED, "queued")                                                                            \
    X(RUNNING, "running")                                                                          \
    X(SUCCESS, "success")                                                                          \
    X(FAILED, "failed")                                                                            \
    X(SKIPPED, "skipped")                                                                          \
    X(UPSTREAM_FAILED, "upstream_failed")                                                          \
    X(UP_FOR_RETRY, "up_for_retry")                                                                \
    X(UP_FOR_RESCHEDULE, "up_for_reschedule")                                                      \
    X(DEFERRED, "deferred")                                                                        \
    X(AWAITING_INPUT, "awaiting_input")                                                            \
    X(CANCELLED, "cancelled")                                                                      \
    X(REMOVED, "removed")

enum task_state {
#define X(name, text) TASK_##name,
    TASK_STATE_MAP(X)
#undef X
        TASK_STATE_COUNT
};

const char *task_state_name(enum task_state state);
/* True and *out if `name` is a state's name. */
NODISCARD bool task_state_parse(const char *name, enum task_state *out);
bool task_state_is_final(enum task_state state);
/* May `to` follow `from` within one generation? */
bool task_state_allows(enum task_state from, enum task_state to);
