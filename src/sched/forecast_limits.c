#include "sched/forecast_limits.h"

#include "base/str.h"
#include "sched/player.h"
#include "store/limit.h"
#include "store/pool.h"
#include "store/queue.h"
#include "store/run_store.h"

#define ACTOR "simulate"

/* --- taking over ----------------------------------------------------------------------------- */

static enum status copy_pools(const struct forecast_policies *policies, struct err *err)
{
    struct pool_info *pools = NULL;
    size_t count = 0;
    if (store_pool_list(policies->real, policies->arena, &pools, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        const struct pool_change change = {
            .namespace_ = pools[i].namespace_,
            .name = pools[i].name,
            .slots = &pools[i].slots,
            .actor = ACTOR,
        };
        if (store_pool_set(policies->scratch, &change, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status copy_limits(const struct forecast_policies *policies, struct err *err)
{
    struct limit_info *limits = NULL;
    size_t count = 0;
    if (store_limit_list(policies->real, policies->arena, &limits, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        const struct limit_change change = {
            .kind = limits[i].kind,
            .name = limits[i].name,
            .max_running = limits[i].max_running,
            .actor = ACTOR,
        };
        if (store_limit_set(policies->scratch, &change, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status copy_queues(const struct forecast_policies *policies, struct err *err)
{
    struct queue_info *queues = NULL;
    size_t count = 0;
    if (store_queue_list(policies->real, policies->arena, &queues, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        const struct queue_change change = {
            .name = queues[i].name,
            .priority = &queues[i].priority,
            .max_running = &queues[i].max_running,
            .max_share = &queues[i].max_share,
            .paused = &queues[i].paused,
            .actor = ACTOR,
        };
        if (store_queue_set(policies->scratch, &change, true, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status forecast_policies_copy(const struct forecast_policies *policies, struct err *err)
{
    if (copy_pools(policies, err) != STATUS_OK || copy_limits(policies, err) != STATUS_OK ||
        copy_queues(policies, err) != STATUS_OK)
        return err_wrap(err, "take over pools, limits and queues");
    return STATUS_OK;
}

/* --- while the clock runs -------------------------------------------------------------------- */

struct pool_hold {
    size_t pool;
    int64_t slots;
};

enum status forecast_pools_open(struct forecast_pools *pools, struct store *scratch,
                                struct arena *arena, struct err *err)
{
    struct pool_info *infos = NULL;
    size_t count = 0;
    if (store_pool_list(scratch, arena, &infos, &count, err) != STATUS_OK)
        return err->code;
    *pools = (struct forecast_pools){
        .scratch = scratch,
        .items = arena_array(arena, count + 1, sizeof *pools->items),
        .count = count,
        .used = arena_array(arena, count + 1, sizeof *pools->used),
        .waited_in_us = arena_array(arena, count + 1, sizeof *pools->waited_in_us),
        .holders = idmap_new(),
        .arena = arena,
    };
    for (size_t i = 0; i < count; i++) {
        pools->items[i] = (struct forecast_pool){
            .namespace_ = infos[i].namespace_, .name = infos[i].name, .slots = infos[i].slots};
        pools->waited_in_us[i] = -1;
    }
    return STATUS_OK;
}

void forecast_pools_fini(struct forecast_pools *pools)
{
    idmap_free(pools->holders);
    pools->holders = NULL;
}

/* That of the namespace, else that of all; `count`: there is none. */
static size_t find_pool(const struct forecast_pools *pools, const char *namespace_,
                        const char *name)
{
    size_t found = pools->count;
    for (size_t i = 0; i < pools->count; i++) {
        const struct forecast_pool *pool = &pools->items[i];
        bool is_own = str_equal(pool->namespace_, namespace_);
        if (str_equal(pool->name, name) &&
            (is_own || (found == pools->count && str_equal(pool->namespace_, "default"))))
            found = i;
    }
    return found;
}

static int64_t waited_us(const struct forecast_pools *pools, int64_t task)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct task_row row;
    struct err ignored = {0};
    if (store_task_load(pools->scratch, arena, task, &row, &ignored) != STATUS_OK ||
        row.queued_at_us == 0)
        return 0;
    return player_clock() - row.queued_at_us;
}

void forecast_pools_start(struct forecast_pools *pools, const struct dag *dag,
                          const struct task_def *def, const struct claim *claim)
{
    size_t i = def->pool != NULL ? find_pool(pools, dag->namespace_, def->pool) : pools->count;
    if (i == pools->count)
        return;
    struct forecast_pool *pool = &pools->items[i];
    struct pool_hold *hold = arena_alloc(pools->arena, sizeof *hold);
    *hold = (struct pool_hold){i, def->slots};
    idmap_set(pools->holders, claim->task, hold);
    pools->used[i] += def->slots;
    pool->most_used = MAX(pool->most_used, pools->used[i]);
    pool->tasks++;
    pool->longest_wait_us = MAX(pool->longest_wait_us, waited_us(pools, claim->task));
}

void forecast_pools_end(struct forecast_pools *pools, const struct claim *claim)
{
    const struct pool_hold *hold = idmap_remove(pools->holders, claim->task);
    if (hold != NULL)
        pools->used[hold->pool] -= hold->slots;
}

enum status forecast_pools_look(struct forecast_pools *pools, int64_t hour_us, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct pool_info *infos = NULL;
    size_t count = 0;
    if (store_pool_list(pools->scratch, arena, &infos, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        size_t at = find_pool(pools, infos[i].namespace_, infos[i].name);
        if (at == pools->count || infos[i].waiting == 0)
            continue;
        struct forecast_pool *pool = &pools->items[at];
        pool->hours_waited += pools->waited_in_us[at] != hour_us;
        pools->waited_in_us[at] = hour_us;
        pool->most_waiting = MAX(pool->most_waiting, infos[i].waiting);
    }
    return STATUS_OK;
}

void forecast_pools_report(const struct forecast_pools *pools, struct forecast *out)
{
    out->pools = arena_array(pools->arena, pools->count + 1, sizeof *out->pools);
    for (size_t i = 0; i < pools->count; i++)
        if (pools->items[i].tasks > 0 || pools->items[i].most_waiting > 0)
            out->pools[out->pools_count++] = pools->items[i];
}
