#include "store/counted.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/claim_priv.h"
#include "store/work.h"

/* Either of both. */
struct counted_note {
    struct meter *meter;
    enum metric metric;
    int64_t amount;
    struct span *span;
};

static void forget(struct counted *counted, size_t left)
{
    for (size_t i = left; i < counted->count; i++)
        span_free(counted->notes[i].span);
    counted->count = MIN(counted->count, left);
}

void counted_fini(struct counted *counted)
{
    forget(counted, 0);
    mem_freep(&counted->notes);
    counted->capacity = 0;
}

static void keep(struct counted *counted)
{
    for (size_t i = 0; i < counted->count; i++) {
        struct counted_note *note = &counted->notes[i];
        if (note->span != NULL)
            counted->spans->take(counted->spans->context, TAKE(note->span));
        else
            meter_count(note->meter, note->metric, note->amount);
    }
    counted->count = 0;
}

void counted_on_end(void *context, enum db_end how, int64_t took_us)
{
    struct counted *counted = context;
    switch (how) {
    case DB_BEGAN_WITHIN:
        counted->mark = counted->count;
        return;
    case DB_UNDONE_WITHIN:
        forget(counted, counted->mark);
        return;
    case DB_UNDONE:
        forget(counted, 0);
        return;
    case DB_KEPT:
        keep(counted);
        meters_count(counted->meters, METRIC_STORE_COMMIT, took_us);
        meters_sign(counted->meters, SIGN_COMMIT, clock_mono_us());
        meters_sign(counted->meters, SIGN_COMMIT_FAILING, 0);
        return;
    case DB_FAILED:
        meters_count(counted->meters, METRIC_STORE_COMMIT_FAILURES, 1);
        meters_sign_once(counted->meters, SIGN_COMMIT_FAILING, clock_mono_us());
        return;
    }
}

/* --- notes ----------------------------------------------------------------------------------- */

static struct counted_note *add_note(struct counted *counted)
{
    counted->notes =
        mem_grow(counted->notes, &counted->capacity, counted->count, sizeof *counted->notes);
    struct counted_note *note = &counted->notes[counted->count++];
    *note = (struct counted_note){.meter = NULL};
    return note;
}

void counted_add(struct counted *counted, enum metric metric, const struct meter_labels *labels,
                 int64_t amount)
{
    if (counted->meters == NULL)
        return;
    struct counted_note *note = add_note(counted);
    note->meter = meters_find(counted->meters, metric, labels);
    note->metric = metric;
    note->amount = amount;
}

static int64_t time_between(int64_t from_us, int64_t to_us)
{
    return MAX(to_us - from_us, (int64_t)0);
}

static bool is_waited_for(const struct counted *counted)
{
    return counted->meters != NULL || counted->spans != NULL;
}

static void add_task_span(struct work *work, const struct run_row *run, const struct task_row *task)
{
    struct span *span = mem_zalloc(1, sizeof *span);
    *span = (struct span){
        .run = run->id,
        .task = task->id,
        .attempt = task->attempt,
        .dag_id = mem_strdup(run->dag->id),
        .task_id = mem_strdup(task_row_def(run, task)->id),
        .map_index = task->map_index,
        .try_number = task_row_tries(task),
        .state = task_state_name(task->state),
        .reason = reason_name(task->reason),
        .exit_code = task->exit_code,
        .host = task->host,
        .started_at_us = task->started_at_us,
        .ended_at_us = task->ended_at_us != 0 ? task->ended_at_us : work->now_us,
        .is_failure = task->state == TASK_FAILED || task->state == TASK_UP_FOR_RETRY,
    };
    add_note(&work->store->counted)->span = span;
}

static void count_job(struct counted *counted, const struct task_row *task, bool has_run)
{
    const struct meter_labels labels = {.first = task->job->queue, .state = (int)task->state};
    counted_add(counted, METRIC_JOBS_COMPLETED, &labels, 1);
    if (has_run)
        counted_add(counted, METRIC_JOB_DURATION, &labels,
                    time_between(task->started_at_us, task->ended_at_us));
}

static void count_task(struct counted *counted, const struct run_row *run,
                       const struct task_row *task, bool has_run)
{
    const struct meter_labels labels = {
        .first = run->dag->id,
        .second = task_row_def(run, task)->id,
        .state = (int)task->state,
    };
    if (task->state == TASK_UP_FOR_RETRY) {
        counted_add(counted, METRIC_TASK_RETRIES, &labels, 1);
        return;
    }
    counted_add(counted, METRIC_TASKS, &labels, 1);
    if (has_run)
        counted_add(counted, METRIC_TASK_DURATION, &labels,
                    time_between(task->started_at_us, task->ended_at_us));
}

void counted_task(struct work *work, const struct run_row *run, const struct task_row *task)
{
    struct counted *counted = &work->store->counted;
    bool is_new = task->state != task->read_state || task->generation != task->read_generation;
    bool was_running = task->read_state == TASK_RUNNING || task->read_state == TASK_DEFERRED;
    bool is_retry = task->state == TASK_UP_FOR_RETRY && was_running;
    if (!is_waited_for(counted) || !is_new || !(task_state_is_final(task->state) || is_retry))
        return;
    bool has_run = task->started_at_us != 0 && task->ended_at_us != 0 &&
                   task->state != TASK_SKIPPED && task->state != TASK_UPSTREAM_FAILED;
    bool is_job = work_is_job(task);
    if (is_job && !is_retry)
        count_job(counted, task, has_run);
    else if (!is_job)
        count_task(counted, run, task, has_run);
    if (counted->spans != NULL && !is_job && was_running && task->started_at_us != 0)
        add_task_span(work, run, task);
}

void counted_lost(struct work *work, const struct run_row *run, const struct task_row *task)
{
    counted_add(&work->store->counted, METRIC_TASKS_RECOVERED, NULL, 1);
    if (work->store->counted.spans != NULL && !work_is_job(task) && task->started_at_us != 0)
        add_task_span(work, run, task);
}

void counted_run(struct work *work, const struct run_row *run)
{
    struct counted *counted = &work->store->counted;
    const struct meter_labels labels = {.first = run->dag->id, .state = (int)run->state};
    int64_t began_us = run->started_at_us != 0 ? run->started_at_us : run->created_at_us;
    counted_add(counted, METRIC_DAG_RUNS, &labels, 1);
    if (run->started_at_us != 0)
        counted_add(counted, METRIC_DAG_RUN_DURATION, &labels,
                    time_between(began_us, run->ended_at_us));
    if (counted->spans == NULL)
        return;
    struct span *span = mem_zalloc(1, sizeof *span);
    *span = (struct span){
        .run = run->id,
        .dag_id = mem_strdup(run->dag->id),
        .map_index = -1,
        .state = run_state_name(run->state),
        .exit_code = -1,
        .started_at_us = began_us,
        .ended_at_us = run->ended_at_us,
        .is_failure = run->state == RUN_FAILED,
    };
    add_note(counted)->span = span;
}

/* --- at once --------------------------------------------------------------------------------- */

void counted_claims(struct work *work, const struct claim_list *claims, int64_t began_us)
{
    struct meters *meters = work->store->counted.meters;
    if (meters == NULL || claims->count == 0)
        return;
    meters_count(meters, METRIC_CLAIM_LATENCY, clock_mono_us() - began_us);
    meters_count(meters, METRIC_TASKS_SCHEDULED, (int64_t)claims->count);
    for (size_t i = 0; i < claims->count; i++) {
        const struct task_row *task = idmap_find(work->tasks, claims->items[i].task);
        if (task != NULL && task->queued_at_us != 0 && task->started_at_us != 0)
            meters_count(meters, METRIC_SCHEDULING_LATENCY,
                         time_between(task->queued_at_us, task->started_at_us));
    }
}
