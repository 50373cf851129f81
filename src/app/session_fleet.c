/*
 * session_fleet: what a run in the foreground needs on a store that others share.
 *
 * Nobody else sees its lock, so it has a lease as daemons have: while it is renewed nobody takes
 * its tasks, and when it is not, everything here is dead before somebody does. Its logs go to the
 * store, so that any host shows them.
 */
#include <unistd.h>

#include "app/host_id.h"
#include "app/lease_settings.h"
#include "app/session_priv.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/host.h"

enum { LOGS_WAIT_MS = 5000 }; /* at the end, for the rest of them */

bool session_is_embedded(const struct session *session)
{
    return home_is_embedded(session->home);
}

/* --- what it hears --------------------------------------------------------------------------- */

static void on_beat(void *context, int64_t sent_us, const struct host_pulse *pulse)
{
    (void)pulse;
    struct session *session = context;
    executor_set_deadline(session->executor, lease_deadline_us(&session->lease, sent_us));
}

static void on_swept(void *context)
{
    struct session *session = context;
    struct err err = {0};
    (void)err_set(&err, STATUS_UNREACHABLE,
                  "the lease was lost: the store heard nothing of this process for %lld ms",
                  (long long)session->lease.lease_ms);
    executor_fence(session->executor);
    session->events.failed(session->events.context, &err);
}

static void on_heard(void *context)
{
    struct session *session = context;
    if (session->heard != NULL)
        session->heard(session->events.context);
    else
        executor_wake(session->executor);
}

static void on_wished(void *context, const struct stop_wish *wishes, size_t count)
{
    struct session *session = context;
    executor_stop_wished(session->executor, wishes, count);
}

/* --- from start to end ----------------------------------------------------------------------- */

static enum status add_host(struct session *session, struct err *err)
{
    const struct settings *settings = &session->config->settings;
    char boot[BOOT_TEXT_MAX];
    host_id_boot(boot);
    if (!session_is_embedded(session) &&
        lease_settings_read(settings, &session->lease, err) != STATUS_OK)
        return err->code;
    struct host_request request = {
        .name = settings_text(settings, SETTING_HOST_NAME),
        .kind = "foreground",
        .machine = settings_text(settings, SETTING_HOST_NAME),
        .version = EIDER_VERSION,
        .labels = session->labels,
        .pid = getpid(),
        .boot = boot,
        .slots = settings_number(settings, SETTING_SLOTS),
        .lease_ms = session->lease.lease_ms,
    };
    session->registered_us = clock_mono_us();
    if (store_host_add(session->store, &request, &session->host, err) != STATUS_OK)
        return err->code;
    return presence_begin(session->place.meeting_dir, session->host, &session->presence, err);
}

enum status session_join(struct session *session, struct err *err)
{
    const struct settings *settings = &session->config->settings;
    if (add_host(session, err) != STATUS_OK)
        return err->code;
    if (session_is_embedded(session))
        return STATUS_OK;
    struct log_ship_options logs = {
        .spare = session->spare,
        .directory = session->place.blob_dir,
    };
    struct pulse_options options = {
        .store = session_store_options(session),
        .lease = session->lease,
        .sweep_ms = settings_number(settings, SETTING_SWEEP),
        .poll_ms = settings_number(settings, SETTING_POLL),
        .host = session->host,
        .dead_log_path = session->home->path, /* only who leads writes there, a daemon */
    };
    struct pulse_events events = {
        .context = session,
        .beat = on_beat,
        .swept = on_swept,
        .heard = on_heard,
        .wished = on_wished,
    };
    if (log_ship_start(&logs, &session->log_ship, err) != STATUS_OK)
        return err->code;
    return pulse_start(session->loop, &options, &events, &session->pulse, err);
}

void session_part(struct session *session)
{
    pulse_stop(session->pulse);
    if (!log_ship_stop(session->log_ship, LOGS_WAIT_MS))
        log_warn("some logs are not in the store yet; the next run from here brings them");
    session->pulse = NULL;
    session->log_ship = NULL;
}
