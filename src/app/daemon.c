#include "app/daemon.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/daemon_priv.h"
#include "app/dag_watch.h"
#include "app/host_id.h"
#include "app/lease_settings.h"
#include "app/old_home.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "base/str.h"
#include "model/permission.h"
#include "model/store_url.h"
#include "model/word_set.h"
#include "os/file.h"
#include "os/file_tree.h"
#include "os/machine.h"
#include "os/secret_box.h"
#include "os/supervisor.h"
#include "os/terminal.h"
#include "os/thread.h"
#include "serve/ui_files.h"
#include "store/task_pass.h"
#include "worker/claim_room.h"
#include "worker/dead_log.h"

enum {
    RECONCILE_MS = 60000,
    LOGS_WAIT_MS = 5000,     /* at the end, for the rest of them */
    MESSAGES_WAIT_MS = 3000, /* the same, for answers of receivers */
    HEALTH_MS = 1000,
    SILENCE_MS = 20000,     /* without a beat for longer, the store counts as away */
    STUCK_MS_LEAST = 60000, /* a call that waits for longer, while the store answers others */
};

bool daemon_is_embedded(const struct daemon *daemon)
{
    return session_is_embedded(&daemon->session);
}

void daemon_fail(struct daemon *daemon, const struct err *err)
{
    if (daemon->failure.code == STATUS_OK)
        daemon->failure = *err;
    loop_stop(daemon->session.loop);
}

void daemon_open_or_close(struct daemon *daemon)
{
    bool may_claim = !daemon->is_drained && !daemon->is_loaded;
    bool is_worker = word_set_has(daemon->roles, "worker");
    executor_set_looking(daemon->session.executor, is_worker && !daemon->is_drained);
    if (is_worker && may_claim)
        executor_open(daemon->session.executor);
    else
        executor_close(daemon->session.executor);
}

/* --- what it hears --------------------------------------------------------------------------- */

/* A database tells its hosts by itself; users of a file hear only of what somebody knocks for. */
static void knock(const struct daemon *daemon)
{
    if (daemon->has_neighbours)
        home_wake(daemon->session.home);
}

static void on_changed(void *context, const struct task_change *changes, size_t count)
{
    bool leaves_work = false;
    for (size_t i = 0; i < count; i++) {
        leaves_work |= changes[i].state == TASK_QUEUED;
        log_debug("task", LOG_ID("run", changes[i].run), LOG_ID("task", changes[i].task),
                  LOG_STR("state", task_state_name(changes[i].state)));
    }
    if (leaves_work)
        knock(context);
    api_wake(((struct daemon *)context)->api);
}

static void on_run_ended(void *context, int64_t run, enum run_state state)
{
    log_info("run ended", LOG_ID("run", run), LOG_STR("state", run_state_name(state)));
    scheduler_wake(((struct daemon *)context)->scheduler);
    api_wake(((struct daemon *)context)->api);
}

static void on_news(void *context)
{
    scheduler_wake(((struct daemon *)context)->scheduler);
    api_wake(((struct daemon *)context)->api);
}

static void on_delivered(void *context)
{
    struct daemon *daemon = context;
    daemon_host_renew_if_lost(daemon);
    daemon_stop_if_done(daemon);
}

static void on_failed(void *context, const struct err *err)
{
    daemon_fail(context, err);
}

static void on_beat(void *context, int64_t sent_us, const struct host_pulse *pulse)
{
    struct daemon *daemon = context;
    if (sent_us - daemon->beat_us > (int64_t)SILENCE_MS * 1000)
        daemon->heard_since_us = sent_us;
    daemon->beat_us = sent_us;
    executor_set_deadline(daemon->session.executor, lease_deadline_us(&daemon->lease, sent_us));
    daemon->has_neighbours = daemon_is_embedded(daemon) && pulse->living > 1;
    if (pulse->draining == daemon->is_drained || daemon->phase != DAEMON_WORKING)
        return;
    daemon->is_drained = pulse->draining;
    log_info(pulse->draining ? "asked to drain: nothing more is claimed" : "claiming again");
    daemon_open_or_close(daemon);
}

static void on_swept(void *context)
{
    daemon_host_lost(context);
}

static void on_heard(void *context)
{
    struct daemon *daemon = context;
    executor_wake(daemon->session.executor);
    api_wake(daemon->api);
}

static void on_dirty(void *context)
{
    housekeeping_clean(((struct daemon *)context)->housekeeping);
}

static void on_wished(void *context, const struct stop_wish *wishes, size_t count)
{
    struct daemon *daemon = context;
    executor_stop_wished(daemon->session.executor, wishes, count);
}

static void on_told(void *context)
{
    sender_wake(((struct daemon *)context)->sender);
}

static void on_scheduled(void *context)
{
    struct daemon *daemon = context;
    executor_wake(daemon->session.executor);
    pulse_look(daemon->pulse);
    api_wake(daemon->api);
}

static void on_scheduler_changed(void *context)
{
    on_scheduled(context);
    knock(context);
}

/* The claims need not wait for the thread that looks for wishes to stop. */
static void on_wake(void *context)
{
    struct daemon *daemon = context;
    on_scheduled(daemon);
    scheduler_wake(daemon->scheduler);
}

static void on_reconcile(void *context)
{
    struct daemon *daemon = context;
    executor_reconcile(daemon->session.executor);
}

/* --- health ---------------------------------------------------------------------------------- */

/* A call that hangs while the database answers others is a fault of ours: start over. */
static void check_progress(struct daemon *daemon)
{
    int64_t now_us = clock_mono_us();
    int64_t bound_ms = MAX(daemon->lease.lease_ms * 2, (int64_t)STUCK_MS_LEAST);
    int64_t since_us = executor_waiting_since_us(daemon->session.executor);
    if (since_us == 0 || now_us - daemon->beat_us > (int64_t)SILENCE_MS * 1000)
        return;
    since_us = MAX(since_us, daemon->heard_since_us);
    if (now_us - since_us < bound_ms * 1000)
        return;
    struct err err = {0};
    (void)err_set(&err, STATUS_TIMEOUT,
                  "the store answers, but a call of ours has waited for %lld s; giving up so that "
                  "a new start can go on",
                  (long long)((now_us - since_us) / 1000000));
    daemon_fail(daemon, &err);
}

static void measure_load(const struct daemon *daemon, const struct machine_load *load)
{
    meters_set(daemon->measuring.meters, METRIC_WORKER_CPU, load->cpu_percent * 10000);
    meters_set(daemon->measuring.meters, METRIC_WORKER_MEMORY, load->memory_bytes);
}

/* Others of the fleet may have more room; here it gets better when something ends. */
static void mind_load(struct daemon *daemon)
{
    struct machine_load load = machine_load_now();
    measure_load(daemon, &load);
    bool is_loaded = load.cpu_percent >= settings_number(daemon->settings, SETTING_CPU_MOST) ||
                     load.memory_percent >= settings_number(daemon->settings, SETTING_MEMORY_MOST);
    if (is_loaded == daemon->is_loaded || daemon->phase != DAEMON_WORKING)
        return;
    daemon->is_loaded = is_loaded;
    log_info(is_loaded ? "the machine is busy: nothing more is claimed" : "claiming again",
             LOG_INT("cpu_percent", load.cpu_percent),
             LOG_INT("memory_percent", load.memory_percent));
    daemon_open_or_close(daemon);
}

/* Two of its connections are needed only while there is work. */
static void let_connections_go(struct daemon *daemon)
{
    int64_t idle_ms = settings_number(daemon->settings, SETTING_STORE_IDLE);
    store_rest(daemon->session.store, idle_ms);
    spare_rest(daemon->session.spare, idle_ms);
}

static void on_health(void *context)
{
    struct daemon *daemon = context;
    supervisor_tell("WATCHDOG=1");
    mind_load(daemon);
    if (SABOTAGE("heartbeat_error_swallowed"))
        keeper_set_deadline(daemon->session.keeper,
                            lease_deadline_us(&daemon->lease, clock_mono_us()));
    check_progress(daemon);
    let_connections_go(daemon);
    daemon_host_renew_if_lost(daemon);
    daemon_stop_if_done(daemon);
}

/* --- DAG files ------------------------------------------------------------------------------- */

static enum status begin_scheduling(struct daemon *daemon, struct err *err);
static void greet(const struct daemon *daemon);

/*
 * Who hears that it is up finds its DAGs. What is due is decided once their files were read:
 * they may say something else than the store since they were edited while nobody watched.
 */
static void come_up(struct daemon *daemon)
{
    struct err err = {0};
    if (begin_scheduling(daemon, &err) != STATUS_OK) {
        daemon_fail(daemon, &err);
        return;
    }
    observer_set_up(daemon->measuring.observer);
    greet(daemon);
    daemon->is_up = true;
}

static void on_dags(void *context)
{
    struct daemon *daemon = context;
    if (daemon->is_up)
        scheduler_wake(daemon->scheduler);
    else
        come_up(daemon);
}

/* It may come later, but a name that somebody wrote is likelier to be wrong. */
static void doubt_folder(const struct daemon *daemon)
{
    const char *folder = settings_text(daemon->settings, SETTING_DAGS);
    CLEANUP(file_closep) int fd = -1;
    struct err err = {0};
    if (daemon->settings->values[SETTING_DAGS].origin == ORIGIN_DEFAULT ||
        file_open_directory(folder, &fd, &err) != STATUS_NOT_FOUND)
        return;
    log_warn("there is no such folder of DAG files; it is read once it is there",
             LOG_STR("dags", folder),
             LOG_STR("set by", setting_origin_name(daemon->settings->values[SETTING_DAGS].origin)));
}

static enum status begin_dags(struct daemon *daemon, struct err *err)
{
    doubt_folder(daemon);
    struct dag_watch_options options = {
        .spare = daemon->session.spare,
        .folder = settings_text(daemon->settings, SETTING_DAGS),
        .host = settings_text(daemon->settings, SETTING_HOST_NAME),
        .rescan_ms = settings_number(daemon->settings, SETTING_DAGS_RESCAN),
        .starts_paused = settings_number(daemon->settings, SETTING_DAGS_PAUSED_AT_CREATION) != 0,
        .meters = daemon->measuring.meters,
        .changed = on_dags,
        .context = daemon,
    };
    return dag_watch_start(daemon->session.loop, &options, &daemon->dag_watch, err);
}

static void on_signal(void *context, int signo)
{
    struct daemon *daemon = context;
    if (signo == SIGHUP)
        dag_watch_look(daemon->dag_watch);
    else
        daemon_stop_asked(daemon);
}

/* --- start ----------------------------------------------------------------------------------- */

static enum status read_settings(struct daemon *daemon, struct err *err)
{
    const struct settings *settings = daemon->settings;
    if (lease_settings_read(settings, &daemon->lease, err) != STATUS_OK)
        return err->code;
    daemon->queues = word_set_parse(settings_text(settings, SETTING_QUEUES));
    daemon->roles = word_set_parse(settings_text(settings, SETTING_ROLES));
    if (str_equal(daemon->roles, "") || !word_set_is_part(daemon->roles, "api scheduler worker"))
        return err_set(err, STATUS_INVALID, "roles: '%s' is not made of scheduler, worker, api",
                       daemon->roles);
    return STATUS_OK;
}

static void begin_claiming(struct daemon *daemon)
{
    struct executor_options options = session_executor_options(&daemon->session);
    options.scope = 0;
    options.claim_percent = settings_number(daemon->settings, SETTING_CLAIM_RATIO);
    options.queues = daemon->queues;
    options.meters = daemon->measuring.meters;
    options.journal_path = daemon->journal_path;
    options.log_ship = daemon->log_ship;
    options.prepare.scratch_dir = daemon->scratch_dir;
    options.prepare.api = daemon->task_api.url != NULL ? &daemon->task_api : NULL;
    daemon_open_or_close(daemon);
    executor_begin(daemon->session.executor, &options);
}

static enum status begin_pulse(struct daemon *daemon, struct err *err)
{
    struct session *session = &daemon->session;
    bool is_embedded = daemon_is_embedded(daemon);
    struct pulse_options options = {
        .store = session_store_options(session),
        .lease = daemon->lease,
        .sweep_ms = settings_number(daemon->settings, SETTING_SWEEP),
        .always_sweeps = str_equal(settings_text(daemon->settings, SETTING_SWEEP_BY), "every"),
        .poll_ms = settings_number(daemon->settings, SETTING_POLL),
        .host = session->host,
        .meeting_dir = is_embedded ? session->place.meeting_dir : NULL,
        .dead_log_path = daemon->dead_log_path,
    };
    struct pulse_events events = {
        .context = daemon,
        .beat = on_beat,
        .swept = on_swept,
        .heard = on_heard,
        .wished = on_wished,
        .dirty = on_dirty,
    };
    return pulse_start(session->loop, &options, &events, &daemon->pulse, err);
}

/* Any host shows any log, unless there is only one. */
static enum status begin_logs(struct daemon *daemon, struct err *err)
{
    struct log_ship_options options = {
        .spare = daemon->session.spare,
        .directory = daemon->session.place.blob_dir,
    };
    return daemon_is_embedded(daemon) ? STATUS_OK
                                      : log_ship_start(&options, &daemon->log_ship, err);
}

/* A file needs none of it. */
static enum status begin_housekeeping(struct daemon *daemon, struct err *err)
{
    return daemon_is_embedded(daemon)
               ? STATUS_OK
               : housekeeping_start(daemon->session.spare, &daemon->housekeeping, err);
}

static enum status begin_scheduling(struct daemon *daemon, struct err *err)
{
    struct scheduler_options options = {
        .store = session_store_options(&daemon->session),
        .blob_dir = daemon->session.place.blob_dir,
        .retention = retention_policy_of(daemon->settings),
        .chain_most = settings_number(daemon->settings, SETTING_TRIGGER_CHAIN),
        .poll_ms = settings_number(daemon->settings, SETTING_POLL),
        .changed = on_scheduler_changed,
        .has_mail = on_told,
        .context = daemon,
    };
    if (!word_set_has(daemon->roles, "scheduler"))
        return STATUS_OK;
    return scheduler_start(daemon->session.loop, &options, &daemon->scheduler, err);
}

static enum status begin_sending(struct daemon *daemon, struct err *err)
{
    const struct config *config = daemon->session.config;
    struct sender_options options = {
        .spare = daemon->session.spare,
        .vault = &config->vault,
        .public_only = settings_number(daemon->settings, SETTING_HOOKS_PUBLIC_ONLY) != 0,
    };
    if (!word_set_has(daemon->roles, "scheduler"))
        return STATUS_OK;
    return sender_start(&options, &daemon->sender, err);
}

static enum status begin_measuring(struct daemon *daemon, struct err *err)
{
    const struct session *session = &daemon->session;
    struct machine_load load = machine_load_now();
    measure_load(daemon, &load);
    return measuring_begin(&daemon->measuring,
                           &(struct measuring_options){
                               .config = session->config,
                               .home = session->home,
                               .spare = session->spare,
                               .store_uuid = session->store_info.uuid,
                           },
                           err);
}

static enum status begin_api(struct daemon *daemon, struct err *err)
{
    if (!word_set_has(daemon->roles, "api"))
        return STATUS_OK;
    const struct api_options options = {
        .config = daemon->session.config,
        .home = daemon->session.home,
        .measuring = &daemon->measuring,
    };
    return api_start(&options, &daemon->api, err);
}

/* Tasks that may nothing there are not told where it is. */
static enum status begin_task_api(struct daemon *daemon, struct err *err)
{
    const char *url = settings_text(daemon->settings, SETTING_API_URL);
    bool is_url = str_starts_with(url, "http://") || str_starts_with(url, "https://");
    if (url[0] != '\0' && (!is_url || strpbrk(url, " \t\r\n") != NULL))
        return err_set(err, STATUS_INVALID,
                       "api_url: '%.100s' is no URL: write https://eider.example:4337", url);
    if (url[0] == '\0' && daemon->api != NULL)
        url = api_near_url(daemon->api);
    if (url[0] == '\0' || str_equal(settings_text(daemon->settings, SETTING_TASK_ROLE),
                                    permission_name(PERMISSION_NONE)))
        return STATUS_OK;
    size_t length = strlen(url);
    while (url[length - 1] == '/') /* the path of a request follows */
        length--;
    daemon->task_api.url = mem_strndup(url, length);
    return store_task_key(daemon->session.store, &daemon->task_api.key, err);
}

static enum status watch_outside(struct daemon *daemon, struct err *err)
{
    static const int SIGNALS[] = {SIGTERM, SIGINT, SIGHUP};
    _Static_assert(ARRAY_LEN(SIGNALS) == ARRAY_LEN(daemon->signals), "room for every signal");
    struct loop *loop = daemon->session.loop;
    for (size_t i = 0; i < ARRAY_LEN(SIGNALS); i++)
        if (loop_signal_new(loop, SIGNALS[i], on_signal, daemon, &daemon->signals[i], err) !=
            STATUS_OK)
            return err->code;
    daemon->drain = loop_timer_new(loop, daemon_stop_grace_over, daemon);
    daemon->reconcile = loop_timer_new(loop, on_reconcile, daemon);
    loop_timer_start(daemon->reconcile, RECONCILE_MS, RECONCILE_MS);
    int64_t watchdog_ms = supervisor_watchdog_ms();
    int64_t health_ms = watchdog_ms > 0 ? MIN(watchdog_ms, (int64_t)HEALTH_MS) : HEALTH_MS;
    daemon->health = loop_timer_new(loop, on_health, daemon);
    loop_timer_start(daemon->health, health_ms, health_ms);
    return loop_file_new(loop, daemon->session.home->wake_file, on_wake, daemon, &daemon->wake,
                         err);
}

/* The one thing that somebody who starts it for the first time needs: on a terminal it stands out.
 */
static void greet_with_link(const char *link)
{
    bool is_bold = terminal_is_one(stderr) && getenv("NO_COLOR") == NULL;
    (void)fprintf(stderr, "  sign in %s%s%s (once, from this machine)\n", is_bold ? "\033[1m" : "",
                  link, is_bold ? "\033[0m" : "");
}

static void greet(const struct daemon *daemon)
{
    const struct settings *settings = daemon->settings;
    struct claim_room room = {
        .slots = settings_number(settings, SETTING_SLOTS),
        .percent = settings_number(settings, SETTING_CLAIM_RATIO),
    };
    CLEANUP(mem_freep) char *store = store_url_shown(daemon->session.home->store_url);
    (void)fprintf(
        stderr,
        "eider %s is up\n  store   %s\n  host    %s (%lld)\n  slots   %lld, of which %lld "
        "are filled\n  roles   %s\n  queues  %s\n",
        EIDER_VERSION, store, settings_text(settings, SETTING_HOST_NAME),
        (long long)daemon->session.host, (long long)room.slots, (long long)claim_room_slots(&room),
        daemon->roles, daemon->queues[0] != '\0' ? daemon->queues : "all");
    if (daemon->api != NULL)
        (void)fprintf(stderr, "  api     %s\n  ui      %s/%s\n", api_url(daemon->api),
                      api_url(daemon->api),
                      UI_FILES.missing != NULL ? " (not in this build: the page says why)" : "");
    if (daemon->api != NULL && api_link(daemon->api) != NULL)
        greet_with_link(api_link(daemon->api));
    (void)fflush(stderr);
    supervisor_tell("READY=1\nSTATUS=working");
}

static enum status serve(struct daemon *daemon, const struct session_options *options,
                         struct err *err)
{
    bool is_stopped = false;
    if (read_settings(daemon, err) != STATUS_OK || home_make(options->home, err) != STATUS_OK ||
        host_id_lock(options->home, &daemon->lock, err) != STATUS_OK ||
        daemon_await_store(options, &is_stopped, err) != STATUS_OK)
        return err->code;
    if (is_stopped)
        return STATUS_OK;
    old_home_take_daemon(options->home);
    struct session_options measured = *options;
    measuring_init(&daemon->measuring, daemon->settings);
    measured.meters = daemon->measuring.meters;
    measured.spans = measuring_spans(&daemon->measuring);
    if (session_open(&daemon->session, &measured, err) != STATUS_OK)
        return err->code;
    daemon_host_tell_of_others(daemon);
    daemon->dead_log_path = file_path_join(options->home->path, DEAD_LOG_NAME);
    daemon->scratch_dir = file_path_join(daemon->session.place.scratch_dir, "daemon");
    if (file_tree_make(daemon->scratch_dir, 0700, err) != STATUS_OK)
        return err->code;
    if (daemon_is_embedded(daemon))
        daemon->lease.lease_ms = 0;
    else
        daemon->journal_path = file_path_join(daemon->session.place.dir, "outcomes.db");
    if (daemon_host_begin(daemon, err) != STATUS_OK || watch_outside(daemon, err) != STATUS_OK ||
        begin_logs(daemon, err) != STATUS_OK || begin_housekeeping(daemon, err) != STATUS_OK ||
        begin_pulse(daemon, err) != STATUS_OK || begin_sending(daemon, err) != STATUS_OK ||
        begin_measuring(daemon, err) != STATUS_OK || begin_api(daemon, err) != STATUS_OK ||
        begin_task_api(daemon, err) != STATUS_OK || begin_dags(daemon, err) != STATUS_OK)
        return err->code;
    begin_claiming(daemon);
    /* The pulse has not been heard yet, and tasks start at once. */
    executor_set_deadline(daemon->session.executor,
                          lease_deadline_us(&daemon->lease, daemon->beat_us));
    loop_run(daemon->session.loop);
    *err = daemon->failure;
    return err->code;
}

static void close_all(struct daemon *daemon)
{
    thread_deafen();             /* whoever asks once more to stop is being served */
    api_stop(TAKE(daemon->api)); /* what is heard from here on has nobody to wake */
    dag_watch_stop(daemon->dag_watch);
    scheduler_stop(daemon->scheduler);
    sender_stop(daemon->sender, MESSAGES_WAIT_MS);
    pulse_stop(daemon->pulse);
    housekeeping_stop(daemon->housekeeping);
    if (!log_ship_stop(daemon->log_ship, LOGS_WAIT_MS))
        log_warn("some logs are not in the store yet; the next start brings them");
    measuring_end(&daemon->measuring);
    loop_timer_free(daemon->drain);
    loop_timer_free(daemon->reconcile);
    loop_timer_free(daemon->health);
    for (size_t i = 0; i < ARRAY_LEN(daemon->signals); i++)
        loop_signal_free(daemon->signals[i]);
    loop_file_free(daemon->wake);
    session_close(&daemon->session);
    measuring_fini(&daemon->measuring);
    if (daemon->scratch_dir != NULL)
        (void)rmdir(daemon->scratch_dir);
    file_lock_release(&daemon->lock);
    free(daemon->queues);
    free(daemon->roles);
    free(daemon->journal_path);
    free(daemon->dead_log_path);
    free(daemon->scratch_dir);
    free(daemon->task_api.url);
    secret_wipe(&daemon->task_api, sizeof daemon->task_api);
}

enum status daemon_serve(const struct config *config, const struct home *home, const char *exe,
                         struct err *err)
{
    struct daemon daemon = {.settings = &config->settings};
    struct session_options options = {
        .config = config,
        .home = home,
        .exe = exe,
        .mode = EXECUTOR_DAEMON,
        .events =
            {
                .context = &daemon,
                .changed = on_changed,
                .run_ended = on_run_ended,
                .news = on_news,
                .told = on_told,
                .delivered = on_delivered,
                .failed = on_failed,
            },
    };
    enum status status = serve(&daemon, &options, err);
    close_all(&daemon);
    return status;
}
