/*
 * wait: beginning to wait, and what happens when the time has come.
 */
#include "base/check.h"
#include "model/duration.h"
#include "store/claim_priv.h"
#include "store/repeat.h"
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
    struct wait_list list = {0};
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
    struct wait_info wait = {0};
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
    struct wait_info wait = {0};
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
    struct wait_list waits = {0};
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

/* --- where nobody claims --------------------------------------------------------------------- */

#define WAITS_DUE                                                                                  \
    "SELECT r.task FROM timer r JOIN wait w ON w.task = r.task WHERE r.scope = 0"                  \
    " AND r.due_at_us <= $1 ORDER BY r.scope, r.due_at_us, r.task LIMIT $2"
static const char *const DUE[] = {
    [DB_SQLITE] = WAITS_DUE,
    [DB_POSTGRES] = WAITS_DUE " FOR UPDATE OF r SKIP LOCKED",
};
static const char NEXT[] = "SELECT r.due_at_us FROM timer r JOIN wait w ON w.task = r.task"
                           " WHERE r.scope = 0 ORDER BY r.scope, r.due_at_us LIMIT 1";

struct wake_call {
    int64_t most;
    int64_t *out_count;
};

static enum status fetch_due(struct work *work, int64_t most, struct id_list *tasks,
                             struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    struct db_stmt *stmt = NULL;
    if (db_query(work->db, &stmt, err, DUE[db_dialect(work->db)], "ii", work->now_us, most) !=
            STATUS_OK ||
        claim_collect_ids(stmt, tasks, err) != STATUS_OK ||
        work_fetch_tasks(work, tasks->items, tasks->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < tasks->count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, tasks->items[i], &task, err) != STATUS_OK)
            return err->code;
        id_list_add(&runs, task->run);
    }
    work->lock = RUN_UNLOCKED;
    if (work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK)
        return err->code;
    return work_try_lock(work, runs.items, runs.count, err);
}

static enum status wake_due(struct work *work, int64_t most, int64_t *out_count, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    bool is_partial = false;
    if (fetch_due(work, most, &tasks, err) != STATUS_OK)
        return err->code;
    *out_count = (int64_t)tasks.count;
    if (tasks.count == 0)
        return STATUS_OK;
    if (wait_wake(work, &tasks, &is_partial, err) != STATUS_OK)
        return err->code;
    return work_save(work, err);
}

static enum status wake_once(struct store *store, const void *context, struct err *err)
{
    const struct wake_call *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    struct work work;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    work_init(&work, store, NULL);
    enum status status = wake_due(&work, call->most, call->out_count, err);
    work_fini(&work);
    return status == STATUS_OK ? db_commit(db, err) : status;
}

enum status store_waits_wake(struct store *store, int64_t most, int64_t *out_count,
                             int64_t *out_next_us, struct err *err)
{
    int64_t next_us = 0;
    int64_t count = 0;
    if (db_get_int(store->db, 0, &next_us, err, NEXT, "") != STATUS_OK)
        return err_wrap(err, "look for what waits");
    bool is_due = next_us != 0 && next_us <= store_now_us(store);
    if (is_due &&
        (store_repeat(store, wake_once, &(struct wake_call){most, &count}, err) != STATUS_OK ||
         db_get_int(store->db, 0, &next_us, err, NEXT, "") != STATUS_OK))
        return err_wrap(err, "wake what waits");
    *out_count = count;
    *out_next_us = next_us;
    return STATUS_OK;
}
