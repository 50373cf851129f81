#pragma once
/*
 * to_come: instances of mapped tasks that have no rows yet, and where they wait. Rows are made when
 * an instance starts, so whoever counts what waits counts these besides the rows.
 *
 * Each waits in one place, as tasks with rows do: in front of a limit or a pool that has no room
 * for it, else in its queue. Those that max_parallel or max_active_tasks hold back wait for their
 * own run, and are not here.
 *
 * Private to the store layer.
 */
#include "model/dag.h"
#include "store/limit.h"
#include "store/pool.h"

/* Those of one mapped task. */
struct to_come {
    const struct dag *dag;
    const struct task_def *def;
    const char *queue;
    int64_t scope;
    int64_t count;
    int64_t since_us;
    const struct limit_info *limit; /* without room, or NULL */
    const struct pool_info *pool;   /* the same */
    bool is_poolless;               /* its pool is not there */
};

struct to_come_list {
    struct to_come *items;
    size_t count;
};

/* One question when there are none. Texts are in the arena, DAGs the store's. */
NODISCARD enum status to_come_read(struct store *store, struct arena *arena,
                                   struct to_come_list *out, struct err *err);
