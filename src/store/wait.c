/*
 * wait: beginning to wait, and what happens when the time has come.
 */
#include "base/check.h"
#include "model/duration.h"
#include "store/wait_priv.h"
#include "store/wait_row_priv.h"

static struct ending timed_out(struct work *work, const struct run_row *run,
                               const struct task_row *task, const struct wait_info *wait)
{
    const struct task_def *def = task_row_def(run, task);
    struct sensor sensor = {0};
    char waited[DURATION_TEXT_MAX];
    if (def->kind == KIND_SENSOR)
        sensor_load(def->settings, &sensor);
    int64_t waited_ms = MAX((wait->times.deadline_us - wait->since_us) / 1000, (int64_t)0);
    const char *detail = arena_format(work->arena, "waited %s in vain for %s",
                                      duration_format(MIN(waited_ms, DURATION_MS_MAX), waited),
                                      wait_phrase(wait, work->arena));
    return (struct ending){sensor.soft_fail ? TASK_SKIPPED : TASK_FAILED, REASON_TIMEOUT, detail};
}

static void save_wait(struct work *work, const struct run_row *run, const struct wait_info *wait,
                      int64_t lane)
{
    db_bulk_add(&work->saver.bulks[SAVER_WAIT_TAKEN], wait->task, run->id, lane, wait->host,
                (int64_t)wait->kind, wait->looks, wait->since_us, wait->times.target_us,
                wait->times.deadline_us, wait->every_ms, wait->every_max_ms,
                (int64_t)(wait->backoff * WAIT_BACKOFF_UNIT), wait->subject, wait->dag,
                wait->dag_task, wait->date_us, (int64_t)wait->states);
}

static bool is_looked_at(enum sensor_kind kind)
{
    return kind == SENSOR_FILE || kind == SENSOR_DAG;
}

/* The task leaves its host and is deferred until the wait is due. */
static enum status put_to_wait(struct work *work, struct run_row *run, struct task_row *task,
                               struct wait_info *wait)
{
    wait->host = is_looked_at(wait->kind) ? task->host : 0;
    task->state = TASK_DEFERRED;
    task->due_at_us = wait_due_us(wait->kind, &wait->times);
    CHECK(task->due_at_us != 0);
    task->host = 0;
    task->reason = REASON_NONE;
    task->exit_code = -1;
    task->ended_at_us = 0;
    task->detail = arena_format(work->arena, "waits for %s", wait_phrase(wait, work->arena));
    task->dirty = true;
    save_wait(work, run, wait, ready_key_of(run, task).lane);
    /* Of a command that looks again and again the first time says it all. */
    if (wait->looks <= 1)
        work_event(work, EVENT_TASK_DEFERRED, run, task, NULL);
    return STATUS_OK;
}

/* The wait that the task is in already, or a new one. */
static enum status find_wait(struct work *work, const struct task_row *task, struct wait_info *out,
                             struct err *err)
{
    struct wait_list list;
    if (wait_rows_load(work->db, &task->id, 1, work->arena, &list, err) != STATUS_OK)
        return err->code;
    if (list.count > 0)
        *out = list.items[0];
    else
        *out = (struct wait_info){.task = task->id, .since_us = task->queued_at_us};
    return STATUS_OK;
}

enum status wait_again(struct work *work, struct run_row *run, struct task_row *task,
                       struct err *err)
{
    struct sensor sensor;
    struct wait_info wait;
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (find_wait(work, task, &wait, err) != STATUS_OK)
        return err->code;
    sensor_load(task_row_def(run, task)->settings, &sensor);
    wait.kind = SENSOR_RUN;
    wait.every_ms = sensor.every_ms;
    wait.every_max_ms = sensor.every_max_ms;
    wait.backoff = sensor.backoff;
    wait.subject = sensor.text;
    wait.times = (struct wait_times){
        .target_us = work->now_us + sensor_interval_ms(&sensor, wait.looks) * 1000,
        .deadline_us = wait.since_us + sensor.timeout_ms * 1000,
    };
    wait.looks++;
    if (wait.times.deadline_us <= work->now_us)
        return work_end_task(work, run, task, timed_out(work, run, task, &wait), err);
    return put_to_wait(work, run, task, &wait);
}

/* A process that wants to run again: it says when, and nothing bounds how often. */
static enum status begin_process(struct work *work, struct run_row *run, struct task_row *task,
                                 const struct wait_plan *plan, struct err *err)
{
    struct wait_info wait;
    if (find_wait(work, task, &wait, err) != STATUS_OK)
        return err->code;
    wait.kind = SENSOR_RUN;
    wait.subject = arena_strdup(work->arena, plan->subject);
    wait.times = (struct wait_times){.target_us = plan->target_us};
    wait.looks++;
    return put_to_wait(work, run, task, &wait);
}

enum status wait_begin(struct work *work, struct run_row *run, struct task_row *task,
                       const struct wait_plan *plan, struct err *err)
{
    const struct task_def *def = task_row_def(run, task);
    struct sensor sensor;
    CHECK(plan != NULL);
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (def->kind != KIND_SENSOR)
        return begin_process(work, run, task, plan, err);
    sensor_load(def->settings, &sensor);
    int64_t since_us = task->queued_at_us != 0 ? task->queued_at_us : work->now_us;
    struct wait_info wait = {
        .task = task->id,
        .kind = plan->kind,
        .since_us = since_us,
        .times =
            {
                .target_us = plan->kind == SENSOR_DURATION ? since_us + plan->after_ms * 1000
                                                           : plan->target_us,
                .deadline_us = sensor.timeout_ms > 0 ? since_us + sensor.timeout_ms * 1000 : 0,
            },
        .every_ms = sensor.every_ms,
        .every_max_ms = sensor.every_max_ms,
        .backoff = sensor.backoff,
        .subject = arena_strdup(work->arena, plan->subject),
        .dag = arena_strdup_null(work->arena, plan->dag),
        .dag_task = arena_strdup_null(work->arena, plan->dag_task),
        .date_us = plan->date_us,
        .states = plan->dag != NULL ? sensor.states : 0,
    };
    return put_to_wait(work, run, task, &wait);
}

/* --- when it is due -------------------------------------------------------------------------- */

static enum status wake(struct work *work, struct run_row *run, struct task_row *task,
                        const struct wait_info *wait, struct err *err)
{
    enum wait_verdict verdict = wait_decide(wait->kind, &wait->times, work->now_us);
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    switch (verdict) {
    case WAIT_ON:
        return STATUS_OK;
    case WAIT_LOOK:
        task->inserted++; /* task_row_looks */
        work_queue(work, task);
        return STATUS_OK;
    case WAIT_MET:
        return work_end_task(work, run, task, (struct ending){TASK_SUCCESS, REASON_RESULT, NULL},
                             err);
    case WAIT_TIMEOUT:
        return work_end_task(work, run, task, timed_out(work, run, task, wait), err);
    }
    UNREACHABLE("every verdict is handled");
}

/* One of which nothing is known any more starts over. */
static enum status wake_unknown(struct work *work, const struct id_list *tasks,
                                const struct wait_list *known, struct err *err)
{
    for (size_t i = 0; i < tasks->count && known->count < tasks->count; i++) {
        struct task_row *task = NULL;
        bool is_known = false;
        for (size_t k = 0; k < known->count; k++)
            is_known |= known->items[k].task == tasks->items[i];
        if (work_task(work, tasks->items[i], &task, err) != STATUS_OK)
            return err->code;
        if (!is_known)
            work_queue(work, task);
    }
    return STATUS_OK;
}

enum status wait_wake(struct work *work, const struct id_list *tasks, bool *out_partial,
                      struct err *err)
{
    struct wait_list waits;
    if (wait_rows_load(work->db, tasks->items, tasks->count, work->arena, &waits, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < waits.count; i++) {
        struct task_row *task = idmap_find(work->tasks, waits.items[i].task);
        struct run_row *run = NULL;
        CHECK(task != NULL);
        if (work_run(work, task->run, &run, err) != STATUS_OK)
            return err->code;
        *out_partial |= !run->locked;
        if (run->locked && wake(work, run, task, &waits.items[i], err) != STATUS_OK)
            return err->code;
    }
    if (wake_unknown(work, tasks, &waits, err) != STATUS_OK)
        return err->code;
    return work_settle(work, err);
}
