#include "app/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "os/file.h"
#include "store/host.h"
#include "store/version.h"

static const char *outside(const char *name)
{
    return getenv(name);
}

/* Read once; a machine that cannot tell is as good as one that never restarted. */
static void read_boot_id(char out[static 64])
{
    char *text = NULL;
    size_t length = 0;
    struct err ignored = {0};
    out[0] = '\0';
    if (file_read("/proc/sys/kernel/random/boot_id", 63, &text, &length, &ignored) == STATUS_OK)
        for (size_t i = 0; i < length && text[i] > ' '; i++) {
            out[i] = text[i];
            out[i + 1] = '\0';
        }
    free(text);
}

static enum status register_host(struct session *session, struct err *err)
{
    char boot[64];
    char name[256] = "";
    read_boot_id(boot);
    (void)gethostname(name, sizeof name - 1);
    struct host_request request = {
        .name = name,
        .kind = "foreground",
        .pid = getpid(),
        .boot = boot,
        .slots = settings_number(&session->config->settings, SETTING_SLOTS),
    };
    if (store_host_add(session->store, &request, &session->host, err) != STATUS_OK)
        return err->code;
    return presence_begin(session->home->path, session->host, &session->presence, err);
}

enum status session_open(struct session *session, const struct session_options *options,
                         struct err *err)
{
    *session = (struct session){.config = options->config, .home = options->home};
    struct store_options store = {
        .url = options->home->store_url,
        .mode = DB_READ_WRITE,
        .busy_timeout_ms = settings_number(&options->config->settings, SETTING_BUSY_TIMEOUT)};
    if (home_make(options->home, err) != STATUS_OK || loop_new(&session->loop, err) != STATUS_OK)
        return err->code;
    session->executor = executor_new(session->loop, &options->events);
    struct keeper_events events = executor_keeper_events(session->executor);
    if (keeper_start(session->loop, options->exe, true, &events, &session->keeper, err) !=
            STATUS_OK ||
        store_open(&store, &session->store, err) != STATUS_OK ||
        store_describe(session->store, &session->store_info, err) != STATUS_OK ||
        blob_open_directory(options->home->blob_dir, &session->blob, err) != STATUS_OK ||
        store_thread_start(session->loop, &store, &session->store_thread, err) != STATUS_OK)
        return err->code;
    return register_host(session, err);
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
    store_thread_call(session->store_thread, &session->loan.call);
}

void session_begin(struct session *session, int64_t scope)
{
    executor_begin(
        session->executor,
        &(struct executor_options){
            .keeper = session->keeper,
            .store_thread = session->store_thread,
            .source =
                {
                    .store = session->store,
                    .blob = session->blob,
                    .variables = session->config->variables,
                    .connections = session->config->connections,
                    .store_uuid = session->store_info.uuid,
                },
            .prepare =
                {
                    .scratch_dir = session->home->scratch_dir,
                    .blob_root = session->home->blob_dir,
                    .output_bytes =
                        settings_number(&session->config->settings, SETTING_OUTPUT_BYTES),
                    .grace_ms = settings_number(&session->config->settings, SETTING_GRACE),
                    .get_env = outside,
                },
            .host = session->host,
            .scope = scope,
            .slots = settings_number(&session->config->settings, SETTING_SLOTS),
        });
}

void session_close(struct session *session)
{
    struct err err = {0};
    keeper_close(session->keeper);
    store_thread_stop(session->store_thread);
    executor_free(session->executor);
    if (session->host != 0 && session->store != NULL &&
        store_host_end(session->store, session->host, &err) != STATUS_OK)
        log_warn("leave the store", LOG_STR("error", err.text));
    presence_end(&session->presence);
    blob_close(session->blob);
    store_close(session->store);
    loop_free(session->loop);
    *session = (struct session){0};
}
