#include "worker/pulse.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sabotage.h"
#include "os/file.h"
#include "os/knock.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/control.h"
#include "store/dead.h"
#include "store/listen.h"
#include "store/vacuum.h"
#include "worker/backoff.h"
#include "worker/dead_log.h"
#include "worker/recovery.h"

enum { BACKOFF_LEAST_MS = 50, BACKOFF_MOST_MS = 5000, FAILED_WAIT_MS = 100, CLEAN_MS = 10000 };

/* From the loop's thread. */
struct order {
    enum { ORDER_LOOK, ORDER_HOST, ORDER_LEAVE, ORDER_STOP } kind;
    int64_t host;
};

/* To the loop's thread. */
struct news {
    enum { NEWS_BEAT, NEWS_SWEPT, NEWS_HEARD, NEWS_WISHED, NEWS_DIRTY } kind;
    int64_t sent_us;
    struct host_pulse beat;
    struct arena *arena; /* of the list below */
    struct stop_wish *wishes;
    size_t count;
};

struct pulse {
    /* Of both threads, never changed while they run. */
    struct loop *loop;
    struct mailbox *orders;
    struct mailbox *news;
    int knock_fd;
    struct pulse_options options;
    struct thread *thread;
    /* Of the loop's thread. */
    struct pulse_events events;
    /* Of the pulse's thread. */
    struct store *store;
    int64_t host; /* 0: it was swept */
    bool is_over;
    bool is_listening;
    bool looks;
    bool must_tell; /* that this host stops */
    bool leads;
    bool is_failing;
    int64_t healthy_us; /* since when every answer came; 0: the last one did not */
    int64_t next_renew_us;
    int64_t next_sweep_us;
    int64_t next_look_us;
    int64_t next_clean_us;
    struct backoff backoff;
};

/* --- news ------------------------------------------------------------------------------------ */

static void news_free(struct news *news)
{
    arena_free(news->arena);
    free(news);
}

static void tell(struct pulse *pulse, const struct news *news)
{
    const struct pulse_events *events = &pulse->events;
    switch (news->kind) {
    case NEWS_BEAT:
        events->beat(events->context, news->sent_us, &news->beat);
        break;
    case NEWS_SWEPT:
        events->swept(events->context);
        break;
    case NEWS_HEARD:
        events->heard(events->context);
        break;
    case NEWS_WISHED:
        events->wished(events->context, news->wishes, news->count);
        break;
    case NEWS_DIRTY:
        if (events->dirty != NULL)
            events->dirty(events->context);
        break;
    }
}

static void deliver(void *context)
{
    struct pulse *pulse = context;
    struct mailbox_batch batch = mailbox_take_now(pulse->news);
    for (size_t i = 0; i < batch.count; i++) {
        tell(pulse, batch.items[i]);
        news_free(batch.items[i]);
    }
    free(batch.items);
}

static void post(struct pulse *pulse, const struct news *news)
{
    struct news *copy = mem_alloc(sizeof *copy);
    *copy = *news;
    CHECK(mailbox_push(pulse->news, copy));
    loop_post(pulse->loop, deliver, pulse);
}

/* --- what it does ---------------------------------------------------------------------------- */

static int64_t in_ms(int64_t ms)
{
    return clock_mono_us() + backoff_jitter_ms(ms, rng_below(UINT32_MAX)) * 1000;
}

static void note_failure(struct pulse *pulse, const struct err *err)
{
    if (!pulse->is_failing)
        log_warn("the store does not answer the pulse", LOG_STR("error", err->text));
    pulse->is_failing = true;
    pulse->healthy_us = 0;
    /* Sooner than usual, but not all hosts at once. */
    int64_t wait_ms = backoff_next_ms(&pulse->backoff, rng_below(UINT32_MAX));
    pulse->next_renew_us = MIN(pulse->next_renew_us, clock_mono_us() + wait_ms * 1000);
}

static void note_success(struct pulse *pulse, int64_t sent_us)
{
    if (pulse->is_failing)
        log_info("the store answers the pulse again");
    pulse->is_failing = false;
    pulse->backoff.tries = 0;
    if (pulse->healthy_us == 0)
        pulse->healthy_us = sent_us;
}

struct own_row {
    int64_t id;
    bool is_found;
    struct host_pulse beat;
};

static enum status note_own(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct own_row *own = context;
    if (info->id == own->id) {
        own->is_found = true;
        own->beat.draining = info->draining;
    }
    own->beat.living++;
    return STATUS_OK;
}

/* Without a lease there is nothing to renew, and nothing is written. */
static enum status ask(struct pulse *pulse, struct host_pulse *out, struct err *err)
{
    if (pulse->options.lease.lease_ms > 0)
        return store_host_renew(pulse->store, pulse->host, out, err);
    struct own_row own = {.id = pulse->host};
    if (store_host_each(pulse->store, false, note_own, &own, err) != STATUS_OK)
        return err->code;
    if (!own.is_found)
        return err_set(err, STATUS_NOT_FOUND, "this host was ended by somebody else");
    *out = own.beat;
    return STATUS_OK;
}

static void renew(struct pulse *pulse)
{
    struct host_pulse beat = {0};
    struct err err = {0};
    int64_t sent_us = clock_mono_us();
    pulse->next_renew_us = in_ms(pulse->options.lease.renew_ms);
    enum status status = ask(pulse, &beat, &err);
    if (status == STATUS_NOT_FOUND) {
        pulse->host = 0;
        post(pulse, &(struct news){.kind = NEWS_SWEPT});
        return;
    }
    if (SABOTAGE("heartbeat_error_swallowed"))
        status = STATUS_OK;
    if (status != STATUS_OK) {
        note_failure(pulse, &err);
        return;
    }
    if (SABOTAGE("trust_from_reply"))
        sent_us = clock_mono_us();
    note_success(pulse, sent_us);
    pulse->leads = beat.leads;
    post(pulse, &(struct news){.kind = NEWS_BEAT, .sent_us = sent_us, .beat = beat});
}

/* For people who cannot ask the store. */
static void note_dead(struct pulse *pulse, struct arena *arena, int64_t task)
{
    struct dead_info letter;
    struct err err = {0};
    if (store_dead_load(pulse->store, arena, task, &letter, &err) != STATUS_OK ||
        dead_log_append(pulse->options.dead_log_path, &letter, &err) != STATUS_OK)
        log_warn("a dead letter was not noted", LOG_ID("task", task), LOG_STR("error", err.text));
    else
        log_warn("a task was put aside: it lost its owner too often", LOG_ID("task", task),
                 LOG_STR("name", letter.name));
}

/* By leases; one host does it, and if it is two, nothing is done twice. */
static void sweep_leases(struct pulse *pulse)
{
    bool is_embedded = pulse->options.meeting_dir != NULL;
    bool is_judge = pulse->leads || pulse->options.always_sweeps || is_embedded;
    if (!is_judge || !lease_may_judge(&pulse->options.lease, pulse->healthy_us, clock_mono_us()))
        return;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct sweep_result result = {0};
    struct err err = {0};
    if (store_sweep(pulse->store, pulse->host, arena, &result, &err) != STATUS_OK)
        note_failure(pulse, &err);
    /* What was taken back before a failure counts too. */
    if (result.hosts > 0 || result.tasks > 0)
        log_info("took back what lost hosts held", LOG_INT("hosts", result.hosts),
                 LOG_INT("tasks", result.tasks), LOG_INT("buried", result.buried));
    for (int64_t i = 0; i < result.buried; i++)
        note_dead(pulse, arena, result.dead[i]);
    if (result.more)
        pulse->next_sweep_us = clock_mono_us();
    if (result.tasks > 0)
        post(pulse, &(struct news){.kind = NEWS_HEARD});
}

/* By locks. */
static void sweep_locks(struct pulse *pulse)
{
    struct recovery_result result = {0};
    struct err err = {0};
    if (recovery_sweep(pulse->store, pulse->options.meeting_dir, pulse->host, &result, &err) !=
        STATUS_OK) {
        note_failure(pulse, &err);
        return;
    }
    if (result.tasks > 0) {
        log_info("took back what dead processes held", LOG_INT("hosts", result.hosts),
                 LOG_INT("tasks", result.tasks));
        post(pulse, &(struct news){.kind = NEWS_HEARD});
    }
}

/* One host is enough, and it is connected anyway. */
static void mind_dirt(struct pulse *pulse)
{
    bool is_due = false;
    struct err err = {0};
    if (!pulse->leads || clock_mono_us() < pulse->next_clean_us)
        return;
    pulse->next_clean_us = in_ms(CLEAN_MS);
    if (store_vacuum_is_due(pulse->store, &is_due, &err) != STATUS_OK)
        note_failure(pulse, &err);
    else if (is_due)
        post(pulse, &(struct news){.kind = NEWS_DIRTY});
}

static void sweep(struct pulse *pulse)
{
    pulse->next_sweep_us = in_ms(pulse->options.sweep_ms);
    if (pulse->options.meeting_dir != NULL)
        sweep_locks(pulse);
    /* On an embedded store too: programs that use the library have leases there. */
    sweep_leases(pulse);
    mind_dirt(pulse);
}

static void look(struct pulse *pulse)
{
    struct arena *arena = arena_new();
    struct news wished = {.kind = NEWS_WISHED};
    struct err err = {0};
    pulse->looks = false;
    pulse->next_look_us = in_ms(pulse->options.poll_ms);
    if (store_stop_wishes(pulse->store, pulse->host, arena, &wished.wishes, &wished.count, &err) !=
        STATUS_OK) {
        note_failure(pulse, &err);
    } else if (wished.count > 0) {
        wished.arena = TAKE(arena);
        post(pulse, &wished);
    }
    post(pulse, &(struct news){.kind = NEWS_HEARD});
    arena_free(arena);
}

/* --- the thread ------------------------------------------------------------------------------ */

static void take_orders(struct pulse *pulse)
{
    knock_clear(pulse->knock_fd);
    struct mailbox_batch batch = mailbox_take_now(pulse->orders);
    for (size_t i = 0; i < batch.count; i++) {
        struct order *order = batch.items[i];
        pulse->looks |= order->kind == ORDER_LOOK;
        pulse->must_tell |= order->kind == ORDER_LEAVE;
        pulse->is_over |= order->kind == ORDER_STOP;
        if (order->kind == ORDER_HOST) {
            pulse->host = order->host;
            pulse->next_renew_us = 0;
        }
        free(order);
    }
    free(batch.items);
}

/* Only for those who look: what it says is tried again with the next beat, and no loss. */
static void tell_of_leaving(struct pulse *pulse)
{
    struct err err = {0};
    enum status status = store_host_leave(pulse->store, pulse->host, &err);
    pulse->must_tell = status != STATUS_OK && status != STATUS_NOT_FOUND;
    if (pulse->must_tell)
        note_failure(pulse, &err);
}

static void do_due(struct pulse *pulse)
{
    if (pulse->host != 0 && pulse->must_tell)
        tell_of_leaving(pulse);
    if (pulse->host != 0 && clock_mono_us() >= pulse->next_renew_us)
        renew(pulse);
    if (pulse->host != 0 && clock_mono_us() >= pulse->next_sweep_us)
        sweep(pulse);
    if (pulse->host != 0 && (pulse->looks || clock_mono_us() >= pulse->next_look_us))
        look(pulse);
}

static void wait_for_more(struct pulse *pulse)
{
    struct err err = {0};
    bool heard = false;
    int64_t next_us = MIN(pulse->next_renew_us, pulse->next_sweep_us);
    next_us = MIN(next_us, pulse->next_look_us);
    int64_t wait_ms = MAX((next_us - clock_mono_us() + 999) / 1000, (int64_t)0);
    if (pulse->host == 0)
        wait_ms = pulse->options.poll_ms;
    if (!pulse->is_listening)
        pulse->is_listening = store_listen_for_stops(pulse->store, &err) == STATUS_OK;
    if (store_wait(pulse->store, pulse->knock_fd, wait_ms, &heard, &err) != STATUS_OK) {
        note_failure(pulse, &err);
        knock_wait(pulse->knock_fd, MIN(wait_ms, (int64_t)FAILED_WAIT_MS));
    }
    pulse->looks |= heard;
}

/* The loop's thread opened the same store a moment ago, so this is a matter of time. */
static bool open_store(struct pulse *pulse)
{
    struct err err = {0};
    if (store_open(&pulse->options.store, &pulse->store, &err) == STATUS_OK)
        return true;
    note_failure(pulse, &err);
    knock_wait(pulse->knock_fd, FAILED_WAIT_MS);
    return false;
}

static void body(void *context)
{
    struct pulse *pulse = context;
    while (!pulse->is_over) {
        take_orders(pulse);
        if (pulse->is_over || (pulse->store == NULL && !open_store(pulse)))
            continue;
        do_due(pulse);
        wait_for_more(pulse);
    }
    store_close(pulse->store);
}

/* --- the whole ------------------------------------------------------------------------------- */

static void give_order(struct pulse *pulse, const struct order *order)
{
    struct order *copy = mem_alloc(sizeof *copy);
    *copy = *order;
    CHECK(mailbox_push(pulse->orders, copy));
    knock_send(pulse->knock_fd);
}

enum status pulse_start(struct loop *loop, const struct pulse_options *options,
                        const struct pulse_events *events, struct pulse **out, struct err *err)
{
    struct pulse *pulse = mem_zalloc(1, sizeof *pulse);
    *pulse = (struct pulse){
        .loop = loop,
        .orders = mailbox_new(),
        .news = mailbox_new(),
        .knock_fd = -1,
        .options = *options,
        .events = *events,
        .host = options->host,
        .backoff = {.least_ms = BACKOFF_LEAST_MS, .most_ms = BACKOFF_MOST_MS},
    };
    if (knock_open(&pulse->knock_fd, err) != STATUS_OK ||
        thread_start("pulse", body, pulse, &pulse->thread, err) != STATUS_OK) {
        pulse_stop(pulse);
        return err->code;
    }
    *out = pulse;
    return STATUS_OK;
}

void pulse_look(struct pulse *pulse)
{
    give_order(pulse, &(struct order){.kind = ORDER_LOOK});
}

void pulse_set_host(struct pulse *pulse, int64_t host)
{
    give_order(pulse, &(struct order){.kind = ORDER_HOST, .host = host});
}

void pulse_leave(struct pulse *pulse)
{
    give_order(pulse, &(struct order){.kind = ORDER_LEAVE});
}

void pulse_stop(struct pulse *pulse)
{
    if (pulse == NULL)
        return;
    if (pulse->thread != NULL)
        give_order(pulse, &(struct order){.kind = ORDER_STOP});
    thread_join(pulse->thread);
    struct mailbox_batch untold = mailbox_take_now(pulse->news);
    for (size_t i = 0; i < untold.count; i++)
        news_free(untold.items[i]);
    free(untold.items);
    mailbox_free(pulse->orders);
    mailbox_free(pulse->news);
    file_closep(&pulse->knock_fd);
    free(pulse);
}
