#include "store/grid.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_priv.h"

/* --- runs ------------------------------------------------------------------------------------ */

static const char RUNS[] =
    "SELECT r.id FROM run r WHERE r.dag = (SELECT id FROM dag WHERE dag_id = $1)"
    " AND r.logical_at_us < $2 ORDER BY r.dag DESC, r.logical_at_us DESC, r.id DESC LIMIT $3";

struct wanted {
    struct run_wanted *items;
    size_t count;
    size_t capacity;
};

static int compare_ids(const void *a, const void *b)
{
    const struct run_wanted *x = a;
    const struct run_wanted *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_dates(const void *a, const void *b)
{
    const struct run_info *x = a;
    const struct run_info *y = b;
    if (x->logical_at_us != y->logical_at_us)
        return x->logical_at_us > y->logical_at_us ? -1 : 1;
    return x->id > y->id ? -1 : x->id < y->id;
}

static enum status load(struct store *store, struct arena *arena, const struct wanted *wanted,
                        struct run_info **out, size_t *out_count, struct err *err)
{
    struct run_info *runs = arena_array(arena, wanted->count + 1, sizeof *runs);
    size_t count = 0;
    if (wanted->count > 0)
        qsort(wanted->items, wanted->count, sizeof *wanted->items, compare_ids);
    if (store_runs_load(store, wanted->items, wanted->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->items[i].is_found)
            runs[count++] = wanted->items[i].info;
    if (count > 0)
        qsort(runs, count, sizeof *runs, compare_dates);
    *out = runs;
    *out_count = count;
    return STATUS_OK;
}

enum status store_grid_runs(struct store *store, struct arena *arena, const struct grid_page *page,
                            struct run_info **out, size_t *out_count, struct err *err)
{
    struct wanted wanted = {0};
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, RUNS, "tii", page->dag_id, page->before_us, page->limit);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        wanted.items = mem_grow(wanted.items, &wanted.capacity, wanted.count, sizeof *wanted.items);
        wanted.items[wanted.count++] = (struct run_wanted){.id = db_int(stmt, 0), .arena = arena};
    }
    if (status == STATUS_OK)
        status = load(store, arena, &wanted, out, out_count, err);
    free(wanted.items);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "list runs of '%s'", page->dag_id);
}

/* --- states ---------------------------------------------------------------------------------- */

#define CELL_COLUMNS                                                                               \
    "node, state, instance_base, parents, p_success, p_failed + p_upstream AS bad, p_skipped"

static const char CELLS_OF_RUN[] =
    "SELECT " CELL_COLUMNS " FROM task WHERE id >= $1 AND id < $2 ORDER BY id";
/* The bound makes the server walk the key of each range. */
static const char CELLS_OF_RUNS[] =
    "SELECT t.node, t.state, t.instance_base, t.parents, t.p_success, t.bad, t.p_skipped, w.place"
    " FROM unnest(CAST($1 AS bigint[]), CAST($2 AS bigint[])) WITH ORDINALITY"
    " AS w (first, stop, place) CROSS JOIN LATERAL (SELECT " CELL_COLUMNS " FROM task"
    " WHERE id >= w.first AND id < w.stop ORDER BY id LIMIT 1000000) t ORDER BY w.place";

struct cells {
    size_t spans_count;
    void (*each)(void *context, size_t span, const struct grid_cell *cell);
    void *context;
};

static enum status tell_cell(const struct cells *cells, struct db_stmt *stmt, int64_t span,
                             struct err *err)
{
    int64_t state = db_int(stmt, 1);
    if (state < 0 || state >= TASK_STATE_COUNT || span < 0 || (size_t)span >= cells->spans_count) {
        db_reset(stmt);
        return err_set(err, STATUS_CORRUPT, "a task has state %lld", (long long)state);
    }
    const struct grid_cell cell = {
        .node = db_int(stmt, 0),
        .state = (enum task_state)state,
        .is_expanded = !db_is_null(stmt, 2),
        .total = db_int(stmt, 3),
        .success = db_int(stmt, 4),
        .failed = db_int(stmt, 5),
        .skipped = db_int(stmt, 6),
    };
    cells->each(cells->context, (size_t)span, &cell);
    return STATUS_OK;
}

/* In a file a question costs next to nothing. */
static enum status read_singly(struct store *store, const struct grid_span *spans,
                               const struct cells *cells, struct err *err)
{
    for (size_t i = 0; i < cells->spans_count; i++) {
        struct db_stmt *stmt = NULL;
        enum status status = db_query(store->db, &stmt, err, CELLS_OF_RUN, "ii", spans[i].first,
                                      spans[i].first + spans[i].count);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            status = tell_cell(cells, stmt, (int64_t)i, err);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status read_at_once(struct store *store, const struct grid_span *spans,
                                const struct cells *cells, struct err *err)
{
    size_t count = cells->spans_count;
    CLEANUP(mem_freep) int64_t *first = mem_zalloc(count + 1, sizeof *first);
    CLEANUP(mem_freep) int64_t *stop = mem_zalloc(count + 1, sizeof *stop);
    struct db_stmt *stmt = NULL;
    for (size_t i = 0; i < count; i++) {
        first[i] = spans[i].first;
        stop[i] = spans[i].first + spans[i].count;
    }
    enum status status =
        db_query(store->db, &stmt, err, CELLS_OF_RUNS, "II", first, count, stop, count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        status = tell_cell(cells, stmt, db_int(stmt, 7) - 1, err);
    return status;
}

enum status store_grid_each(struct store *store, const struct grid_span *spans, size_t count,
                            void (*each)(void *context, size_t span, const struct grid_cell *cell),
                            void *context, struct err *err)
{
    const struct cells cells = {.spans_count = count, .each = each, .context = context};
    if (count == 0)
        return STATUS_OK;
    enum status status = db_dialect(store->db) == DB_SQLITE
                             ? read_singly(store, spans, &cells, err)
                             : read_at_once(store, spans, &cells, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "read states of tasks");
}

/* --- over time ------------------------------------------------------------------------------- */

_Static_assert(GRID_SLOT_US == 900000000, "as in the SQL");
static const char COUNT[] =
    "SELECT x.slot, x.state, count(*) FROM (SELECT logical_at_us / 900000000 AS slot, state"
    " FROM run WHERE dag = $1 AND logical_at_us >= $2 AND logical_at_us < $3"
    " ORDER BY dag DESC, logical_at_us DESC LIMIT $4) x GROUP BY x.slot, x.state ORDER BY x.slot";

enum status store_grid_count(struct store *store, const struct grid_stretch *stretch,
                             void (*each)(void *context, int64_t slot_us, enum run_state state,
                                          int64_t count),
                             void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, COUNT, "iiii", stretch->dag_key,
                                  stretch->from_us, stretch->to_us, (int64_t)GRID_RUNS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 1);
        if (state >= 0 && state < RUN_STATE_COUNT)
            each(context, db_int(stmt, 0) * GRID_SLOT_US, (enum run_state)state, db_int(stmt, 2));
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "count runs over time");
}
