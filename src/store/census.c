#include "store/census.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/run_state.h"
#include "store/store_priv.h"

_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1, "as in the SQL");
_Static_assert(CENSUS_MOST == 1000000, "as in the SQL");
#define MOST "1000000"

/* Work of runs in the foreground is nobody else's, and not counted. */
static const char QUEUES[] =
    "SELECT q.name, q.paused, q.max_running, coalesce(p.number, 0), coalesce(p.jobs, 0),"
    " coalesce(w.number, 0), coalesce(a.number, 0) FROM queue q"
    " LEFT JOIN (SELECT l.queue AS queue, CAST(sum(r.number) AS BIGINT) AS number,"
    " CAST(sum(r.jobs) AS BIGINT) AS jobs FROM"
    " (SELECT lane, count(*) AS number, sum(CASE WHEN run = 0 THEN 1 ELSE 0 END) AS jobs FROM"
    " (SELECT lane, run FROM ready WHERE scope = 0 LIMIT " MOST ") few GROUP BY lane) r"
    " JOIN lane l ON l.id = r.lane GROUP BY l.queue) p ON p.queue = q.id"
    " LEFT JOIN (SELECT j.queue AS queue, count(*) AS number FROM"
    " (SELECT task FROM timer WHERE scope = 0 LIMIT " MOST ") r JOIN job j ON j.id = r.task"
    " GROUP BY j.queue) w ON w.queue = q.id"
    " LEFT JOIN (SELECT l.queue AS queue, count(*) AS number FROM running r"
    " JOIN lane l ON l.id = r.lane GROUP BY l.queue) a ON a.queue = q.id"
    " ORDER BY q.name";
static const char HEADS[] =
    "SELECT q.name, heads.labels, t.queued_at_us, q.max_share FROM"
    " (SELECT l.queue AS queue, l.labels AS labels, (SELECT r.task FROM ready r WHERE r.scope = 0"
    " AND r.class = c.class AND r.lane = l.id"
    " ORDER BY r.scope, r.class, r.lane, r.rank, r.age_us, r.task LIMIT 1) AS task"
    " FROM lane l CROSS JOIN (SELECT 0 AS class UNION ALL SELECT 1) c) heads"
    " JOIN task t ON t.id = heads.task JOIN queue q ON q.id = heads.queue ORDER BY q.name";
/* The index of runs that go on is found by its own words only. */
#define RUNS_IN(state)                                                                             \
    "(SELECT count(*) FROM (SELECT 1 FROM run WHERE state IN (0, 1) AND state = " state            \
    " LIMIT " MOST ") x)"
static const char TOTALS[] = "SELECT " RUNS_IN("0") ", " RUNS_IN(
    "1") ","
         " (SELECT count(*) FROM running r JOIN job j ON j.id = r.task),"
         " (SELECT count(*) FROM (SELECT 1 FROM dead LIMIT " MOST ") x),"
         " (SELECT count(*) FROM (SELECT ended_at_us, max(coalesce(ended_at_us, "
         "9223372036854775807))"
         " OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_us"
         " FROM host WHERE kind = 'daemon') h WHERE h.ended_at_us IS NOT NULL"
         " AND (h.before_us IS NULL OR h.before_us <= h.ended_at_us))";

static void *copy_items(struct arena *arena, const void *items, size_t count, size_t size)
{
    void *copy = arena_array(arena, count, size);
    if (items != NULL)
        memcpy(copy, items, count * size);
    return copy;
}

static enum status count_queues(struct store *store, struct arena *arena, struct census *out,
                                struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t capacity = 0;
    CLEANUP(mem_freep) struct census_queue *items = NULL;
    enum status status = db_query(store->db, &stmt, err, QUEUES, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        items = mem_grow(items, &capacity, out->queues_count, sizeof *items);
        items[out->queues_count++] = (struct census_queue){
            .name = arena_strdup(arena, db_text(stmt, 0)),
            .paused = db_int(stmt, 1) != 0,
            .max_running = db_int(stmt, 2),
            .ready = db_int(stmt, 3),
            .jobs = db_int(stmt, 4),
            .delayed = db_int(stmt, 5),
            .running = db_int(stmt, 6),
        };
    }
    out->queues = copy_items(arena, items, out->queues_count, sizeof *items);
    return status;
}

static struct census_queue *queue_named(const struct census *census, const char *name)
{
    for (size_t i = 0; i < census->queues_count; i++)
        if (str_equal(census->queues[i].name, name))
            return &census->queues[i];
    return NULL;
}

static struct census_head head_of(const struct census *census, struct db_stmt *stmt)
{
    struct census_queue *queue = queue_named(census, db_text(stmt, 0));
    CHECK(queue != NULL); /* of the same transaction */
    int64_t since_us = db_int(stmt, 2);
    bool is_full = queue->max_running > 0 && queue->running >= queue->max_running;
    if (queue->head_us == 0 || since_us < queue->head_us)
        queue->head_us = since_us;
    return (struct census_head){
        .queue = queue->name,
        .since_us = since_us,
        .is_bounded = queue->paused || is_full || db_int(stmt, 3) > 0,
    };
}

static enum status find_heads(struct store *store, struct arena *arena, struct census *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t capacity = 0;
    CLEANUP(mem_freep) struct census_head *items = NULL;
    enum status status = db_query(store->db, &stmt, err, HEADS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        items = mem_grow(items, &capacity, out->heads_count, sizeof *items);
        items[out->heads_count] = head_of(out, stmt);
        items[out->heads_count++].labels = arena_strdup(arena, db_text(stmt, 1));
    }
    out->heads = copy_items(arena, items, out->heads_count, sizeof *items);
    return status;
}

static enum status count_totals(struct store *store, struct census *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, TOTALS, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    out->runs_queued = db_int(stmt, 0);
    out->runs_running = db_int(stmt, 1);
    out->jobs_claimed = db_int(stmt, 2);
    out->dead = db_int(stmt, 3);
    out->leaders_ended = db_int(stmt, 4);
    db_reset(stmt);
    return STATUS_OK;
}

struct host_collection {
    struct arena *arena;
    struct host_info *items;
    size_t count;
    size_t capacity;
};

static enum status add_host(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct host_collection *list = context;
    list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
    struct host_info *host = &list->items[list->count++];
    *host = *info;
    const char **texts[] = {&host->name,    &host->kind,  &host->machine,
                            &host->version, &host->roles, &host->labels,
                            &host->queues,  &host->boot,  &host->fate};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_strdup_null(list->arena, *texts[i]);
    return STATUS_OK;
}

static enum status list_hosts(struct store *store, struct arena *arena, struct census *out,
                              struct err *err)
{
    struct host_collection list = {.arena = arena};
    enum status status = store_host_each(store, false, add_host, &list, err);
    out->hosts = copy_items(arena, list.items, list.count, sizeof *list.items);
    out->hosts_count = list.count;
    mem_freep(&list.items);
    return status;
}

static enum status count_all(struct store *store, struct arena *arena, struct census *out,
                             struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin_read(db, err) != STATUS_OK || count_queues(store, arena, out, err) != STATUS_OK ||
        find_heads(store, arena, out, err) != STATUS_OK)
        return err->code;
    return count_totals(store, out, err);
}

enum status store_census(struct store *store, struct arena *arena, struct census *out,
                         struct err *err)
{
    struct census census = {.now_us = store_now_us(store)};
    if (count_all(store, arena, &census, err) != STATUS_OK ||
        list_hosts(store, arena, &census, err) != STATUS_OK ||
        store_pool_list(store, arena, &census.pools, &census.pools_count, err) != STATUS_OK)
        return err_wrap(err, "count what there is");
    *out = census;
    return STATUS_OK;
}
