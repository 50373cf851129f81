#pragma once
/*
 * timetable: when a DAG runs by itself, and what becomes of ticks that were missed. Pure.
 *
 * Made of the DAG's `schedule`: any number of cron expressions in time zones, fixed
 * intervals and listed instants. A tick that several of them name is one tick. Nothing here reads a
 * clock or remembers anything: whoever schedules keeps one cursor per DAG, the last tick that was
 * decided on, and moves it in the same transaction as the runs.
 *
 * Instants are microseconds UTC within the years 1 to 9999.
 *
 * Ownership  A timetable is one arena and never changes, so threads may share it.
 * Tests      tests/unit/model/test_timetable.c, tests/unit/spec/test_spec_schedule.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "model/zone.h"

struct arena;
struct dag;
struct schedule;

/* What happens to ticks that were missed by more than the grace. */
enum catchup_policy { CATCHUP_NONE, CATCHUP_LATEST, CATCHUP_ALL, CATCHUP_WINDOW };
/* What happens to a tick while as many runs are active as may be. */
enum overlap_policy { OVERLAP_QUEUE, OVERLAP_SKIP, OVERLAP_REPLACE, OVERLAP_ALLOW };
/* Which end of the data interval is the logical date. */
enum date_rule { DATE_INTERVAL_END, DATE_INTERVAL_START };

/* What holds for all schedules of a DAG. */
struct timetable_policy {
    enum catchup_policy catchup;
    int64_t window_ms; /* of CATCHUP_WINDOW, else 0 */
    int64_t grace_ms;  /* counts from TIMETABLE_ON_TIME_MS on: nobody acts at the very instant */
    enum overlap_policy overlap;
    enum date_rule date;
};

enum { TIMETABLE_ON_TIME_MS = 2000 };

struct timetable {
    struct arena *arena;
    struct schedule *schedules;
    size_t schedules_count; /* 0: it never runs by the clock */
    struct timetable_policy policy;
};

/*
 * The timetable of a DAG that was read without problems. STATUS_INVALID when a zone it names is not
 * on this machine, or when the DAG was stored by a version with other rules.
 */
NODISCARD enum status timetable_of_dag(const struct dag *dag, zone_reader zones,
                                       struct timetable **out, struct err *err);
void timetable_free(struct timetable *timetable); /* NULL is allowed */

/* The earliest and the latest logical date that `start` and `end` leave; of one without, the
   bounds of instants. There is at least one schedule. */
void timetable_bounds(const struct timetable *timetable, int64_t *out_start_us,
                      int64_t *out_end_us);

/* ---- ticks ---- */

/* The first tick after, or the last before, an instant; neither includes it. False: none. */
NODISCARD bool timetable_next(const struct timetable *timetable, int64_t after_us, int64_t *out_us);
NODISCARD bool timetable_previous(const struct timetable *timetable, int64_t before_us,
                                  int64_t *out_us);

/* What a run is about. */
struct tick_dates {
    int64_t logical_at_us;
    int64_t interval_start_us; /* the tick before */
    int64_t interval_end_us;   /* the tick itself; the interval does not include it */
};

/* Of a tick. The first of all reaches back to what would have been the tick before it. */
struct tick_dates timetable_dates(const struct timetable *timetable, int64_t tick_us);
/* Of a run by hand: its date is `at_us`, its interval the last that was complete by then. */
struct tick_dates timetable_dates_by_hand(const struct timetable *timetable, int64_t at_us);

/* Seconds to add to UTC to get what clocks of its zone show: of the first schedule's, or 0. */
int32_t timetable_offset_at(const struct timetable *timetable, int64_t at_us);

/* ---- decisions ---- */

/* Where the cursor of a DAG begins when it is first seen, or its schedule was changed. */
int64_t timetable_first_cursor(const struct timetable *timetable, int64_t now_us);

/* Ticks for which there will be no run, a stretch of neighbours. */
struct missed_ticks {
    size_t count;
    bool is_more; /* there are more than `count`: counting stopped at TIMETABLE_MISSED_MAX */
    int64_t first_us;
    int64_t last_us;
};
enum { TIMETABLE_MISSED_MAX = 10000 };

/*
 * When a DAG is first seen, those after `since_us` that its catch-up policy leaves out of what it
 * asks for: with a window what lies before it, with `latest` all but the last. Without a start
 * in the past, or where nothing is asked for, there are none.
 */
struct missed_ticks timetable_first_missed(const struct timetable *timetable, int64_t since_us,
                                           int64_t now_us);

struct due {
    struct missed_ticks missed; /* all of them before the first run */
    size_t runs_count;
    bool is_more;      /* the room was used up: decide again from the new cursor */
    int64_t cursor_us; /* never before the old one */
};

/*
 * What is due: ticks after the cursor and up to now. Those that the catch-up policy and the
 * grace let run go into `runs`, oldest first and at most `room` (at least 1) of them; those
 * before them are missed. Deciding twice from the same cursor gives the same.
 */
void timetable_due(const struct timetable *timetable, int64_t cursor_us, int64_t now_us,
                   int64_t *runs, size_t room, struct due *out);

/* ---- names of runs ---- */

enum { TIMETABLE_RUN_ID_MAX = 64 };

/* "scheduled__2025-01-15T00:00:00+00:00" for the kind "scheduled". Returns `out`. */
const char *timetable_run_id(const char *kind, int64_t logical_at_us,
                             char out[static TIMETABLE_RUN_ID_MAX]);

static inline void timetable_freep(struct timetable **timetable)
{
    timetable_free(*timetable);
}
