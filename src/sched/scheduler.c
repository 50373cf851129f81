#include "sched/scheduler.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/meters.h"
#include "os/file.h"
#include "os/knock.h"
#include "os/thread.h"
#include "sched/clock_watch.h"
#include "sched/duty.h"
#include "sched/file_watcher.h"
#include "store/listen.h"

enum { FIRST_WAIT_MS = 100, LONGEST_WAIT_MS = 5000, DUTIES_MAX = 32 };

/* What is known of one duty between two calls. */
struct turn {
    int64_t next_us;
    int64_t wait_ms; /* after failures; 0: the last call went well */
};

struct scheduler {
    /* Of both threads. */
    struct loop *loop;
    struct scheduler_options options;
    int knock_fd;
    struct thread *thread;
    atomic_bool is_over;
    atomic_bool is_woken;
    /* Of the scheduler's thread. */
    struct store *store;
    struct file_watcher *files;
    struct blob *blob;
    struct clock_watch clock;
    struct turn turns[DUTIES_MAX];
};

static void tell(void *context)
{
    struct scheduler *self = context;
    self->options.changed(self->options.context);
}

static void tell_of_mail(void *context)
{
    struct scheduler *self = context;
    self->options.has_mail(self->options.context);
}

/* What was put off by the clock as it was is looked at anew. */
static void mind_steps(struct scheduler *self)
{
    struct clock_look look = {.before_us = clock_mono_us()};
    look.shown_us = store_now_us(self->store);
    look.after_us = clock_mono_us();
    int64_t step_us = clock_watch_look(&self->clock, &look);
    if (step_us == 0)
        return;
    for (size_t i = 0; i < DUTIES_COUNT; i++)
        self->turns[i].next_us = 0;
    if (step_us > 0)
        log_warn("the clock was set forward", LOG_INT("seconds", step_us / 1000000),
                 LOG_STR("so", "ticks it left out are caught up or missed, as their DAGs say"));
    else
        log_warn("the clock was set back", LOG_INT("seconds", -step_us / 1000000),
                 LOG_STR("so", "nothing is due twice; what is due later waits for it"));
}

/* Longer each time; the first failure in a row is told. */
static void put_off(struct turn *turn, const struct duty *duty, int64_t now_us,
                    const struct err *err)
{
    if (turn->wait_ms == 0)
        log_warn("the scheduler is held up", LOG_STR("duty", duty->name),
                 LOG_STR("error", err->text));
    turn->wait_ms = MIN(MAX(2 * turn->wait_ms, (int64_t)FIRST_WAIT_MS), (int64_t)LONGEST_WAIT_MS);
    turn->next_us = now_us + turn->wait_ms * 1000;
}

/* The glance is void once a duty did something. */
static void do_duty(struct scheduler *self, size_t index, bool is_woken,
                    const struct store_glance **glance)
{
    const struct duty *duty = &DUTIES[index];
    struct turn *turn = &self->turns[index];
    const struct duty_call call = {
        .store = self->store,
        .now_us = store_now_us(self->store),
        .blob = self->blob,
        .retention = &self->options.retention,
        .chain_most = self->options.chain_most,
        .due_us = turn->next_us,
        .files = self->files,
        .glance = is_woken ? *glance : NULL,
    };
    struct duty_result result = {.next_us = DUTY_NEVER};
    struct err err = {0};
    bool is_asked = is_woken && turn->wait_ms == 0;
    if (call.now_us < turn->next_us && !is_asked)
        return;
    enum status status = duty->run(&call, &result, &err);
    if (!result.was_idle)
        *glance = NULL;
    if (status != STATUS_OK) {
        put_off(turn, duty, call.now_us, &err);
        return;
    }
    if (turn->wait_ms > 0)
        log_info("the scheduler goes on", LOG_STR("duty", duty->name));
    *turn = (struct turn){.next_us = result.next_us};
    if (result.has_mail)
        loop_post(self->loop, tell_of_mail, self);
    /* What one duty changed may be what another waits for. */
    if (result.changed) {
        atomic_store(&self->is_woken, true);
        loop_post(self->loop, tell, self);
    }
}

static void take_turn(struct scheduler *self, bool is_woken)
{
    struct meters *meters = self->options.store.meters;
    int64_t began_us = clock_mono_us();
    meters_sign(meters, SIGN_SCHEDULER_BEGAN, began_us);
    struct store_glance room;
    const struct store_glance *glance = is_woken ? duties_glance(self->store, &room) : NULL;
    for (size_t i = 0; i < DUTIES_COUNT && !atomic_load(&self->is_over); i++)
        do_duty(self, i, is_woken, &glance);
    int64_t ended_us = clock_mono_us();
    meters_sign(meters, SIGN_SCHEDULER_TURN, ended_us);
    meters_sign(meters, SIGN_SCHEDULER_BEGAN, 0);
    meters_count(meters, METRIC_SCHEDULER_TICK, ended_us - began_us);
}

/* Until the first duty is due, something happened, or it is time to look anyway. */
static void await(struct scheduler *self)
{
    struct err err = {0};
    bool heard = false;
    int64_t now_us = store_now_us(self->store);
    int64_t next_us = now_us + self->options.poll_ms * 1000;
    for (size_t i = 0; i < DUTIES_COUNT; i++)
        next_us = MIN(next_us, self->turns[i].next_us);
    int64_t wait_ms = MAX((next_us - now_us + 999) / 1000, (int64_t)0);
    if (wait_ms == 0 || atomic_load(&self->is_woken))
        return;
    if (store_listen_for_news(self->store, &err) != STATUS_OK ||
        store_listen_for_notices(self->store, &err) != STATUS_OK ||
        store_wait(self->store, self->knock_fd, wait_ms, &heard, &err) != STATUS_OK)
        knock_wait(self->knock_fd, MIN(wait_ms, (int64_t)FIRST_WAIT_MS));
    knock_clear(self->knock_fd);
    bool is_late = store_now_us(self->store) >= now_us + self->options.poll_ms * 1000;
    if (heard || is_late)
        atomic_store(&self->is_woken, true);
}

/* The loop's thread opened the same store a moment ago, so this is a matter of time. */
static bool open_store(struct scheduler *self)
{
    struct err err = {0};
    if (self->store != NULL)
        return true;
    if (store_open(&self->options.store, &self->store, &err) == STATUS_OK) {
        if (self->options.blob_dir != NULL &&
            blob_open_for(self->store, self->options.blob_dir, &self->blob, &err) != STATUS_OK)
            log_warn("old logs are not removed", LOG_STR("error", err.text));
        return true;
    }
    log_warn("the scheduler cannot open the store", LOG_STR("error", err.text));
    knock_wait(self->knock_fd, LONGEST_WAIT_MS);
    return false;
}

static void body(void *context)
{
    struct scheduler *self = context;
    while (!atomic_load(&self->is_over)) {
        if (!open_store(self))
            continue;
        mind_steps(self);
        take_turn(self, atomic_exchange(&self->is_woken, false));
        await(self);
    }
    if (self->blob != NULL)
        blob_close(self->blob);
    store_close(self->store);
}

/* From any thread. */
static void wake(void *context)
{
    struct scheduler *self = context;
    atomic_store(&self->is_woken, true);
    knock_send(self->knock_fd);
}

enum status scheduler_start(struct loop *loop, const struct scheduler_options *options,
                            struct scheduler **out, struct err *err)
{
    CHECK(DUTIES_COUNT <= DUTIES_MAX);
    struct scheduler *self = mem_zalloc(1, sizeof *self);
    *self = (struct scheduler){.loop = loop, .options = *options, .knock_fd = -1};
    atomic_store(&self->is_woken, true);
    self->files = file_watcher_new(&(struct file_watcher_options){.wake = wake, .context = self});
    if (knock_open(&self->knock_fd, err) != STATUS_OK ||
        thread_start("scheduler", body, self, &self->thread, err) != STATUS_OK) {
        scheduler_stop(self);
        return err->code;
    }
    *out = self;
    return STATUS_OK;
}

void scheduler_wake(struct scheduler *scheduler)
{
    if (scheduler != NULL)
        wake(scheduler);
}

void scheduler_stop(struct scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    atomic_store(&scheduler->is_over, true);
    if (scheduler->knock_fd >= 0)
        knock_send(scheduler->knock_fd);
    thread_join(scheduler->thread);
    file_watcher_free(scheduler->files);
    file_closep(&scheduler->knock_fd);
    free(scheduler);
}
