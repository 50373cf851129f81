/*
 * outcome: what one attempt's end does to its row.
 *
 * The claim's attempt number and nonce decide whether the outcome is accepted at all.
 */
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "store/job.h"
#include "store/outcome_priv.h"
#include "store/wait_priv.h"

enum { CHANCE_STEPS = 1 << 20 };

static double draw_chance(void)
{
    return (double)rng_below(CHANCE_STEPS) / CHANCE_STEPS;
}

static bool is_current(const struct task_row *task, const struct outcome *outcome)
{
    enum task_state expected = outcome->kind == OUTCOME_MET ? TASK_DEFERRED : TASK_RUNNING;
    if (SABOTAGE("complete_without_nonce"))
        return task->state == expected;
    return task->state == expected && task->attempt == outcome->attempt && task->has_nonce &&
           memcmp(&task->nonce, &outcome->nonce, sizeof task->nonce) == 0;
}

static void save_values(struct work *work, const struct outcome *outcome)
{
    for (size_t i = 0; i < outcome->values_count; i++) {
        const struct outcome_value *value = &outcome->values[i];
        db_bulk_add(&work->saver.bulks[SAVER_VALUE], outcome->task, value->key, value->json,
                    value->bytes);
    }
}

/* Told in the transaction of the success: neither is there without the other. */
static void tell_datasets(struct work *work, const struct run_row *run, const struct task_row *task,
                          const struct outcome *outcome)
{
    for (size_t i = 0; i < outcome->datasets_count; i++)
        tiding_list_add(&work->tidings, &(struct tiding){
                                            .uri = outcome->datasets[i],
                                            .run = run->id,
                                            .task_id = task_row_def(run, task)->id,
                                            .map_index = task->map_index,
                                        });
}

/* A job keeps its result and its last error with itself. */
static void save_job_end(struct work *work, const struct task_row *task,
                         const struct outcome *outcome, enum task_state state)
{
    if (state == TASK_SUCCESS) {
        for (size_t i = 0; i < outcome->values_count; i++)
            if (strcmp(outcome->values[i].key, JOB_RESULT_KEY) == 0)
                db_bulk_add(&work->saver.bulks[SAVER_JOB_RESULT], task->id,
                            outcome->values[i].json);
    } else if (state == TASK_FAILED || state == TASK_UP_FOR_RETRY) {
        const char *error = task->detail != NULL ? task->detail : reason_name(task->reason);
        db_bulk_add(&work->saver.bulks[SAVER_JOB_ERROR], task->id, error);
    }
}

/*
 * Clocks are compared only roughly: what is told to be over never began or ended after now, or it
 * would be seen to run after what waited for it.
 */
static void note_usage(struct work *work, struct task_row *task, const struct outcome *outcome)
{
    task->reason = outcome->end.reason;
    task->exit_code = outcome->end.reason == REASON_EXIT || outcome->end.reason == REASON_SIGNAL
                          ? outcome->end.exit_code
                          : -1;
    task->detail = outcome->detail != NULL ? arena_strdup(work->arena, outcome->detail) : NULL;
    task->log_end = outcome->log_end;
    if (outcome->label != NULL)
        task->label = arena_strdup(work->arena, outcome->label);
    if (outcome->started_at_us != 0)
        task->started_at_us = MIN(outcome->started_at_us + work->skew_us, work->now_us);
    task->ended_at_us = outcome->ended_at_us != 0
                            ? MIN(outcome->ended_at_us + work->skew_us, work->now_us)
                            : work->now_us;
    task->log_bytes = outcome->log_bytes;
    task->cpu_ms = outcome->cpu_ms;
    task->rss_kb = outcome->rss_kb;
    task->dirty = true;
}

static enum status wait_for_retry(struct work *work, struct run_row *run, struct task_row *task,
                                  int64_t delay_ms, struct err *err)
{
    task->state = TASK_UP_FOR_RETRY;
    task->failures++;
    task->due_at_us = work->now_us + delay_ms * 1000;
    if (task_row_keep_attempt(work->db, task, TASK_FAILED, err) != STATUS_OK)
        return err->code;
    work_event(work, EVENT_TASK_RETRY, run, task, NULL);
    task->host = 0;
    return STATUS_OK;
}

static enum status end_attempt(struct work *work, struct run_row *run, struct task_row *task,
                               const struct outcome *outcome, struct err *err)
{
    const struct task_def *def = task_row_def(run, task);
    if (sensor_is_not_yet(def, &outcome->end)) {
        note_usage(work, task, outcome);
        return wait_again(work, run, task, err);
    }
    struct attempt_verdict verdict = attempt_decide(def, task->failures, &outcome->end, 0);
    /* Only a retry leaves something to chance, which costs a call of the kernel. */
    if (verdict.state == TASK_UP_FOR_RETRY)
        verdict = attempt_decide(def, task->failures, &outcome->end, draw_chance());
    note_usage(work, task, outcome);
    if (verdict.state == TASK_UP_FOR_RETRY && work_is_stopping(run, task))
        verdict.state = TASK_CANCELLED;
    if (work_is_job(task))
        save_job_end(work, task, outcome, verdict.state);
    if (verdict.state == TASK_UP_FOR_RETRY)
        return wait_for_retry(work, run, task, verdict.delay_ms, err);

    /* What an attempt leaves that is to be forgotten is not for others. */
    if (work_begins_anew(run, task))
        return work_end_task(work, run, task,
                             (struct ending){verdict.state, outcome->end.reason, task->detail},
                             err);
    bool shows_values = verdict.state == TASK_SUCCESS || verdict.state == TASK_SKIPPED;
    if (shows_values && !work_is_job(task))
        save_values(work, outcome);
    if (verdict.state == TASK_SUCCESS)
        tell_datasets(work, run, task, outcome);
    if (verdict.state == TASK_SUCCESS && outcome->is_choice &&
        work_skip_unchosen(work, run, task, outcome->chosen, outcome->chosen_count, err) !=
            STATUS_OK)
        return err->code;
    return work_end_task(work, run, task,
                         (struct ending){verdict.state, outcome->end.reason, task->detail}, err);
}

/* The mapped task leaves its slot and waits for its instances, which replace it as parents. */
static enum status expand(struct work *work, struct run_row *run, struct task_row *task,
                          const struct outcome *outcome, struct err *err)
{
    int64_t count = outcome->instances;
    CHECK(count >= 1);
    if (task->wish != WISH_NONE) {
        note_usage(work, task, outcome);
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    }
    if (store_take_task_ids(work->store, run->id, count, &task->instance_base, err) != STATUS_OK)
        return err->code;
    save_values(work, outcome);
    note_usage(work, task, outcome);
    task->reason = REASON_NONE;
    task->ended_at_us = 0;
    task->state = TASK_DEFERRED;
    task->host = 0;
    task->inserted = 0;
    task->counts = (struct parent_counts){.total = count};
    const struct task_def *def = task_row_def(run, task);
    *(def->is_finally ? &run->open_finally : &run->open_main) += count;
    run->dirty = true;
    for (size_t i = 0; i < def->dependants.count; i++) {
        struct task_row *child = NULL;
        if (work_node(work, run, def->dependants.items[i], &child, err) != STATUS_OK)
            return err->code;
        if (child->state != TASK_NONE)
            continue;
        child->counts.total += count - 1;
        child->dirty = true;
    }
    if (run->cancel_asked != CANCEL_NONE && !def->is_finally)
        return work_drop_uninserted(work, run, task, err);
    work_event(work, EVENT_TASK_EXPANDED, run, task, NULL);
    return STATUS_OK;
}

static enum status hand_back(struct work *work, struct run_row *run, struct task_row *task,
                             struct err *err)
{
    task->host = 0;
    task->dirty = true;
    if (work_is_stopping(run, task))
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    work_event(work, EVENT_TASK_RETURNED, run, task, NULL);
    if (task_row_keep_attempt(work->db, task, TASK_NONE, err) != STATUS_OK)
        return err->code;
    task->state = TASK_QUEUED;
    return STATUS_OK;
}

enum status outcome_apply(struct work *work, const struct outcome *outcome, bool *out_accepted,
                          struct err *err)
{
    struct task_row *task = NULL;
    struct run_row *run = NULL;
    *out_accepted = false;
    if (work_task(work, outcome->task, &task, err) != STATUS_OK)
        return err->code == STATUS_NOT_FOUND ? STATUS_OK : err->code;
    if (!is_current(task, outcome))
        return STATUS_OK;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    *out_accepted = true;
    /* The claim could not tell so, because somebody else held the run's row then. */
    if (run->state == RUN_QUEUED)
        work_start_run(run, task->started_at_us);
    if (outcome->kind == OUTCOME_LOST)
        return work_lose_owner(work, run, task, err);
    if (outcome->kind == OUTCOME_MET)
        return work_end_task(work, run, task, (struct ending){TASK_SUCCESS, REASON_RESULT, NULL},
                             err);
    work_leave_slot(run);
    switch (outcome->kind) {
    case OUTCOME_END:
        return end_attempt(work, run, task, outcome, err);
    case OUTCOME_EXPAND:
        return expand(work, run, task, outcome, err);
    case OUTCOME_RETURN:
        return hand_back(work, run, task, err);
    case OUTCOME_DEFER:
        note_usage(work, task, outcome);
        return wait_begin(work, run, task, outcome->wait, err);
    case OUTCOME_LOST:
    case OUTCOME_MET:
        break;
    }
    UNREACHABLE("every outcome is handled");
}
