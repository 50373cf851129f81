/*
 * Does the jobs of a queue, one at a time, until it is told to stop by SIGTERM or SIGINT:
 *
 *   worker URL QUEUE [LEASE_MS]
 *
 * A real one has handlers of its own; the loop around them can stay as it is.
 */
#define _POSIX_C_SOURCE 200809L
#include <eider.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { IDLE_MS = 1000, STEP_MS = 50 };

static volatile sig_atomic_t must_stop;

static void on_signal(int number)
{
    (void)number;
    must_stop = 1;
}

/* --- handlers -------------------------------------------------------------------------------- */

/* A handler ends its claim, and tells how that went. */
typedef enum eider_status (*handler_fn)(struct eider *e, const struct eider_claim *claim);

static enum eider_status do_echo(struct eider *e, const struct eider_claim *claim)
{
    return eider_complete(e, claim, claim->payload);
}

static enum eider_status do_refuse(struct eider *e, const struct eider_claim *claim)
{
    return eider_fail(e, claim, "this handler never succeeds", 0);
}

/* Long work shows that it lives, and looks whether it is still wanted. */
static enum eider_status do_sleep(struct eider *e, const struct eider_claim *claim)
{
    const struct timespec step = {0, STEP_MS * 1000000L};
    double seconds = 0;
    if (sscanf(claim->payload, "{ \"seconds\" : %lf", &seconds) != 1)
        return eider_fail(e, claim, "sleep needs {\"seconds\": N}", 0);
    for (double slept = 0; slept < seconds; slept += STEP_MS / 1000.0) {
        enum eider_status status = EIDER_OK;
        int is_cancelled = 0;
        if (must_stop)
            return eider_release(e, claim);
        (void)nanosleep(&step, NULL);
        if (eider_heartbeat_due(e) == 0)
            status = eider_heartbeat(e);
        if (status == EIDER_OK)
            status = eider_is_cancelled(e, claim, &is_cancelled);
        if (status == EIDER_LOST || status == EIDER_STALE)
            return status; /* another worker does it by now */
        if (is_cancelled)
            return eider_cancel(e, claim);
    }
    return eider_complete(e, claim, "\"slept well\"");
}

static const struct {
    const char *name;
    handler_fn run;
} HANDLERS[] = {{"echo", do_echo}, {"refuse", do_refuse}, {"sleep", do_sleep}};

static enum eider_status do_job(struct eider *e, const struct eider_claim *claim)
{
    for (size_t i = 0; i < sizeof HANDLERS / sizeof HANDLERS[0]; i++)
        if (strcmp(HANDLERS[i].name, claim->handler) == 0)
            return HANDLERS[i].run(e, claim);
    return eider_fail(e, claim, "this worker has no such handler", 0);
}

/* --- the loop -------------------------------------------------------------------------------- */

/* Failures that pass: the store is busy, or away for a while. */
static int is_worth_waiting(enum eider_status status)
{
    return status == EIDER_BUSY || status == EIDER_UNREACHABLE || status == EIDER_UNKNOWN;
}

static enum eider_status work_once(struct eider *e)
{
    struct eider_claim claim = {0};
    size_t count = 0;
    enum eider_status status = eider_claim(e, 1, &claim, &count);
    if (status != EIDER_OK)
        return status;
    if (count == 0)
        return eider_wait(e, IDLE_MS);
    (void)printf("claimed %s %s\n", claim.job, claim.handler);
    status = do_job(e, &claim);
    (void)printf("ended %s %s\n", claim.job, eider_status_text(status));
    eider_claim_free(&claim);
    return status == EIDER_STALE ? EIDER_OK : status;
}

static enum eider_status work(struct eider *e, const struct eider_worker_options *options)
{
    const struct timespec pause = {0, STEP_MS * 1000000L};
    enum eider_status status = eider_worker_begin(e, options);
    while (status == EIDER_OK && !must_stop) {
        status = work_once(e);
        if (status == EIDER_LOST)
            status = eider_worker_begin(e, options); /* from here on as a new host */
        if (is_worth_waiting(status)) {
            (void)fprintf(stderr, "worker: %s\n", eider_error(e));
            (void)nanosleep(&pause, NULL);
            status = EIDER_OK;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    struct eider *e = NULL;
    struct eider_worker_options options = {0};
    struct sigaction action;
    if (argc < 3) {
        (void)fprintf(stderr, "usage: worker URL QUEUE [LEASE_MS]\n");
        return 2;
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    options.queues = argv[2];
    options.lease_ms = argc > 3 ? (int64_t)strtol(argv[3], NULL, 10) : 0;

    enum eider_status status = eider_open(argv[1], &e);
    if (status == EIDER_OK)
        status = work(e, &options);
    if (status != EIDER_OK)
        (void)fprintf(stderr, "worker: %s\n", eider_error(e));
    eider_close(e);
    return status != EIDER_OK;
}
