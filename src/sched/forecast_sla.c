#include "sched/forecast_sla.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/deadline.h"

enum { MISSES_MAX = 1000000 };

struct collecting {
    struct arena *arena;
    int64_t to_us;
    struct forecast_miss *items; /* one per DAG, task and kind */
    size_t count;
    size_t capacity;
};

static bool is_same(const struct forecast_miss *item, const struct sla_miss *miss)
{
    bool is_run = item->task_id == NULL || miss->task_id == NULL;
    bool same_task =
        is_run ? item->task_id == miss->task_id : str_equal(item->task_id, miss->task_id);
    return item->kind == miss->kind && same_task && str_equal(item->dag_id, miss->dag_id);
}

static struct forecast_miss *item_of(struct collecting *all, const struct sla_miss *miss)
{
    for (size_t i = 0; i < all->count; i++)
        if (is_same(&all->items[i], miss))
            return &all->items[i];
    all->items = mem_grow(all->items, &all->capacity, all->count, sizeof *all->items);
    struct forecast_miss *item = &all->items[all->count++];
    *item = (struct forecast_miss){
        .dag_id = arena_strdup(all->arena, miss->dag_id),
        .task_id = arena_strdup_null(all->arena, miss->task_id),
        .kind = miss->kind,
        .first_us = miss->expected_us,
    };
    return item;
}

static enum status note_miss(void *context, const struct sla_miss *miss, struct err *err)
{
    (void)err;
    struct collecting *all = context;
    /* What ends at the very instant of its deadline is in time. */
    if (miss->actual_us != 0 && miss->actual_us <= miss->expected_us)
        return STATUS_OK;
    struct forecast_miss *item = item_of(all, miss);
    int64_t end_us = miss->actual_us != 0 ? miss->actual_us : all->to_us;
    item->count++;
    item->worst_us = MAX(item->worst_us, end_us - miss->expected_us);
    item->first_us = MIN(item->first_us, miss->expected_us);
    return STATUS_OK;
}

static int by_count(const void *a, const void *b)
{
    const struct forecast_miss *x = a;
    const struct forecast_miss *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = strcmp(x->dag_id, y->dag_id);
    return order != 0
               ? order
               : strcmp(x->task_id != NULL ? x->task_id : "", y->task_id != NULL ? y->task_id : "");
}

enum status forecast_misses(struct store *scratch, struct arena *arena, int64_t to_us,
                            struct forecast *out, struct err *err)
{
    struct collecting all = {.arena = arena, .to_us = to_us};
    const struct sla_filter filter = {.limit = MISSES_MAX};
    enum status status = store_sla_each(scratch, &filter, note_miss, &all, err);
    if (status == STATUS_OK) {
        out->misses = arena_array(arena, all.count + 1, sizeof *out->misses);
        if (all.count > 0) {
            qsort(all.items, all.count, sizeof *all.items, by_count);
            memcpy(out->misses, all.items, all.count * sizeof *all.items);
        }
        out->misses_count = all.count;
    }
    free(all.items);
    return status;
}
