#include "store/to_come.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/pool_priv.h"
#include "store/rows.h"
#include "store/store_priv.h"

_Static_assert(CANCEL_NONE == 0, "as in the SQL");
static const char EXPANSIONS[] =
    "SELECT e.scope, u.version, t.node, t.parents, coalesce(t.inserted, 0),"
    " t.p_success + t.p_failed + t.p_upstream + t.p_skipped + t.p_removed, u.active,"
    " (SELECT q.name FROM queue q WHERE q.id = u.queue AND u.queue > 0),"
    " coalesce(t.started_at_us, t.queued_at_us, 0)"
    " FROM expansion e JOIN task t ON t.id = e.task JOIN run u ON u.id = t.run"
    " WHERE u.cancel_asked = 0 AND t.parents > coalesce(t.inserted, 0) ORDER BY e.scope, e.task";

/* A mapped task as it is stored. */
struct expansion {
    int64_t scope;
    int64_t version;
    int64_t node;
    int64_t uninserted;
    int64_t open; /* instances with rows that have not ended */
    int64_t active;
    int64_t since_us;
    const char *queue; /* of its run, or NULL */
};

struct expansion_list {
    struct expansion *items;
    size_t count;
    size_t capacity;
};

static void expansion_list_fini(struct expansion_list *list)
{
    mem_freep(&list->items);
}

static enum status read_expansions(struct store *store, struct arena *arena,
                                   struct expansion_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, EXPANSIONS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->items = mem_grow(out->items, &out->capacity, out->count, sizeof *out->items);
        const char *queue = db_text(stmt, 7);
        out->items[out->count++] = (struct expansion){
            .scope = db_int(stmt, 0),
            .version = db_int(stmt, 1),
            .node = db_int(stmt, 2),
            .uninserted = db_int(stmt, 3) - db_int(stmt, 4),
            .open = db_int(stmt, 4) - db_int(stmt, 5),
            .active = db_int(stmt, 6),
            .queue = queue != NULL ? arena_strdup(arena, queue) : NULL,
            .since_us = db_int(stmt, 8),
        };
    }
    return status;
}

/* What the run itself would let start. */
static int64_t count_of(const struct expansion *expansion, const struct dag *dag)
{
    const struct task_def *def = &dag->tasks[expansion->node];
    int64_t count = expansion->uninserted;
    if (def->max_parallel > 0)
        count = MIN(count, def->max_parallel - expansion->open);
    if (dag->max_active_tasks > 0)
        count = MIN(count, dag->max_active_tasks - expansion->active);
    return MAX(count, (int64_t)0);
}

static void place_at_limit(const struct limit_infos *limits, struct to_come *item)
{
    for (size_t i = 0; i < limits->count && item->limit == NULL; i++) {
        const struct limit_info *limit = &limits->items[i];
        if (str_equal(limit->name, limit_name_of(limit->kind, item->dag)) &&
            limit->running >= limit->max_running)
            item->limit = limit;
    }
}

static void place_at_pool(const struct pool_infos *pools, struct to_come *item)
{
    const struct pool_info *found = NULL;
    for (size_t i = 0; i < pools->count; i++) {
        const struct pool_info *pool = &pools->items[i];
        bool is_own = str_equal(pool->namespace_, item->dag->namespace_);
        bool is_shared = str_equal(pool->namespace_, POOL_NAMESPACE_OF_ALL);
        if (str_equal(pool->name, item->def->pool) && (is_own || (is_shared && found == NULL)))
            found = pool;
    }
    item->is_poolless = found == NULL;
    if (found != NULL && found->slots - found->occupied < item->def->slots)
        item->pool = found;
}

enum status to_come_read(struct store *store, struct arena *arena, struct to_come_list *out,
                         struct err *err)
{
    CLEANUP(expansion_list_fini) struct expansion_list list = {0};
    struct limit_infos limits = {0};
    struct pool_infos pools = {0};
    *out = (struct to_come_list){0};
    if (read_expansions(store, arena, &list, err) != STATUS_OK)
        return err_wrap(err, "count instances to come");
    if (list.count == 0)
        return STATUS_OK;
    if (limit_infos_read(store, arena, &limits, err) != STATUS_OK ||
        pool_infos_read(store, arena, NULL, NULL, &pools, err) != STATUS_OK)
        return err->code;
    out->items = arena_array(arena, list.count, sizeof *out->items);
    for (size_t i = 0; i < list.count; i++) {
        const struct expansion *expansion = &list.items[i];
        const struct dag *dag = NULL;
        if (store_dag(store, expansion->version, &dag, err) != STATUS_OK)
            return err->code;
        const struct task_def *def = &dag->tasks[expansion->node];
        struct to_come item = {
            .dag = dag,
            .def = def,
            .queue = expansion->queue != NULL ? expansion->queue : def->queue,
            .scope = expansion->scope,
            .count = count_of(expansion, dag),
            .since_us = expansion->since_us,
        };
        place_at_limit(&limits, &item);
        if (item.limit == NULL && def->pool != NULL)
            place_at_pool(&pools, &item);
        if (item.count > 0)
            out->items[out->count++] = item;
    }
    return STATUS_OK;
}
