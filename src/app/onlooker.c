#include "app/onlooker.h"

#include <signal.h>
#include <unistd.h>

#include "app/actor.h"
#include "app/opening.h"
#include "app/session.h"
#include "app/watching.h"
#include "base/check.h"
#include "base/clock.h"
#include "store/host_work.h"
#include "store/run_store.h"

enum { LOOK_MS = 100, LOGS_WAIT_MS = 10000 };

struct look {
    struct session session;
    struct watching watching;
    struct opened opened;
    const struct engine_observer *observer;
    struct loop_timer *tick;
    struct loop_signal *signals[2];
    int interrupts;
    bool is_over;
    int64_t ended_us; /* when that was seen, by the steady clock; the rest of its logs may come */
    enum run_state verdict;
    struct err failure;
};

static enum status has_worker(struct store *store, const struct home *home, bool *out,
                              struct err *err)
{
    return store_has_worker(store, home_is_embedded(home) ? presence_is_alive : NULL,
                            home->store_dir, out, err);
}

/* --- whether --------------------------------------------------------------------------------- */

static bool run_is_theirs(struct store *store, const char *name)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct err ignored = {0};
    struct run_info info;
    int64_t run = 0;
    return store_run_find(store, name, &run, &ignored) == STATUS_OK &&
           store_run_load(store, arena, run, &info, &ignored) == STATUS_OK && info.scope == 0;
}

enum status onlooker_is_asked(const struct foreground *self, const struct engine_request *request,
                              bool *out, struct err *err)
{
    CLEANUP(store_closep) struct store *store = NULL;
    struct store_options options = {.url = self->home->store_url, .mode = DB_READ_ONLY};
    struct err missing = {0};
    *out = false;
    if (request->source == ENGINE_FILE || !request->record)
        return STATUS_OK;
    /* What is wrong with a store is told by whoever needs it. */
    if (store_open(&options, &store, &missing) != STATUS_OK)
        return STATUS_OK;
    if (request->source == ENGINE_RETRY && !run_is_theirs(store, request->name))
        return STATUS_OK;
    if (has_worker(store, self->home, out, err) != STATUS_OK)
        return err->code;
    if (request->source == ENGINE_RETRY && !*out)
        return err_set(err, STATUS_UNREACHABLE,
                       "the run is worked off by daemons, and no `eider up` works on this store");
    return STATUS_OK;
}

/* --- watching -------------------------------------------------------------------------------- */

static void stop_looking(struct look *look, const struct err *err)
{
    look->failure = *err;
    loop_stop(look->session.loop);
}

static void interrupt(struct look *look)
{
    struct err err = {0};
    look->interrupts++;
    bool kill = look->interrupts > 1;
    if (look->observer->interrupted != NULL)
        look->observer->interrupted(look->observer->context, kill ? 2 : 1);
    struct cancel_request cancel = {
        .run = look->opened.run,
        .cause = CANCEL_ASKED,
        .finally_too = kill,
        .actor = actor_name(),
    };
    enum status status = store_run_cancel(look->session.store, &cancel, &err);
    if (status != STATUS_OK && status != STATUS_CONFLICT) /* over meanwhile */
        stop_looking(look, &err);
    home_wake(look->session.home);
}

static void on_signal(void *context, int signo)
{
    (void)signo;
    interrupt(context);
}

/* The state is read first: when it is final, so is what is read after it. */
static void on_tick(void *context)
{
    struct look *look = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct engine_observer *observer = look->observer;
    struct run_info info;
    struct err err = {0};
    if (store_run_load(look->session.store, arena, look->opened.run, &info, &err) != STATUS_OK ||
        watching_look(&look->watching, &err) != STATUS_OK) {
        if (!status_is_retryable(err.code))
            stop_looking(look, &err);
        return;
    }
    watching_follow(&look->watching);
    if (observer->tick != NULL)
        observer->tick(observer->context, clock_wall_us());
    if (run_state_is_final(info.state)) {
        int64_t now_us = clock_mono_us();
        look->ended_us = look->ended_us != 0 ? look->ended_us : now_us;
        if (!watching_has_all_output(&look->watching) &&
            now_us - look->ended_us < (int64_t)LOGS_WAIT_MS * 1000)
            return;
        look->is_over = true;
        look->verdict = info.state;
        loop_stop(look->session.loop);
    } else if (observer->should_stop != NULL && look->interrupts == 0 &&
               observer->should_stop(observer->context)) {
        interrupt(look);
    }
}

/* Before there is a run, which others would go on with. */
static enum status watch_interrupts(struct look *look, struct err *err)
{
    static const int SIGNALS[] = {SIGINT, SIGTERM};
    _Static_assert(ARRAY_LEN(SIGNALS) == ARRAY_LEN(look->signals), "room for every signal");
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        if (loop_signal_new(look->session.loop, SIGNALS[i], on_signal, look, &look->signals[i],
                            err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status watch(struct look *look, const struct engine_request *request, struct err *err)
{
    struct loop *loop = look->session.loop;
    watching_init(&look->watching, look->observer, &look->session, &look->opened,
                  request->wants_output && look->observer->log_line != NULL);
    if (watching_start(&look->watching, request->source == ENGINE_RETRY, err) != STATUS_OK)
        return err->code;
    look->tick = loop_timer_new(loop, on_tick, look);
    int64_t tick_ms = look->observer->tick_ms > 0 ? look->observer->tick_ms : LOOK_MS;
    loop_timer_start(look->tick, 1, MAX(tick_ms, (int64_t)LOOK_MS));
    loop_run(loop);
    return STATUS_OK;
}

static enum status look_at_run(struct look *look, const struct engine_request *request,
                               struct engine_result *result, struct err *err)
{
    struct session *session = &look->session;
    if (watch_interrupts(look, err) != STATUS_OK ||
        opening_begin(session, request, &look->opened, err) != STATUS_OK ||
        opening_finish(session, request, &look->opened, err) != STATUS_OK)
        return err->code;
    home_wake(session->home);
    int64_t started_us = clock_mono_us();
    if (watch(look, request, err) != STATUS_OK)
        return err->code;
    if (!look->is_over) {
        *err = look->failure;
        CHECK(err->code != STATUS_OK);
        return err_wrap(err, "run %lld goes on without us", (long long)look->opened.run);
    }
    result->duration_ms = (clock_mono_us() - started_us) / 1000;
    result->interrupted = look->interrupts > 0 && look->verdict == RUN_CANCELLED;
    result->verdict = watching_verdict(look->verdict);
    return watching_result(&look->watching, true, result, err);
}

enum status onlooker_run(const struct foreground *self, const struct engine_request *request,
                         const struct engine_observer *observer, struct engine_result *result,
                         struct err *err)
{
    struct look look = {.observer = observer};
    struct session_options options = {.config = self->config, .home = self->home, .exe = self->exe};
    enum status status = session_open_onlooker(&look.session, &options, err);
    if (status == STATUS_OK)
        status = look_at_run(&look, request, result, err);
    loop_timer_free(look.tick);
    for (size_t i = 0; i < ARRAY_LEN(look.signals); i++)
        loop_signal_free(look.signals[i]);
    watching_fini(&look.watching);
    session_close(&look.session);
    opened_fini(&look.opened);
    return status;
}
