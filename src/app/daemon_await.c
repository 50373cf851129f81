#include <signal.h>

#include "app/daemon_priv.h"
#include "base/check.h"
#include "base/log.h"
#include "os/supervisor.h"

enum { TRY_AGAIN_MS = 3000 };

struct pausing {
    struct loop *loop;
    struct loop_timer *timer;
    struct loop_signal *signals[2];
    bool is_stopped;
};

static void on_time(void *context)
{
    struct pausing *pausing = context;
    loop_stop(pausing->loop);
}

static void on_signal(void *context, int signo)
{
    (void)signo;
    struct pausing *pausing = context;
    pausing->is_stopped = true;
    loop_stop(pausing->loop);
}

/* For as long as it waits and tries: a signal during a try is heard after it. */
static enum status pausing_begin(struct pausing *pausing, struct err *err)
{
    static const int SIGNALS[] = {SIGTERM, SIGINT};
    _Static_assert(ARRAY_LEN(SIGNALS) == ARRAY_LEN(pausing->signals), "room for every signal");
    if (loop_new(&pausing->loop, err) != STATUS_OK)
        return err->code;
    pausing->timer = loop_timer_new(pausing->loop, on_time, pausing);
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        if (loop_signal_new(pausing->loop, SIGNALS[i], on_signal, pausing, &pausing->signals[i],
                            err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static void pausing_end(struct pausing *pausing)
{
    loop_timer_free(pausing->timer);
    for (size_t i = 0; i < ARRAY_LEN(pausing->signals); i++)
        loop_signal_free(pausing->signals[i]);
    loop_free(pausing->loop);
}

static void pause_for(struct pausing *pausing, int64_t ms)
{
    loop_timer_start(pausing->timer, ms, 0);
    loop_run(pausing->loop);
}

static enum status try_store(const struct session_options *options, struct err *err)
{
    CLEANUP(store_closep) struct store *store = NULL;
    struct session session = {.config = options->config, .home = options->home};
    struct store_options store_options = session_store_options(&session);
    return store_open(&store_options, &store, err);
}

static enum status try_until_stopped(const struct session_options *options, struct pausing *pausing,
                                     struct err *err)
{
    while (!pausing->is_stopped) {
        struct err problem = {0};
        if (try_store(options, &problem) == STATUS_OK)
            break;
        if (!status_is_retryable(problem.code)) {
            *err = problem;
            return err->code;
        }
        log_warn("the store cannot be used yet; trying again every few seconds",
                 LOG_STR("error", problem.text));
        supervisor_tell("STATUS=waiting for the store\nEXTEND_TIMEOUT_USEC=60000000");
        pause_for(pausing, TRY_AGAIN_MS);
    }
    pause_for(pausing, 0);
    return STATUS_OK;
}

enum status daemon_await_store(const struct session_options *options, bool *out_stopped,
                               struct err *err)
{
    struct session session = {.home = options->home};
    struct pausing pausing = {0};
    *out_stopped = false;
    if (session_is_embedded(&session))
        return STATUS_OK;
    enum status status = pausing_begin(&pausing, err);
    if (status == STATUS_OK)
        status = try_until_stopped(options, &pausing, err);
    pausing_end(&pausing);
    *out_stopped = pausing.is_stopped;
    return status;
}
