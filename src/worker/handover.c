/*
 * handover: attempts that change hands: stopped on somebody's wish, given back, or found to be
 * somebody else's.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "worker/executor_priv.h"
#include "worker/reconcile.h"

/* --- stopping -------------------------------------------------------------------------------- */

void handover_stop(struct executor *executor, struct attempt *attempt, enum keeper_stop how)
{
    attempt->is_stopping = true;
    if (attempt->sleep != NULL)
        loop_timer_start(attempt->sleep, 0, 0);
    else
        keeper_stop_task(executor->options.keeper, attempt->claim.task, how);
}

static bool is_of_attempt(const struct stop_wish *wish, const struct claim *claim)
{
    return wish->task == claim->task && wish->attempt == claim->attempt;
}

bool handover_is_wished(const struct executor *executor, const struct claim *claim)
{
    for (size_t i = 0; i < executor->wishes_count; i++)
        if (is_of_attempt(&executor->wishes[i], claim))
            return true;
    return false;
}

/* An attempt may come to be known here after the wish: claimed just now, or adopted. */
static void note_wishes(struct executor *executor, const struct stop_wish *wishes, size_t count)
{
    free(executor->wishes);
    executor->wishes = mem_zalloc(count, sizeof *executor->wishes);
    executor->wishes_count = 0;
    for (size_t i = 0; i < count; i++)
        if (wishes[i].task != 0)
            executor->wishes[executor->wishes_count++] = wishes[i];
}

/* What waits here for a slot, or for the store to answer, ends before it began. */
static void end_waiting(struct executor *executor, struct backlog *backlog)
{
    for (size_t left = backlog->count; left > 0; left--) {
        struct attempt *attempt = backlog_pop(backlog);
        if (!handover_is_wished(executor, &attempt->claim)) {
            backlog_push(backlog, attempt);
            continue;
        }
        struct outcome outcome = launch_outcome(&attempt->claim, OUTCOME_END, REASON_CANCELLED);
        delivery_add(executor, &outcome, NULL);
        attempt_free(attempt);
    }
}

void handover_stop_wished(struct executor *executor, struct attempt *attempt)
{
    if (attempt->is_stopping)
        return;
    log_info("stopping a task on request", LOG_ID("task", attempt->claim.task));
    handover_stop(executor, attempt, KEEPER_STOP_GENTLE);
}

void executor_stop_wished(struct executor *executor, const struct stop_wish *wishes, size_t count)
{
    size_t cursor = 0;
    note_wishes(executor, wishes, count);
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;) {
        const struct claim *claim = &attempt->claim;
        bool is_wished = handover_is_wished(executor, claim);
        for (size_t i = 0; i < count && !is_wished; i++)
            is_wished = wishes[i].task == 0 && claim->run != 0 && wishes[i].run == claim->run &&
                        !attempt->is_finally;
        if (is_wished)
            handover_stop_wished(executor, attempt);
    }
    end_waiting(executor, &executor->backlog);
    end_waiting(executor, &executor->deferred);
}

/* --- giving back ----------------------------------------------------------------------------- */

static void return_waiting(struct executor *executor, struct backlog *backlog)
{
    while (backlog->count > 0) {
        struct attempt *attempt = backlog_pop(backlog);
        struct outcome outcome = launch_outcome(&attempt->claim, OUTCOME_RETURN, REASON_NONE);
        delivery_add(executor, &outcome, NULL);
        attempt_free(attempt);
    }
}

void executor_close(struct executor *executor)
{
    executor->is_closed = true;
    delivery_recall(executor);
    return_waiting(executor, &executor->backlog);
    return_waiting(executor, &executor->deferred);
}

void executor_open(struct executor *executor)
{
    executor->is_closed = false;
    delivery_soon(executor);
}

void executor_hand_back(struct executor *executor, enum keeper_stop how)
{
    executor_close(executor);
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;) {
        if (!attempt->is_stopping)
            attempt->fate = ATTEMPT_RETURN;
        handover_stop(executor, attempt, how);
    }
}

/* --- losing ---------------------------------------------------------------------------------- */

static void drop_waiting(struct backlog *backlog)
{
    while (backlog->count > 0)
        attempt_free(backlog_pop(backlog));
}

void executor_fence(struct executor *executor)
{
    executor->is_closed = true;
    lookout_set_taking(executor->lookout, false);
    delivery_recall(executor);
    drop_waiting(&executor->backlog);
    drop_waiting(&executor->deferred);
    /* The store would refuse them; their owner does not exist any more. */
    batch_free(executor->pending);
    executor->pending = batch_new(executor);
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;) {
        attempt->fate = ATTEMPT_DROP;
        handover_stop(executor, attempt, KEEPER_STOP_KILL);
    }
}

void executor_set_looking(struct executor *executor, bool looks)
{
    lookout_set_taking(executor->lookout, looks);
}

void executor_set_deadline(struct executor *executor, int64_t mono_us)
{
    executor->deadline_us = mono_us;
    keeper_set_deadline(executor->options.keeper, mono_us);
}

size_t executor_load(const struct executor *executor)
{
    size_t load = idmap_count(executor->attempts) + executor->backlog.count +
                  executor->deferred.count + executor->pending->count;
    return load + (executor->in_flight != NULL) + (executor->standing != NULL);
}

/* --- comparing ------------------------------------------------------------------------------- */

struct inventory {
    struct reconcile_item *items;
    size_t count;
};

static void note_item(struct inventory *inventory, int64_t task, int64_t attempt,
                      const struct nonce *nonce)
{
    inventory->items[inventory->count++] = (struct reconcile_item){task, attempt, *nonce};
}

static void note_backlog(struct inventory *inventory, const struct backlog *backlog)
{
    for (size_t i = 0; i < backlog->count; i++) {
        const struct claim *claim = &backlog_at(backlog, i)->claim;
        note_item(inventory, claim->task, claim->attempt, &claim->nonce);
    }
}

static void note_outcomes(struct inventory *inventory, const struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        note_item(inventory, batch->outcomes[i].task, batch->outcomes[i].attempt,
                  &batch->outcomes[i].nonce);
}

/* What runs comes first: only that can be foreign in a way that matters. */
static struct inventory take_inventory(const struct executor *executor, const struct batch *answer)
{
    const struct batch *pending = executor->pending;
    size_t most = idmap_count(executor->attempts) + executor->backlog.count +
                  executor->deferred.count + pending->count + answer->count + 1;
    struct inventory inventory = {.items =
                                      arena_array(answer->arena, most, sizeof *inventory.items)};
    size_t cursor = 0;
    for (struct attempt *attempt; (attempt = idmap_next(executor->attempts, &cursor)) != NULL;)
        note_item(&inventory, attempt->claim.task, attempt->claim.attempt, &attempt->claim.nonce);
    note_backlog(&inventory, &executor->backlog);
    note_backlog(&inventory, &executor->deferred);
    note_outcomes(&inventory, pending);
    note_outcomes(&inventory, answer);
    return inventory;
}

static void fence_attempt(struct executor *executor, const struct reconcile_item *item)
{
    struct attempt *attempt = idmap_find(executor->attempts, item->task);
    if (attempt == NULL || attempt->fate == ATTEMPT_DROP ||
        !nonce_equal(&attempt->claim.nonce, &item->nonce))
        return;
    executor->counts.differences++;
    log_warn("ending a task that is not ours any more", LOG_ID("task", item->task),
             LOG_INT("attempt", item->attempt));
    attempt->fate = ATTEMPT_DROP;
    handover_stop(executor, attempt, KEEPER_STOP_KILL);
}

static void take_unknown(struct executor *executor, const struct claim *claim)
{
    /* A keeper that lived on would know of it if it had been started. */
    bool may_have_run = executor->is_first_look && executor->adopted == 0;
    executor->counts.differences++;
    if (may_have_run) {
        log_warn("a task lost the process that ran it", LOG_ID("task", claim->task),
                 LOG_INT("attempt", claim->attempt));
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        (void)keeper_kill_claim(prepare_nonce_text(arena, &claim->nonce));
        struct outcome outcome = launch_outcome(claim, OUTCOME_LOST, REASON_LOST_OWNER);
        delivery_add(executor, &outcome, NULL);
    } else if (executor->is_closed || idmap_find(executor->attempts, claim->task) != NULL) {
        log_warn("giving back a task that was never started", LOG_ID("task", claim->task));
        struct outcome outcome = launch_outcome(claim, OUTCOME_RETURN, REASON_NONE);
        delivery_add(executor, &outcome, NULL);
    } else {
        log_warn("starting a task that the answer of the store did not reach us with",
                 LOG_ID("task", claim->task));
        launch_claim(executor, claim);
    }
}

void handover_reconcile(struct executor *executor, const struct batch *answer)
{
    struct inventory ours = take_inventory(executor, answer);
    struct reconcile_result result;
    reconcile(answer->held, answer->held_count, ours.items, ours.count, answer->arena, &result);
    for (size_t i = 0; i < result.foreign_count; i++)
        fence_attempt(executor, &ours.items[result.foreign[i]]);
    for (size_t i = 0; i < result.unknown_count; i++)
        take_unknown(executor, &answer->held[result.unknown[i]]);
    executor->is_first_look = false;
}

void executor_reconcile(struct executor *executor)
{
    executor->asks_held = true;
    delivery_soon(executor);
}
