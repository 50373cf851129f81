/*
 * One DAG: those that ran are in the store, others in files.
 */
#include "base/check.h"
#include "base/mem.h"
#include "service/dag_json.h"
#include "service/dag_standing.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/schedule_json.h"
#include "service/sla_json.h"
#include "service/trigger_json.h"
#include "store/dag_file.h"
#include "store/version.h"

/* --- one DAG --------------------------------------------------------------------------------- */

static json_t *describe_tasks(const struct dag *dag)
{
    json_t *tasks = json_build_array();
    for (size_t i = 0; i < dag->tasks_count; i++)
        json_build_append(tasks, dag_json_task(dag, dag->order[i]));
    return tasks;
}

static enum status count_file(void *context, const struct dag_file *file, struct err *err)
{
    (void)file;
    (void)err;
    ++*(size_t *)context;
    return STATUS_OK;
}

static enum status put_found_state(struct store *store, struct arena *arena,
                                   const struct found_dag *found, json_t *object, struct err *err)
{
    struct version_info current;
    size_t broken = 0;
    struct dag_file_filter filter = {.dag_id = found->dag->id, .broken_only = true};
    if (store_version_newest(store, arena, found->dag->id, &current, err) != STATUS_OK ||
        store_dag_file_each(store, &filter, count_file, &broken, err) != STATUS_OK)
        return err->code;
    dag_standing_put(object, &current, broken > 0);
    json_put_int(object, "dag_version", found->version);
    return STATUS_OK;
}

/* What its file says beyond what has a member of its own. */
static json_t *other_keys(const struct dag *dag)
{
    json_t *keys = dag->rest != NULL ? json_copy(dag->rest) : json_build_object();
    (void)json_object_del(keys, "schedule");
    return keys;
}

enum status op_dag_show(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct store *store = NULL;
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    object = dag_json(found.dag);
    json_put_string(object, "file", found.path);
    if (found.version > 0 && put_found_state(store, arena, &found, object, err) != STATUS_OK)
        return err->code;
    if (!json_get_bool(request, "brief", false))
        json_put(object, "tasks", describe_tasks(found.dag));
    json_put(object, "keys", other_keys(found.dag));
    if (dag_standing_put_last_run(service, store, found.dag->id, object, err) != STATUS_OK ||
        schedule_json_put(service, store, found.dag, object, err) != STATUS_OK ||
        schedule_json_put_more(store, found.dag, object, err) != STATUS_OK ||
        (store != NULL && trigger_json_put_state(store, found.dag->id, object, err) != STATUS_OK) ||
        sla_json_put(store, found.dag->id, object, err) != STATUS_OK)
        return err->code;
    *out = TAKE(object);
    return STATUS_OK;
}

enum status op_dag_source(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "dag_id", found.dag->id);
    json_put_string(*out, "file", found.path);
    json_put_string(*out, "text", found.text);
    return STATUS_OK;
}

/* --- tasks of a DAG -------------------------------------------------------------------------- */

enum status op_task_list(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "dag_id", found.dag->id);
    json_put_int(*out, "total_entries", (int64_t)found.dag->tasks_count);
    json_put(*out, "tasks", describe_tasks(found.dag));
    return STATUS_OK;
}

enum status op_task_show(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    int64_t node = 0;
    if (lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        lookup_node(found.dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK)
        return err->code;
    *out = dag_json_task(found.dag, (size_t)node);
    json_put_string(*out, "dag_id", found.dag->id);
    return STATUS_OK;
}
