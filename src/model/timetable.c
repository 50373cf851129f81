#include "model/timetable.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "model/timetable_priv.h"

void timetable_free(struct timetable *timetable)
{
    if (timetable != NULL)
        arena_free(timetable->arena);
}

/* ---- one schedule, whatever its bounds ---- */

/* The tick of a fixed interval at or before an instant. */
static int64_t interval_floor(const struct schedule *schedule, int64_t at_us)
{
    int64_t since = at_us - schedule->anchor_us;
    int64_t steps = since / schedule->every_us - (since % schedule->every_us < 0);
    return schedule->anchor_us + steps * schedule->every_us;
}

/* Listed instants at or before one. */
static size_t listed_until(const struct schedule *schedule, int64_t at_us)
{
    size_t low = 0;
    size_t high = schedule->at_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (schedule->at_us[middle] <= at_us)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool pattern_next(const struct schedule *schedule, int64_t after_us, int64_t *out_us)
{
    struct wall wall = {&schedule->cron, schedule->zone, schedule->dst};
    if (after_us >= INSTANT_US_MAX)
        return false;
    after_us = MAX(after_us, INSTANT_US_MIN);
    size_t passed = 0;
    switch (schedule->kind) {
    case SCHEDULE_CRON:
        return wall_next(&wall, after_us, out_us);
    case SCHEDULE_EVERY:
        *out_us = interval_floor(schedule, after_us) + schedule->every_us;
        return *out_us <= INSTANT_US_MAX;
    case SCHEDULE_AT:
        passed = listed_until(schedule, after_us);
        if (passed < schedule->at_count)
            *out_us = schedule->at_us[passed];
        return passed < schedule->at_count;
    }
    UNREACHABLE("every kind is above");
}

static bool pattern_previous(const struct schedule *schedule, int64_t before_us, int64_t *out_us)
{
    struct wall wall = {&schedule->cron, schedule->zone, schedule->dst};
    if (before_us <= INSTANT_US_MIN)
        return false;
    before_us = MIN(before_us, INSTANT_US_MAX);
    size_t passed = 0;
    switch (schedule->kind) {
    case SCHEDULE_CRON:
        return wall_previous(&wall, before_us, out_us);
    case SCHEDULE_EVERY:
        *out_us = interval_floor(schedule, before_us - 1);
        return *out_us >= INSTANT_US_MIN;
    case SCHEDULE_AT:
        passed = listed_until(schedule, before_us - 1);
        if (passed > 0)
            *out_us = schedule->at_us[passed - 1];
        return passed > 0;
    }
    UNREACHABLE("every kind is above");
}

/* The tick after the last one that is at most `at_us`; INT64_MIN: there is none. */
static int64_t pattern_following(const struct schedule *schedule, int64_t at_us)
{
    int64_t tick_us = 0;
    if (!pattern_previous(schedule, at_us < INT64_MAX ? at_us + 1 : at_us, &tick_us) ||
        !pattern_next(schedule, tick_us, &tick_us))
        return INT64_MIN;
    return tick_us;
}

/*
 * With the logical date at the start of the interval, a tick counts when the tick before it is
 * within the bounds.
 */
void schedule_bound(struct schedule *schedule, enum date_rule date)
{
    schedule->first_us = schedule->start_us;
    schedule->last_us = schedule->end_us;
    if (date == DATE_INTERVAL_END)
        return;
    int64_t tick_us = 0;
    if (schedule->start_us > INSTANT_US_MIN) {
        bool is_there = pattern_next(schedule, schedule->start_us - 1, &tick_us) &&
                        pattern_next(schedule, tick_us, &tick_us);
        schedule->first_us = is_there ? tick_us : INT64_MAX;
    }
    if (schedule->end_us < INSTANT_US_MAX)
        schedule->last_us = pattern_following(schedule, schedule->end_us);
}

/* ---- one schedule within its bounds ---- */

static bool schedule_next(const struct schedule *schedule, int64_t after_us, int64_t *out_us)
{
    int64_t tick_us = 0;
    if (after_us < schedule->first_us)
        after_us = schedule->first_us - 1;
    if (after_us >= schedule->last_us || !pattern_next(schedule, after_us, &tick_us) ||
        tick_us > schedule->last_us)
        return false;
    *out_us = tick_us;
    return true;
}

static bool schedule_previous(const struct schedule *schedule, int64_t before_us, int64_t *out_us)
{
    int64_t tick_us = 0;
    if (before_us > schedule->last_us)
        before_us = schedule->last_us + 1;
    if (before_us <= schedule->first_us || !pattern_previous(schedule, before_us, &tick_us) ||
        tick_us < schedule->first_us)
        return false;
    *out_us = tick_us;
    return true;
}

/* ---- all of them ---- */

void timetable_bounds(const struct timetable *timetable, int64_t *out_start_us, int64_t *out_end_us)
{
    CHECK(timetable->schedules_count > 0);
    *out_start_us = timetable->schedules[0].start_us;
    *out_end_us = timetable->schedules[0].end_us;
    for (size_t i = 1; i < timetable->schedules_count; i++) {
        *out_start_us = MIN(*out_start_us, timetable->schedules[i].start_us);
        *out_end_us = MAX(*out_end_us, timetable->schedules[i].end_us);
    }
}

bool timetable_next(const struct timetable *timetable, int64_t after_us, int64_t *out_us)
{
    int64_t best_us = INT64_MAX;
    for (size_t i = 0; i < timetable->schedules_count; i++) {
        int64_t tick_us = INT64_MAX;
        if (schedule_next(&timetable->schedules[i], after_us, &tick_us))
            best_us = MIN(best_us, tick_us);
    }
    if (best_us != INT64_MAX)
        *out_us = best_us;
    return best_us != INT64_MAX;
}

bool timetable_previous(const struct timetable *timetable, int64_t before_us, int64_t *out_us)
{
    int64_t best_us = INT64_MIN;
    for (size_t i = 0; i < timetable->schedules_count; i++) {
        int64_t tick_us = INT64_MIN;
        if (schedule_previous(&timetable->schedules[i], before_us, &tick_us))
            best_us = MAX(best_us, tick_us);
    }
    if (best_us != INT64_MIN)
        *out_us = best_us;
    return best_us != INT64_MIN;
}

/* The tick before the first one, as if its schedule had begun earlier; else the tick itself. */
static int64_t before_the_first(const struct timetable *timetable, int64_t tick_us)
{
    int64_t best_us = INT64_MIN;
    for (size_t i = 0; i < timetable->schedules_count; i++) {
        int64_t found_us = 0;
        const struct schedule *schedule = &timetable->schedules[i];
        if (pattern_next(schedule, tick_us - 1, &found_us) && found_us == tick_us &&
            pattern_previous(schedule, tick_us, &found_us))
            best_us = MAX(best_us, found_us);
    }
    return best_us != INT64_MIN ? best_us : tick_us;
}

struct tick_dates timetable_dates(const struct timetable *timetable, int64_t tick_us)
{
    struct tick_dates dates = {.interval_end_us = tick_us};
    if (!timetable_previous(timetable, tick_us, &dates.interval_start_us))
        dates.interval_start_us = before_the_first(timetable, tick_us);
    dates.logical_at_us = timetable->policy.date == DATE_INTERVAL_START ? dates.interval_start_us
                                                                        : dates.interval_end_us;
    return dates;
}

struct tick_dates timetable_dates_by_hand(const struct timetable *timetable, int64_t at_us)
{
    int64_t tick_us = at_us;
    struct tick_dates dates = {at_us, at_us, at_us};
    if (timetable_previous(timetable, at_us + 1, &tick_us))
        dates = timetable_dates(timetable, tick_us);
    dates.logical_at_us = at_us;
    return dates;
}

int32_t timetable_offset_at(const struct timetable *timetable, int64_t at_us)
{
    const struct zone *zone = timetable->schedules_count > 0 ? timetable->schedules[0].zone : NULL;
    return zone != NULL ? zone_offset_at(zone, at_us) : 0;
}

/* ---- decisions ---- */

static int64_t earliest_us(const struct timetable *timetable)
{
    int64_t first_us = INT64_MAX;
    for (size_t i = 0; i < timetable->schedules_count; i++)
        first_us = MIN(first_us, timetable->schedules[i].first_us);
    return first_us;
}

/* A DAG without a start begins now: there is no telling since when it should have run. */
int64_t timetable_first_cursor(const struct timetable *timetable, int64_t now_us)
{
    const struct timetable_policy *policy = &timetable->policy;
    int64_t first_us = earliest_us(timetable);
    int64_t latest_us = 0;
    if (first_us <= INSTANT_US_MIN || first_us > now_us)
        return now_us;
    switch (policy->catchup) {
    case CATCHUP_NONE:
        return now_us;
    case CATCHUP_LATEST:
        return timetable_previous(timetable, now_us + 1, &latest_us) ? latest_us - 1 : now_us;
    case CATCHUP_ALL:
        return first_us - 1;
    case CATCHUP_WINDOW:
        return MAX(first_us, now_us - policy->window_ms * 1000) - 1;
    }
    UNREACHABLE("every policy is above");
}

/* Ticks from here on run, those before are missed. */
static int64_t horizon_us(const struct timetable *timetable, int64_t now_us)
{
    const struct timetable_policy *policy = &timetable->policy;
    int64_t grace_us = now_us - MAX(policy->grace_ms, (int64_t)TIMETABLE_ON_TIME_MS) * 1000;
    int64_t latest_us = 0;
    switch (policy->catchup) {
    case CATCHUP_NONE:
        return grace_us;
    case CATCHUP_LATEST:
        return timetable_previous(timetable, now_us + 1, &latest_us) ? MIN(grace_us, latest_us)
                                                                     : grace_us;
    case CATCHUP_ALL:
        return INSTANT_US_MIN;
    case CATCHUP_WINDOW:
        return MIN(grace_us, now_us - policy->window_ms * 1000);
    }
    UNREACHABLE("every policy is above");
}

static struct missed_ticks count_missed(const struct timetable *timetable, int64_t cursor_us,
                                        int64_t until_us)
{
    struct missed_ticks missed = {0};
    int64_t tick_us = cursor_us;
    if (!timetable_previous(timetable, until_us, &missed.last_us) || missed.last_us <= cursor_us)
        return (struct missed_ticks){0};
    while (missed.count < TIMETABLE_MISSED_MAX && timetable_next(timetable, tick_us, &tick_us) &&
           tick_us < until_us) {
        if (missed.count++ == 0)
            missed.first_us = tick_us;
    }
    missed.is_more = tick_us < missed.last_us;
    return missed;
}

struct missed_ticks timetable_first_missed(const struct timetable *timetable, int64_t since_us,
                                           int64_t now_us)
{
    enum catchup_policy catchup = timetable->policy.catchup;
    int64_t first_us = earliest_us(timetable);
    bool asks_for_some = catchup == CATCHUP_LATEST || catchup == CATCHUP_WINDOW;
    if (!asks_for_some || first_us <= INSTANT_US_MIN || first_us > now_us)
        return (struct missed_ticks){0};
    return count_missed(timetable, MAX(since_us, first_us - 1),
                        timetable_first_cursor(timetable, now_us) + 1);
}

void timetable_due(const struct timetable *timetable, int64_t cursor_us, int64_t now_us,
                   int64_t *runs, size_t room, struct due *out)
{
    CHECK(room > 0);
    struct due due = {.cursor_us = cursor_us};
    int64_t from_us = horizon_us(timetable, now_us);
    int64_t tick_us = 0;
    if (from_us > cursor_us)
        due.missed = count_missed(timetable, cursor_us, MIN(from_us, now_us + 1));
    if (due.missed.count > 0)
        due.cursor_us = due.missed.last_us;
    while (timetable_next(timetable, due.cursor_us, &tick_us) && tick_us <= now_us) {
        if (due.runs_count == room) {
            due.is_more = true;
            break;
        }
        runs[due.runs_count++] = tick_us;
        due.cursor_us = tick_us;
    }
    *out = due;
}

/* ---- names of runs ---- */

const char *timetable_run_id(const char *kind, int64_t logical_at_us,
                             char out[static TIMETABLE_RUN_ID_MAX])
{
    char date[INSTANT_TEXT_MAX];
    int length = snprintf(out, TIMETABLE_RUN_ID_MAX, "%s__%s", kind,
                          instant_format_offset(logical_at_us, date));
    CHECK(length > 0 && length < TIMETABLE_RUN_ID_MAX);
    return out;
}
