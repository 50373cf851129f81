/*
 * pool_open: what waits in front of a pool or a limit is let in.
 *
 * Each lane has a line of its own: what waits for a queue that is paused, or that no host serves,
 * keeps nobody from the slots. Within a line the order is strict, else a task that needs several
 * slots might wait for ever; who needs more than the pool has at all is passed over. Letting in
 * means that it is claimable: slots are taken by the claim.
 */
#include <string.h>

#include "base/check.h"
#include "store/id_list.h"
#include "store/pool_set_priv.h"

enum { OPEN_MAX = 1000 };

static const char LANES_WAITING[] = "SELECT l.id FROM lane l WHERE EXISTS"
                                    " (SELECT 1 FROM pool_wait w WHERE w.pool = $1"
                                    " AND w.lane = l.id) ORDER BY l.id";
#define LINE_TOP                                                                                   \
    "SELECT task, need, rank, age_us FROM pool_wait WHERE pool = $1 AND lane = $2 AND need <= $3"  \
    " ORDER BY pool, lane, rank, age_us, task LIMIT $4"
static const char *const LINE[] = {
    [DB_SQLITE] = LINE_TOP,
    [DB_POSTGRES] = LINE_TOP " FOR UPDATE SKIP LOCKED",
};

/* A place in a line. */
struct waiter {
    int64_t need;
    struct ready_key key;
};

struct waiter_list {
    struct waiter *items;
    size_t count;
    int64_t most; /* that there is room for */
};

static enum status read_line(struct work *work, const struct pool_state *pool, int64_t lane,
                             struct waiter_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t slots = pool->is_there ? pool->slots : INT64_MAX;
    enum status status = db_query(work->db, &stmt, err, LINE[db_dialect(work->db)], "iiii",
                                  pool->id, lane, slots, out->most);
    out->count = 0;
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out->items[out->count++] = (struct waiter){
            .need = db_int(stmt, 1),
            .key =
                {
                    .lane = lane,
                    .rank = db_int(stmt, 2),
                    .age_us = db_int(stmt, 3),
                    .task = db_int(stmt, 0),
                },
        };
    return status;
}

/* Runs are not waited for with a pool locked. */
static enum status fetch(struct work *work, const struct id_list *ids, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    enum run_lock lock = work->lock;
    if (work_fetch_tasks(work, ids->items, ids->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ids->count; i++) {
        const struct task_row *task = idmap_find(work->tasks, ids->items[i]);
        if (task != NULL && !work_is_job(task))
            id_list_add(&runs, task->run);
    }
    work->lock = RUN_UNLOCKED;
    enum status status = work_fetch_runs(work, runs.items, runs.count, err);
    work->lock = lock;
    return status;
}

static void let_in(struct work *work, struct task_row *task, int64_t pool)
{
    int64_t since_us = task->queued_at_us;
    task->gate = task->read_gate = pool;
    task->has_told_pool = true;
    work_queue(work, task);
    task->queued_at_us = since_us; /* queue_timeout counts the wait in front of the pool too */
}

/* Still there, though rows of this transaction may say otherwise. */
static bool still_waits(struct work *work, int64_t id)
{
    const struct task_row *task = idmap_find(work->tasks, id);
    return task != NULL && task_waits_for_pool(task->state, task->reason);
}

bool ready_key_comes_before(const struct ready_key *x, const struct ready_key *y)
{
    if (x->rank != y->rank)
        return x->rank < y->rank;
    if (x->age_us != y->age_us)
        return x->age_us < y->age_us;
    return x->task < y->task;
}

void pool_state_note_waiter(struct work *work, struct pool_state *pool, const struct ready_key *key)
{
    for (size_t i = 0; i < pool->lines_count; i++) {
        struct pool_line *line = &pool->lines[i];
        if (line->lane != key->lane)
            continue;
        if (ready_key_comes_before(key, &line->head))
            line->head = *key;
        return;
    }
    struct pool_line *lines = arena_array(work->arena, pool->lines_count + 1, sizeof *lines);
    if (pool->lines_count > 0)
        memcpy(lines, pool->lines, pool->lines_count * sizeof *lines);
    lines[pool->lines_count++] = (struct pool_line){key->lane, *key};
    pool->lines = lines;
}

/* Those that left the line in this transaction are still in the table. */
static int64_t count_leavers(const struct work *work)
{
    int64_t count = 0;
    for (size_t i = 0; i < work->rows.count; i++)
        count +=
            task_waits_for_pool(work->rows.items[i]->read_state, work->rows.items[i]->read_reason);
    return count;
}

static enum status open_line(struct work *work, struct pool_state *pool, int64_t lane, int64_t room,
                             struct err *err)
{
    CLEANUP(id_list_fini) struct id_list ids = {0};
    struct waiter_list line = {.most = MIN(room, (int64_t)OPEN_MAX) + 1 + count_leavers(work)};
    line.items = arena_array(work->arena, (size_t)line.most, sizeof *line.items);
    if (read_line(work, pool, lane, &line, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < line.count; i++)
        id_list_add(&ids, line.items[i].key.task);
    if (fetch(work, &ids, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < line.count; i++) {
        const struct waiter *waiter = &line.items[i];
        if (!still_waits(work, waiter->key.task))
            continue;
        if (waiter->need > room) {
            pool_state_note_waiter(work, pool, &waiter->key);
            break;
        }
        room -= waiter->need;
        let_in(work, idmap_find(work->tasks, waiter->key.task), pool->id);
    }
    return STATUS_OK;
}

enum status pool_state_open(struct work *work, struct pool_state *pool, int64_t most,
                            struct err *err)
{
    CLEANUP(id_list_fini) struct id_list lanes = {0};
    int64_t room = MIN(pool_state_room(pool), most);
    struct db_stmt *stmt = NULL;
    if (room <= 0)
        return STATUS_OK;
    enum status status = db_query(work->db, &stmt, err, LANES_WAITING, "i", pool->id);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(&lanes, db_int(stmt, 0));
    for (size_t i = 0; status == STATUS_OK && i < lanes.count; i++)
        status = open_line(work, pool, lanes.items[i], room, err);
    return status == STATUS_OK ? STATUS_OK
                               : err_wrap(err, "let in what waits for '%s'", pool->name);
}

/* --- when slots were left -------------------------------------------------------------------- */

#define POOLS_OF(these)                                                                            \
    "SELECT DISTINCT p.id FROM pool p JOIN (SELECT pool FROM pool_slot WHERE task " these          \
    " UNION SELECT pool FROM pool_wait WHERE task " these ") h ON h.pool = p.id"                   \
    " WHERE p.kind = 0 ORDER BY p.id"
static const char POOLS_OF_TASK[] = POOLS_OF("= $1");
static const char POOLS_OF_TASKS[] = POOLS_OF("= ANY($1)");
_Static_assert(POOL_NAMED == 0, "as in the SQL");

static bool has_something_to_tell(const struct work *work, const struct task_row *task)
{
    const struct run_row *run = idmap_find(work->runs, task->run);
    if (run == NULL || task->has_told_pool || task->fresh)
        return false;
    return task_row_left_slots(run, task) ||
           (task_waits_for_pool(task->read_state, task->read_reason) &&
            !task_waits_for_pool(task->state, task->reason));
}

static void list_leavers(struct work *work, struct id_list *out)
{
    for (size_t i = 0; i < work->rows.count; i++) {
        struct task_row *task = work->rows.items[i];
        if (!has_something_to_tell(work, task))
            continue;
        task->has_told_pool = true;
        id_list_add(out, task->id);
    }
}

static enum status list_pools(struct work *work, const struct id_list *tasks, struct id_list *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    if (db_dialect(work->db) == DB_POSTGRES) {
        status = db_query(work->db, &stmt, err, POOLS_OF_TASKS, "I", tasks->items, tasks->count);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            id_list_add(out, db_int(stmt, 0));
        return status;
    }
    for (size_t i = 0; status == STATUS_OK && i < tasks->count; i++) {
        status = db_query(work->db, &stmt, err, POOLS_OF_TASK, "i", tasks->items[i]);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            id_list_add(out, db_int(stmt, 0));
    }
    return status;
}

enum status pools_open_left(struct work *work, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    CLEANUP(id_list_fini) struct id_list pools = {0};
    if (!work->has_pools)
        return STATUS_OK;
    list_leavers(work, &tasks);
    if (tasks.count == 0)
        return STATUS_OK;
    pool_set_of(work)->were_left = true;
    if (list_pools(work, &tasks, &pools, err) != STATUS_OK ||
        pool_set_bind(work, pools.items, pools.count, POOL_LOCK, err) != STATUS_OK)
        return err_wrap(err, "leave slots");
    for (size_t i = 0; i < pools.count; i++)
        if (pool_state_open(work, pool_set_find(work, pools.items[i]), INT64_MAX, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status pools_open(struct work *work, int64_t pool, struct err *err)
{
    if (pool_set_bind(work, &pool, 1, POOL_LOCK, err) != STATUS_OK)
        return err->code;
    return pool_state_open(work, pool_set_find(work, pool), INT64_MAX, err);
}

bool pools_were_left(const struct work *work)
{
    return work->pools != NULL && work->pools->were_left;
}

bool pools_are_busy(const struct work *work)
{
    const struct pool_set *set = work->pools;
    for (size_t i = 0; set != NULL && i < set->count; i++)
        if (!set->items[i]->is_ours)
            return true;
    return false;
}

/* --- limits ---------------------------------------------------------------------------------- */

static const char LIMITS[] =
    "SELECT p.id, p.kind, p.name, p.slots, p.removed,"
    " (SELECT count(*) FROM (SELECT 1 FROM pool_wait w WHERE w.pool = p.id LIMIT 1) one)"
    " FROM pool p WHERE p.kind > 0 ORDER BY p.id";

static enum status load_limits(struct work *work, struct id_list *out_waited_for, struct err *err)
{
    struct pool_set *set = pool_set_of(work);
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, LIMITS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        if (set->limits_count == capacity) {
            capacity = MAX(2 * capacity, (size_t)16);
            struct pool_state *more = arena_array(work->arena, capacity, sizeof *more);
            if (set->limits_count > 0)
                memcpy(more, set->limits, set->limits_count * sizeof *more);
            set->limits = more;
        }
        if (db_int(stmt, 5) > 0)
            id_list_add(out_waited_for, db_int(stmt, 0));
        if (db_int(stmt, 4) != 0)
            continue;
        set->limits[set->limits_count++] = (struct pool_state){
            .id = db_int(stmt, 0),
            .kind = (enum pool_kind)db_int(stmt, 1),
            .name = arena_strdup(work->arena, db_text(stmt, 2)),
            .slots = db_int(stmt, 3),
        };
    }
    return status;
}

enum status pools_open_limits(struct work *work, int64_t most, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list waited_for = {0};
    if (load_limits(work, &waited_for, err) != STATUS_OK ||
        pool_set_bind(work, waited_for.items, waited_for.count, POOL_TRY_LOCK, err) != STATUS_OK)
        return err_wrap(err, "look at limits");
    for (size_t i = 0; i < waited_for.count; i++)
        if (pool_state_open(work, pool_set_find(work, waited_for.items[i]), most, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}
