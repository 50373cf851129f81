/*
 * run.rerun: a new run of what another run was, with its version or another one.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/params.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/rehearsal.h"
#include "service/run_json.h"
#include "store/version.h"

/* What was given, as far as the record tells: values that are not the default of their version. */
static enum status given_params(const struct found_run *run, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *params = NULL;
    if (json_parse(run->info.params, strlen(run->info.params), &params, err) != STATUS_OK)
        return err_wrap(err, "params of run %lld", (long long)run->info.id);
    for (size_t i = 0; i < run->dag->params_count; i++) {
        const struct param *param = &run->dag->params[i];
        const json_t *usual = json_object_get(param->schema, "default");
        const json_t *value = json_object_get(params, param->name);
        if (usual != NULL && value != NULL && json_equal(value, usual))
            (void)json_object_del(params, param->name);
    }
    *out = TAKE(params);
    return STATUS_OK;
}

static enum status choose_version(const struct found_run *run, const json_t *request,
                                  struct arena *arena, int64_t *out, struct err *err)
{
    const char *which = json_get_string(request, "version", "original");
    struct version_info info;
    if (str_equal(which, "original")) {
        *out = run->info.version;
        return STATUS_OK;
    }
    if (str_equal(which, "newest"))
        return store_version_last(run->store, run->info.dag_key, out, err);
    int64_t number = 0;
    bool is_current = str_equal(which, "current");
    if (!is_current && !str_parse_i64(which, 1, INT64_MAX, &number))
        return err_set(err, STATUS_INVALID,
                       "'%.60s' is no version here: write original, current, newest or a number",
                       which);
    enum status status =
        is_current
            ? store_version_newest(run->store, arena, run->info.dag_id, &info, err)
            : store_version_numbered(run->store, arena, run->info.dag_id, number, &info, err);
    if (status != STATUS_OK)
        return status;
    *out = info.version;
    return STATUS_OK;
}

static const char *note_of(const struct found_run *run, const json_t *request, struct arena *arena)
{
    const char *reason = json_get_string(request, "reason", "");
    return arena_format(arena, "rerun of %lld%s%s", (long long)run->info.id,
                        reason[0] != '\0' ? ": " : "", reason);
}

static enum status create(struct service *service, const struct found_run *run,
                          const json_t *request, struct arena *arena, int64_t *out_run,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *given = NULL;
    CLEANUP(json_decrefp) json_t *params = NULL;
    const struct dag *dag = NULL;
    int64_t version = 0;
    if (choose_version(run, request, arena, &version, err) != STATUS_OK ||
        store_version_dag(run->store, version, &dag, err) != STATUS_OK ||
        given_params(run, &given, err) != STATUS_OK ||
        params_resolve_typed(dag, given, NULL, &params, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *params_text = json_format(params);
    struct run_request create = {
        .version = version,
        .kind = "manual",
        .logical_at_us = run->info.logical_at_us,
        .interval_start_us = run->info.interval_start_us,
        .interval_end_us = run->info.interval_end_us,
        .params = params_text,
        .conf = run->info.conf,
        .note = note_of(run, request, arena),
        .actor = service->actor,
        .is_limited = true,
    };
    struct run_created created;
    if (store_run_create(run->store, &create, &created, err) != STATUS_OK)
        return err->code;
    *out_run = created.id;
    return STATUS_OK;
}

static enum status rerun(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct found_run run;
    struct run_info info;
    int64_t id = 0;
    if (strlen(json_get_string(request, "reason", "")) > LIMIT_NOTE_BYTES / 2)
        return err_set(err, STATUS_LIMIT, "a reason has at most %d bytes", LIMIT_NOTE_BYTES / 2);
    if (lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK ||
        create(service, &run, request, arena, &id, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (store_run_load(run.store, arena, id, &info, err) != STATUS_OK)
        return err->code;
    return run_json_load(service, run.store, &info, out, err);
}

enum status op_run_rerun(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    return rehearsal_call(service, request, rerun, out, err);
}
