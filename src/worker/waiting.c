/*
 * waiting: between the executor and the lookout.
 */
#include "base/clock.h"
#include "worker/executor_priv.h"

enum { TIMER_SLACK_US = 50000 };

static struct wait_info wait_of(const struct claim *claim, const struct wait_plan *plan)
{
    return (struct wait_info){
        .task = claim->task,
        .run = claim->run,
        .attempt = claim->attempt,
        .nonce = claim->nonce,
        .kind = plan->kind,
        .every_ms = plan->every_ms,
        .every_max_ms = plan->every_max_ms,
        .backoff = plan->backoff,
        .subject = plan->subject,
        .dag = plan->dag,
        .dag_task = plan->dag_task,
        .date_us = plan->date_us,
        .states = plan->states,
    };
}

static void met(void *context, const struct wait_info *wait)
{
    struct executor *executor = context;
    struct attempt *attempt = idmap_find(executor->attempts, wait->task);
    if (attempt != NULL && attempt->poke != NULL && attempt->claim.attempt == wait->attempt) {
        attempt->is_met = true;
        launch_end_sleep(executor, attempt);
        return;
    }
    const struct claim claim = {
        .task = wait->task, .run = wait->run, .attempt = wait->attempt, .nonce = wait->nonce};
    struct outcome outcome = launch_outcome(&claim, OUTCOME_MET, REASON_RESULT);
    delivery_add(executor, &outcome, NULL);
}

struct lookout *waiting_lookout(struct executor *executor)
{
    struct lookout *lookout =
        lookout_new(executor->loop, &(struct lookout_events){.context = executor, .met = met});
    lookout_set_taking(lookout, true);
    return lookout;
}

void waiting_begin(struct executor *executor)
{
    const struct executor_options *options = &executor->options;
    const struct lookout_options lookout = {
        .store_thread = options->store_thread,
        .taker =
            {
                .host = options->host,
                .scope = options->scope,
                .labels = options->labels,
                .queues = options->queues,
            },
    };
    lookout_begin(executor->lookout, &lookout);
}

void waiting_note(struct executor *executor, const struct batch *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct outcome *outcome = &answer->outcomes[i];
        if (outcome->kind != OUTCOME_DEFER || !answer->result.accepted[i])
            continue;
        const struct claim claim = {.task = outcome->task,
                                    .run = outcome->run,
                                    .attempt = outcome->attempt,
                                    .nonce = outcome->nonce};
        struct wait_info wait = wait_of(&claim, outcome->wait);
        /* From a journal: the rest of it is in the store, and is read from there in time. */
        if (wait.every_ms > 0)
            lookout_add(executor->lookout, &wait);
    }
    if (answer->result.changes_count > 0)
        lookout_runs_changed(executor->lookout);
}

void waiting_hold(struct executor *executor, struct attempt *attempt)
{
    struct wait_info wait = wait_of(&attempt->claim, attempt->poke);
    lookout_add_held(executor->lookout, &wait);
}

struct attempt_end waiting_end(const struct attempt *attempt)
{
    const struct wait_plan *poke = attempt->poke;
    /* Timers count in milliseconds of a clock that is read now and then. */
    int64_t now_us = clock_wall_us() + TIMER_SLACK_US;
    bool is_over = attempt->is_met;
    if (poke->kind == SENSOR_TIME)
        is_over = poke->target_us <= now_us;
    else if (poke->kind == SENSOR_DURATION)
        is_over = attempt->started_at_us + poke->after_ms * 1000 <= now_us;
    return is_over ? (struct attempt_end){.reason = REASON_RESULT, .result = TASK_SUCCESS}
                   : (struct attempt_end){.reason = REASON_TIMEOUT, .result = TASK_FAILED};
}
