/*
 * The store as a thing to look after.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "service/checks.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/host.h"
#include "store/store.h"
#include "store/upkeep.h"

enum status op_store_check(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    (void)request;
    struct store *store = NULL;
    struct check_report report;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_check(store, &report, err) != STATUS_OK)
        return err->code;
    struct checks checks = checks_new();
    char text[200];
    CLEANUP(mem_freep) char *path = NULL;
    struct err no_file = {0};
    bool is_file = service_store_path(service, &path, &no_file) == STATUS_OK;
    checks_add(&checks, "database", CHECK_PASSED,
               is_file ? "the file is whole" : "the server answers", NULL);
    (void)snprintf(text, sizeof text, "%zu of %zu hold", report.rules - report.count, report.rules);
    checks_add(&checks, "rules", report.count == 0 ? CHECK_PASSED : CHECK_FAILED, text, NULL);
    for (size_t i = 0; i < report.count; i++) {
        (void)snprintf(text, sizeof text, "%lld rows break it",
                       (long long)report.findings[i].count);
        checks_add(&checks, report.findings[i].rule, CHECK_FAILED, text,
                   is_file ? "keep a copy of the store and restore a backup: `eider store restore`"
                           : "keep a dump of the database and restore a backup");
    }
    *out = checks_take(&checks);
    return STATUS_OK;
}

/* {"path", "bytes", "schema"} of a store file. */
static enum status describe_file(const char *path, struct store *store, json_t **out,
                                 struct err *err)
{
    struct stat status;
    struct store_info info;
    if (stat(path, &status) != 0)
        return err_errno(err, errno, "look at '%s'", path);
    if (store_describe(store, &info, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "path", path);
    json_put_int(*out, "bytes", (int64_t)status.st_size);
    json_put_int(*out, "schema", info.schema);
    json_put_string(*out, "uuid", info.uuid);
    return STATUS_OK;
}

/* Copies of files are for stores that are files. */
static enum status require_file(const struct service *service, const char *instead, struct err *err)
{
    CLEANUP(mem_freep) char *path = NULL;
    struct err ignored = {0};
    if (service_store_path(service, &path, &ignored) == STATUS_OK)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "the store is a database on a server: use %s", instead);
}

enum status op_store_backup(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    const char *path = json_get_string(request, "path", "");
    struct store *store = NULL;
    if (path[0] == '\0')
        return err_set(err, STATUS_INVALID, "'path' is empty");
    if (require_file(service, "pg_dump, or `eider store export`", err) != STATUS_OK)
        return err->code;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_backup(store, path, err) != STATUS_OK)
        return err_wrap(err, "back up the store");
    return describe_file(path, store, out, err);
}

struct living {
    const struct service *service;
    int64_t pid; /* of one; 0: none */
};

static enum status note_living(void *context, const struct host_info *host, struct err *err)
{
    (void)err;
    struct living *living = context;
    if (service_host_lives(living->service, host))
        living->pid = host->pid;
    return STATUS_OK;
}

/* Nobody may have the store open while another takes its place. */
static enum status refuse_in_use(struct service *service, struct err *err)
{
    struct living living = {.service = service};
    struct err damage = {0};
    struct store *store = NULL;
    /* A store too damaged to be opened is what restoring is for. */
    if (service_store(service, DB_READ_ONLY, &store, &damage) != STATUS_OK ||
        store_host_each(store, false, note_living, &living, &damage) != STATUS_OK)
        return STATUS_OK;
    if (living.pid != 0)
        return err_set(err, STATUS_CONFLICT,
                       "the store is in use by process %lld; stop its runs first",
                       (long long)living.pid);
    return STATUS_OK;
}

enum status op_store_restore(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    const char *path = json_get_string(request, "path", "");
    CLEANUP(mem_freep) char *target = NULL;
    CLEANUP(mem_freep) char *kept_as = NULL;
    struct store *store = NULL;
    if (path[0] == '\0')
        return err_set(err, STATUS_INVALID, "'path' is empty");
    if (require_file(service, "pg_restore, or `eider store import`", err) != STATUS_OK ||
        service_store_path(service, &target, err) != STATUS_OK ||
        refuse_in_use(service, err) != STATUS_OK)
        return err->code;
    service_close_store(service);
    const struct restore_request restore = {path, target, service->actor, service->reason};
    if (store_restore(&restore, &kept_as, err) != STATUS_OK ||
        service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        describe_file(target, store, out, err) != STATUS_OK)
        return err->code;
    json_put_string(*out, "kept_as", kept_as);
    service_wake(service);
    return STATUS_OK;
}

enum status op_store_migrate(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct store *store = NULL;
    struct store_info before;
    struct store_info after;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_describe(store, &before, err) != STATUS_OK)
        return err->code;
    after = before;
    /* Opening for writing migrates. */
    if (!dry_run && (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
                     store_describe(store, &after, err) != STATUS_OK))
        return err->code;
    json_t *steps = json_build_array();
    for (int64_t step = before.schema + 1; step <= STORE_SCHEMA; step++) {
        CLEANUP(mem_freep) char *name = mem_format("schema %lld", (long long)step);
        json_build_append(steps, json_string(name));
    }
    *out = json_build_object();
    json_put_int(*out, "from", before.schema);
    json_put_int(*out, "to", dry_run ? MAX(before.schema, (int64_t)STORE_SCHEMA) : after.schema);
    json_put(*out, "applied", steps);
    json_put_bool(*out, "dry_run", dry_run);
    return STATUS_OK;
}
