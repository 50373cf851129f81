#include "app/foreground.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/onlooker.h"
#include "app/opening.h"
#include "app/session.h"
#include "app/watching.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "notify/sender.h"
#include "store/notice.h"
#include "store/run_store.h"

enum { MESSAGES_WAIT_MS = 5000 }; /* at the end, for answers of receivers */

struct drive {
    struct session session;
    struct watching watching;
    struct opened opened;
    struct presence hold; /* of the run */
    struct loop_timer *tick;
    struct loop_timer *timeout;
    struct loop_signal *signals[3];
    struct loop_file *wake;
    struct sender *sender; /* NULL: nobody is to be told */
    const struct engine_observer *observer;
    int interrupts;    /* by the person in front of it */
    bool is_cancelled; /* by another process */
    bool is_over;
    enum run_state verdict;
    struct err failure;
};

/* --- what happens while it runs -------------------------------------------------------------- */

static void interrupt(struct drive *drive)
{
    drive->interrupts++;
    bool kill = drive->interrupts > 1;
    if (drive->observer->interrupted != NULL)
        drive->observer->interrupted(drive->observer->context, kill ? 2 : 1);
    executor_cancel(drive->session.executor, drive->opened.run, CANCEL_ASKED,
                    kill ? KEEPER_STOP_KILL : KEEPER_STOP_GENTLE, kill);
}

static void ask_observer(struct drive *drive)
{
    if (drive->observer->should_stop != NULL && drive->interrupts == 0 && !drive->is_over &&
        drive->observer->should_stop(drive->observer->context))
        interrupt(drive);
}

static void on_signal(void *context, int signo)
{
    (void)signo;
    interrupt(context);
}

static void on_tick(void *context)
{
    struct drive *drive = context;
    watching_follow(&drive->watching);
    if (drive->observer->tick != NULL)
        drive->observer->tick(drive->observer->context, clock_wall_us());
    ask_observer(drive);
}

static void on_timeout(void *context)
{
    struct drive *drive = context;
    executor_cancel(drive->session.executor, drive->opened.run, CANCEL_TIMEOUT, KEEPER_STOP_GENTLE,
                    false);
}

static void on_run_ended(void *context, int64_t run, enum run_state state)
{
    struct drive *drive = context;
    CHECK(run == drive->opened.run);
    drive->is_over = true;
    drive->verdict = state;
    loop_stop(drive->session.loop);
}

/* A daemon on the same store may start what waits for it. */
static void on_news(void *context)
{
    const struct drive *drive = context;
    home_wake(drive->session.home);
}

/* Tasks that are to stop while the run goes on; elsewhere the pulse looks for them. */
static void look_for_wishes(struct drive *drive, struct arena *arena)
{
    struct stop_wish *wishes = NULL;
    size_t count = 0;
    struct err err = {0};
    if (!session_is_embedded(&drive->session))
        return;
    if (store_stop_wishes(drive->session.store, drive->session.host, arena, &wishes, &count,
                          &err) != STATUS_OK)
        log_warn("what is to stop is not known", LOG_STR("error", err.text));
    else if (count > 0)
        executor_stop_wished(drive->session.executor, wishes, count);
}

/* Another process wrote to the store: a cancel, or something to claim. */
static void on_wake(void *context)
{
    struct drive *drive = context;
    struct executor *executor = drive->session.executor;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct run_info info;
    struct err ignored = {0};
    if (!drive->is_over && store_run_load(drive->session.store, arena, drive->opened.run, &info,
                                          &ignored) == STATUS_OK) {
        bool is_final = run_state_is_final(info.state);
        if (is_final && executor_load(executor) == 0)
            on_run_ended(drive, info.id, info.state); /* ended by others */
        if (!is_final && info.cancel_asked != CANCEL_NONE && !drive->is_cancelled &&
            drive->interrupts == 0) {
            drive->is_cancelled = true;
            executor_cancel(executor, drive->opened.run, CANCEL_ASKED, KEEPER_STOP_GENTLE, false);
        }
        if (!is_final)
            look_for_wishes(drive, arena);
    }
    executor_wake(executor);
}

static void on_changed(void *context, const struct task_change *changes, size_t count)
{
    struct drive *drive = context;
    watching_changed(&drive->watching, changes, count);
    ask_observer(drive);
}

static void on_told(void *context)
{
    sender_wake(((struct drive *)context)->sender);
}

static void on_progress(void *context, const struct claim *claim,
                        const struct keeper_report *report)
{
    struct drive *drive = context;
    if (drive->observer->task_progress == NULL)
        return;
    struct engine_progress progress = {
        .node = (uint32_t)claim->node,
        .map_index = claim->map_index,
        .done = report->done,
        .total = report->total,
        .text = report->text,
    };
    drive->observer->task_progress(drive->observer->context, &progress);
}

static void on_failed(void *context, const struct err *err)
{
    struct drive *drive = context;
    drive->failure = *err;
    loop_stop(drive->session.loop);
}

/* --- one call -------------------------------------------------------------------------------- */

static enum status watch_outside(struct drive *drive, struct err *err)
{
    /* A terminal that closes asks to stop too, unless nohup says otherwise. */
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};
    _Static_assert(ARRAY_LEN(SIGNALS) == ARRAY_LEN(drive->signals), "room for every signal");
    struct loop *loop = drive->session.loop;
    struct sigaction hangup;
    bool is_deaf = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        if (!(SIGNALS[i] == SIGHUP && is_deaf) &&
            loop_signal_new(loop, SIGNALS[i], on_signal, drive, &drive->signals[i], err) !=
                STATUS_OK)
            return err->code;
    if (loop_file_new(loop, drive->session.home->wake_file, on_wake, drive, &drive->wake, err) !=
        STATUS_OK)
        return err->code;
    int64_t tick_ms = drive->observer->tick_ms;
    if (tick_ms == 0 && drive->watching.wants_output)
        tick_ms = 100;
    if (tick_ms > 0) {
        drive->tick = loop_timer_new(loop, on_tick, drive);
        loop_timer_start(drive->tick, tick_ms, tick_ms);
    }
    if (drive->opened.dag->timeout_ms > 0) {
        drive->timeout = loop_timer_new(loop, on_timeout, drive);
        loop_timer_start(drive->timeout, drive->opened.dag->timeout_ms, 0);
    }
    return STATUS_OK;
}

/* Nobody else may be there to tell of it. What only tests a DAG tells nobody. */
static enum status begin_sending(struct drive *drive, const struct engine_request *request,
                                 struct err *err)
{
    const struct config *config = drive->session.config;
    struct sender_options options = {
        .spare = drive->session.spare,
        .vault = &config->vault,
        .public_only = settings_number(&config->settings, SETTING_HOOKS_PUBLIC_ONLY) != 0,
        .poll_ms = settings_number(&config->settings, SETTING_POLL),
    };
    if (!request->record || drive->opened.dag->watch == NULL)
        return STATUS_OK;
    return sender_start(&options, &drive->sender, err);
}

/* What was not delivered in time is left to a daemon; whoever looks is told. */
static void end_sending(struct drive *drive, struct engine_result *result)
{
    struct notice_left left = {0};
    struct err ignored = {0};
    if (drive->sender == NULL)
        return;
    sender_finish(TAKE(drive->sender), MESSAGES_WAIT_MS);
    if (store_notice_left(drive->session.store, drive->opened.run, &left, &ignored) != STATUS_OK)
        return;
    result->messages_waiting = left.waiting;
    result->messages_failed = left.failed;
}

static void drive_close(struct drive *drive, struct engine_result *result)
{
    end_sending(drive, result);
    loop_timer_free(drive->tick);
    loop_timer_free(drive->timeout);
    for (size_t i = 0; i < ARRAY_LEN(drive->signals); i++)
        loop_signal_free(drive->signals[i]);
    loop_file_free(drive->wake);
    presence_end(&drive->hold);
    watching_fini(&drive->watching);
    session_close(&drive->session);
    opened_fini(&drive->opened);
}

static enum status drive_run(struct drive *drive, const struct engine_request *request,
                             struct engine_result *result, struct err *err)
{
    struct session *session = &drive->session;
    if (opening_begin(session, request, &drive->opened, err) != STATUS_OK ||
        presence_hold_run(session->place.meeting_dir, drive->opened.run, &drive->hold, err) !=
            STATUS_OK ||
        opening_finish(session, request, &drive->opened, err) != STATUS_OK)
        return err->code;
    watching_init(&drive->watching, drive->observer, session, &drive->opened,
                  request->wants_output && drive->observer->log_line != NULL);
    if (watch_outside(drive, err) != STATUS_OK || begin_sending(drive, request, err) != STATUS_OK ||
        watching_start(&drive->watching, request->source == ENGINE_RETRY, err) != STATUS_OK)
        return err->code;
    int64_t started_us = clock_mono_us();
    session_begin(session, drive->opened.scope);
    loop_run(session->loop);
    on_tick(drive);
    if (!drive->is_over) {
        *err = drive->failure;
        CHECK(err->code != STATUS_OK);
        return err_wrap(err, "run %lld stopped; `eider retry %lld` continues it",
                        (long long)drive->opened.run, (long long)drive->opened.run);
    }
    result->duration_ms = (clock_mono_us() - started_us) / 1000;
    result->interrupted = drive->interrupts > 0 && drive->verdict == RUN_CANCELLED;
    result->verdict = watching_verdict(drive->verdict);
    return watching_result(&drive->watching, request->record, result, err);
}

/* In a home that is there for the run alone, variables and secrets are those of the usual one. */
static enum status run_in(const struct foreground *self, const struct home *home,
                          const struct engine_request *request,
                          const struct engine_observer *observer, struct engine_result *result,
                          struct err *err)
{
    struct drive drive = {.observer = observer};
    struct session_options options = {
        .config = self->config,
        .home = home,
        .vault_url = home != self->home ? self->home->store_url : NULL,
        .exe = self->exe,
        .events =
            {
                .context = &drive,
                .changed = on_changed,
                .progress = on_progress,
                .run_ended = on_run_ended,
                .news = on_news,
                .told = on_told,
                .failed = on_failed,
            },
        .heard = on_wake,
    };
    enum status status = session_open(&drive.session, &options, err);
    if (status == STATUS_OK)
        status = drive_run(&drive, request, result, err);
    drive_close(&drive, result);
    return status;
}

enum status foreground_run(void *context, const struct engine_request *request,
                           const struct engine_observer *observer, struct engine_result *out_result,
                           struct err *err)
{
    const struct foreground *self = context;
    struct engine_result result = {0};
    bool is_for_daemons = false;
    enum status status = onlooker_is_asked(self, request, &is_for_daemons, err);
    if (status != STATUS_OK)
        return status;
    if (is_for_daemons) {
        status = onlooker_run(self, request, observer, &result, err);
    } else if (request->record) {
        status = run_in(self, self->home, request, observer, &result, err);
    } else {
        CLEANUP(opening_scratch_fini) struct opening_scratch scratch = {0};
        status = opening_scratch_make(&self->config->settings, &scratch, err);
        if (status == STATUS_OK)
            status = run_in(self, &scratch.home, request, observer, &result, err);
    }
    if (status == STATUS_OK)
        *out_result = result;
    else
        engine_result_fini(&result);
    return status;
}
