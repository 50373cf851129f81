#include "model/backfill.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

const char *backfill_actor(int64_t id, char out[static BACKFILL_ACTOR_MAX])
{
    (void)snprintf(out, BACKFILL_ACTOR_MAX, "backfill %lld", (long long)id);
    return out;
}

/* --- names ----------------------------------------------------------------------------------- */

static const char *const STATES[] = {
#define X(name, text) [BACKFILL_##name] = text,
    BACKFILL_STATE_MAP(X)
#undef X
};
static const char *const REDOS[] = {
#define X(name, text) [REDO_##name] = text,
    BACKFILL_REDO_MAP(X)
#undef X
};
static const char *const ACTIONS[] = {
#define X(name, text) [ACTION_##name] = text,
    BACKFILL_ACTION_MAP(X)
#undef X
};
static const char *const VERBS[] = {
#define X(name, text) [VERB_##name] = text,
    BACKFILL_VERB_MAP(X)
#undef X
};

/* Its place among the names, or their number when it is none of them. */
static size_t find_name(const char *const *names, size_t count, const char *name)
{
    size_t i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *backfill_state_name(enum backfill_state state)
{
    CHECK(state < BACKFILL_STATE_COUNT);
    return STATES[state];
}

bool backfill_state_parse(const char *name, enum backfill_state *out)
{
    size_t found = find_name(STATES, ARRAY_LEN(STATES), name);
    if (found == ARRAY_LEN(STATES))
        return false;
    *out = (enum backfill_state)found;
    return true;
}

bool backfill_state_is_final(enum backfill_state state)
{
    return state == BACKFILL_SUCCESS || state == BACKFILL_FAILED || state == BACKFILL_CANCELLED;
}

const char *backfill_redo_name(enum backfill_redo redo)
{
    CHECK(redo < REDO_COUNT);
    return REDOS[redo];
}

bool backfill_redo_parse(const char *name, enum backfill_redo *out)
{
    size_t found = find_name(REDOS, ARRAY_LEN(REDOS), name);
    if (found == ARRAY_LEN(REDOS))
        return false;
    *out = (enum backfill_redo)found;
    return true;
}

const char *backfill_action_name(enum backfill_action action)
{
    CHECK(action < ACTION_COUNT);
    return ACTIONS[action];
}

const char *backfill_verb_name(enum backfill_verb verb)
{
    CHECK(verb < VERB_COUNT);
    return VERBS[verb];
}

bool backfill_verb_parse(const char *name, enum backfill_verb *out)
{
    size_t found = find_name(VERBS, ARRAY_LEN(VERBS), name);
    if (found == ARRAY_LEN(VERBS))
        return false;
    *out = (enum backfill_verb)found;
    return true;
}

/* --- dates ----------------------------------------------------------------------------------- */

/*
 * With dates at the start of their interval the tick of the last date comes after the range, so
 * that going back begins one tick later.
 */
int64_t backfill_first_cursor(const struct backfill_range *range)
{
    int64_t after_us = 0;
    if (!range->newest_first)
        return range->from_us - 1;
    if (!timetable_next(range->timetable, range->to_us, &after_us))
        after_us = range->to_us;
    return MIN(after_us, range->until_us) + 1;
}

bool backfill_next(const struct backfill_range *range, int64_t *cursor_us, struct tick_dates *out)
{
    int64_t tick_us = *cursor_us;
    for (;;) {
        bool found = range->newest_first ? timetable_previous(range->timetable, tick_us, &tick_us)
                                         : timetable_next(range->timetable, tick_us, &tick_us);
        if (!found || (!range->newest_first && tick_us > range->until_us))
            return false;
        struct tick_dates dates = timetable_dates(range->timetable, tick_us);
        bool is_before = dates.logical_at_us < range->from_us;
        bool is_after = dates.logical_at_us > range->to_us;
        if (range->newest_first ? is_before : is_after)
            return false;
        if (is_before || is_after)
            continue;
        *cursor_us = tick_us;
        *out = dates;
        return true;
    }
}

int64_t backfill_count(const struct backfill_range *range, int64_t most)
{
    int64_t cursor_us = backfill_first_cursor(range);
    struct tick_dates dates;
    int64_t count = 0;
    while (count <= most && backfill_next(range, &cursor_us, &dates))
        count++;
    return count;
}

/* --- decisions ------------------------------------------------------------------------------- */

enum backfill_action backfill_decide(enum backfill_redo redo, enum run_state state)
{
    if (!run_state_is_final(state) || redo == REDO_NONE)
        return ACTION_KEEP;
    return redo == REDO_ALL || state != RUN_SUCCESS ? ACTION_REDO : ACTION_KEEP;
}

bool backfill_verb_leads(enum backfill_verb verb, enum backfill_state from,
                         enum backfill_state *out)
{
    static const struct {
        enum backfill_verb verb;
        enum backfill_state from;
        enum backfill_state to;
    } WAYS[] = {
        {VERB_APPROVE, BACKFILL_AWAITING, BACKFILL_RUNNING},
        {VERB_PAUSE, BACKFILL_RUNNING, BACKFILL_PAUSED},
        {VERB_RESUME, BACKFILL_PAUSED, BACKFILL_RUNNING},
        /* Nothing of it was begun. */
        {VERB_CANCEL, BACKFILL_AWAITING, BACKFILL_CANCELLED},
        {VERB_CANCEL, BACKFILL_RUNNING, BACKFILL_CANCELLING},
        {VERB_CANCEL, BACKFILL_PAUSED, BACKFILL_CANCELLING},
        /* Those that run may be given up later. */
        {VERB_CANCEL, BACKFILL_CANCELLING, BACKFILL_CANCELLING},
    };
    for (size_t i = 0; i < ARRAY_LEN(WAYS); i++) {
        if (WAYS[i].verb == verb && WAYS[i].from == from) {
            *out = WAYS[i].to;
            return true;
        }
    }
    return false;
}

enum backfill_state backfill_verdict(enum backfill_state state, int64_t failed, int64_t cancelled)
{
    if (state == BACKFILL_CANCELLING)
        return BACKFILL_CANCELLED;
    return failed + cancelled > 0 ? BACKFILL_FAILED : BACKFILL_SUCCESS;
}

int64_t backfill_estimate_ms(int64_t runs, int64_t at_once, int64_t usual_ms)
{
    CHECK(at_once > 0);
    int64_t rounds = runs / at_once + (runs % at_once != 0);
    int64_t estimate_ms = 0;
    if (__builtin_mul_overflow(rounds, usual_ms, &estimate_ms))
        return INT64_MAX;
    return estimate_ms;
}
