#include "base/check.h"
#include "base/mem.h"
#include "store/run_tasks_priv.h"

static enum status fetch_range(struct work *work, int64_t first, int64_t count, struct err *err)
{
    CLEANUP(mem_freep) int64_t *ids = mem_alloc((size_t)(count + 1) * sizeof *ids);
    for (int64_t i = 0; i < count; i++)
        ids[i] = first + i;
    return work_fetch_tasks(work, ids, (size_t)count, err);
}

static enum status load_instances(struct work *work, struct run_tasks *tasks, size_t node,
                                  struct err *err)
{
    const struct task_row *expander = tasks->nodes[node];
    struct instances *list = &tasks->instances[node];
    if (expander->instance_base == 0)
        return STATUS_OK;
    list->items = arena_array(work->arena, (size_t)expander->inserted, sizeof(struct task_row *));
    if (fetch_range(work, expander->instance_base, expander->inserted, err) != STATUS_OK)
        return err->code;
    for (int64_t i = 0; i < expander->inserted; i++) {
        struct task_row *task = idmap_find(work->tasks, expander->instance_base + i);
        if (task != NULL) /* else it was dropped before it had a row */
            list->items[list->count++] = task;
    }
    return STATUS_OK;
}

enum status run_tasks_load(struct work *work, int64_t run_id, struct run_tasks *out,
                           struct err *err)
{
    struct run_tasks tasks = {0};
    if (work_run(work, run_id, &tasks.run, err) != STATUS_OK)
        return err->code;
    size_t count = tasks.run->dag->tasks_count;
    tasks.nodes = arena_array(work->arena, count, sizeof(struct task_row *));
    tasks.instances = arena_array(work->arena, count, sizeof(struct instances));
    if (fetch_range(work, tasks.run->first_task, (int64_t)count, err) != STATUS_OK)
        return err->code;
    for (size_t node = 0; node < count; node++)
        if (work_node(work, tasks.run, (int64_t)node, &tasks.nodes[node], err) != STATUS_OK ||
            load_instances(work, &tasks, node, err) != STATUS_OK)
            return err->code;
    *out = tasks;
    return STATUS_OK;
}

static void count_instances(const struct run_tasks *tasks, size_t node,
                            struct parent_counts *counts)
{
    const struct task_row *parent = tasks->nodes[node];
    const struct instances *list = &tasks->instances[node];
    counts->total += parent->counts.total;
    for (size_t i = 0; i < list->count; i++)
        if (task_state_is_final(list->items[i]->state))
            parent_counts_add(counts, list->items[i]->state, false, 1);
    int64_t dropped = parent->inserted - (int64_t)list->count;
    if (dropped > 0)
        parent_counts_add(counts, TASK_CANCELLED, false, dropped);
}

/* What a node's instances, or the node itself, contribute as parents. */
static void count_parent(const struct run_tasks *tasks, size_t node, struct parent_counts *counts)
{
    const struct task_row *parent = tasks->nodes[node];
    if (parent->reason == REASON_NOT_SELECTED)
        return;
    if (parent->instance_base == 0) {
        counts->total++;
        if (task_state_is_final(parent->state))
            parent_counts_add(counts, parent->state, false, 1);
    } else if (work_begins_anew(tasks->run, parent)) {
        counts->total += parent->counts.total;
    } else {
        count_instances(tasks, node, counts);
    }
}

static bool is_counted_active(const struct run_row *run, const struct task_row *task)
{
    return run->dag->max_active_tasks > 0 && task->state == TASK_RUNNING;
}

static void recount_node(struct run_tasks *tasks, size_t node)
{
    struct run_row *run = tasks->run;
    struct task_row *task = tasks->nodes[node];
    const struct task_def *def = &run->dag->tasks[node];
    int64_t *open = def->is_finally ? &run->open_finally : &run->open_main;
    *open += !task_state_is_final(task->state);
    run->active += is_counted_active(run, task);
    run->failures += work_counts_as_failure(run, task);
    if (task->instance_base != 0) {
        struct parent_counts counts = {0};
        count_instances(tasks, node, &counts);
        task->counts = counts;
        task->dirty = true;
        const struct instances *list = &tasks->instances[node];
        for (size_t i = 0; i < list->count; i++) {
            *open += !task_state_is_final(list->items[i]->state);
            run->active += is_counted_active(run, list->items[i]);
            run->failures += work_counts_as_failure(run, list->items[i]);
        }
        if (task->state == TASK_DEFERRED)
            *open += task->counts.total - task->inserted;
    } else if (task->state == TASK_NONE) {
        struct parent_counts counts = {0};
        for (size_t i = 0; i < def->needs.count; i++)
            count_parent(tasks, def->needs.items[i], &counts);
        task->counts = counts;
        task->dirty = true;
    }
}

void run_tasks_recount(struct run_tasks *tasks)
{
    struct run_row *run = tasks->run;
    run->open_main = run->open_finally = run->failures = run->active = 0;
    run->dirty = true;
    for (size_t node = 0; node < run->dag->tasks_count; node++)
        recount_node(tasks, node);
    run->finally_released = run->open_main == 0;
}

void run_tasks_touch(struct work *work, struct run_tasks *tasks)
{
    const struct dag *dag = tasks->run->dag;
    for (size_t node = 0; node < dag->tasks_count; node++) {
        if (tasks->nodes[node]->state == TASK_SCHEDULED)
            work_queue(work, tasks->nodes[node]);
        for (size_t i = 0; i < tasks->instances[node].count; i++)
            if (tasks->instances[node].items[i]->state == TASK_SCHEDULED)
                work_queue(work, tasks->instances[node].items[i]);
        bool may_start = !dag->tasks[node].is_finally || tasks->run->open_main == 0;
        bool waits =
            tasks->nodes[node]->state == TASK_NONE || tasks->nodes[node]->state == TASK_DEFERRED;
        if (may_start && waits)
            work_touch(work, tasks->nodes[node]);
    }
}
