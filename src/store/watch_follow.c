/*
 * watch_follow: what the change of a row means for its deadlines, and whether somebody is told of
 * it.
 *
 * A deadline is written when it is known: with the run when it counts from the schedule, with the
 * start when it counts from there. Nothing is taken back when something ends in time: whoever looks
 * when it is due (deadline.c) finds that, so that an end costs nothing.
 */
#include "base/check.h"
#include "base/log.h"
#include "model/zone.h"
#include "os/zone_file.h"
#include "store/watch_priv.h"

static const char DEADLINE_ADD[] =
    "INSERT INTO deadline (run, task, kind, generation, due_at_us) VALUES ($1, $2, $3, $4, $5)"
    " ON CONFLICT (run, task, kind, generation) DO NOTHING";
static const char RUN_DEADLINE_DROP[] =
    "DELETE FROM deadline WHERE run = $1 AND task = 0 AND kind = $2";
static const char MISS_STARTED[] = "UPDATE sla_miss SET ended_at_us = $3 WHERE run = $1"
                                   " AND task = $2 AND kind = $4 AND ended_at_us IS NULL";
static const char MISS_ENDED[] = "UPDATE sla_miss SET ended_at_us = $3 WHERE run = $1 AND task = $2"
                                 " AND ended_at_us IS NULL";

struct deadline {
    int64_t run;
    int64_t task;
    enum sla_kind kind;
    int64_t generation;
    int64_t due_at_us;
};

static enum status add(struct work *work, const struct deadline *deadline, struct err *err)
{
    return db_later(work->db, err, DEADLINE_ADD, "iiiii", deadline->run, deadline->task,
                    (int64_t)deadline->kind, deadline->generation, deadline->due_at_us);
}

/* --- from the schedule ----------------------------------------------------------------------- */

/* A zone that this machine does not have was there when the file was read: no deadline then. */
static enum status add_time_of_day(struct work *work, const struct run_row *run, int64_t task,
                                   const struct sla *sla, int64_t schedule_us, struct err *err)
{
    const char *name = sla->tz != NULL ? sla->tz : run->dag->watch->tz;
    const struct zone *zone = NULL;
    struct err missing = {0};
    if (zone_find(work->arena, name, zone_file_read, &zone, &missing) != STATUS_OK) {
        log_debug("a deadline is left out", LOG_ID("run", run->id), LOG_STR("why", missing.text));
        return STATUS_OK;
    }
    int64_t due_us = sla_next_time_of_day(zone, sla->finish_by_s, schedule_us);
    return add(work, &(struct deadline){run->id, task, SLA_FINISH_BY, 0, due_us}, err);
}

static enum status add_scheduled(struct work *work, const struct run_row *run, int64_t task,
                                 const struct sla *sla, int64_t schedule_us, struct err *err)
{
    struct deadline whole = {run->id, task, SLA_OF_SCHEDULE, 0,
                             schedule_us + sla->of_schedule_ms * 1000};
    struct deadline start = {run->id, task, SLA_START_WITHIN, 0,
                             schedule_us + sla->start_within_ms * 1000};
    if (sla->of_schedule_ms > 0 && add(work, &whole, err) != STATUS_OK)
        return err->code;
    /* A task's start counts from when it could start. */
    if (task == 0 && sla->start_within_ms > 0 && add(work, &start, err) != STATUS_OK)
        return err->code;
    return sla->finish_by_s >= 0 ? add_time_of_day(work, run, task, sla, schedule_us, err)
                                 : STATUS_OK;
}

enum status watch_new_run(struct work *work, const struct run_row *run,
                          const struct run_request *request, struct err *err)
{
    const struct dag_watch *watch = run->dag->watch;
    int64_t schedule_us = 0;
    if (!watch->has_sla ||
        !sla_schedule_us(request->kind, request->interval_end_us, run->created_at_us, &schedule_us))
        return STATUS_OK;
    if (watch->run.has_sla &&
        add_scheduled(work, run, 0, &watch->run.sla, schedule_us, err) != STATUS_OK)
        return err->code;
    for (size_t node = 0; node < run->dag->tasks_count; node++) {
        bool is_left_out = request->selected != NULL && !request->selected[node];
        if (is_left_out || watch->tasks[node] == NULL || !watch->tasks[node]->has_sla)
            continue;
        if (add_scheduled(work, run, run->first_task + (int64_t)node, &watch->tasks[node]->sla,
                          schedule_us, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- from a start, and ends ------------------------------------------------------------------ */

static bool is_changed(const struct task_row *task)
{
    return task->fresh || task->state != task->read_state ||
           task->generation != task->read_generation;
}

/* It could start, for the first time in this generation. */
static bool is_let_go(const struct task_row *task)
{
    return (task->state == TASK_QUEUED || task->state == TASK_SCHEDULED) &&
           (task->fresh || task->read_state == TASK_NONE ||
            task->generation != task->read_generation);
}

/* A mapped task is its instances here; a retry finds the deadline of the first attempt. */
static enum status follow_task(struct work *work, const struct run_row *run,
                               const struct task_row *task, const struct sla *sla, struct err *err)
{
    bool is_mapped = task_row_is_expander(run, task);
    struct deadline start = {run->id, task->id, SLA_START_WITHIN, task->generation,
                             task->queued_at_us + sla->start_within_ms * 1000};
    struct deadline end = {run->id, task->id, SLA_WITHIN, task->generation,
                           task->started_at_us + sla->within_ms * 1000};
    if (task_state_is_final(task->state))
        return db_later(work->db, err, MISS_ENDED, "iii", run->id, task->id, task->ended_at_us);
    if (is_mapped)
        return STATUS_OK;
    if (is_let_go(task) && sla->start_within_ms > 0)
        return add(work, &start, err);
    if (task->state != TASK_RUNNING)
        return STATUS_OK;
    if (sla->start_within_ms > 0 &&
        db_later(work->db, err, MISS_STARTED, "iiii", run->id, task->id, task->started_at_us,
                 (int64_t)SLA_START_WITHIN) != STATUS_OK)
        return err->code;
    return sla->within_ms > 0 ? add(work, &end, err) : STATUS_OK;
}

/* The end of a mapped task was told by its instances. */
static bool event_of_task(const struct task_row *task, enum hook_event *out)
{
    static const struct {
        enum task_state state;
        enum hook_event event;
    } EVENTS[] = {
        {TASK_SUCCESS, HOOK_SUCCESS},
        {TASK_FAILED, HOOK_FAILURE},
        {TASK_SKIPPED, HOOK_SKIP},
        {TASK_UP_FOR_RETRY, HOOK_RETRY},
    };
    for (size_t i = 0; i < ARRAY_LEN(EVENTS); i++) {
        *out = EVENTS[i].event;
        if (EVENTS[i].state == task->state)
            return task->instance_base == 0;
    }
    return false;
}

enum status watch_task(struct work *work, struct run_row *run, const struct task_row *task,
                       struct err *err)
{
    const struct watch *watch = run->dag->watch->tasks[task->node];
    enum hook_event event = HOOK_EVENT_COUNT;
    int64_t ignored = 0;
    if (watch == NULL || !is_changed(task))
        return STATUS_OK;
    if (watch->has_sla && follow_task(work, run, task, &watch->sla, err) != STATUS_OK)
        return err->code;
    bool is_dropped = task->state == TASK_CANCELLED || task->state == TASK_REMOVED;
    if (!event_of_task(task, &event) && !is_dropped)
        return STATUS_OK;
    const struct message message = {
        .kind = is_dropped ? HOOK_SKIP : event,
        .closes_only = is_dropped,
        .task = task,
        .state = task_state_name(task->state),
        .reason = task->reason != REASON_NONE ? reason_name(task->reason) : NULL,
        .error = task->log_end != NULL ? task->log_end : task->detail,
    };
    return watch_tell(work, run, &message, &ignored, err);
}

/* What counts from a start is written when the run starts anew; that it did start once is known. */
static enum status follow_reopening(struct work *work, const struct run_row *run,
                                    const struct sla *sla, struct err *err)
{
    if (sla->within_ms > 0 &&
        db_later(work->db, err, RUN_DEADLINE_DROP, "ii", run->id, (int64_t)SLA_WITHIN) != STATUS_OK)
        return err->code;
    return sla->start_within_ms > 0 ? db_later(work->db, err, RUN_DEADLINE_DROP, "ii", run->id,
                                               (int64_t)SLA_START_WITHIN)
                                    : STATUS_OK;
}

static enum status follow_run(struct work *work, const struct run_row *run, const struct sla *sla,
                              struct err *err)
{
    /* Every start has a deadline of its own, one after a reopening, too. */
    struct deadline end = {run->id, 0, SLA_WITHIN, run->row_version + 1,
                           run->started_at_us + sla->within_ms * 1000};
    if (run_state_is_final(run->state))
        return db_later(work->db, err, MISS_ENDED, "iii", run->id, (int64_t)0, run->ended_at_us);
    if (run_state_is_final(run->read_state))
        return follow_reopening(work, run, sla, err);
    if (run->state != RUN_RUNNING)
        return STATUS_OK;
    if (sla->start_within_ms > 0 &&
        db_later(work->db, err, MISS_STARTED, "iiii", run->id, (int64_t)0, run->started_at_us,
                 (int64_t)SLA_START_WITHIN) != STATUS_OK)
        return err->code;
    return sla->within_ms > 0 ? add(work, &end, err) : STATUS_OK;
}

/* A run failed: what is said of it begins with why. */
static enum status tell_failure(struct work *work, struct run_row *run, struct message *message,
                                struct err *err)
{
    struct failures failures = {0};
    int64_t ignored = 0;
    if (run->dag->watch->run.hooks[HOOK_FAILURE].count == 0)
        return STATUS_OK;
    if (watch_failures(work, run, &failures, err) != STATUS_OK)
        return err->code;
    message->error = failures.first_error;
    message->failed = failures.list;
    message->failed_total = failures.total;
    enum status status = watch_tell(work, run, message, &ignored, err);
    json_decref(failures.list);
    return status;
}

enum status watch_run(struct work *work, struct run_row *run, struct err *err)
{
    const struct watch *watch = &run->dag->watch->run;
    int64_t ignored = 0;
    if (run->state == run->read_state)
        return STATUS_OK;
    if (watch->has_sla && follow_run(work, run, &watch->sla, err) != STATUS_OK)
        return err->code;
    if (!run_state_is_final(run->state))
        return STATUS_OK;
    struct message message = {
        .kind = HOOK_SUCCESS,
        .state = run_state_name(run->state),
    };
    if (run->state == RUN_CANCELLED) {
        message.kind = HOOK_SKIP;
        message.closes_only = true;
    } else if (run->state == RUN_FAILED) {
        message.kind = HOOK_FAILURE;
        message.reason = run->cancel_asked == CANCEL_TIMEOUT ? "timeout" : "tasks failed";
        return tell_failure(work, run, &message, err);
    }
    return watch_tell(work, run, &message, &ignored, err);
}
