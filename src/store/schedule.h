#pragma once
/*
 * schedule: when DAGs are due, and how what is due becomes runs.
 *
 * One row per DAG, written with every version of it: the cursor (the last tick that was decided
 * on), the next instant at which there is something to decide, and what of the DAG's policy is
 * needed without reading it. The decisions are those of model/timetable.h. Runs, missed ticks
 * and the cursor are written in one transaction with the row locked; that there is one run per DAG
 * and logical date is guarded by an index as well.
 *
 * Tests  tests/unit/store/test_schedule.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/limits.h"
#include "model/timetable.h"
#include "store/store.h"

struct schedule_info {
    int64_t dag_key;
    bool is_offered; /* false: it was only run in the foreground, from a file */
    bool is_paused;
    int64_t cursor_us;
    int64_t next_us;   /* 0: never by itself */
    int64_t most_runs; /* limited runs at once; 0: no bound */
};

/* STATUS_NOT_FOUND: the store has no such DAG. */
NODISCARD enum status store_schedule_load(struct store *store, const char *dag_id,
                                          struct schedule_info *out, struct err *err);
/* The ids of all DAGs that are paused, borrowed during the call. */
NODISCARD enum status
store_schedule_each_paused(struct store *store,
                           enum status (*each)(void *context, const char *dag_id, struct err *err),
                           void *context, struct err *err);

/*
 * Ticks up to `cursor_us` were decided on in another store: go on from there, and look at what is
 * due at once. A DAG that never runs by the clock stays so.
 */
NODISCARD enum status store_schedule_carry_on(struct store *store, const char *dag_id,
                                              int64_t cursor_us, struct err *err);

struct pause_request {
    const char *dag_id;
    bool is_paused;
    const char *actor;
    const char *reason; /* or NULL */
};

/*
 * A DAG that is paused starts nothing by itself. When it goes on, its catch-up policy says what
 * becomes of the ticks in between, as after a restart. *out_changed: it was not so before.
 */
NODISCARD enum status store_schedule_pause(struct store *store, const struct pause_request *request,
                                           bool *out_changed, struct err *err);

/* --- missed ticks ---------------------------------------------------------------------------- */

enum missed_why {
    MISSED_LATE,    /* nobody was there in time, or the DAG was paused */
    MISSED_OVERLAP, /* as many runs went as may */
    MISSED_INVALID, /* the run could not be made: a parameter has no default */
};

struct missed_info {
    int64_t first_us;
    int64_t last_us;
    int64_t count;
    bool is_more; /* than `count` */
    enum missed_why why;
    int64_t at_us; /* when that was decided */
};

const char *missed_why_text(enum missed_why why);
struct missed_list {
    struct missed_info *items;
    size_t count;
};

/* Newest first, at most `most`; in `arena`. */
NODISCARD enum status store_missed_list(struct store *store, struct arena *arena, int64_t dag_key,
                                        size_t most, struct missed_list *out, struct err *err);

/* --- what is due ----------------------------------------------------------------------------- */

struct due_started {
    size_t runs;     /* that were made */
    size_t waiting;  /* of them, those that may not go yet */
    size_t missed;   /* stretches of ticks */
    bool needs_room; /* one of them is to replace others */
    int64_t next_us; /* when there is something to decide; INT64_MAX: never; or at once */
    char missed_dag[LIMIT_ID_BYTES + 1]; /* whose the last of these is */
    /* A DAG that was put off, or had no run, because of `trouble`; "": none. */
    char troubled[LIMIT_ID_BYTES + 1];
    char trouble[ERR_TEXT_MAX];
};

/*
 * Make the runs that are due, of a bounded number of DAGs, in one transaction. Where nothing is due
 * it asks one question and writes nothing. Any number of schedulers may do it at once.
 */
NODISCARD enum status store_schedule_start_due(struct store *store, struct due_started *out,
                                               struct err *err);
