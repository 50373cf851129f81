#include "model/run_state.h"

#include <string.h>

#include "base/check.h"

static const char *const NAMES[] = {
#define X(name, text) [RUN_##name] = text,
    RUN_STATE_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(NAMES) == RUN_STATE_COUNT, "every state has a name");

const char *run_state_name(enum run_state state)
{
    CHECK(state < RUN_STATE_COUNT);
    return NAMES[state];
}

bool run_state_parse(const char *name, enum run_state *out)
{
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        if (strcmp(NAMES[state], name) == 0) {
            *out = state;
            return true;
        }
    }
    return false;
}

bool run_state_is_final(enum run_state state)
{
    CHECK(state < RUN_STATE_COUNT);
    return state >= RUN_SUCCESS;
}

enum run_state run_verdict(bool cancel_asked, int64_t failures)
{
    if (cancel_asked)
        return RUN_CANCELLED;
    return failures > 0 ? RUN_FAILED : RUN_SUCCESS;
}
