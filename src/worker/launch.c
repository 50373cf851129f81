/*
 * launch: from a claim to a process, a timer, or an outcome that is known at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "worker/executor_priv.h"
#include "worker/job_run.h"

enum {
    RUNS_KEPT = 200, /* of a program that runs for ever */
    RUNS_AT_ONCE = 100,
};

static bool must_not_start(const struct executor *executor, const struct claim *claim,
                           bool is_finally)
{
    const char *stops = idmap_find(executor->cancelled, claim->run);
    bool stops_with_run = stops != NULL && (stops == EXECUTOR_STOPS_ALL || !is_finally);
    return stops_with_run || handover_is_wished(executor, claim);
}

struct outcome launch_outcome(const struct claim *claim, enum outcome_kind kind, enum reason reason)
{
    return (struct outcome){
        .task = claim->task,
        .run = claim->run,
        .attempt = claim->attempt,
        .nonce = claim->nonce,
        .kind = kind,
        .end = {.reason = reason, .result = TASK_FAILED},
    };
}

/* --- slots ----------------------------------------------------------------------------------- */

static bool has_free_slot(const struct executor *executor)
{
    return (int64_t)idmap_count(executor->attempts) < executor->slots;
}

static int64_t take_slot(struct executor *executor)
{
    for (int64_t i = 0; i < executor->options.slots; i++) {
        if (!executor->slots_used[i]) {
            executor->slots_used[i] = true;
            return i + 1;
        }
    }
    UNREACHABLE("there is a slot for every process");
}

/* One that was adopted may have a slot that does not exist any more. */
void launch_free_slot(struct executor *executor, const struct attempt *attempt)
{
    if (attempt->slot > 0 && attempt->slot <= executor->options.slots)
        executor->slots_used[attempt->slot - 1] = false;
}

/* --- runs ------------------------------------------------------------------------------------ */

static void forget_runs(struct executor *executor)
{
    size_t cursor = 0;
    for (struct run_context *run; (run = idmap_next(executor->runs, &cursor)) != NULL;)
        run_context_free(run);
    idmap_free(executor->runs);
    executor->runs = idmap_new();
}

static enum status find_run(struct executor *executor, int64_t id, struct run_context **out,
                            struct err *err)
{
    struct run_context *run = idmap_find(executor->runs, id);
    if (run == NULL) {
        if (run_context_new(&executor->options.source, id, &run, err) != STATUS_OK)
            return err->code;
        /* Runs that others end are not heard of here. */
        if (idmap_count(executor->runs) >= RUNS_KEPT)
            forget_runs(executor);
        idmap_set(executor->runs, id, run);
    }
    *out = run;
    return STATUS_OK;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Many runs cost few questions. What cannot be read here is read and told of one by one. */
static void meet_runs(struct executor *executor, const struct claim *claims, size_t count)
{
    int64_t ids[RUNS_AT_ONCE];
    size_t found = 0;
    size_t different = 0;
    struct err err = {0};
    for (size_t i = 0; i < count; i++)
        if (claims[i].job == NULL && idmap_find(executor->runs, claims[i].run) == NULL)
            ids[found++] = claims[i].run;
    if (found < 2)
        return;
    qsort(ids, found, sizeof *ids, by_number);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[different++] = ids[i];
    if (idmap_count(executor->runs) + different > RUNS_KEPT)
        forget_runs(executor);
    if (run_context_new_many(&executor->options.source, ids, different, executor->runs, &err) !=
        STATUS_OK)
        log_debug("runs are read one by one", LOG_STR("error", err.text));
}

/* --- starting -------------------------------------------------------------------------------- */

static void defer(struct executor *executor, const struct claim *claim)
{
    backlog_push(&executor->deferred, attempt_new(claim));
    delivery_pause(executor);
}

static void slept(void *context)
{
    struct attempt *attempt = context;
    launch_end_sleep(attempt->owner, attempt);
}

void launch_end_sleep(struct executor *executor, struct attempt *attempt)
{
    CHECK(idmap_remove(executor->attempts, attempt->claim.task) == attempt);
    launch_free_slot(executor, attempt);
    if (attempt->poke != NULL)
        lookout_remove(executor->lookout, attempt->claim.task);
    if (attempt->fate != ATTEMPT_DROP) {
        bool is_returned = attempt->is_stopping && attempt->fate == ATTEMPT_RETURN;
        struct outcome outcome =
            launch_outcome(&attempt->claim, is_returned ? OUTCOME_RETURN : OUTCOME_END,
                           attempt->is_stopping ? REASON_CANCELLED : REASON_EXIT);
        if (attempt->poke != NULL && !attempt->is_stopping)
            outcome.end = waiting_end(attempt);
        outcome.started_at_us = attempt->started_at_us;
        outcome.ended_at_us = clock_wall_us();
        delivery_add(executor, &outcome, NULL);
    }
    attempt_free(attempt);
    launch_backlog(executor);
}

/* What keeps a slot, as a process or as a timer; false: it could not be started. */
static bool occupy(struct executor *executor, struct attempt *attempt, struct prepared *prepared,
                   struct err *err)
{
    if (prepared->is_sleep) {
        attempt->owner = executor;
        attempt->sleep = loop_timer_new(executor->loop, slept, attempt);
        loop_timer_start(attempt->sleep, prepared->sleep_ms, 0);
        attempt->poke = prepared->poke;
        if (attempt->poke != NULL)
            waiting_hold(executor, attempt);
        return true;
    }
    attempt->label = prepared->label;
    attempt->outputs_dir = prepared->process.outputs_dir;
    attempt->datasets = prepared->outcome.datasets;
    attempt->datasets_count = prepared->outcome.datasets_count;
    if (executor_is_daemon(executor))
        prepared->process.context = attempt_note(attempt);
    enum status status = keeper_spawn(executor->options.keeper, &prepared->process, err);
    prepared_wipe(prepared);
    return status == STATUS_OK;
}

void launch_follow_log(const struct executor *executor, const struct attempt *attempt)
{
    const struct claim *claim = &attempt->claim;
    if (executor->options.log_ship != NULL && attempt->sleep == NULL)
        log_ship_follow(executor->options.log_ship, claim->run, claim->task, claim->attempt);
}

/* Ends with the attempt among those that run, or with its outcome. */
static void start(struct executor *executor, struct attempt *attempt, struct prepared *prepared)
{
    struct err err = {0};
    attempt->started_at_us = clock_wall_us();
    bool is_lasting = prepared->is_process || prepared->is_sleep;
    if (is_lasting && occupy(executor, attempt, prepared, &err)) {
        idmap_set(executor->attempts, attempt->claim.task, attempt);
        launch_follow_log(executor, attempt);
        return;
    }
    launch_free_slot(executor, attempt);
    if (is_lasting && err.code == STATUS_NOT_FOUND) {
        /* Not the task's fault: it stays claimed, and is taken back as one that lost its owner. */
        attempt_free(attempt);
        executor_fail(executor, &err);
        return;
    }
    if (is_lasting) {
        prepared->outcome.end = (struct attempt_end){.reason = REASON_EXEC_ERROR};
        prepared->outcome.detail = arena_strdup(attempt->arena, err.text);
    }
    delivery_add(executor, &prepared->outcome, TAKE(attempt->arena));
    attempt_free(attempt);
}

static struct prepare_options slot_options(const struct executor *executor, int64_t slot)
{
    struct prepare_options options = executor->options.prepare;
    options.host = executor_slot_host(executor);
    options.slot = slot;
    return options;
}

static void start_process(struct executor *executor, struct run_context *run,
                          const struct claim *claim)
{
    struct attempt *attempt = attempt_new(claim);
    attempt->slot = take_slot(executor);
    attempt->is_finally = run->dag->tasks[claim->node].is_finally;
    struct prepare_options options = slot_options(executor, attempt->slot);
    struct prepared prepared;
    prepare_attempt(run, claim, &options, attempt->arena, &prepared);
    if (prepared.store_is_away && executor_is_daemon(executor)) {
        launch_free_slot(executor, attempt);
        attempt_free(attempt);
        defer(executor, claim);
        return;
    }
    start(executor, attempt, &prepared);
}

static void prepare_job(const struct executor *executor, const struct claim *claim,
                        struct arena *arena, struct prepared *out)
{
    struct job_options options = {
        .prepare = executor->options.prepare,
        .handlers = executor->options.handlers,
        .vault = executor->options.source.vault,
        .store_uuid = executor->options.source.store_uuid,
    };
    job_run_prepare(claim, &options, arena, out);
}

static void start_job(struct executor *executor, const struct claim *claim)
{
    struct attempt *attempt = attempt_new(claim);
    struct prepared prepared;
    attempt->slot = take_slot(executor);
    prepare_job(executor, &attempt->claim, attempt->arena, &prepared);
    if (prepared.store_is_away && executor_is_daemon(executor)) {
        launch_free_slot(executor, attempt);
        attempt_free(attempt);
        defer(executor, claim);
        return;
    }
    start(executor, attempt, &prepared);
}

static void launch_job(struct executor *executor, const struct claim *claim)
{
    if (job_run_is_inline(claim)) {
        struct prepared prepared;
        prepare_job(executor, claim, executor->pending->arena, &prepared);
        delivery_add(executor, &prepared.outcome, NULL);
    } else if (has_free_slot(executor)) {
        start_job(executor, claim);
    } else {
        backlog_push(&executor->backlog, attempt_new(claim));
    }
}

/* Without a process; false: later. */
static bool do_at_once(struct executor *executor, struct run_context *run,
                       const struct claim *claim)
{
    struct prepared prepared;
    prepare_attempt(run, claim, &executor->options.prepare, executor->pending->arena, &prepared);
    if (prepared.store_is_away && executor_is_daemon(executor))
        return false;
    CHECK(!prepared.is_process);
    delivery_add(executor, &prepared.outcome, NULL);
    return true;
}

static void launch_task(struct executor *executor, struct run_context *run,
                        const struct claim *claim)
{
    const struct task_def *task = &run->dag->tasks[claim->node];
    bool is_expander = claim->map_index < 0 && task_def_is_mapped(task);
    if (must_not_start(executor, claim, task->is_finally)) {
        struct outcome outcome = launch_outcome(claim, OUTCOME_END, REASON_CANCELLED);
        delivery_add(executor, &outcome, NULL);
    } else if (is_expander || task_def_is_inline(task)) {
        if (!do_at_once(executor, run, claim))
            defer(executor, claim);
    } else if (has_free_slot(executor)) {
        start_process(executor, run, claim);
    } else {
        backlog_push(&executor->backlog, attempt_new(claim));
    }
}

/* The run is gone, or cannot be read. Whoever runs one run only has nothing left to do. */
static void refuse(struct executor *executor, const struct claim *claim, const struct err *err)
{
    if (!executor_is_daemon(executor)) {
        executor_fail(executor, err);
        return;
    }
    if (executor_is_trouble(err->code)) {
        defer(executor, claim);
        return;
    }
    log_warn("a task cannot be prepared", LOG_ID("task", claim->task), LOG_STR("error", err->text));
    struct outcome outcome = launch_outcome(claim, OUTCOME_END, REASON_INTERNAL);
    outcome.detail = arena_strdup(executor->pending->arena, err->text);
    delivery_add(executor, &outcome, NULL);
}

void launch_claim(struct executor *executor, const struct claim *claim)
{
    struct run_context *run = NULL;
    struct err err = {0};
    /* An earlier attempt of it is being ended here, or it may be somebody else's by now. */
    bool is_late = executor->deadline_us != 0 && clock_mono_us() >= executor->deadline_us;
    if (is_late || idmap_find(executor->attempts, claim->task) != NULL) {
        defer(executor, claim);
        return;
    }
    if (claim->job != NULL) {
        launch_job(executor, claim);
        return;
    }
    if (find_run(executor, claim->run, &run, &err) != STATUS_OK) {
        refuse(executor, claim, &err);
        return;
    }
    CHECK(run != NULL);
    launch_task(executor, run, claim);
}

void launch_claims(struct executor *executor, const struct claim *claims, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i % RUNS_AT_ONCE == 0)
            meet_runs(executor, &claims[i], MIN(count - i, (size_t)RUNS_AT_ONCE));
        launch_claim(executor, &claims[i]);
    }
}

void launch_backlog(struct executor *executor)
{
    while (executor->backlog.count > 0 && has_free_slot(executor) && !executor->failed) {
        struct attempt *attempt = backlog_pop(&executor->backlog);
        launch_claim(executor, &attempt->claim);
        attempt_free(attempt);
    }
}

void launch_deferred(struct executor *executor)
{
    /* Those that must wait again go to the end. */
    for (size_t left = executor->deferred.count; left > 0 && !executor->failed; left--) {
        struct attempt *attempt = backlog_pop(&executor->deferred);
        launch_claim(executor, &attempt->claim);
        attempt_free(attempt);
    }
}
