#pragma once
/*
 * recent: what goes on now and what ended lately, over all DAGs, at a price that does not grow with
 * the history. Nothing is changed.
 *
 * Tests  tests/unit/store/test_grid.c
 */
#include "base/arena.h"
#include "model/attempt.h"
#include "store/overview.h"
#include "store/run_store.h"
#include "store/store.h"

struct recent_run {
    int64_t id;
    enum run_state state;
    const char *space; /* that its DAG is in; borrowed during the call */
    int64_t created_at_us;
    int64_t started_at_us; /* 0: not yet */
    int64_t ended_at_us;   /* 0: it goes on */
};
typedef void (*recent_run_fn)(void *context, const struct recent_run *run);

/* Runs that ended at `since_us` or later, the last first; at most `limit`. */
NODISCARD enum status store_recent_ended(struct store *store, int64_t since_us, int64_t limit,
                                         recent_run_fn each, void *context, struct err *err);
/* Runs that are not over, the newest first; at most `limit`. */
NODISCARD enum status store_recent_active(struct store *store, int64_t limit, recent_run_fn each,
                                          void *context, struct err *err);

/* Adds to `tally` how many tasks of these runs are in which state, instances one by one. */
NODISCARD enum status store_recent_tally(struct store *store, const int64_t *runs, size_t count,
                                         struct tally *tally, struct err *err);

struct recent_late {
    int64_t run;
    int64_t due_at_us; /* of the first deadline that it has missed and still misses */
    int64_t misses;
};

/* Runs that are not over and late, themselves or with a task; those that are late longest first. */
NODISCARD enum status store_recent_late(struct store *store, int64_t limit, struct recent_late *out,
                                        size_t *out_count, struct err *err);

/* When deadlines that were missed at `since_us` or later were due, in no order; at most `limit`. */
NODISCARD enum status store_recent_misses(struct store *store, int64_t since_us, int64_t limit,
                                          void (*each)(void *context, const char *space,
                                                       int64_t due_at_us),
                                          void *context, struct err *err);

/*
 * DAGs whose last run that is over failed: these runs, the newest first, at most `limit`. Only the
 * last RECENT_FAILED_MAX runs that failed are looked at.
 */
enum { RECENT_FAILED_MAX = 2000 };
NODISCARD enum status store_recent_failing(struct store *store, int64_t limit, int64_t *out,
                                           size_t *out_count, struct err *err);

struct recent_failure {
    int64_t task; /* id of its row */
    int64_t node;
    int64_t map_index;
    int64_t attempt;
    enum reason reason;
    const char *label;  /* or NULL */
    const char *detail; /* what it said last; or NULL */
    int64_t exit_code;  /* or the signal that ended it; -1: it had no process */
};

/* The task of a run that failed first; false: none of the first ones did. Texts in the arena. */
NODISCARD enum status store_recent_failure(struct store *store, struct arena *arena, int64_t run,
                                           struct recent_failure *out, bool *out_found,
                                           struct err *err);

struct recent_dags {
    int64_t total;
    int64_t active; /* some host offers them */
    int64_t paused; /* of these */
};

/* By namespace. */
NODISCARD enum status store_recent_dags(struct store *store,
                                        void (*each)(void *context, const char *space,
                                                     const struct recent_dags *dags),
                                        void *context, struct err *err);

struct recent_next {
    const char *dag_id;
    const char *namespace_;
    int64_t at_us;
};

/* The next instants at which DAGs that are not paused start by themselves; texts in the arena. */
NODISCARD enum status store_recent_next(struct store *store, struct arena *arena, int64_t limit,
                                        struct recent_next **out, size_t *out_count,
                                        struct err *err);

struct recent_names {
    const char **items;
    size_t count;
};

/*
 * Names of daemons that were lost at `since_us` or later and have not come back since, at most
 * `limit`; in the arena.
 */
NODISCARD enum status store_recent_lost(struct store *store, struct arena *arena, int64_t since_us,
                                        size_t limit, struct recent_names *out, struct err *err);

/* DAG files with problems, on all hosts. */
NODISCARD enum status store_recent_broken(struct store *store, int64_t *out, struct err *err);
