#pragma once
/*
 * bars: many DAGs at once, each as one line of a list, and the last runs of each. Nothing is
 * changed, and what it costs grows with the lines and runs that are asked for, not with the
 * history.
 *
 * Tests  tests/unit/store/test_bars.c
 */
#include "base/arena.h"
#include "model/run_state.h"
#include "store/store.h"

struct bars_dag {
    int64_t key;
    int64_t version; /* the current one */
    int64_t number;  /* of this version */
    const char *dag_id;
    const char *namespace_;
    const char *title; /* or NULL */
    bool is_active;    /* it can be run by its name */
    bool is_filed;     /* its version is what its file means */
    bool is_offered;   /* a scheduler acts on it */
    bool is_paused;
    int64_t next_us; /* when it starts by itself; 0: it does not */
};

/* All DAGs that are seen, by id, at most `limit`; texts in the arena. */
NODISCARD enum status store_bars_dags(struct store *store, struct arena *arena, int64_t limit,
                                      struct bars_dag **out, size_t *out_count, struct err *err);
/* The same of one; *out_count is 0 when there is none, or when it is not seen. */
NODISCARD enum status store_bars_dag(struct store *store, struct arena *arena, const char *dag_id,
                                     struct bars_dag *out, size_t *out_count, struct err *err);

struct bars_run {
    size_t dag; /* place of its DAG among those that were asked for */
    int64_t id;
    enum run_state state;
    int64_t created_at_us;
    int64_t started_at_us; /* 0: not yet */
    int64_t ended_at_us;   /* the same */
};
typedef void (*bars_run_fn)(void *context, const struct bars_run *run);

struct bars_wish {
    const int64_t *dags; /* their keys */
    size_t count;
    int64_t limit; /* runs of each */
};

/* The last runs of each DAG, of all of them the newest first. */
NODISCARD enum status store_bars_runs(struct store *store, const struct bars_wish *wish,
                                      bars_run_fn each, void *context, struct err *err);
