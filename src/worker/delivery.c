/*
 * delivery: outcomes to the store, and claims back from it, one call at a time.
 *
 * A call that fails is made again with the same outcomes: the store accepts each one once. In the
 * foreground that ends after a while. A daemon goes on for as long as it takes, since whatever it
 * holds is its own until somebody takes it away.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "model/meters.h"
#include "worker/claim_room.h"
#include "worker/executor_priv.h"

enum {
    INLINE_SLOTS = 1000, /* tasks without a process that one commit may claim */
    FOREGROUND_DELAY_MS = 100,
    FOREGROUND_TRIES_MAX = 50,
};

/* --- batches --------------------------------------------------------------------------------- */

struct batch *batch_new(struct executor *owner)
{
    struct batch *batch = mem_zalloc(1, sizeof *batch);
    batch->owner = owner;
    batch->arena = arena_new();
    return batch;
}

void batch_free(struct batch *batch)
{
    if (batch == NULL)
        return;
    free(batch->outcomes);
    free(batch->ended);
    arena_free(batch->arena);
    free(batch);
}

static void batch_add(struct batch *batch, const struct outcome *outcome)
{
    batch->outcomes =
        mem_grow(batch->outcomes, &batch->capacity, batch->count, sizeof *batch->outcomes);
    batch->outcomes[batch->count++] = *outcome;
}

void delivery_add(struct executor *executor, const struct outcome *outcome, struct arena *taken)
{
    batch_add(executor->pending, outcome);
    if (taken != NULL)
        arena_take(executor->pending->arena, taken);
    delivery_soon(executor);
}

static void batch_add_ended(struct batch *batch, int64_t task)
{
    batch->ended =
        mem_grow(batch->ended, &batch->ended_capacity, batch->ended_count, sizeof *batch->ended);
    batch->ended[batch->ended_count++] = task;
}

void delivery_add_ended(struct executor *executor, int64_t task)
{
    batch_add_ended(executor->pending, task);
}

/* What is with the store, or on the disk, the keeper need not tell again. */
static void acknowledge(struct executor *executor, struct batch *batch)
{
    if (executor_is_daemon(executor))
        for (size_t i = 0; i < batch->ended_count; i++)
            keeper_ack(executor->options.keeper, batch->ended[i]);
    batch->ended_count = 0;
}

/* --- one call -------------------------------------------------------------------------------- */

static void run_advance(struct store *store, struct store_call *call)
{
    struct batch *batch = (struct batch *)call;
    batch->err = (struct err){0};
    batch->status = STATUS_OK;
    if (batch->asks_held)
        batch->status = store_held(store, batch->request.host, batch->arena, &batch->held,
                                   &batch->held_count, &batch->err);
    /* What that one claimed was not known when this was made. */
    if (batch->after != 0 && batch->after == batch->owner->last_ran)
        batch->request.process_slots = batch->request.inline_slots = 0;
    if (batch->number != 0)
        batch->owner->last_ran = batch->number;
    batch->request.clock_us = clock_wall_us();
    if (batch->status == STATUS_OK)
        batch->status =
            store_advance(store, &batch->request, batch->arena, &batch->result, &batch->err);
    if (batch->journal == NULL)
        return;
    if (batch->status == STATUS_OK)
        outcome_journal_forget(batch->journal, batch->outcomes, batch->journalled);
    else if (outcome_journal_keep(batch->journal, batch->outcomes + batch->journalled,
                                  batch->count - batch->journalled))
        batch->journalled = batch->count;
}

static struct claim_room room_of(const struct executor *executor)
{
    size_t held =
        idmap_count(executor->attempts) + executor->backlog.count + executor->deferred.count;
    return (struct claim_room){
        .slots = executor->slots,
        .percent = executor->options.claim_percent,
        .held = (int64_t)held,
        .pace_us = executor->pace_us,
    };
}

static void make_request(const struct executor *executor, struct batch *batch)
{
    bool may_claim = !executor->failed && !executor->is_closed;
    const struct claim_room room = room_of(executor);
    batch->request = (struct advance_request){
        .host = executor->options.host,
        .scope = executor->options.scope,
        .process_slots = may_claim ? claim_room_left(&room) : 0,
        .inline_slots = may_claim && executor->deferred.count == 0 ? INLINE_SLOTS : 0,
        .usable_slots = claim_room_slots(&room),
        .labels = executor->options.labels,
        .queues = executor->options.queues,
        .outcomes = batch->outcomes,
        .outcomes_count = batch->count,
    };
}

static void send_batch(struct executor *executor, struct batch *batch)
{
    make_request(executor, batch);
    batch->number = 0;
    batch->after = executor->standing != NULL ? executor->standing->number : 0;
    batch->journal = executor->journal;
    batch->asks_held = executor->asks_held;
    executor->asks_held = false;
    executor->in_flight = batch;
    executor->sent_us = clock_mono_us();
    store_thread_call(executor->options.store_thread, &batch->call);
}

/* --- failures -------------------------------------------------------------------------------- */

void delivery_pause(struct executor *executor)
{
    if (executor->is_paused)
        return;
    executor->is_paused = true;
    meters_count(executor->options.meters, METRIC_CLAIM_BACKOFFS, 1);
    int64_t wait_ms = executor_is_daemon(executor)
                          ? backoff_next_ms(&executor->backoff, rng_below(UINT32_MAX))
                          : FOREGROUND_DELAY_MS;
    loop_timer_start(executor->again, wait_ms, 0);
}

void delivery_resume(void *context)
{
    struct executor *executor = context;
    executor->is_paused = false;
    launch_deferred(executor);
    delivery_soon(executor);
}

static bool may_help(const struct executor *executor, const struct batch *batch)
{
    if (executor_is_daemon(executor))
        return executor_is_trouble(batch->status);
    return status_is_retryable(batch->status) && batch->tries < FOREGROUND_TRIES_MAX;
}

/* The outcomes go back to the front of what is pending. */
static void retry_batch(struct executor *executor, struct batch *batch)
{
    if (!may_help(executor, batch)) {
        executor_fail(executor, &batch->err);
        batch_free(batch);
        return;
    }
    if (batch->tries++ == 0 && executor_is_daemon(executor))
        log_warn("the store does not answer, trying again", LOG_STR("error", batch->err.text));
    if (SABOTAGE("loop_exits_silently") && batch->tries >= 5)
        executor->is_closed = true;
    /* It may have claimed for us, and the answer is lost. */
    executor->asks_held |= batch->asks_held || batch->status == STATUS_UNKNOWN;
    struct batch *newer = executor->pending;
    if (batch->journalled == batch->count)
        acknowledge(executor, batch);
    for (size_t i = 0; i < newer->count; i++)
        batch_add(batch, &newer->outcomes[i]);
    for (size_t i = 0; i < newer->ended_count; i++)
        batch_add_ended(batch, newer->ended[i]);
    arena_take(batch->arena, TAKE(newer->arena));
    batch_free(newer);
    executor->pending = batch;
    delivery_pause(executor);
}

/* --- what came of it ------------------------------------------------------------------------- */

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

static void note_recovery(struct executor *executor, const struct batch *batch)
{
    executor->backoff.tries = 0;
    if (batch->tries == 0 || !executor_is_daemon(executor))
        return;
    log_info("the store answers again", LOG_INT("tries", batch->tries));
    executor->asks_held = true;
    executor->wants_advance = true;
}

/* Somebody else has the task by now; its processes here are dead already. */
static void note_refused(struct executor *executor, const struct batch *batch)
{
    if (!executor_is_daemon(executor))
        return;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->result.accepted[i])
            continue;
        executor->counts.refused++;
        log_info("an outcome came too late", LOG_ID("task", batch->outcomes[i].task),
                 LOG_INT("attempt", batch->outcomes[i].attempt));
    }
}

static void stand_by(struct executor *executor);

static void take_answer(struct executor *executor, struct batch *batch)
{
    if (batch->status != STATUS_OK) {
        retry_batch(executor, batch);
        return;
    }
    note_recovery(executor, batch);
    acknowledge(executor, batch);
    note_refused(executor, batch);
    const struct advance_result *result = &batch->result;
    if (batch->asks_held)
        handover_reconcile(executor, batch);
    waiting_note(executor, batch);
    if (result->changes_count > 0)
        executor->events.changed(executor->events.context, result->changes, result->changes_count);
    if (result->told && executor->events.told != NULL)
        executor->events.told(executor->events.context);
    launch_claims(executor, result->claims, result->claims_count);
    set_due_timer(executor, result->next_due_us);
    if (result->has_news && executor->events.news != NULL)
        executor->events.news(executor->events.context);
    finish_runs(executor, result);
    batch_free(batch);
    if (executor->events.delivered != NULL)
        executor->events.delivered(executor->events.context);
    if (executor->wants_advance)
        delivery_soon(executor);
    stand_by(executor);
}

static void advance_done(struct store_call *call)
{
    struct batch *batch = (struct batch *)call;
    batch->owner->in_flight = NULL;
    take_answer(batch->owner, batch);
}

/* --- standing by ----------------------------------------------------------------------------- */

static void standing_done(struct store_call *call)
{
    struct batch *batch = (struct batch *)call;
    struct executor *executor = batch->owner;
    executor->standing = NULL;
    if (call->was_run) {
        /* What went to the store meanwhile claimed nothing. */
        executor->wants_advance |= executor->in_flight != NULL;
        take_answer(executor, batch);
        return;
    }
    batch_free(batch);
    if (executor->events.delivered != NULL)
        executor->events.delivered(executor->events.context);
    stand_by(executor);
}

/* Nothing is on its way and nothing is to be said: only something that is heard can change that. */
static bool is_idle(const struct executor *executor)
{
    return executor->in_flight == NULL && executor->standing == NULL && !executor->is_recalling &&
           !executor->wants_advance && !executor->is_paused && !executor->asks_held &&
           executor->pending->count == 0;
}

static void stand_by(struct executor *executor)
{
    if (!executor_is_daemon(executor) || executor->failed || executor->is_closed ||
        !is_idle(executor))
        return;
    struct batch *batch = batch_new(executor);
    batch->call.run = run_advance;
    batch->call.done = standing_done;
    batch->number = ++executor->standings;
    make_request(executor, batch);
    batch->request.is_woken = true;
    executor->standing = batch;
    if (!store_thread_stand_by(executor->options.store_thread, &batch->call)) {
        executor->standing = NULL;
        batch_free(batch);
    }
}

static void run_nothing(struct store *store, struct store_call *call)
{
    (void)store, (void)call;
}

static void recall_done(struct store_call *call)
{
    struct executor *executor =
        (struct executor *)((char *)call - offsetof(struct executor, recall));
    executor->is_recalling = false;
    stand_by(executor);
}

void delivery_recall(struct executor *executor)
{
    if (executor->standing == NULL || executor->is_recalling)
        return;
    executor->is_recalling = true;
    executor->recall.run = run_nothing;
    executor->recall.done = recall_done;
    store_thread_call(executor->options.store_thread, &executor->recall);
}

/* --- sending --------------------------------------------------------------------------------- */

static void advance(void *context)
{
    struct executor *executor = context;
    executor->scheduled = false;
    if (executor->in_flight != NULL || executor->is_paused || !executor->began ||
        !executor->is_told)
        return;
    executor->wants_advance = false;
    struct batch *batch = executor->pending;
    executor->pending = batch_new(executor);
    batch->call.run = run_advance;
    batch->call.done = advance_done;
    send_batch(executor, batch);
}

void delivery_soon(struct executor *executor)
{
    executor->wants_advance = true;
    if (executor->in_flight != NULL || executor->is_paused || executor->scheduled)
        return;
    executor->scheduled = true;
    loop_before_wait(executor->loop, advance, executor);
}

/* --- beginning ------------------------------------------------------------------------------- */

struct journal_call {
    struct store_call call;
    struct executor *owner;
    struct outcome_journal *journal;
    struct arena *arena;
    struct outcome *outcomes;
    size_t count;
};

static void run_load(struct store *store, struct store_call *call)
{
    (void)store;
    struct journal_call *load = (struct journal_call *)call;
    outcome_journal_load(load->journal, load->arena, &load->outcomes, &load->count);
}

static void load_done(struct store_call *call)
{
    struct journal_call *load = (struct journal_call *)call;
    struct executor *executor = load->owner;
    struct batch *pending = executor->pending;
    /* In front of what the keeper told meanwhile, which is not on the disk. */
    struct batch *first = batch_new(executor);
    for (size_t i = 0; i < load->count; i++)
        batch_add(first, &load->outcomes[i]);
    first->journalled = load->count;
    if (load->count > 0)
        log_info("outcomes of an earlier program are delivered", LOG_INT("count", load->count));
    for (size_t i = 0; i < pending->count; i++)
        batch_add(first, &pending->outcomes[i]);
    for (size_t i = 0; i < pending->ended_count; i++)
        batch_add_ended(first, pending->ended[i]);
    arena_take(first->arena, TAKE(load->arena));
    arena_take(first->arena, TAKE(pending->arena));
    batch_free(pending);
    executor->pending = first;
    free(load);
    executor->loading = NULL;
    executor->began = true;
    delivery_soon(executor);
}

void delivery_begin(struct executor *executor)
{
    if (executor->options.journal_path == NULL) {
        executor->began = true;
        delivery_soon(executor);
        return;
    }
    executor->journal = outcome_journal_new(executor->options.journal_path);
    struct journal_call *load = mem_zalloc(1, sizeof *load);
    *load = (struct journal_call){
        .call = {.run = run_load, .done = load_done},
        .owner = executor,
        .journal = executor->journal,
        .arena = arena_new(),
    };
    executor->loading = load;
    store_thread_call(executor->options.store_thread, &load->call);
}

void delivery_fini(struct executor *executor)
{
    batch_free(executor->pending);
    batch_free(executor->in_flight);
    batch_free(executor->standing);
    if (executor->loading != NULL)
        arena_free(executor->loading->arena);
    free(executor->loading);
    outcome_journal_free(executor->journal);
}
