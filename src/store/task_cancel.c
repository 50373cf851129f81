#include "store/task_cancel.h"

#include "base/check.h"
#include "store/run_tasks_priv.h"

static enum status cancel_row(struct work *work, struct run_row *run, struct task_row *task,
                              struct err *err)
{
    const char *id = task_row_def(run, task)->id;
    if (task_state_is_final(task->state))
        return err_set(err, STATUS_CONFLICT, "task '%s' is over already: %s", id,
                       task_state_name(task->state));
    if (task->state == TASK_RUNNING)
        return err_set(err, STATUS_CONFLICT,
                       "task '%s' is running, and only a whole run can be stopped then", id);
    return work_end_task(work, run, task, (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL},
                         err);
}

/* Instances that run go on; the task ends with the last of them. */
static enum status cancel_instances(struct work *work, struct run_tasks *tasks, size_t node,
                                    struct err *err)
{
    const struct instances *list = &tasks->instances[node];
    for (size_t i = 0; i < list->count; i++) {
        struct task_row *task = list->items[i];
        if (!task_state_is_final(task->state) && task->state != TASK_RUNNING &&
            cancel_row(work, tasks->run, task, err) != STATUS_OK)
            return err->code;
    }
    return work_drop_uninserted(work, tasks->run, tasks->nodes[node], err);
}

static enum status cancel_chosen(struct work *work, struct run_tasks *tasks,
                                 const struct task_cancel_request *request, struct err *err)
{
    struct task_row *task = tasks->nodes[request->node];
    const struct instances *list = &tasks->instances[request->node];
    if (request->map_index < 0)
        return task->state == TASK_DEFERRED && task->instance_base != 0
                   ? cancel_instances(work, tasks, (size_t)request->node, err)
                   : cancel_row(work, tasks->run, task, err);
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->map_index == request->map_index)
            return cancel_row(work, tasks->run, list->items[i], err);
    return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instance %lld",
                   task_row_def(tasks->run, task)->id, (long long)request->map_index);
}

static enum status cancel_in(struct work *work, const struct task_cancel_request *request,
                             struct err *err)
{
    struct run_tasks tasks;
    if (run_tasks_load(work, request->run, &tasks, err) != STATUS_OK)
        return err->code;
    CHECK(request->node >= 0);
    CHECK((size_t)request->node < tasks.run->dag->tasks_count);
    work_event(work, EVENT_TASK_CANCEL_ASKED, tasks.run, tasks.nodes[request->node], NULL);
    if (cancel_chosen(work, &tasks, request, err) != STATUS_OK ||
        work_settle(work, err) != STATUS_OK || work_save(work, err) != STATUS_OK)
        return err->code;
    return db_commit(work->db, err);
}

static enum status cancel_once(struct store *store, const void *context, struct err *err)
{
    const struct task_cancel_request *request = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    struct work work;
    work_init(&work, store, request->actor);
    enum status status = cancel_in(&work, request, err);
    work_fini(&work);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "cancel");
}

enum status store_task_cancel(struct store *store, const struct task_cancel_request *request,
                              struct err *err)
{
    return store_repeat(store, cancel_once, request, err);
}
