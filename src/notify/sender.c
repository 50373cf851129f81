#include "notify/sender.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "model/alert_pace.h"
#include "notify/parcel.h"
#include "os/file.h"
#include "os/knock.h"
#include "os/mailbox.h"
#include "os/thread.h"
#include "store/notice.h"

enum {
    AT_ONCE_MAX = 64,
    PER_RECEIVER_MAX = 4, /* so that those that hang leave room for others */
    FIRST_WAIT_MS = 100,
    LONGEST_WAIT_MS = 5000,
    CHANCE_STEPS = 1 << 20,
};

/* How it ends. */
enum end_wish { END_NOT, END_FINISHING, END_NOW };

/* One message on its way. */
struct trip {
    struct sender *owner;
    struct trip *next;    /* of those under way */
    const char *receiver; /* in its arena */
    struct thread *thread;
    struct arena *arena; /* of the claim */
    struct notice_claim claim;
    struct parcel *parcel;
    struct deliver_outcome outcome;
    bool is_dropped; /* nobody wants it */
};

struct sender {
    /* Of all threads. */
    struct sender_options options;
    int knock_fd;
    struct mailbox *back; /* trips that are over */
    atomic_int end;
    atomic_llong end_by_us; /* by the steady clock */
    struct thread *thread;
    /* Of the sender's thread. */
    struct store *store; /* while it is ours */
    struct vault *vault; /* the same: it reads from the store */
    struct trip *trips;  /* under way */
    size_t under_way;
    struct notice_passing passing; /* hooks whose receivers have enough to do */
    int64_t next_us; /* when one is due, by the store's clock, and by the steady one */
    int64_t next_mono_us;
    int64_t wait_ms; /* after failures */
    bool has_looked; /* since it was asked to finish */
};

static void trip_free(struct trip *trip)
{
    parcel_free(trip->parcel);
    arena_free(trip->arena);
    free(trip);
}

/* --- receivers ------------------------------------------------------------------------------- */

static const char *receiver_of(struct arena *arena, const struct notice_claim *claim)
{
    return arena_format(arena, "%s/%s", claim->space, hook_receiver(arena, &claim->hook));
}

static bool is_passed(void *context, const struct notice_claim *candidate)
{
    const struct sender *self = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *receiver = receiver_of(arena, candidate);
    size_t count = 0;
    for (const struct trip *trip = self->trips; trip != NULL; trip = trip->next)
        count += strcmp(trip->receiver, receiver) == 0;
    return count >= PER_RECEIVER_MAX;
}

static void add_trip(struct sender *self, struct trip *trip)
{
    trip->receiver = receiver_of(trip->arena, &trip->claim);
    trip->next = self->trips;
    self->trips = trip;
    self->under_way++;
}

static void remove_trip(struct sender *self, struct trip *trip)
{
    struct trip **at = &self->trips;
    while (*at != trip)
        at = &(*at)->next;
    *at = trip->next;
    self->under_way--;
    strbuf_clear(&self->passing.keys); /* its receiver has room again */
}

/* --- sending --------------------------------------------------------------------------------- */

static void bring_back(struct trip *trip)
{
    struct sender *owner = trip->owner;
    CHECK(mailbox_push(owner->back, trip));
    knock_send(owner->knock_fd);
}

static void travel(void *context)
{
    struct trip *trip = context;
    parcel_send(trip->parcel, &trip->outcome);
    bring_back(trip);
}

/* Relative paths of a command are those of its DAG's folder, where that is on this machine. */
static const char *workdir_of(struct trip *trip)
{
    const char *slash = trip->claim.path != NULL ? strrchr(trip->claim.path, '/') : NULL;
    if (slash == NULL || trip->claim.hook.target != HOOK_COMMAND)
        return NULL;
    const char *folder =
        arena_strndup(trip->arena, trip->claim.path, (size_t)(slash - trip->claim.path));
    return access(folder, X_OK) == 0 ? folder : NULL;
}

/* What is missing may be added while it waits; a template does not get better. */
static void fail_unsent(struct trip *trip, const struct err *err)
{
    trip->outcome.verdict =
        err->code == STATUS_INVALID || err->code == STATUS_CORRUPT ? DELIVER_FAILED : DELIVER_RETRY;
    trip->outcome.retry_after_ms = -1;
    (void)snprintf(trip->outcome.text, sizeof trip->outcome.text, "%s", err->text);
}

static void set_out(struct sender *self, struct trip *trip)
{
    struct err err = {0};
    const struct parcel_request request = {
        .vault = self->vault,
        .space = trip->claim.space,
        .public_only = self->options.public_only,
        .hook = &trip->claim.hook,
        .delivery = trip->claim.delivery,
        .at_us = trip->claim.at_us,
        .documents = trip->claim.documents,
        .count = trip->claim.count,
        .total = trip->claim.total,
        .workdir = workdir_of(trip),
    };
    add_trip(self, trip);
    enum status status = parcel_new(&request, &trip->parcel, &err);
    trip->is_dropped = status == STATUS_OK && trip->parcel == NULL;
    if (status == STATUS_OK && trip->parcel != NULL &&
        thread_start("send", travel, trip, &trip->thread, &err) == STATUS_OK)
        return;
    if (!trip->is_dropped)
        fail_unsent(trip, &err);
    bring_back(trip);
}

/* --- what became of it ----------------------------------------------------------------------- */

static enum notice_state give_up(const struct trip *trip, const char *why, char *text, size_t room)
{
    (void)snprintf(text, room, "%s; %s", why, trip->outcome.text);
    return NOTICE_FAILED;
}

static void judge(const struct sender *self, const struct trip *trip, char *text, size_t room,
                  struct notice_verdict *out)
{
    int64_t now_us = store_now_us(self->store);
    *out = (struct notice_verdict){
        .id = trip->claim.id,
        .attempts = trip->claim.attempts,
        .due_at_us = now_us,
        .answer = text,
    };
    (void)snprintf(text, room, "%s", trip->outcome.text);
    if (trip->is_dropped) {
        out->state = NOTICE_DROPPED;
        (void)snprintf(text, room, "its 'if' was not true");
    } else if (trip->outcome.verdict == DELIVER_DONE) {
        out->state = NOTICE_SENT;
    } else if (trip->outcome.verdict == DELIVER_FAILED) {
        out->state = NOTICE_FAILED;
    } else {
        const struct alert_tries tries = {
            .count = trip->claim.attempts,
            .first_at_us = trip->claim.first_at_us,
            .now_us = now_us,
            .asked_ms = trip->outcome.retry_after_ms,
        };
        struct alert_retry retry =
            alert_retry_next(&tries, (double)rng_below(CHANCE_STEPS) / CHANCE_STEPS);
        out->due_at_us = retry.at_us;
        out->state = retry.gives_up ? give_up(trip, retry.text, text, room) : NOTICE_PENDING;
    }
}

static void tell(const struct trip *trip, const struct notice_verdict *verdict)
{
    const char *target = hook_target_name(trip->claim.hook.target);
    if (verdict->state == NOTICE_FAILED)
        log_warn("a message could not be delivered", LOG_ID("notice", trip->claim.id),
                 LOG_STR("dag", trip->claim.dag_id), LOG_STR("target", target),
                 LOG_STR("why", verdict->answer));
    else if (verdict->state == NOTICE_PENDING && verdict->attempts == 1)
        log_info("a message has to wait", LOG_ID("notice", trip->claim.id),
                 LOG_STR("target", target), LOG_STR("why", verdict->answer));
    else
        log_debug("message", LOG_ID("notice", trip->claim.id), LOG_STR("target", target),
                  LOG_STR("state", notice_state_name(verdict->state)));
}

/* False: the store is away, and what the receiver said is kept until it is back. */
static bool settle(struct sender *self, struct trip *trip)
{
    enum { TEXT_MAX = DELIVER_TEXT_MAX + 200 };
    char text[TEXT_MAX];
    struct notice_verdict verdict;
    struct err err = {0};
    thread_join(trip->thread);
    trip->thread = NULL;
    judge(self, trip, text, sizeof text, &verdict);
    if (store_notice_settle(self->store, &verdict, &err) != STATUS_OK) {
        log_debug("settle a message", LOG_STR("error", err.text));
        return false;
    }
    tell(trip, &verdict);
    remove_trip(self, trip);
    trip_free(trip);
    return true;
}

static bool collect(struct sender *self)
{
    struct mailbox_batch batch = mailbox_take_now(self->back);
    bool is_well = true;
    for (size_t i = 0; i < batch.count; i++) {
        struct trip *trip = batch.items[i];
        if (is_well && settle(self, trip))
            continue;
        is_well = false;
        CHECK(mailbox_push(self->back, trip));
    }
    free(batch.items);
    return is_well;
}

/* --- the outbox ------------------------------------------------------------------------------ */

static bool take(struct sender *self)
{
    struct err err = {0};
    while (self->under_way < AT_ONCE_MAX) {
        struct trip *trip = mem_zalloc(1, sizeof *trip);
        trip->owner = self;
        trip->arena = arena_new();
        enum status status = store_notice_claim(self->store, trip->arena, &self->passing,
                                                &trip->claim, &self->next_us, &err);
        if (status == STATUS_OK && trip->claim.id != 0) {
            set_out(self, trip);
            continue;
        }
        trip_free(trip);
        if (status == STATUS_OK)
            return true;
        if (self->wait_ms == 0)
            log_warn("messages are held up", LOG_STR("error", err.text));
        return false;
    }
    return true;
}

/* Until a message is due, one is back, somebody knocks, or it is time to look anyway. */
static void await(struct sender *self)
{
    int64_t now_us = clock_mono_us();
    int64_t until_us = INT64_MAX;
    if (self->options.poll_ms > 0)
        until_us = MIN(until_us, now_us + self->options.poll_ms * 1000);
    if (self->under_way < AT_ONCE_MAX)
        until_us = MIN(until_us, self->next_mono_us);
    int64_t wait_ms = MAX((until_us - now_us) / 1000 + 1, (int64_t)1);
    if (self->wait_ms > 0)
        wait_ms = self->wait_ms;
    if (atomic_load(&self->end) != END_NOT)
        wait_ms = MIN(wait_ms, (int64_t)FIRST_WAIT_MS);
    knock_wait(self->knock_fd, wait_ms);
    knock_clear(self->knock_fd);
}

static bool is_over(const struct sender *self)
{
    int end = atomic_load(&self->end);
    int64_t now_us = clock_mono_us();
    bool has_nothing = self->under_way == 0;
    if (end == END_FINISHING)
        has_nothing = has_nothing && self->has_looked && self->next_mono_us > now_us;
    return end != END_NOT && (has_nothing || now_us >= atomic_load(&self->end_by_us));
}

/* What there is to do with the store; false: it does not answer. */
static bool look(struct sender *self, int wish)
{
    struct err err = {0};
    if (spare_take(self->options.spare, &self->store, &err) != STATUS_OK) {
        if (self->wait_ms == 0)
            log_warn("the sender cannot open the store", LOG_STR("error", err.text));
        return false;
    }
    if (self->vault == NULL)
        self->vault = vault_new(self->options.vault, self->store);
    bool is_well = collect(self);
    if (is_well && wish != END_NOW)
        is_well = take(self);
    self->next_mono_us = self->next_us == INT64_MAX
                             ? INT64_MAX
                             : clock_mono_us() + self->next_us - store_now_us(self->store);
    self->store = NULL;
    spare_give(self->options.spare);
    return is_well;
}

static void body(void *context)
{
    struct sender *self = context;
    while (!is_over(self)) {
        int wish = atomic_load(&self->end);
        bool is_well = look(self, wish);
        self->has_looked |= is_well && wish == END_FINISHING;
        if (is_well && self->wait_ms > 0)
            log_info("messages go on");
        self->wait_ms =
            is_well ? 0
                    : MIN(MAX(2 * self->wait_ms, (int64_t)FIRST_WAIT_MS), (int64_t)LONGEST_WAIT_MS);
        if (!is_over(self))
            await(self);
    }
    vault_free(self->vault);
}

/* --- from outside ---------------------------------------------------------------------------- */

enum status sender_start(const struct sender_options *options, struct sender **out, struct err *err)
{
    struct sender *self = mem_zalloc(1, sizeof *self);
    self->options = *options;
    self->knock_fd = -1;
    self->back = mailbox_new();
    self->passing = (struct notice_passing){.is_passed = is_passed, .context = self};
    strbuf_init(&self->passing.keys, NOTICE_PASSING_BYTES);
    if (knock_open(&self->knock_fd, err) != STATUS_OK ||
        thread_start("sender", body, self, &self->thread, err) != STATUS_OK) {
        sender_stop(self, 0);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void sender_wake(struct sender *sender)
{
    if (sender != NULL)
        knock_send(sender->knock_fd);
}

static void end(struct sender *self, enum end_wish wish, int64_t wait_ms)
{
    if (self == NULL)
        return;
    atomic_store(&self->end_by_us, clock_mono_us() + wait_ms * 1000);
    atomic_store(&self->end, (int)wish);
    if (self->knock_fd >= 0)
        knock_send(self->knock_fd);
    thread_join(self->thread);
    /* Who still waits for a receiver needs what is here until the process ends. */
    if (self->under_way > 0)
        return;
    mailbox_free(self->back);
    strbuf_fini(&self->passing.keys);
    file_closep(&self->knock_fd);
    free(self);
}

void sender_stop(struct sender *sender, int64_t wait_ms)
{
    end(sender, END_NOW, wait_ms);
}

void sender_finish(struct sender *sender, int64_t wait_ms)
{
    end(sender, END_FINISHING, wait_ms);
}
