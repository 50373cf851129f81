#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/old_home.h"
#include "app/session_priv.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/word_set.h"
#include "os/file.h"
#include "store/host.h"
#include "store/version.h"

static const char *outside(const char *name)
{
    return getenv(name);
}

struct store_options session_store_options(const struct session *session)
{
    return (struct store_options){
        .url = session->home->store_url,
        .mode = DB_READ_WRITE,
        .busy_timeout_ms = settings_number(&session->config->settings, SETTING_BUSY_TIMEOUT),
        .hooks = session->config->hooks,
    };
}

/*
 * It is the store's: tasks of another store that run on in this home are not ours to end. It writes
 * to a file of its own: a pipe of ours would stay open with it.
 */
static enum status start_staying(struct session *session, const char *exe,
                                 const struct keeper_events *events, struct err *err)
{
    CLEANUP(mem_freep) char *socket = file_path_join(session->place.dir, "keeper.sock");
    CLEANUP(mem_freep) char *log = file_path_join(session->place.dir, "keeper.log");
    CLEANUP(file_closep) int log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd < 0)
        return err_errno(err, errno, "open '%s'", log);
    struct keeper_stay_options options = {.exe = exe, .socket_path = socket, .log_fd = log_fd};
    return keeper_start_staying(session->loop, &options, events, &session->keeper, err);
}

static enum status open_store(struct session *session, struct err *err)
{
    struct store_options store = session_store_options(session);
    if (store_open(&store, &session->store, err) != STATUS_OK ||
        store_describe(session->store, &session->store_info, err) != STATUS_OK ||
        old_home_refuse_living(session->home, session->store, err) != STATUS_OK)
        return err->code;
    home_place_init(session->home, session->store_info.uuid, &session->place);
    return STATUS_OK;
}

/* A keeper that ends with us is started first, so that it inherits nothing of the store. */
static enum status open_with_keeper(struct session *session, const char *exe, struct err *err)
{
    struct keeper_events events = executor_keeper_events(session->executor);
    bool is_foreground = session->mode == EXECUTOR_FOREGROUND;
    if (is_foreground &&
        keeper_start(session->loop, exe, true, &events, &session->keeper, err) != STATUS_OK)
        return err->code;
    if (open_store(session, err) != STATUS_OK || home_place_make(&session->place, err) != STATUS_OK)
        return err->code;
    return is_foreground ? STATUS_OK : start_staying(session, exe, &events, err);
}

enum status session_open(struct session *session, const struct session_options *options,
                         struct err *err)
{
    *session = (struct session){
        .config = options->config,
        .home = options->home,
        .mode = options->mode,
        .events = options->events,
        .heard = options->heard,
        .labels = word_set_parse(settings_text(&options->config->settings, SETTING_LABELS)),
        .leaves_all = options->mode == EXECUTOR_DAEMON};
    struct store_options store = session_store_options(session);
    if (home_make(options->home, err) != STATUS_OK || loop_new(&session->loop, err) != STATUS_OK)
        return err->code;
    session->executor = executor_new(session->loop, &options->events);
    if (open_with_keeper(session, options->exe, err) != STATUS_OK)
        return err->code;
    old_home_take_logs(session->home, session->store, &session->place,
                       session->mode == EXECUTOR_DAEMON);
    if (blob_open_for(session->store, session->place.blob_dir, &session->blob, err) != STATUS_OK ||
        store_thread_start(session->loop, &store, &session->store_thread, err) != STATUS_OK)
        return err->code;
    session->spare = spare_new(&store);
    session->vault = options->vault_url != NULL
                         ? vault_new_at(&session->config->vault, options->vault_url)
                         : vault_new(&session->config->vault, session->store);
    return session->mode == EXECUTOR_FOREGROUND ? session_join(session, err) : STATUS_OK;
}

enum status session_open_onlooker(struct session *session, const struct session_options *options,
                                  struct err *err)
{
    *session =
        (struct session){.config = options->config, .home = options->home, .is_onlooker = true};
    if (loop_new(&session->loop, err) != STATUS_OK || open_store(session, err) != STATUS_OK)
        return err->code;
    return blob_open_for(session->store, session->place.blob_dir, &session->blob, err);
}

static void run_lend(struct store *store, struct store_call *call)
{
    const struct session_loan *lend = (const struct session_loan *)call;
    store_version_lend(store, lend->version, lend->dag);
}

static void lend_done(struct store_call *call)
{
    (void)call;
}

void session_lend(struct session *session, int64_t version, const struct dag *dag)
{
    session->loan = (struct session_loan){
        .call = {.run = run_lend, .done = lend_done}, .version = version, .dag = dag};
    store_version_lend(session->store, version, dag);
    if (session->store_thread != NULL)
        store_thread_call(session->store_thread, &session->loan.call);
}

struct executor_options session_executor_options(const struct session *session)
{
    const struct settings *settings = &session->config->settings;
    return (struct executor_options){
        .mode = session->mode,
        .keeper = session->keeper,
        .store_thread = session->store_thread,
        .source =
            {
                .store = session->store,
                .blob = session->blob,
                .vault = session->vault,
                .store_uuid = session->store_info.uuid,
            },
        .prepare =
            {
                .scratch_dir = session->place.scratch_dir,
                .blob_root = session->place.blob_dir,
                .output_bytes = settings_number(settings, SETTING_OUTPUT_BYTES),
                .grace_ms = settings_number(settings, SETTING_GRACE),
                .poke_max_ms = settings_number(settings, SETTING_POKE_MAX),
                .get_env = outside,
            },
        .handlers = session->config->handlers,
        .host = session->host,
        .labels = session->labels,
        .slots = settings_number(settings, SETTING_SLOTS),
        .claim_percent = 100,
    };
}

void session_begin(struct session *session, int64_t scope)
{
    struct executor_options options = session_executor_options(session);
    options.scope = scope;
    options.log_ship = session->log_ship;
    executor_begin(session->executor, &options);
    if (session->lease.lease_ms > 0)
        executor_set_deadline(session->executor,
                              lease_deadline_us(&session->lease, session->registered_us));
}

void session_close(struct session *session)
{
    struct err err = {0};
    session_part(session);
    if (session->leaves_all)
        keeper_leave(session->keeper);
    else
        keeper_close(session->keeper);
    store_thread_stop(session->store_thread);
    executor_free(session->executor);
    vault_free(session->vault);
    if (session->host != 0 && session->store != NULL && !session->leaves_all &&
        store_host_end(session->store, session->host, &err) != STATUS_OK)
        log_warn("leave the store", LOG_STR("error", err.text));
    free(session->labels);
    presence_end(&session->presence);
    blob_close(session->blob);
    store_close(session->store);
    spare_free(session->spare);
    home_place_fini(&session->place);
    loop_free(session->loop);
    *session = (struct session){0};
}
