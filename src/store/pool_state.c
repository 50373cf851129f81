#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "store/id_list.h"
#include "store/pool_set_priv.h"
#include "store/tier_count.h"

/* clang-format off */
static const char POOL_LOAD[] = "SELECT id, kind, name, slots, removed FROM pool WHERE id = $1";
static const char *const POOLS_LOCK[] = {
    [POOL_TRY_LOCK] = "SELECT id, kind, name, slots, removed FROM pool WHERE id = ANY($1)"
                      " ORDER BY id FOR NO KEY UPDATE SKIP LOCKED",
    [POOL_LOCK] = "SELECT id, kind, name, slots, removed FROM pool WHERE id = ANY($1)"
                  " ORDER BY id FOR NO KEY UPDATE",
};
/* clang-format on */
/* Asked after the row is locked, not with it, so that it is what the last owner left. */
static const char HELD[] = "SELECT slot, task FROM pool_slot WHERE pool = $1 ORDER BY slot";
#define RUNNING_OF_NAMESPACE                                                                       \
    "SELECT count(*) FROM running r JOIN task t ON t.id = r.task"                                  \
    " LEFT JOIN run u ON u.id = t.run LEFT JOIN job j ON j.id = t.id AND t.run = 0"                \
    " WHERE coalesce(u.namespace, j.namespace) = $1"
#define RUNNING_OF_DAG                                                                             \
    "SELECT count(*) FROM running r JOIN task t ON t.id = r.task JOIN run u ON u.id = t.run"       \
    " JOIN dag d ON d.id = u.dag WHERE d.dag_id = $1"
#define BUT_THESE " AND r.task <> ALL($2)"
static const char *const RUNNING[POOL_KIND_COUNT][2] = {
    [POOL_OF_NAMESPACE] =
        {[DB_SQLITE] = RUNNING_OF_NAMESPACE, [DB_POSTGRES] = RUNNING_OF_NAMESPACE BUT_THESE},
    [POOL_OF_DAG] = {[DB_SQLITE] = RUNNING_OF_DAG, [DB_POSTGRES] = RUNNING_OF_DAG BUT_THESE},
};

/* --- the set --------------------------------------------------------------------------------- */

struct pool_set *pool_set_of(struct work *work)
{
    if (work->pools == NULL)
        work->pools = mem_zalloc(1, sizeof *work->pools);
    return work->pools;
}

void pool_set_free(struct pool_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i]->numbers);
    free(set->items);
    free(set);
}

struct pool_state *pool_set_find(struct work *work, int64_t id)
{
    struct pool_set *set = pool_set_of(work);
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i]->id == id)
            return set->items[i];
    return NULL;
}

static struct pool_state *add_state(struct work *work, int64_t id)
{
    struct pool_set *set = pool_set_of(work);
    struct pool_state *pool = arena_alloc(work->arena, sizeof *pool);
    *pool = (struct pool_state){.id = id, .next_number = 1};
    set->items = mem_grow(set->items, &set->capacity, set->count, sizeof(struct pool_state *));
    set->items[set->count++] = pool;
    return pool;
}

/* --- what is held ---------------------------------------------------------------------------- */

static void add_number(struct pool_state *pool, size_t *capacity, int64_t number)
{
    pool->numbers = mem_grow(pool->numbers, capacity, pool->numbers_count, sizeof *pool->numbers);
    pool->numbers[pool->numbers_count++] = number;
}

/* Its row still says that it holds the slot. */
static bool has_left(const struct work *work, int64_t id)
{
    const struct task_row *task = idmap_find(work->tasks, id);
    const struct run_row *run = task != NULL ? idmap_find(work->runs, task->run) : NULL;
    return run != NULL && task_row_left_slots(run, task);
}

static enum status load_held(struct work *work, struct pool_state *pool, struct err *err)
{
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    CLEANUP(id_list_fini) struct id_list numbers = {0};
    enum status status = db_query(work->db, &stmt, err, HELD, "i", pool->id);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        id_list_add(&numbers, db_int(stmt, 0));
        id_list_add(&tasks, db_int(stmt, 1));
    }
    for (size_t i = 0; status == STATUS_OK && i < tasks.count; i++)
        if (!has_left(work, tasks.items[i]))
            add_number(pool, &capacity, numbers.items[i]);
    pool->held = (int64_t)pool->numbers_count;
    return status;
}

bool pool_state_counts(const struct pool_state *pool, const struct run_row *run,
                       const struct task_row *task)
{
    if (task->job != NULL)
        return pool->kind == POOL_OF_NAMESPACE && strcmp(task->job->namespace_, pool->name) == 0;
    if (run == NULL)
        return false; /* nothing happened to it */
    const char *const names[POOL_KIND_COUNT] = {
        [POOL_NAMED] = "", /* is held by slots, not by names */
        [POOL_OF_NAMESPACE] = run->dag->namespace_,
        [POOL_OF_DAG] = run->dag->id,
        [POOL_OF_TIER] = run->dag->tier,
    };
    return strcmp(names[pool->kind], pool->name) == 0;
}

static bool has_stopped(const struct task_row *task)
{
    return !task->fresh && task->read_state == TASK_RUNNING && task->state != TASK_RUNNING;
}

/* Of a job that was not read again only its id is known. */
static enum status ask_running(struct work *work, struct pool_state *pool, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list gone = {0};
    const char *sql = RUNNING[pool->kind][db_dialect(work->db)];
    for (size_t i = 0; i < work->rows.count; i++)
        if (has_stopped(work->rows.items[i]))
            id_list_add(&gone, work->rows.items[i]->id);
    if (pool->kind == POOL_OF_TIER)
        return tier_count(work->store, pool->name, gone.items, gone.count, &pool->held, err);
    return db_dialect(work->db) == DB_POSTGRES
               ? db_get_int(work->db, 0, &pool->held, err, sql, "tI", pool->name, gone.items,
                            gone.count)
               : db_get_int(work->db, 0, &pool->held, err, sql, "t", pool->name);
}

/* What starts and ends in this transaction is not in the table yet. */
static enum status count_running(struct work *work, struct pool_state *pool, struct err *err)
{
    bool knows_ends = db_dialect(work->db) == DB_POSTGRES;
    if (ask_running(work, pool, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        bool starts =
            task->state == TASK_RUNNING && (task->fresh || task->read_state != TASK_RUNNING);
        if (pool_state_counts(pool, idmap_find(work->runs, task->run), task))
            pool->held += starts - (has_stopped(task) && !knows_ends);
    }
    return STATUS_OK;
}

static enum status see_held(struct work *work, struct pool_state *pool, struct err *err)
{
    enum status status =
        pool->kind == POOL_NAMED ? load_held(work, pool, err) : count_running(work, pool, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look into '%s'", pool->name);
}

/* --- binding --------------------------------------------------------------------------------- */

static void read_pool(struct work *work, struct db_stmt *stmt)
{
    struct pool_state *pool = pool_set_find(work, db_int(stmt, 0));
    CHECK(pool != NULL);
    pool->kind = (enum pool_kind)db_int(stmt, 1);
    pool->name = arena_strdup(work->arena, db_text(stmt, 2));
    pool->slots = db_int(stmt, 3);
    pool->is_there = db_int(stmt, 4) == 0;
    pool->is_ours = true;
}

static enum status lock_together(struct work *work, const struct id_list *ids, enum pool_lock lock,
                                 struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(work->db, &stmt, err, POOLS_LOCK[lock], "I", ids->items, ids->count);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        read_pool(work, stmt);
    return status;
}

static enum status load_singly(struct work *work, const struct id_list *ids, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < ids->count; i++) {
        struct db_stmt *stmt = NULL;
        status = db_query(work->db, &stmt, err, POOL_LOAD, "i", ids->items[i]);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            read_pool(work, stmt);
    }
    return status;
}

enum status pool_set_bind(struct work *work, const int64_t *ids, size_t count, enum pool_lock lock,
                          struct err *err)
{
    CLEANUP(id_list_fini) struct id_list missing = {0};
    for (size_t i = 0; i < count; i++) {
        if (pool_set_find(work, ids[i]) != NULL)
            continue;
        (void)add_state(work, ids[i]);
        id_list_add(&missing, ids[i]);
    }
    if (missing.count == 0)
        return STATUS_OK;
    bool is_locked = db_dialect(work->db) == DB_POSTGRES && !SABOTAGE("pool_counted_then_updated");
    enum status status =
        is_locked ? lock_together(work, &missing, lock, err) : load_singly(work, &missing, err);
    for (size_t i = 0; status == STATUS_OK && i < missing.count; i++) {
        struct pool_state *pool = pool_set_find(work, missing.items[i]);
        if (pool->is_ours)
            status = see_held(work, pool, err);
    }
    if (lock == POOL_TRY_LOCK) /* who takes; who leaves is in nobody's way */
        SABOTAGE_PAUSE("pool_counted_then_updated");
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look into pools");
}

int64_t pool_state_room(const struct pool_state *pool)
{
    if (!pool->is_ours)
        return 0;
    if (!pool->is_there)
        return pool->kind == POOL_NAMED ? 0 : INT64_MAX;
    return MAX(pool->slots - pool->held, (int64_t)0);
}

int64_t pool_state_take(struct pool_state *pool)
{
    if (SABOTAGE("pool_counted_then_updated"))
        return 1 + (int64_t)rng_below(INT32_MAX); /* else the key would refuse it */
    while (pool->numbers_passed < pool->numbers_count &&
           pool->numbers[pool->numbers_passed] == pool->next_number) {
        pool->numbers_passed++;
        pool->next_number++;
    }
    return pool->next_number <= pool->slots ? pool->next_number++ : 0;
}
