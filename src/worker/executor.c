#include "worker/executor.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "worker/attempt_end.h"

enum {
    INLINE_SLOTS = 1000, /* tasks without a process that one commit may claim */
    RETRY_DELAY_MS = 100,
    RETRIES_MAX = 50,
    SHORT_OF_RESOURCES_MS = 1000,
    SHORT_TASK_US = 20000, /* below this, going to the store for each task costs too much */
};

/* A task that this process holds. */
struct attempt {
    struct claim claim;
    struct run_context *run;
    struct arena *arena;
    const char *label;
    const char *outputs_dir;
    int64_t slot;      /* from 1 */
    const char *nonce; /* as its processes carry it */
    int64_t started_at_us;
    struct attempt_reports reports; /* said by the task on descriptor 4 */
};

/* Claimed tasks that wait here for a slot, first come first served. */
struct backlog {
    struct claim *items;
    size_t head;
    size_t count; /* behind the head */
    size_t capacity;
};

/* Outcomes on their way, with the memory they point into. */
struct batch {
    struct store_call call; /* first: done() gets it back */
    struct executor *owner;
    struct arena *arena;
    struct outcome *outcomes;
    size_t count;
    size_t capacity;
    struct advance_request request;
    struct advance_result result;
    enum status status;
    struct err err;
    int tries;
};

struct cancel_call {
    struct store_call call;
    struct cancel_call *next; /* of those on their way */
    struct executor *owner;
    struct cancel_request request;
    struct err err;
    enum status status;
};

struct executor {
    struct loop *loop;
    struct executor_events events;
    struct executor_options options;
    struct idmap *runs;
    struct idmap *attempts;
    struct batch *pending;   /* collects outcomes */
    struct batch *in_flight; /* with the store thread */
    struct cancel_call *cancels;
    struct loop_timer *due;  /* the next retry, or a pause */
    struct loop_timer *calm; /* capacity that was given up comes back */
    struct idmap *cancelled; /* runs that must not start tasks any more: which is STOPS_* */
    bool wants_advance;      /* something changed since the last call was sent */
    bool scheduled;          /* advance() will be called before the loop waits */
    bool began;
    bool failed;
    int64_t slots;
    bool *slots_used; /* one per slot of the options */
    struct backlog backlog;
    int64_t pace_us; /* how long processes take, smoothed; 0: none has ended yet */
};

/* Claims on their way when a run is cancelled meet one of these. */
static char STOPS_MAIN[] = "main";
static char STOPS_ALL[] = "all";

static void advance_soon(struct executor *executor);

/* --- batches --------------------------------------------------------------------------------- */

static struct batch *batch_new(struct executor *owner)
{
    struct batch *batch = mem_zalloc(1, sizeof *batch);
    batch->owner = owner;
    batch->arena = arena_new();
    return batch;
}

static void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    free(batch->outcomes);
    arena_free(batch->arena);
    free(batch);
}

static void add_outcome(struct executor *executor, const struct outcome *outcome,
                        struct arena *taken)
{
    struct batch *batch = executor->pending;
    batch->outcomes =
        mem_grow(batch->outcomes, &batch->capacity, batch->count, sizeof *batch->outcomes);
    batch->outcomes[batch->count++] = *outcome;
    if (taken != NULL)
        arena_take(batch->arena, taken);
    advance_soon(executor);
}

/* --- attempts -------------------------------------------------------------------------------- */

static void attempt_free(struct attempt *attempt)
{
    attempt_reports_fini(&attempt->reports);
    arena_free(attempt->arena);
    free(attempt);
}

static enum status find_run(struct executor *executor, int64_t id, struct run_context **out,
                            struct err *err)
{
    struct run_context *run = idmap_find(executor->runs, id);
    if (run == NULL) {
        if (run_context_new(&executor->options.source, id, &run, err) != STATUS_OK)
            return err->code;
        idmap_set(executor->runs, id, run);
    }
    *out = run;
    return STATUS_OK;
}

static void stop_with(struct executor *executor, const struct err *err)
{
    if (executor->failed)
        return;
    executor->failed = true;
    executor->events.failed(executor->events.context, err);
}

static bool must_not_start(const struct executor *executor, const struct claim *claim,
                           const struct run_context *run)
{
    const char *stops = idmap_find(executor->cancelled, claim->run);
    return stops != NULL && (stops == STOPS_ALL || !run->dag->tasks[claim->node].is_finally);
}

static struct outcome plain_outcome(const struct claim *claim, enum outcome_kind kind,
                                    enum reason reason)
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

static void start_process(struct executor *executor, struct run_context *run,
                          const struct claim *claim)
{
    struct attempt *attempt = mem_zalloc(1, sizeof *attempt);
    *attempt = (struct attempt){.claim = *claim, .run = run, .arena = arena_new()};
    struct prepared prepared;
    struct prepare_options options = executor->options.prepare;
    options.host = executor->options.host;
    options.slot = attempt->slot = take_slot(executor);
    prepare_attempt(run, claim, &options, attempt->arena, &prepared);
    attempt->label = prepared.label;
    attempt->outputs_dir = prepared.process.outputs_dir;
    attempt->nonce = prepared.process.nonce;
    attempt->started_at_us = clock_wall_us();
    struct err err = {0};
    if (prepared.is_process &&
        keeper_spawn(executor->options.keeper, &prepared.process, &err) != STATUS_OK) {
        if (err.code == STATUS_NOT_FOUND) {
            /* Not the task's fault: it stays claimed, and is taken back as one that lost its owner.
             */
            executor->slots_used[attempt->slot - 1] = false;
            attempt_free(attempt);
            stop_with(executor, &err);
            return;
        }
        prepared.is_process = false;
        prepared.outcome.end = (struct attempt_end){.reason = REASON_EXEC_ERROR};
        prepared.outcome.detail = arena_strdup(attempt->arena, err.text);
    }
    if (prepared.is_process) {
        idmap_set(executor->attempts, claim->task, attempt);
        return;
    }
    executor->slots_used[attempt->slot - 1] = false;
    add_outcome(executor, &prepared.outcome, TAKE(attempt->arena));
    attempt_free(attempt);
}

static void backlog_push(struct backlog *backlog, const struct claim *claim)
{
    size_t end = backlog->head + backlog->count;
    backlog->items = mem_grow(backlog->items, &backlog->capacity, end, sizeof *backlog->items);
    backlog->items[end] = *claim;
    backlog->count++;
}

static struct claim backlog_pop(struct backlog *backlog)
{
    CHECK(backlog->count > 0);
    struct claim claim = backlog->items[backlog->head++];
    if (--backlog->count == 0)
        backlog->head = 0;
    return claim;
}

static bool has_free_slot(const struct executor *executor)
{
    return (int64_t)idmap_count(executor->attempts) < executor->slots;
}

static void start_claim(struct executor *executor, const struct claim *claim)
{
    struct run_context *run = NULL;
    struct err err = {0};
    if (find_run(executor, claim->run, &run, &err) != STATUS_OK) {
        stop_with(executor, &err);
        return;
    }
    CHECK(run != NULL);
    const struct task_def *task = &run->dag->tasks[claim->node];
    bool is_expander = claim->map_index < 0 && task_def_is_mapped(task);
    if (must_not_start(executor, claim, run)) {
        struct outcome outcome = plain_outcome(claim, OUTCOME_END, REASON_CANCELLED);
        add_outcome(executor, &outcome, NULL);
    } else if (is_expander || task_kind_is_inline(task->kind)) {
        struct prepared prepared;
        prepare_attempt(run, claim, &executor->options.prepare, executor->pending->arena,
                        &prepared);
        CHECK(!prepared.is_process);
        add_outcome(executor, &prepared.outcome, NULL);
    } else if (has_free_slot(executor)) {
        start_process(executor, run, claim);
    } else {
        backlog_push(&executor->backlog, claim);
    }
}

static void start_backlog(struct executor *executor)
{
    while (executor->backlog.count > 0 && has_free_slot(executor) && !executor->failed) {
        struct claim claim = backlog_pop(&executor->backlog);
        start_claim(executor, &claim);
    }
}

/* --- advancing ------------------------------------------------------------------------------- */

static void run_advance(struct store *store, struct store_call *call)
{
    struct batch *batch = (struct batch *)call;
    batch->err = (struct err){0};
    batch->status =
        store_advance(store, &batch->request, batch->arena, &batch->result, &batch->err);
}

/*
 * Short tasks are claimed ahead of their slots, so that the next one starts while the end of the
 * last is being committed. Long ones are not: they would look as if they ran, and keep more urgent
 * work from its turn.
 */
static int64_t claims_ahead(const struct executor *executor)
{
    bool are_short = executor->pace_us > 0 && executor->pace_us < SHORT_TASK_US;
    return are_short ? executor->slots : 0;
}

static void send_batch(struct executor *executor, struct batch *batch)
{
    int64_t held = (int64_t)(idmap_count(executor->attempts) + executor->backlog.count);
    int64_t room = executor->slots + claims_ahead(executor) - held;
    batch->request = (struct advance_request){
        .host = executor->options.host,
        .scope = executor->options.scope,
        .process_slots = executor->failed ? 0 : MAX(room, (int64_t)0),
        .inline_slots = executor->failed ? 0 : INLINE_SLOTS,
        .outcomes = batch->outcomes,
        .outcomes_count = batch->count,
    };
    executor->in_flight = batch;
    store_thread_call(executor->options.store_thread, &batch->call);
}

static void finish_runs(struct executor *executor, const struct advance_result *result)
{
    for (size_t i = 0; i < result->runs_count; i++) {
        run_context_free(idmap_remove(executor->runs, result->runs[i].run));
        (void)idmap_remove(executor->cancelled, result->runs[i].run);
        executor->events.run_ended(executor->events.context, result->runs[i].run,
                                   result->runs[i].state);
    }
}

static void set_due_timer(struct executor *executor, int64_t next_due_us)
{
    if (next_due_us == 0)
        return;
    int64_t wait_ms = (next_due_us - clock_wall_us() + 999) / 1000;
    loop_timer_start(executor->due, MAX(wait_ms, (int64_t)1), 0);
}

static void retry_batch(struct executor *executor, struct batch *batch)
{
    bool may_help = status_is_retryable(batch->status) && batch->tries++ < RETRIES_MAX;
    if (!may_help) {
        stop_with(executor, &batch->err);
        batch_free(batch);
        return;
    }
    /* Nothing was changed: the outcomes go back to the front of what is pending. */
    struct batch *newer = executor->pending;
    for (size_t i = 0; i < newer->count; i++) {
        batch->outcomes =
            mem_grow(batch->outcomes, &batch->capacity, batch->count, sizeof *batch->outcomes);
        batch->outcomes[batch->count++] = newer->outcomes[i];
    }
    arena_take(batch->arena, TAKE(newer->arena));
    batch_free(newer);
    executor->pending = batch;
    loop_timer_start(executor->due, RETRY_DELAY_MS, 0);
}

static void advance_done(struct store_call *call)
{
    struct batch *batch = (struct batch *)call;
    struct executor *executor = batch->owner;
    executor->in_flight = NULL;
    if (batch->status != STATUS_OK) {
        retry_batch(executor, batch);
        return;
    }
    const struct advance_result *result = &batch->result;
    if (result->changes_count > 0)
        executor->events.changed(executor->events.context, result->changes, result->changes_count);
    for (size_t i = 0; i < result->claims_count; i++)
        start_claim(executor, &result->claims[i]);
    set_due_timer(executor, result->next_due_us);
    finish_runs(executor, result);
    batch_free(batch);
    if (executor->wants_advance)
        advance_soon(executor);
}

static void advance(void *context)
{
    struct executor *executor = context;
    executor->scheduled = false;
    if (executor->in_flight != NULL || !executor->began)
        return;
    executor->wants_advance = false;
    struct batch *batch = executor->pending;
    executor->pending = batch_new(executor);
    batch->call.run = run_advance;
    batch->call.done = advance_done;
    send_batch(executor, batch);
}

/* Once per turn of the loop, when its callbacks have delivered all they have. */
static void advance_soon(struct executor *executor)
{
    executor->wants_advance = true;
    if (executor->in_flight != NULL || executor->scheduled)
        return;
    executor->scheduled = true;
    loop_before_wait(executor->loop, advance, executor);
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
    advance_soon(executor);
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

static void task_exited(void *context, int64_t id, const struct keeper_exit *exit)
{
    struct executor *executor = context;
    struct attempt *attempt = idmap_remove(executor->attempts, id);
    if (attempt == NULL)
        return;
    executor->slots_used[attempt->slot - 1] = false;
    struct attempt_facts facts = {
        .claim = &attempt->claim,
        .label = attempt->label,
        .outputs_dir = attempt->outputs_dir,
        .started_at_us = attempt->started_at_us,
        .reports = &attempt->reports,
        .blob = executor->options.source.blob,
    };
    struct outcome outcome;
    attempt_end_make(&facts, exit, attempt->arena, &outcome);
    if (outcome.kind == OUTCOME_RETURN) {
        /* Fewer at once, and not again right now. */
        executor->slots = MAX((int64_t)idmap_count(executor->attempts), (int64_t)1);
        loop_timer_start(executor->calm, SHORT_OF_RESOURCES_MS, SHORT_OF_RESOURCES_MS);
    }
    executor->pace_us = executor->pace_us == 0 ? MAX(exit->wall_us, (int64_t)1)
                                               : (executor->pace_us * 7 + exit->wall_us) / 8 + 1;
    add_outcome(executor, &outcome, TAKE(attempt->arena));
    attempt_free(attempt);
    start_backlog(executor);
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
    stop_with(executor, &err);
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
        stop_with(executor, &cancel->err);
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
        bool is_finally = attempt->run->dag->tasks[attempt->claim.node].is_finally;
        if (attempt->claim.run == run && (finally_too || !is_finally))
            keeper_stop_task(executor->options.keeper, attempt->claim.task, how);
    }
}

void executor_cancel(struct executor *executor, int64_t run, enum cancel_cause cause,
                     enum keeper_stop how, bool finally_too)
{
    if (finally_too || idmap_find(executor->cancelled, run) == NULL)
        idmap_set(executor->cancelled, run, finally_too ? STOPS_ALL : STOPS_MAIN);
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
    executor->due = loop_timer_new(loop, due, executor);
    executor->calm = loop_timer_new(loop, calm, executor);
    return executor;
}

static void remove_slot_folders(const struct executor *executor)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct prepare_options options = executor->options.prepare;
    options.host = executor->options.host;
    for (options.slot = 1; options.slot <= executor->options.slots; options.slot++)
        (void)rmdir(prepare_slot_outputs(arena, &options));
}

void executor_free(struct executor *executor)
{
    if (executor == NULL)
        return;
    loop_before_wait_cancel(executor->loop, executor);
    loop_timer_free(executor->due);
    loop_timer_free(executor->calm);
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;)
        attempt_free(attempt);
    cursor = 0;
    for (struct run_context *run; (run = idmap_next(executor->runs, &cursor)) != NULL;)
        run_context_free(run);
    idmap_free(executor->runs);
    idmap_free(executor->attempts);
    idmap_free(executor->cancelled);
    remove_slot_folders(executor);
    free(executor->slots_used);
    free(executor->backlog.items);
    while (executor->cancels != NULL) {
        struct cancel_call *next = executor->cancels->next;
        free(executor->cancels);
        executor->cancels = next;
    }
    batch_free(executor->pending);
    batch_free(executor->in_flight);
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
    };
}

void executor_begin(struct executor *executor, const struct executor_options *options)
{
    executor->options = *options;
    executor->slots = options->slots;
    executor->slots_used = mem_zalloc((size_t)options->slots, sizeof *executor->slots_used);
    executor->began = true;
    advance_soon(executor);
}

void executor_wake(struct executor *executor)
{
    advance_soon(executor);
}
