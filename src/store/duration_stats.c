#include "store/duration_stats.h"

#include <stdlib.h>

#include "model/task_state.h"
#include "store/store_priv.h"

enum { RUNS_MAX = 20 };

_Static_assert(TASK_SUCCESS == 4, "as in the SQL");
/* Rows of nodes lie one behind the other from the run's first on. */
static const char TIMES[] =
    "SELECT t.node, t.ended_at_us - t.started_at_us, t.instance_base, t.parents FROM"
    " (SELECT first_task FROM run WHERE version = $1 ORDER BY id DESC LIMIT $2) AS r"
    " JOIN task t ON t.id >= r.first_task AND t.id < r.first_task + $3"
    " WHERE t.state = 4 AND t.map_index < 0 AND t.started_at_us > 0 ORDER BY t.node, 2";

/* Rows of one node come in the order of their times. */
struct times {
    int64_t items[RUNS_MAX];
    size_t count;
};

static void add_time(struct times *times, int64_t spent_us)
{
    if (times->count < RUNS_MAX)
        times->items[times->count++] = spent_us;
}

enum status store_duration_stats(struct store *store, struct arena *arena, int64_t version,
                                 const struct dag *dag, struct task_stats **out, struct err *err)
{
    struct task_stats *stats = arena_array(arena, dag->tasks_count, sizeof *stats);
    struct times *times = arena_array(arena, dag->tasks_count, sizeof *times);
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, TIMES, "iii", version, (int64_t)RUNS_MAX,
                                  (int64_t)dag->tasks_count);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t node = db_int(stmt, 0);
        if (node < 0 || (size_t)node >= dag->tasks_count)
            continue;
        add_time(&times[node], db_int(stmt, 1));
        if (!db_is_null(stmt, 2))
            stats[node].instances = db_int(stmt, 3);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look at how long tasks took");
    for (size_t i = 0; i < dag->tasks_count; i++)
        stats[i].takes_us = times[i].count > 0 ? times[i].items[times[i].count / 2] : -1;
    *out = stats;
    return STATUS_OK;
}
