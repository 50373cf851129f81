#include "app/daemon_priv.h"
#include "app/host_id.h"
#include "base/log.h"
#include "os/supervisor.h"

/* After giving back, for processes that ignore TERM and a store that is slow. */
enum { RETURN_WAIT_MS = 15000 };

static void give_back(struct daemon *daemon, enum keeper_stop how)
{
    daemon->phase = DAEMON_RETURNING;
    log_info("giving back what still runs");
    executor_hand_back(daemon->session.executor, how);
    int64_t grace_ms = settings_number(daemon->settings, SETTING_GRACE);
    loop_timer_start(daemon->drain, grace_ms + RETURN_WAIT_MS, 0);
}

void daemon_stop_asked(struct daemon *daemon)
{
    switch (daemon->phase) {
    case DAEMON_WORKING:
        daemon->phase = DAEMON_DRAINING;
        supervisor_tell("STOPPING=1\nSTATUS=waiting for running tasks");
        log_info("stopping; running tasks may end first",
                 LOG_INT("grace_ms", settings_number(daemon->settings, SETTING_DRAIN_GRACE)));
        executor_close(daemon->session.executor);
        pulse_leave(daemon->pulse);
        loop_timer_start(daemon->drain, settings_number(daemon->settings, SETTING_DRAIN_GRACE), 0);
        break;
    case DAEMON_DRAINING:
        give_back(daemon, KEEPER_STOP_GENTLE);
        break;
    case DAEMON_RETURNING:
        executor_hand_back(daemon->session.executor, KEEPER_STOP_KILL);
        break;
    }
    daemon_stop_if_done(daemon);
}

void daemon_stop_grace_over(void *context)
{
    struct daemon *daemon = context;
    if (daemon->phase == DAEMON_DRAINING) {
        give_back(daemon, KEEPER_STOP_GENTLE);
        daemon_stop_if_done(daemon);
        return;
    }
    /* The store does not answer. What is not delivered stays with the keeper or in the journal. */
    log_warn("leaving with outcomes that are not delivered; the next start delivers them");
    loop_stop(daemon->session.loop);
}

void daemon_stop_if_done(struct daemon *daemon)
{
    if (daemon->phase == DAEMON_WORKING || executor_load(daemon->session.executor) > 0)
        return;
    daemon->session.leaves_all = false;
    host_id_forget(&daemon->session.place);
    loop_stop(daemon->session.loop);
}
