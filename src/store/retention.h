#pragma once
/*
 * retention: what is old enough to go. Finds it in small portions; what lies outside the store
 * (logs, large values) is removed by the caller, and before what points to it.
 */
#include "store/store.h"

struct old_runs {
    int64_t *ids; /* room for `room`; over, and ended before the instant asked for */
    size_t room;
    size_t count;
    int64_t looked_to; /* the last run that was looked at */
    bool more;         /* there may be more behind it */
};

/* Runs with numbers above `after`, lowest first, up to the first that is too young. */
NODISCARD enum status store_runs_ended_before(struct store *store, int64_t after, int64_t before_us,
                                              struct old_runs *out, struct err *err);
/* Runs that are over and have `keep` younger ones of the same DAG, oldest first. */
NODISCARD enum status store_runs_beyond(struct store *store, int64_t keep, struct old_runs *out,
                                        struct err *err);

/* Where a walk over runs by their end is. All zero: before the first. */
struct ended_place {
    int64_t ended_us;
    int64_t run;
};

/* Runs that are over, by their end, from behind `place` up to the instant; `place` moves on. */
NODISCARD enum status store_runs_ended_after(struct store *store, struct ended_place *place,
                                             int64_t before_us, struct old_runs *out,
                                             struct err *err);

/*
 * To go on from: "logs" and "values" of runs that ended before that instant are done; "files/N":
 * the instant since when files count for the DAG with that key (old_rows.c); "events": the highest
 * id of one that was removed (store_priv.h). 0 at first.
 */
NODISCARD enum status store_retention_place(struct store *store, const char *what, int64_t *out,
                                            struct err *err);
/* Never back. */
NODISCARD enum status store_retention_move(struct store *store, const char *what, int64_t to,
                                           struct err *err);

/* The values of a run; how many there were. */
NODISCARD enum status store_values_remove(struct store *store, int64_t run, int64_t *out_count,
                                          struct err *err);
