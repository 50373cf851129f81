/*
 * pool_take: whether a task may run as far as its pool and the limits of its namespace, DAG and
 * tier go.
 *
 * All or nothing: slots are taken only where every one of them has room.
 */
#include "base/check.h"
#include "store/lane_cache.h"
#include "store/pool_set_priv.h"

struct asking {
    const struct run_row *run;
    const struct task_row *task;
    struct ready_key key;
    int64_t need;
    struct pool_state *pool; /* NULL: none is named */
    struct pool_state *limits[POOL_KIND_COUNT];
};

/* Somebody waits there before it. */
static bool is_behind(const struct pool_state *pool, const struct ready_key *key)
{
    for (size_t i = 0; i < pool->lines_count; i++)
        if (pool->lines[i].lane == key->lane && ready_key_comes_before(&pool->lines[i].head, key))
            return true;
    return false;
}

/* A pool or limit that is looked at for the first time lets in what already waits for it. */
static enum status look_at(struct work *work, int64_t id, struct pool_state **out, struct err *err)
{
    bool is_new = pool_set_find(work, id) == NULL;
    if (pool_set_bind(work, &id, 1, POOL_TRY_LOCK, err) != STATUS_OK)
        return err->code;
    *out = pool_set_find(work, id);
    CHECK(*out != NULL);
    return is_new && (*out)->kind == POOL_NAMED ? pool_state_open(work, *out, INT64_MAX, err)
                                                : STATUS_OK;
}

/* Its own namespace's pool, or the one of all namespaces. */
static enum status find_pool(struct work *work, struct asking *asking, struct err *err)
{
    const struct pool_ref *ref = &asking->run->pools[asking->task->node];
    struct pool_state *shared = NULL;
    if (look_at(work, ref->own, &asking->pool, err) != STATUS_OK)
        return err->code;
    CHECK(asking->pool != NULL);
    if (!asking->pool->is_ours || asking->pool->is_there || ref->shared == ref->own)
        return STATUS_OK;
    if (look_at(work, ref->shared, &shared, err) != STATUS_OK)
        return err->code;
    CHECK(shared != NULL);
    if (!shared->is_ours || shared->is_there)
        asking->pool = shared;
    return STATUS_OK;
}

static enum status find_limits(struct work *work, struct asking *asking, struct err *err)
{
    const struct pool_set *set = work->pools;
    for (size_t i = 0; set != NULL && i < set->limits_count; i++) {
        const struct pool_state *limit = &set->limits[i];
        if (pool_state_counts(limit, asking->run, asking->task) &&
            look_at(work, limit->id, &asking->limits[limit->kind], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum pool_answer ask(const struct pool_state *pool, int64_t need,
                            const struct ready_key *key)
{
    if (pool == NULL)
        return POOL_TAKEN;
    if (!pool->is_ours)
        return POOL_BUSY;
    return pool_state_room(pool) < need || is_behind(pool, key) ? POOL_FULL : POOL_TAKEN;
}

/* The first of them that does not say yes. */
static enum pool_answer ask_all(struct pool_set *set, const struct asking *asking)
{
    for (size_t kind = POOL_OF_NAMESPACE; kind < POOL_KIND_COUNT; kind++) {
        enum pool_answer answer = ask(asking->limits[kind], 1, &asking->key);
        set->full = answer == POOL_FULL ? asking->limits[kind] : NULL;
        if (answer != POOL_TAKEN)
            return answer;
    }
    enum pool_answer answer = ask(asking->pool, asking->need, &asking->key);
    set->full = answer == POOL_FULL ? asking->pool : NULL;
    return answer;
}

static void take_all(struct work *work, struct asking *asking)
{
    const struct task_row *task = asking->task;
    for (size_t kind = POOL_OF_NAMESPACE; kind < POOL_KIND_COUNT; kind++)
        if (asking->limits[kind] != NULL)
            asking->limits[kind]->held++;
    if (asking->pool == NULL)
        return;
    asking->pool->held += asking->need;
    for (int64_t i = 0; i < asking->need; i++) {
        int64_t number = pool_state_take(asking->pool);
        CHECK(number > 0);
        db_bulk_add(&work->saver.bulks[SAVER_SLOT_TAKEN], asking->pool->id, number, task->id,
                    task->attempt + 1);
    }
}

enum status pools_take(struct work *work, const struct run_row *run, const struct task_row *task,
                       enum pool_answer *out, struct err *err)
{
    bool needs_slots = task->job == NULL && task_row_needs_slots(run, task);
    bool has_limits = work->pools != NULL && work->pools->limits_count > 0;
    *out = POOL_TAKEN;
    if (!needs_slots && !has_limits)
        return STATUS_OK;
    /* Others cannot see rows that this transaction made, and would not know who waits there. */
    if (needs_slots && work->store->lane_cache->unsure && db_dialect(work->db) == DB_POSTGRES) {
        *out = POOL_BUSY;
        return STATUS_OK;
    }
    struct asking asking = {
        .run = run,
        .task = task,
        .key = ready_key_of(run, task),
        .need = task_row_def(run, task)->slots,
    };
    if ((needs_slots && find_pool(work, &asking, err) != STATUS_OK) ||
        find_limits(work, &asking, err) != STATUS_OK)
        return err_wrap(err, "find slots");
    *out = ask_all(pool_set_of(work), &asking);
    if (*out == POOL_TAKEN)
        take_all(work, &asking);
    return STATUS_OK;
}

static const char *describe(struct work *work, const struct run_row *run,
                            const struct task_row *task, const struct pool_state *pool)
{
    long long slots = (long long)pool->slots;
    int64_t need = task_row_def(run, task)->slots;
    if (pool->kind == POOL_OF_NAMESPACE)
        return arena_format(work->arena, "namespace '%s': %lld may run at once", pool->name, slots);
    if (pool->kind == POOL_OF_DAG)
        return arena_format(work->arena, "DAG '%s': %lld tasks may run at once", pool->name, slots);
    if (pool->kind == POOL_OF_TIER)
        return arena_format(work->arena, "tier '%s': %lld tasks may run at once", pool->name,
                            slots);
    if (!pool->is_there)
        return arena_format(work->arena, "there is no pool '%s'", pool->name);
    return arena_format(work->arena, "pool '%s': needs %lld of %lld slots", pool->name,
                        (long long)need, slots);
}

void pools_hold(struct work *work, const struct run_row *run, struct task_row *task)
{
    struct pool_state *pool = work->pools->full;
    const struct ready_key key = ready_key_of(run, task);
    CHECK(pool != NULL);
    int64_t need = pool->kind == POOL_NAMED ? task_row_def(run, task)->slots : 1;
    if (need <= pool->slots)
        pool_state_note_waiter(work, pool, &key);
    task->state = TASK_SCHEDULED;
    task->reason = pool->kind == POOL_NAMED ? REASON_POOL : REASON_CAP;
    task->detail = describe(work, run, task, pool);
    task->gate = pool->id;
    task->dirty = true;
}
