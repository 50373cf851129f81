/*
 * Whether this machine and this state folder have what running needs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/settings.h"
#include "os/file.h"
#include "service/checks.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/dead.h"
#include "store/host.h"
#include "store/run_store.h"
#include "store/store.h"
#include "store/upkeep.h"
#include "store/vault.h"

enum { TEXT_MAX = 800, FILES_MIN = 256, RUNS_LISTED = 5, DEAD_MANY = 1000 };
#define FREE_MIN       ((uint64_t)16 << 20) /* less cannot hold a day of logs */
#define FREE_LOW       ((uint64_t)1 << 30)
#define YEAR_US        ((int64_t)365 * 86400 * 1000000)
#define WEEK_US        ((int64_t)7 * 86400 * 1000000)
#define CLOCK_YEAR     ((int64_t)2024 - 1970)
#define CLOCK_APART_US ((int64_t)60 * 1000000)

/* --- the state folder ------------------------------------------------------------------------ */

/* The folder itself, or what is there of the path above it. Heap. */
static char *existing_part(const char *home)
{
    CLEANUP(mem_freep) char *path = mem_strdup(home);
    while (access(path, F_OK) != 0) {
        char *slash = strrchr(path, '/');
        if (slash == NULL)
            return mem_strdup(".");
        slash[slash == path ? 1 : 0] = '\0';
        if (slash == path)
            break;
    }
    return TAKE(path);
}

static void check_folder(struct checks *checks, const struct service *service, const char *place)
{
    char text[TEXT_MAX];
    struct stat status;
    bool is_there = strcmp(place, service->home) == 0;
    if (stat(place, &status) != 0 || !S_ISDIR(status.st_mode)) {
        (void)snprintf(text, sizeof text, "'%s' is not a folder", place);
        checks_add(checks, "state folder", CHECK_FAILED, text,
                   "remove the file or choose another folder with --home or EIDER_HOME");
        return;
    }
    if (access(place, W_OK | X_OK) != 0) {
        (void)snprintf(text, sizeof text, "'%s': %s", place, strerror(errno));
        checks_add(checks, "state folder", CHECK_FAILED, text,
                   "give yourself write access or choose another folder with --home");
        return;
    }
    (void)snprintf(text, sizeof text, "'%s' %s", service->home,
                   is_there ? "can be written" : "will be made by the first run");
    checks_add(checks, "state folder", CHECK_PASSED, text, NULL);
}

static void check_file_system(struct checks *checks, const char *place)
{
    struct err err = {0};
    bool is_network = false;
    if (file_is_on_network_fs(place, &is_network, &err) != STATUS_OK)
        checks_add(checks, "file system", CHECK_FAILED, err.text, NULL);
    else if (is_network)
        checks_add(checks, "file system", CHECK_FAILED,
                   "the state folder is on a network file system, where locks cannot be trusted",
                   "put the state folder on a local disk: --home or EIDER_HOME");
    else
        checks_add(checks, "file system", CHECK_PASSED, "local", NULL);
}

static void check_space(struct checks *checks, const char *place)
{
    struct err err = {0};
    uint64_t bytes = 0;
    char text[TEXT_MAX];
    if (file_free_bytes(place, &bytes, &err) != STATUS_OK) {
        checks_add(checks, "disk space", CHECK_FAILED, err.text, NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64 " MiB free", bytes >> 20);
    if (bytes < FREE_MIN)
        checks_add(checks, "disk space", CHECK_FAILED, text, "make room, or move the state folder");
    else
        checks_add(checks, "disk space", bytes < FREE_LOW ? CHECK_ADVISED : CHECK_PASSED, text,
                   bytes < FREE_LOW ? "this is little for logs" : NULL);
}

/* --- the machine ----------------------------------------------------------------------------- */

static void check_shell(struct checks *checks)
{
    if (access("/bin/sh", X_OK) == 0)
        checks_add(checks, "shell", CHECK_PASSED, "/bin/sh", NULL);
    else
        checks_add(checks, "shell", CHECK_FAILED, strerror(errno), "`run` tasks need /bin/sh");
}

/* Leases are judged by the store's clock; a machine whose own is wrong misleads its people. */
static void check_clock(struct checks *checks, const struct service *service)
{
    int64_t now_us = service->now_us != NULL ? service->now_us() : clock_wall_us();
    int64_t ahead_us = service->store != NULL ? now_us - store_now_us(service->store) : 0;
    char text[TEXT_MAX];
    if (now_us <= CLOCK_YEAR * YEAR_US) {
        checks_add(checks, "clock", CHECK_FAILED, "the clock stands before 2024",
                   "set the clock of this machine");
    } else if (ahead_us > CLOCK_APART_US || ahead_us < -CLOCK_APART_US) {
        (void)snprintf(text, sizeof text, "%lld s %s the store's",
                       (long long)(ahead_us > 0 ? ahead_us : -ahead_us) / 1000000,
                       ahead_us > 0 ? "ahead of" : "behind");
        checks_add(checks, "clock", CHECK_ADVISED, text,
                   "set the clock of this machine or of the server, by NTP for example");
    } else {
        checks_add(checks, "clock", CHECK_PASSED, "set", NULL);
    }
}

static void check_limits(struct checks *checks, const struct service *service)
{
    struct rlimit files;
    char text[TEXT_MAX];
    int64_t slots = settings_number(service->settings, SETTING_SLOTS);
    /* Each running task holds a handful of descriptors. */
    uint64_t needed = (uint64_t)FILES_MIN + 8 * (uint64_t)MAX(slots, (int64_t)0);
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        checks_add(checks, "open files", CHECK_FAILED, strerror(errno), NULL);
        return;
    }
    if (files.rlim_max == RLIM_INFINITY) {
        checks_add(checks, "open files", CHECK_PASSED, "no limit", NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64 " allowed, %" PRIu64 " may be needed",
                   (uint64_t)files.rlim_max, needed);
    bool enough = files.rlim_max >= needed;
    checks_add(checks, "open files", enough ? CHECK_PASSED : CHECK_FAILED, text,
               enough ? NULL : "raise the limit (ulimit -n) or run fewer tasks at once (--slots)");
}

/* --- the store ------------------------------------------------------------------------------- */

struct leftovers {
    struct service *service;
    struct store *store;
    struct strbuf *names;
    size_t runs;  /* unfinished ones that nobody works on */
    size_t alive; /* hosts */
};

static enum status count_host(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct leftovers *leftovers = context;
    leftovers->alive += service_host_is_alive(leftovers->service, host->id);
    return STATUS_OK;
}

struct owner_count {
    const struct service *service;
    size_t dead;
};

static void count_owner(void *context, int64_t host)
{
    struct owner_count *owners = context;
    owners->dead += !service_host_is_alive(owners->service, host);
}

static enum status count_run(void *context, const struct run_info *run, struct err *err)
{
    struct leftovers *leftovers = context;
    struct owner_count owners = {.service = leftovers->service};
    if (store_host_of_run(leftovers->store, run->id, count_owner, &owners, err) != STATUS_OK)
        return err->code;
    bool is_left = owners.dead > 0 || leftovers->alive == 0;
    if (!is_left)
        return STATUS_OK;
    if (leftovers->runs++ < RUNS_LISTED)
        strbuf_addf(leftovers->names, "%s%lld (%s)", leftovers->runs > 1 ? ", " : "",
                    (long long)run->id, run->dag_id);
    return STATUS_OK;
}

static void check_leftovers(struct checks *checks, struct service *service, struct store *store)
{
    CLEANUP(strbuf_fini) struct strbuf names;
    strbuf_init(&names, TEXT_MAX);
    struct leftovers leftovers = {.service = service, .store = store, .names = &names};
    struct run_filter filter = {.state = -1, .active_only = true, .limit = 1000};
    struct err err = {0};
    if (store_host_each(store, false, count_host, &leftovers, &err) != STATUS_OK ||
        store_run_each(store, &filter, count_run, &leftovers, &err) != STATUS_OK) {
        checks_add(checks, "unfinished runs", CHECK_FAILED, err.text, NULL);
        return;
    }
    if (leftovers.runs == 0) {
        checks_add(checks, "unfinished runs", CHECK_PASSED, "none without an owner", NULL);
        return;
    }
    CLEANUP(mem_freep)
    char *text = mem_format("%zu without an owner: %s%s", leftovers.runs, names.text,
                            leftovers.runs > RUNS_LISTED ? ", ..." : "");
    checks_add(checks, "unfinished runs", CHECK_ADVISED, text,
               "`eider retry RUN` continues one, `eider stop RUN` ends it");
}

static void check_schema(struct checks *checks, struct store *store)
{
    struct err err = {0};
    struct store_info info;
    char text[TEXT_MAX];
    if (store_describe(store, &info, &err) != STATUS_OK) {
        checks_add(checks, "schema", CHECK_FAILED, err.text, NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "%lld, this program writes %d", (long long)info.schema,
                   STORE_SCHEMA);
    bool is_old = info.schema < STORE_SCHEMA;
    checks_add(checks, "schema", is_old ? CHECK_ADVISED : CHECK_PASSED, text,
               is_old ? "the next run brings it up to date, or `eider store migrate`" : NULL);
}

static void check_secrets(struct checks *checks, struct service *service)
{
    struct err err = {0};
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct vault_sealed sealed = {0};
    char text[TEXT_MAX];
    if (service_vault(service, &vault, &err) != STATUS_OK ||
        vault_sealed(vault, &sealed, &err) != STATUS_OK || sealed.count == 0)
        return;
    (void)snprintf(text, sizeof text,
                   "%zu sealed values, %zu of them with a key that is not here%s%s%s%s",
                   sealed.count, sealed.unknown, sealed.unknown > 0 ? ", id " : "", sealed.key_id,
                   sealed.problem[0] != '\0' ? ": " : "", sealed.problem);
    checks_add(checks, "secrets", sealed.unknown == 0 ? CHECK_PASSED : CHECK_FAILED, text,
               sealed.unknown == 0
                   ? NULL
                   : "give this host that key: EIDER_SECRET_KEY or secret_key_file");
}

/* Letters are for people to see to; before the old ones go by themselves it is said. */
static void check_dead(struct checks *checks, struct service *service, struct store *store)
{
    struct err err = {0};
    struct dead_summary dead = {0};
    char since[INSTANT_TEXT_MAX];
    char text[TEXT_MAX];
    int64_t keep_us = settings_number(service->settings, SETTING_KEEP_DEAD) * 1000;
    if (store_dead_summary(store, &dead, &err) != STATUS_OK) {
        checks_add(checks, "dead letters", CHECK_FAILED, err.text, NULL);
        return;
    }
    if (dead.count == 0) {
        checks_add(checks, "dead letters", CHECK_PASSED, "none", NULL);
        return;
    }
    bool goes_soon = keep_us > 0 &&
                     service_now_us(service) - dead.oldest_us > keep_us - MIN(keep_us / 4, WEEK_US);
    (void)snprintf(text, sizeof text, "%lld, the oldest since %s%s", (long long)dead.count,
                   instant_format(dead.oldest_us, since),
                   goes_soon ? ", which keep_dead removes soon" : "");
    bool is_fine = dead.count < DEAD_MANY && !goes_soon;
    checks_add(checks, "dead letters", is_fine ? CHECK_PASSED : CHECK_ADVISED, text,
               is_fine ? NULL
                       : "`eider dlq list` shows them; `eider dlq requeue` tries one again, "
                         "`eider dlq purge` removes them");
}

static void check_store(struct checks *checks, struct service *service)
{
    struct err err = {0};
    struct store *store = NULL;
    struct check_report report;
    char text[TEXT_MAX];
    enum status status = service_store(service, DB_READ_ONLY, &store, &err);
    if (status == STATUS_NOT_FOUND) {
        checks_add(checks, "store", CHECK_LEFT_OUT, "there is none yet", NULL);
        return;
    }
    if (status != STATUS_OK || store_check(store, &report, &err) != STATUS_OK) {
        /* The message of a server says itself what to do. */
        bool is_damaged = err.code == STATUS_CORRUPT;
        CLEANUP(mem_freep) char *path = NULL;
        struct err no_file = {0};
        bool is_file = service_store_path(service, &path, &no_file) == STATUS_OK;
        checks_add(checks, "store", CHECK_FAILED, err.text,
                   is_file ? "keep a copy of the store and restore a backup: `eider store restore`"
                   : is_damaged ? "keep a dump of the database and restore a backup"
                                : NULL);
        return;
    }
    (void)snprintf(text, sizeof text, "whole, %zu of %zu rules hold", report.rules - report.count,
                   report.rules);
    checks_add(checks, "store", report.count == 0 ? CHECK_PASSED : CHECK_FAILED, text,
               report.count == 0 ? NULL : "`eider store check` says which do not");
    check_schema(checks, store);
    check_leftovers(checks, service, store);
    check_dead(checks, service, store);
    check_secrets(checks, service);
}

enum status op_doctor_check(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    (void)request;
    (void)err;
    struct checks checks = checks_new();
    CLEANUP(mem_freep) char *place = existing_part(service->home);
    check_folder(&checks, service, place);
    check_file_system(&checks, place);
    check_space(&checks, place);
    check_store(&checks, service);
    check_shell(&checks);
    check_limits(&checks, service);
    check_clock(&checks, service);
    *out = checks_take(&checks);
    return STATUS_OK;
}
