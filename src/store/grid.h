#pragma once
/*
 * grid: states of the tasks of many runs at once, without the rest of their rows; and how many runs
 * of a DAG there were when. Nothing is changed.
 *
 * Tests  tests/unit/store/test_grid.c
 */
#include "base/arena.h"
#include "model/run_state.h"
#include "model/task_state.h"
#include "store/run_store.h"

/*
 * Runs of a DAG whose logical date lies before `before_us`, the latest first, texts in the arena.
 * STATUS_NOT_FOUND only for a DAG that the store does not have.
 */
struct grid_page {
    const char *dag_id;
    int64_t before_us; /* INT64_MAX: all */
    int64_t limit;
};
NODISCARD enum status store_grid_runs(struct store *store, struct arena *arena,
                                      const struct grid_page *page, struct run_info **out,
                                      size_t *out_count, struct err *err);

/* The task rows of a run without instances: ids from `first` on. */
struct grid_span {
    int64_t first;
    int64_t count;
};

struct grid_cell {
    int64_t node;
    enum task_state state;
    bool is_expanded; /* then the counts are those of its instances */
    int64_t total;
    int64_t success;
    int64_t failed;
    int64_t skipped;
};

/* Calls `each` with the place of the span in `spans`, in their order, nodes ascending. */
NODISCARD enum status
store_grid_each(struct store *store, const struct grid_span *spans, size_t count,
                void (*each)(void *context, size_t span, const struct grid_cell *cell),
                void *context, struct err *err);

/* --- over time ------------------------------------------------------------------------------- */

/* Quarters of an hour: offsets of time zones are multiples of them. */
#define GRID_SLOT_US INT64_C(900000000)
enum { GRID_RUNS_MAX = 100000 };

struct grid_stretch {
    int64_t dag_key;
    int64_t from_us; /* not before 1970 */
    int64_t to_us;   /* not included */
};

/*
 * How many runs of a state have their logical date within the quarter of an hour that begins at
 * `slot_us`, ascending. Of more than GRID_RUNS_MAX runs only the latest count.
 */
NODISCARD enum status store_grid_count(struct store *store, const struct grid_stretch *stretch,
                                       void (*each)(void *context, int64_t slot_us,
                                                    enum run_state state, int64_t count),
                                       void *context, struct err *err);
