/*
 * dag.trigger: a run that daemons work off.
 */
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/params.h"
#include "model/span.h"
#include "model/timetable.h"
#include "os/zone_file.h"
#include "service/lookup.h"
#include "service/lookup_version.h"
#include "service/op_handlers.h"
#include "service/operation_many.h"
#include "service/rehearsal.h"
#include "service/run_json.h"
#include "store/host_work.h"
#include "store/version.h"

/* A header that is none is not worth refusing the request for. */
static const char *traceparent_of(const struct service *service)
{
    struct span_ids ids;
    bool is_one = service->traceparent != NULL && strlen(service->traceparent) < TRACEPARENT_MAX &&
                  traceparent_parse(service->traceparent, &ids);
    return is_one ? service->traceparent : NULL;
}

static enum status find_worker(const struct service *service, struct store *store, bool *out,
                               struct err *err)
{
    return store_has_worker(store, service->is_alive, service->is_alive_context, out, err);
}

static enum status require_worker(const struct service *service, struct store *store,
                                  struct err *err)
{
    bool is_found = false;
    if (find_worker(service, store, &is_found, err) != STATUS_OK)
        return err->code;
    if (!is_found)
        return err_set(err, STATUS_UNREACHABLE,
                       "nobody would run it: no `eider up` works on this store");
    return STATUS_OK;
}

/* The run as it is; where nobody would work on it, that is said. */
static enum status answer(const struct service *service, struct store *store,
                          const struct run_info *info, json_t **out, struct err *err)
{
    bool is_found = false;
    if (find_worker(service, store, &is_found, err) != STATUS_OK ||
        run_json_load(service, store, info, out, err) != STATUS_OK)
        return err->code;
    if (!is_found && json_get_string(*out, "waits_because", NULL) == NULL)
        json_put_string(*out, "waits_because", "nobody works on this store: `eider up` starts one");
    return STATUS_OK;
}

/* Whoever names an interval names all of it. */
static enum status read_interval(const json_t *request, struct tick_dates *dates, struct err *err)
{
    const char *start = json_get_string(request, "data_interval_start", NULL);
    const char *end = json_get_string(request, "data_interval_end", NULL);
    if (start == NULL && end == NULL)
        return STATUS_OK;
    if (start == NULL || end == NULL || !instant_parse(start, &dates->interval_start_us) ||
        !instant_parse(end, &dates->interval_end_us) ||
        dates->interval_start_us > dates->interval_end_us)
        return err_set(err, STATUS_INVALID,
                       "data_interval_start and data_interval_end belong together, the earlier "
                       "one first");
    return STATUS_OK;
}

/* What is to be run. */
struct wanted {
    struct store *store;
    const json_t *request;
    int64_t version;
};

static char *text_of(struct arena *arena, const json_t *value)
{
    CLEANUP(mem_freep) char *text = json_format(value);
    return arena_strdup(arena, text);
}

/* Which of a DAG's tasks are named; NULL: none, and all are meant. */
static enum status read_tasks(const struct dag *dag, const json_t *request, struct arena *arena,
                              const bool **out, struct err *err)
{
    const json_t *tasks = json_object_get(request, "tasks");
    bool *selected = arena_array(arena, dag->tasks_count, sizeof *selected);
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        int64_t node = 0;
        const char *name = json_string_value(json_array_get(tasks, i));
        if (lookup_node(dag, name, &node, err) != STATUS_OK)
            return err->code;
        selected[node] = true;
    }
    *out = json_array_size(tasks) > 0 ? selected : NULL;
    return STATUS_OK;
}

/* Texts are the request's, the service's and the arena's. */
static enum status draft_run(struct service *service, const struct wanted *wanted,
                             struct arena *arena, struct run_request *out, struct err *err)
{
    struct store *store = wanted->store;
    const json_t *request = wanted->request;
    int64_t version = wanted->version;
    const struct dag *dag = NULL;
    const json_t *conf = json_object_get(request, "conf");
    CLEANUP(json_decrefp) json_t *params = NULL;
    if (store_version_dag(store, version, &dag, err) != STATUS_OK ||
        params_resolve_typed(dag, conf, json_object_get(request, "params"), &params, err) !=
            STATUS_OK)
        return err->code;
    const bool *selected = NULL;
    if (read_tasks(dag, request, arena, &selected, err) != STATUS_OK)
        return err->code;
    const char *date = json_get_string(request, "logical_date", NULL);
    int64_t date_us = store_own_instant(store);
    if (date != NULL && !instant_parse(date, &date_us))
        return err_set(err, STATUS_INVALID, "'%.60s' is no date", date);
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    if (timetable_of_dag(dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    struct tick_dates dates = timetable_dates_by_hand(timetable, date_us);
    if (read_interval(request, &dates, err) != STATUS_OK)
        return err->code;
    *out = (struct run_request){
        .version = version,
        .run_id = json_get_string(request, "run_id", NULL),
        .kind = "manual",
        .logical_at_us = dates.logical_at_us,
        .interval_start_us = dates.interval_start_us,
        .interval_end_us = dates.interval_end_us,
        .params = text_of(arena, params),
        .conf = json_is_object(conf) ? text_of(arena, conf) : "{}",
        .note = json_get_string(request, "note", ""),
        .actor = service->actor,
        .is_limited = true,
        .traceparent = traceparent_of(service),
        .selected = selected,
    };
    return STATUS_OK;
}

static enum status trigger(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct run_request run;
    struct run_info info;
    int64_t version = 0;
    enum status status = service_store(service, DB_READ_WRITE, &store, err);
    if (status == STATUS_NOT_FOUND)
        return err_set(err, STATUS_UNREACHABLE, "nobody would run it: no `eider up` works here");
    if (status != STATUS_OK)
        return status;
    if ((json_get_bool(request, "needs_worker", false) &&
         require_worker(service, store, err) != STATUS_OK) ||
        lookup_version(service, store, arena, request, &version, err) != STATUS_OK ||
        draft_run(service, &(struct wanted){store, request, version}, arena, &run, err) !=
            STATUS_OK ||
        store_runs_create_and_load(store, &run, 1, arena, &info, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (json_get_bool(request, "brief", false)) {
        *out = run_json(service, &info, NULL);
        return STATUS_OK;
    }
    return answer(service, store, &info, out, err);
}

enum status op_dag_trigger(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    return rehearsal_call(service, request, trigger, out, err);
}

/* --- of several callers ---------------------------------------------------------------------- */

/* Whoever wants to know more than what was made, or why it was, is served alone. */
static bool is_plain(const json_t *request)
{
    static const char *const ALONE[] = {"file", "text", "reason"};
    for (size_t i = 0; i < ARRAY_LEN(ALONE); i++)
        if (json_get_string(request, ALONE[i], NULL) != NULL)
            return false;
    return json_get_bool(request, "brief", false) && !json_get_bool(request, "dry_run", false) &&
           !json_get_bool(request, "needs_worker", false);
}

struct draft {
    const char *dag; /* as the request names it */
    struct run_request run;
};

/* Most of those that come at once start the same DAG: which version that is was just found. */
static enum status find_version(struct service *service, const json_t *request,
                                const struct draft *before, struct wanted *out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    if (before != NULL && str_equal(before->dag, json_get_string(request, "dag", ""))) {
        out->version = before->run.version;
        return STATUS_OK;
    }
    return lookup_version(service, out->store, arena, request, &out->version, err);
}

static enum status draft_one(struct service *service, const json_t *request, const void *before,
                             struct arena *arena, void **out, struct err *err)
{
    struct wanted wanted = {.request = request};
    struct draft *draft = arena_alloc(arena, sizeof *draft);
    if (!is_plain(request))
        return STATUS_OK;
    draft->dag = json_get_string(request, "dag", "");
    if (service_store(service, DB_READ_WRITE, &wanted.store, err) != STATUS_OK ||
        find_version(service, request, before, &wanted, err) != STATUS_OK ||
        draft_run(service, &wanted, arena, &draft->run, err) != STATUS_OK)
        return err->code;
    *out = draft;
    return STATUS_OK;
}

static enum status make_all(struct service *service, struct operation_draft *drafts, size_t count,
                            struct arena *arena, struct err *err)
{
    struct store *store = NULL;
    struct run_request *runs = arena_array(arena, count, sizeof *runs);
    struct run_info *infos = arena_array(arena, count, sizeof *infos);
    for (size_t i = 0; i < count; i++)
        runs[i] = ((const struct draft *)drafts[i].draft)->run;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_runs_create_and_load(store, runs, count, arena, infos, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    for (size_t i = 0; i < count; i++)
        drafts[i].response = run_json(service, &infos[i], NULL);
    return STATUS_OK;
}

const struct operation_batch OP_DAG_TRIGGER_BATCH = {"dag.trigger", draft_one, make_all};
