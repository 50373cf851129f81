#include "worker/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "worker/executor_priv.h"
#include "worker/scratch.h"

enum { SHORT_OF_RESOURCES_MS = 1000, BACKOFF_LEAST_MS = 50, BACKOFF_MOST_MS = 5000 };

/* Claims on their way when a run is cancelled meet one of these. */
static char STOPS_MAIN[] = "main";
char EXECUTOR_STOPS_ALL[] = "all";

bool executor_is_daemon(const struct executor *executor)
{
    return executor->options.mode == EXECUTOR_DAEMON;
}

int64_t executor_slot_host(const struct executor *executor)
{
    return executor_is_daemon(executor) ? 0 : executor->options.host;
}

/* The store may be there again later; everything else is wrong in itself. */
bool executor_is_trouble(enum status status)
{
    static const bool TROUBLE[STATUS_COUNT] = {
        [STATUS_BUSY] = true, [STATUS_TIMEOUT] = true,     [STATUS_IO] = true,
        [STATUS_FULL] = true, [STATUS_UNREACHABLE] = true, [STATUS_UNKNOWN] = true,
    };
    return TROUBLE[status];
}

void executor_fail(struct executor *executor, const struct err *err)
{
    if (executor->failed)
        return;
    executor->failed = true;
    executor->events.failed(executor->events.context, err);
}

static void due(void *context)
{
    executor_wake(context);
}

/* One slot more each time; a task that was handed back is claimed again here at the latest. */
static void calm(void *context)
{
    struct executor *executor = context;
    executor->slots = MIN(executor->slots + 1, executor->options.slots);
    if (executor->slots == executor->options.slots)
        loop_timer_stop(executor->calm);
    delivery_soon(executor);
}

/* --- the keeper's side ----------------------------------------------------------------------- */

static void task_started(void *context, int64_t id, pid_t pid, int64_t started_at_us)
{
    struct executor *executor = context;
    (void)pid;
    struct attempt *attempt = idmap_find(executor->attempts, id);
    if (attempt != NULL)
        attempt->started_at_us = started_at_us;
}

static void task_reported(void *context, int64_t id, const struct keeper_report *report)
{
    struct executor *executor = context;
    struct attempt *attempt = idmap_find(executor->attempts, id);
    if (attempt == NULL)
        return;
    attempt_reports_add(&attempt->reports, report);
    if (report->type == KEEPER_REPORT_PROGRESS && executor->events.progress != NULL)
        executor->events.progress(executor->events.context, &attempt->claim, report);
}

/* Nobody will ask for its end. */
static void acknowledge(struct executor *executor, int64_t id)
{
    if (executor_is_daemon(executor))
        keeper_ack(executor->options.keeper, id);
}

static void task_exited(void *context, int64_t id, const struct keeper_exit *exit)
{
    struct executor *executor = context;
    struct attempt *attempt = idmap_remove(executor->attempts, id);
    if (attempt == NULL) {
        acknowledge(executor, id);
        return;
    }
    launch_free_slot(executor, attempt);
    struct attempt_facts facts = {
        .claim = &attempt->claim,
        .label = attempt->label,
        .outputs_dir = attempt->outputs_dir,
        .datasets = attempt->datasets,
        .datasets_count = attempt->datasets_count,
        .started_at_us = attempt->started_at_us,
        .reports = &attempt->reports,
        .blob = executor->options.source.blob,
    };
    struct outcome outcome;
    attempt_end_make(&facts, exit, attempt->arena, &outcome);
    if (executor->options.log_ship != NULL)
        log_ship_ended(executor->options.log_ship, attempt->claim.run, id, attempt->claim.attempt);
    if (outcome.kind == OUTCOME_RETURN) {
        /* Fewer at once, and not again right now. */
        executor->slots = MAX((int64_t)idmap_count(executor->attempts), (int64_t)1);
        loop_timer_start(executor->calm, SHORT_OF_RESOURCES_MS, SHORT_OF_RESOURCES_MS);
    }
    executor->pace_us = executor->pace_us == 0 ? MAX(exit->wall_us, (int64_t)1)
                                               : (executor->pace_us * 7 + exit->wall_us) / 8 + 1;
    bool was_ended_by_us = exit->kind == KEEPER_STOPPED || exit->kind == KEEPER_LOST;
    if (attempt->fate == ATTEMPT_RETURN && was_ended_by_us)
        outcome = launch_outcome(&attempt->claim, OUTCOME_RETURN, REASON_NONE);
    if (attempt->fate == ATTEMPT_DROP) {
        acknowledge(executor, id);
    } else {
        delivery_add(executor, &outcome, TAKE(attempt->arena));
        delivery_add_ended(executor, id);
    }
    attempt_free(attempt);
    launch_backlog(executor);
    /* Whoever waits for the last one to end hears of it even if there is nothing to deliver. */
    delivery_soon(executor);
}

/* Started by a program before this one. */
static void task_held(void *context, const struct keeper_held *held)
{
    struct executor *executor = context;
    struct attempt *attempt = NULL;
    struct err err = {0};
    executor->adopted++;
    if (held->context == NULL || attempt_from_note(held->context, &attempt, &err) != STATUS_OK ||
        idmap_find(executor->attempts, held->id) != NULL) {
        log_warn("ending a task that nobody knows of", LOG_ID("task", held->id));
        attempt_free(attempt);
        keeper_stop_task(executor->options.keeper, held->id, KEEPER_STOP_KILL);
        return;
    }
    CHECK(attempt != NULL);
    log_info("adopted a task", LOG_ID("task", held->id), LOG_INT("pid", held->pid));
    attempt->started_at_us = held->started_at_us;
    if (attempt->slot > 0 && attempt->slot <= executor->options.slots)
        executor->slots_used[attempt->slot - 1] = true;
    idmap_set(executor->attempts, held->id, attempt);
    launch_follow_log(executor, attempt);
    if (handover_is_wished(executor, &attempt->claim))
        handover_stop_wished(executor, attempt);
}

/* The files of an attempt that goes on: its outputs, its script. */
static bool belongs_to_attempt(void *context, const char *name)
{
    const struct executor *executor = context;
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;) {
        char stem[64];
        (void)snprintf(stem, sizeof stem, "%lld.%lld.", (long long)attempt->claim.task,
                       (long long)attempt->claim.attempt);
        const char *outputs = attempt->outputs_dir != NULL ? attempt->outputs_dir : "";
        const char *slash = strrchr(outputs, '/');
        if (str_starts_with(name, stem) || (slash != NULL && str_equal(slash + 1, name)))
            return true;
    }
    return false;
}

static void all_told(void *context)
{
    struct executor *executor = context;
    executor->is_told = true;
    if (executor_is_daemon(executor))
        scratch_clean(executor->options.prepare.scratch_dir, belongs_to_attempt, executor);
    delivery_soon(executor);
}

static void keeper_gone(void *context, const char *why)
{
    struct executor *executor = context;
    struct err err = {0};
    (void)err_set(&err, STATUS_IO, "the process that runs the tasks is gone: %s", why);
    /* Nobody else ends what it left behind, and the tasks may soon run again. */
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;)
        (void)keeper_kill_claim(attempt->nonce);
    executor_fail(executor, &err);
}

/* --- cancelling ------------------------------------------------------------------------------ */

static void run_cancel(struct store *store, struct store_call *call)
{
    struct cancel_call *cancel = (struct cancel_call *)call;
    cancel->status = store_run_cancel(store, &cancel->request, &cancel->err);
}

static void cancel_done(struct store_call *call)
{
    struct cancel_call *cancel = (struct cancel_call *)call;
    struct executor *executor = cancel->owner;
    /* A run that ended meanwhile needs no cancel. */
    if (cancel->status != STATUS_OK && cancel->status != STATUS_CONFLICT)
        executor_fail(executor, &cancel->err);
    struct cancel_call **link = &executor->cancels;
    while (*link != cancel)
        link = &(*link)->next;
    *link = cancel->next;
    free(cancel);
    executor_wake(executor);
}

static void stop_running(struct executor *executor, int64_t run, enum keeper_stop how,
                         bool finally_too)
{
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;) {
        bool is_meant = attempt->claim.run == run && (finally_too || !attempt->is_finally);
        if (is_meant && attempt->sleep != NULL)
            handover_stop(executor, attempt, how);
        else if (is_meant)
            keeper_stop_task(executor->options.keeper, attempt->claim.task, how);
    }
}

void executor_cancel(struct executor *executor, int64_t run, enum cancel_cause cause,
                     enum keeper_stop how, bool finally_too)
{
    if (finally_too || idmap_find(executor->cancelled, run) == NULL)
        idmap_set(executor->cancelled, run, finally_too ? EXECUTOR_STOPS_ALL : STOPS_MAIN);
    stop_running(executor, run, how, finally_too);
    struct cancel_call *cancel = mem_zalloc(1, sizeof *cancel);
    *cancel = (struct cancel_call){
        .call = {.run = run_cancel, .done = cancel_done},
        .next = executor->cancels,
        .owner = executor,
        .request = {.run = run, .cause = cause, .finally_too = finally_too, .actor = "user"},
    };
    executor->cancels = cancel;
    store_thread_call(executor->options.store_thread, &cancel->call);
}

/* --- the whole ------------------------------------------------------------------------------- */

struct executor *executor_new(struct loop *loop, const struct executor_events *events)
{
    struct executor *executor = mem_zalloc(1, sizeof *executor);
    executor->loop = loop;
    executor->events = *events;
    executor->runs = idmap_new();
    executor->attempts = idmap_new();
    executor->cancelled = idmap_new();
    executor->pending = batch_new(executor);
    executor->backoff = (struct backoff){.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS};
    executor->due = loop_timer_new(loop, due, executor);
    executor->again = loop_timer_new(loop, delivery_resume, executor);
    executor->calm = loop_timer_new(loop, calm, executor);
    executor->lookout = waiting_lookout(executor);
    return executor;
}

static void remove_slot_folders(const struct executor *executor)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct prepare_options options = executor->options.prepare;
    options.host = executor_slot_host(executor);
    for (options.slot = 1; options.slot <= executor->options.slots; options.slot++)
        /* What goes on without us may still need its own. */
        if (!executor->slots_used[options.slot - 1])
            (void)rmdir(prepare_slot_outputs(arena, &options));
}

void executor_free(struct executor *executor)
{
    if (executor == NULL)
        return;
    loop_before_wait_cancel(executor->loop, executor);
    loop_timer_free(executor->due);
    loop_timer_free(executor->again);
    loop_timer_free(executor->calm);
    lookout_free(executor->lookout);
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;)
        attempt_free(attempt);
    cursor = 0;
    for (struct run_context *run; (run = idmap_next(executor->runs, &cursor)) != NULL;)
        run_context_free(run);
    idmap_free(executor->runs);
    idmap_free(executor->attempts);
    idmap_free(executor->cancelled);
    free(executor->wishes);
    remove_slot_folders(executor);
    free(executor->slots_used);
    backlog_fini(&executor->backlog);
    backlog_fini(&executor->deferred);
    while (executor->cancels != NULL) {
        struct cancel_call *next = executor->cancels->next;
        free(executor->cancels);
        executor->cancels = next;
    }
    delivery_fini(executor);
    free(executor);
}

struct keeper_events executor_keeper_events(struct executor *executor)
{
    return (struct keeper_events){
        .context = executor,
        .started = task_started,
        .exited = task_exited,
        .report = task_reported,
        .died = keeper_gone,
        .held = task_held,
        .all_told = all_told,
    };
}

void executor_begin(struct executor *executor, const struct executor_options *options)
{
    executor->options = *options;
    executor->slots = options->slots;
    executor->slots_used = mem_zalloc((size_t)options->slots, sizeof *executor->slots_used);
    /* A daemon may have been here before. */
    bool is_daemon = options->mode == EXECUTOR_DAEMON;
    executor->asks_held = executor->is_first_look = is_daemon;
    executor->is_told |= !is_daemon;
    delivery_begin(executor);
    waiting_begin(executor);
}

void executor_wake(struct executor *executor)
{
    lookout_runs_changed(executor->lookout);
    delivery_soon(executor);
}

void executor_set_host(struct executor *executor, int64_t host)
{
    executor->options.host = host;
    lookout_set_host(executor->lookout, host);
}

int64_t executor_waiting_since_us(const struct executor *executor)
{
    return executor->in_flight != NULL ? executor->sent_us : 0;
}

struct executor_counts executor_counts(const struct executor *executor)
{
    return executor->counts;
}
