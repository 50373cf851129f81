#include "store/task_cancel.h"

#include "base/check.h"
#include "store/run_tasks_priv.h"
#include "store/wish_priv.h"

struct cancelling {
    struct work work;
    struct run_tasks tasks;
    bool was_clearing; /* something that was to run again is not to any more */
};

static const struct ending CANCELLED = {TASK_CANCELLED, REASON_CANCELLED, NULL};

/* Whoever asks again, because the answer was lost, finds what he wants. */
static bool is_done(const struct task_row *task)
{
    return task->wish == WISH_STOP ||
           (task->state == TASK_CANCELLED && task->reason == REASON_CANCELLED);
}

/* What runs is ended by its owner, who hears of the wish. */
static enum status ask_owner(struct cancelling *self, struct task_row *task, struct err *err)
{
    bool is_new = false;
    self->was_clearing |= task->wish == WISH_CLEAR;
    return wish_ask(&self->work, task, WISH_STOP, NULL, &is_new, err);
}

static enum status cancel_row(struct cancelling *self, struct task_row *task, struct err *err)
{
    if (task->state == TASK_RUNNING)
        return ask_owner(self, task, err);
    return work_end_task(&self->work, self->tasks.run, task, CANCELLED, err);
}

/* The task ends with the last instance that runs. */
static enum status cancel_instances(struct cancelling *self, struct task_row *expander,
                                    struct err *err)
{
    const struct instances *list = &self->tasks.instances[expander->node];
    bool is_running = false;
    for (size_t i = 0; i < list->count; i++) {
        struct task_row *task = list->items[i];
        is_running |= task->state == TASK_RUNNING;
        if (!task_state_is_final(task->state) && cancel_row(self, task, err) != STATUS_OK)
            return err->code;
    }
    if (work_drop_uninserted(&self->work, self->tasks.run, expander, err) != STATUS_OK)
        return err->code;
    if (is_running)
        return ask_owner(self, expander, err);
    task_row_set_wish(expander, WISH_STOP); /* it is over when this is settled */
    return STATUS_OK;
}

static enum status find_row(const struct run_tasks *tasks,
                            const struct task_cancel_request *request, struct task_row **out,
                            struct err *err)
{
    struct task_row *task = tasks->nodes[request->node];
    const struct instances *list = &tasks->instances[request->node];
    *out = task;
    for (size_t i = 0; request->map_index >= 0 && i < list->count; i++)
        if (list->items[i]->map_index == request->map_index)
            *out = list->items[i];
    if (request->map_index >= 0 && *out == task)
        return err_set(err, STATUS_NOT_FOUND, "task '%s' has no instance %lld",
                       task_row_def(tasks->run, task)->id, (long long)request->map_index);
    return STATUS_OK;
}

static enum status cancel_chosen(struct cancelling *self, struct task_row *task, struct err *err)
{
    if (task_state_is_final(task->state))
        return err_set(err, STATUS_CONFLICT, "task '%s' is over already: %s",
                       task_row_def(self->tasks.run, task)->id, task_state_name(task->state));
    if (wish_require_owners(&self->work, &self->tasks, task->node, task->map_index, err) !=
        STATUS_OK)
        return err->code;
    work_event(&self->work, EVENT_TASK_CANCEL_ASKED, self->tasks.run, task, NULL);
    enum status status = task->state == TASK_DEFERRED && task->instance_base != 0
                             ? cancel_instances(self, task, err)
                             : cancel_row(self, task, err);
    if (status != STATUS_OK || !self->was_clearing)
        return status;
    /* Of a mapped task that was to be cleared nothing was counted meanwhile. */
    run_tasks_recount(&self->tasks);
    run_tasks_touch(&self->work, &self->tasks);
    return STATUS_OK;
}

static enum status cancel_in(struct cancelling *self, const struct task_cancel_request *request,
                             struct err *err)
{
    struct work *work = &self->work;
    struct task_row *task = NULL;
    if (run_tasks_load(work, request->run, &self->tasks, err) != STATUS_OK)
        return err->code;
    CHECK(request->node >= 0);
    CHECK((size_t)request->node < self->tasks.run->dag->tasks_count);
    if (find_row(&self->tasks, request, &task, err) != STATUS_OK)
        return err->code;
    if (is_done(task))
        return STATUS_OK;
    if (cancel_chosen(self, task, err) != STATUS_OK || work_settle(work, err) != STATUS_OK ||
        work_save(work, err) != STATUS_OK)
        return err->code;
    return db_commit(work->db, err);
}

static enum status cancel_once(struct store *store, const void *context, struct err *err)
{
    const struct task_cancel_request *request = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err_wrap(err, "cancel");
    struct cancelling self = {0};
    work_init(&self.work, store, request->actor);
    enum status status = cancel_in(&self, request, err);
    work_fini(&self.work);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "cancel");
}

enum status store_task_cancel(struct store *store, const struct task_cancel_request *request,
                              struct err *err)
{
    return store_repeat(store, cancel_once, request, err);
}
