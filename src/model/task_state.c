#include "model/task_state.h"

#include <string.h>

#include "base/check.h"

static const char *const NAMES[] = {
#define X(name, text) [TASK_##name] = text,
    TASK_STATE_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == TASK_STATE_COUNT, "every state has a name");

#define TO(state) (1u << TASK_##state)

enum {
    /* Where a task can be put without having run: by its rule, by a person, by a cancel. */
    UNSTARTED_END =
        TO(SKIPPED) | TO(UPSTREAM_FAILED) | TO(CANCELLED) | TO(REMOVED) | TO(SUCCESS) | TO(FAILED),
    /* Where an attempt can lead. */
    ATTEMPT_END = TO(SUCCESS) | TO(FAILED) | TO(SKIPPED) | TO(UP_FOR_RETRY) | TO(CANCELLED),
};

static const unsigned NEXT[] = {
    [TASK_NONE] = TO(SCHEDULED) | TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_SCHEDULED] = TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_QUEUED] = TO(RUNNING) | TO(SCHEDULED) | UNSTARTED_END,
    [TASK_RUNNING] =
        ATTEMPT_END | TO(QUEUED) | TO(DEFERRED) | TO(UP_FOR_RESCHEDULE) | TO(AWAITING_INPUT),
    [TASK_UP_FOR_RETRY] = TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_UP_FOR_RESCHEDULE] = TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_DEFERRED] = TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_AWAITING_INPUT] = TO(QUEUED) | TO(RUNNING) | UNSTARTED_END,
    [TASK_SUCCESS] = 0,
    [TASK_FAILED] = 0,
    [TASK_SKIPPED] = 0,
    [TASK_UPSTREAM_FAILED] = 0,
    [TASK_CANCELLED] = 0,
    [TASK_REMOVED] = 0,
};
_Static_assert(ARRAY_LEN(NEXT) == TASK_STATE_COUNT, "every state has a row");

const char *task_state_name(enum task_state state)
{
    CHECK(state < TASK_STATE_COUNT);
    return NAMES[state];
}

bool task_state_parse(const char *name, enum task_state *out)
{
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        if (strcmp(NAMES[state], name) == 0) {
            *out = state;
            return true;
        }
    }
    return false;
}

bool task_state_is_final(enum task_state state)
{
    CHECK(state < TASK_STATE_COUNT);
    return NEXT[state] == 0;
}

bool task_state_allows(enum task_state from, enum task_state to)
{
    CHECK(from < TASK_STATE_COUNT);
    CHECK(to < TASK_STATE_COUNT);
    return (NEXT[from] >> to) & 1u;
}
