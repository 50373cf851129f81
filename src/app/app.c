#include "app/app.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/api.h"
#include "app/api_place.h"
#include "app/bench_runs.h"
#include "app/config.h"
#include "app/daemon.h"
#include "app/foreground.h"
#include "app/home.h"
#include "app/local_service.h"
#include "app/prove.h"
#include "app/remote_run.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cli.h"
#include "client/client.h"
#include "serve/routes_reference.h"
#include "service/operations.h"

struct app {
    struct config config;
    struct home home;
    struct foreground foreground;
    struct local_service local;
    int64_t progress_at_us; /* when to tell how far something is; 0: nothing long has begun */
    struct operation_local operations;
    struct client *client; /* of the server in use; NULL: the store is ours */
    struct prove_world world;
    char *exe;
};

static void terminal_size(void *context, size_t *out_columns, size_t *out_rows)
{
    (void)context;
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ||
                 ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    *out_columns = known ? size.ws_col : 0;
    *out_rows = known ? size.ws_row : 0;
}

static const char *environment(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

static int64_t now_us(void *context)
{
    (void)context;
    return clock_wall_us();
}

/* Wait on the signals themselves, so that an interrupt ends the wait and nothing else. */
static bool pause_for(void *context, int64_t ms)
{
    (void)context;
    sigset_t wanted;
    sigset_t before;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGINT);
    (void)sigaddset(&wanted, SIGTERM);
    CHECK(sigprocmask(SIG_BLOCK, &wanted, &before) == 0);
    int fd = signalfd(-1, &wanted, SFD_CLOEXEC);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int ready = poll(&poll_fd, 1, (int)MIN(ms, (int64_t)INT32_MAX));
    struct signalfd_siginfo info;
    bool interrupted = ready > 0 && read(fd, &info, sizeof info) > 0;
    (void)close(fd);
    CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
    return !interrupted;
}

static void configure_log(const struct settings *settings)
{
    static const char *const LEVELS[] = {"error", "warn", "info", "debug"};
    enum log_level level = LOG_WARN;
    for (size_t i = 0; i < ARRAY_LEN(LEVELS); i++)
        if (strcmp(settings_text(settings, SETTING_LOG_LEVEL), LEVELS[i]) == 0)
            level = (enum log_level)i;
    log_configure(level, strcmp(settings_text(settings, SETTING_LOG_FORMAT), "json") == 0);
}

enum { PROGRESS_US = 2000000 };

/* For people who wait, and only when there is something to wait for. */
static void progress(void *context, const char *table, int64_t rows)
{
    struct app *app = context;
    int64_t mono_us = clock_mono_us();
    if (app->progress_at_us == 0)
        app->progress_at_us = mono_us + PROGRESS_US;
    if (mono_us < app->progress_at_us || isatty(STDERR_FILENO) != 1)
        return;
    app->progress_at_us = mono_us + PROGRESS_US;
    (void)fprintf(stderr, "eider: %lld rows, now at '%s'\n", (long long)rows, table);
}

/* --- the server ------------------------------------------------------------------------------ */

static enum status find_server(struct app *app, struct err *err)
{
    const struct settings *settings = &app->config.settings;
    const char *server = settings_text(settings, SETTING_SERVER);
    struct client_options options = {
        .server = server,
        .token = settings_text(settings, SETTING_TOKEN),
        .ca_file = settings_text(settings, SETTING_CA_FILE),
        .pause = pause_for,
    };
    if (server[0] == '\0' || strcmp(server, "off") == 0)
        return STATUS_OK;
    return client_new(&options, &app->client, err);
}

static const char *server_in_use(void *context)
{
    const struct app *app = context;
    return app->client != NULL ? client_server(app->client) : NULL;
}

/* The server in use, or the daemon of the state folder. */
static enum status connect_server(void *context, struct client **out, struct err *err)
{
    struct app *app = context;
    CLEANUP(api_place_fini) struct api_place place = {0};
    if (app->client == NULL) {
        if (api_place_find(&app->home, &place, err) != STATUS_OK)
            return err->code;
        struct client_options options = {
            .server = place.url, .token = place.key, .is_here = true, .pause = pause_for};
        if (client_new(&options, &app->client, err) != STATUS_OK)
            return err->code;
    }
    *out = app->client;
    return STATUS_OK;
}

static enum status call(void *context, const char *name, const json_t *request,
                        json_t **out_response, struct err *err)
{
    struct app *app = context;
    if (app->client != NULL)
        return client_call(app->client, name, request, out_response, err);
    return operation_local_call(&app->operations, name, request, out_response, err);
}

static enum status run_engine(void *context, const struct engine_request *request,
                              const struct engine_observer *observer,
                              struct engine_result *out_result, struct err *err)
{
    struct app *app = context;
    if (app->client == NULL)
        return foreground_run(&app->foreground, request, observer, out_result, err);
    struct operation_caller operations = {.context = app->client, .call = client_call};
    return remote_run(&operations, request, observer, out_result, err);
}

/* --- settings -------------------------------------------------------------------------------- */

static enum status configure(void *context, const json_t *flags, struct err *err)
{
    struct app *app = context;
    if (config_load(flags, &app->config, err) != STATUS_OK ||
        home_init(&app->config.settings, NULL, &app->home, err) != STATUS_OK)
        return err->code;
    configure_log(&app->config.settings);
    local_service_init(&app->local, &app->config, &app->home);
    app->local.service.progress = progress;
    app->local.service.progress_context = app;
    return find_server(app, err);
}

/* A daemon says what it does unless told otherwise. */
static enum status serve(void *context, struct err *err)
{
    const struct app *app = context;
    const struct settings *settings = &app->config.settings;
    if (settings->values[SETTING_LOG_LEVEL].origin == ORIGIN_DEFAULT)
        log_configure(LOG_INFO, strcmp(settings_text(settings, SETTING_LOG_FORMAT), "json") == 0);
    return daemon_serve(&app->config, &app->home, app->exe, err);
}

/* `eider __bench runs FILE COUNT` */
static int bench_main(struct app *app, int argc, const char *const *argv)
{
    struct err err = {0};
    int64_t count = 0;
    if (argc != 5 || strcmp(argv[2], "runs") != 0 || !str_parse_i64(argv[4], 1, 1000000, &count)) {
        (void)fprintf(stderr, "usage: eider __bench runs FILE COUNT\n");
        return 2;
    }
    if (configure(app, NULL, &err) != STATUS_OK) {
        (void)fprintf(stderr, "eider: %s\n", err.text);
        return 2;
    }
    return bench_runs_main(&app->config, &app->home, app->exe, argv[3], count);
}

int app_main(int argc, const char *const *argv)
{
    struct app app = {.exe = realpath("/proc/self/exe", NULL)};
    CHECK(app.exe != NULL);
    app.foreground = (struct foreground){.config = &app.config, .home = &app.home, .exe = app.exe};
    app.operations = (struct operation_local){.table = &OPERATIONS, .service = &app.local.service};
    app.world = (struct prove_world){
        .config = &app.config,
        .home = &app.home,
        .exe = app.exe,
        .service = &app.local.service,
        .operations = {.context = &app.operations, .call = operation_local_call},
        .pause = pause_for,
    };
    struct cli_host host = {
        .context = &app,
        .in = stdin,
        .out = stdout,
        .err = stderr,
        .out_is_terminal = isatty(STDOUT_FILENO) == 1,
        .err_is_terminal = isatty(STDERR_FILENO) == 1,
        .terminal_size = terminal_size,
        .environment = environment,
        .now_us = now_us,
        .pause = pause_for,
        .configure = configure,
        .operations = {.context = &app, .call = call},
        .here = {.context = &app.operations, .call = operation_local_call},
        .server = server_in_use,
        .connect = connect_server,
        .openapi = api_describe,
        .engine = {.context = &app, .run = run_engine},
        .serve = serve,
        .prover = {.context = &app.world, .run = prove_run},
    };
    /* Writing to a reader that went away is an error like others, not a death. */
    (void)signal(SIGPIPE, SIG_IGN);
    bool is_bench = argc > 1 && strcmp(argv[1], "__bench") == 0;
    bool is_reference = argc == 3 && strcmp(argv[1], "__docs") == 0 && strcmp(argv[2], "api") == 0;
    int code = 0;
    if (is_reference)
        routes_reference(stdout); /* of routes the command line knows nothing */
    else
        code = is_bench ? bench_main(&app, argc, argv) : cli_main(&host, argc, argv);
    if (fflush(stdout) != 0 && errno != EPIPE)
        code = code == 0 ? 8 : code;
    client_free(app.client);
    service_fini(&app.local.service);
    home_fini(&app.home);
    config_fini(&app.config);
    free(app.exe);
    return code;
}
