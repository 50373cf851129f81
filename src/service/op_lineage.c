/*
 * asset.lineage: what a dataset is made of and what is made of it, one step either way.
 *
 * What the current versions of DAGs say (`inputs`, `outputs`, `schedule`) counts, and which tasks
 * updated it lately: names with templates in them are known by these alone.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/asset.h"
#include "store/sight.h"
#include "store/trigger_store.h"
#include "store/version.h"

enum { UPDATES_MOST = 100, WAITED_FOR_MOST = 1000, DAGS_MOST = 100000 };

struct known_dag {
    const char *dag_id;
    int64_t version;
};

struct lineage {
    struct store *store;
    struct arena *arena;
    const char *uri;
    struct known_dag *dags; /* that are seen */
    size_t count;
    size_t capacity;
    struct asset_updates updates;
    struct trigger_waiter *waiters;
    size_t waiters_count;
    json_t *upstream;
    json_t *transformations;
    json_t *downstream;
};

/* --- names ----------------------------------------------------------------------------------- */

/* `inputs` and `outputs` are a name or a list of them. */
static size_t names_count(const json_t *names)
{
    return json_is_string(names) ? 1 : json_array_size(names);
}

static const char *name_at(const json_t *names, size_t i)
{
    const char *name = json_string_value(json_is_string(names) ? names : json_array_get(names, i));
    return name != NULL ? name : "";
}

static bool names_have(const json_t *names, const char *uri)
{
    for (size_t i = 0; i < names_count(names); i++)
        if (str_equal(name_at(names, i), uri))
            return true;
    return false;
}

/* --- upstream -------------------------------------------------------------------------------- */

static bool has_upstream(const struct lineage *lineage, const char *uri)
{
    size_t i;
    const json_t *item;
    json_array_foreach(lineage->upstream, i, item)
    {
        if (str_equal(json_get_string(item, "dataset", ""), uri))
            return true;
    }
    return false;
}

/* Who updated it last: DAG/TASK, or whoever said so; NULL when that is not to be seen. */
static enum status source_of(struct lineage *lineage, int64_t asset, const char **out,
                             struct err *err)
{
    struct asset_updates updates = {0};
    bool is_seen = true;
    *out = NULL;
    if (asset == 0)
        return STATUS_OK;
    if (store_asset_updates(lineage->store, lineage->arena, asset, 1, &updates, err) != STATUS_OK)
        return err->code;
    if (updates.count == 0)
        return STATUS_OK;
    const struct asset_update *last = &updates.items[0];
    if (last->dag_id != NULL &&
        store_sees_dag(lineage->store, last->dag_id, &is_seen, err) != STATUS_OK)
        return err->code;
    if (is_seen)
        *out = last->dag_id != NULL
                   ? arena_format(lineage->arena, "%s/%s", last->dag_id, last->task_id)
                   : last->actor;
    return STATUS_OK;
}

static enum status add_upstream(struct lineage *lineage, const char *uri, struct err *err)
{
    struct asset_info asset = {0};
    struct err problem = {0};
    const char *source = NULL;
    if (has_upstream(lineage, uri))
        return STATUS_OK;
    enum status status = store_asset_load(lineage->store, lineage->arena, uri, &asset, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    if (source_of(lineage, asset.id, &source, err) != STATUS_OK)
        return err->code;
    json_t *item = json_build_object();
    json_put_string(item, "dataset", uri);
    json_put_string(item, "source", source);
    json_put_instant(item, "last_updated", asset.last_us);
    json_build_append(lineage->upstream, item);
    return STATUS_OK;
}

/* What starts a DAG that writes the dataset is what it is made of, too. */
static enum status add_schedule(struct lineage *lineage, const char *dag_id, struct err *err)
{
    struct asset_info *list = NULL;
    size_t count = 0;
    const struct asset_filter filter = {
        .dags = arena_format(lineage->arena, ",%s,", dag_id),
        .is_awaited = true,
        .limit = WAITED_FOR_MOST,
    };
    if (store_asset_list(lineage->store, lineage->arena, &filter, &list, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (add_upstream(lineage, list[i].uri, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* --- one task -------------------------------------------------------------------------------- */

static bool has_updated(const struct lineage *lineage, const char *dag_id, const char *task_id)
{
    for (size_t i = 0; i < lineage->updates.count; i++) {
        const struct asset_update *update = &lineage->updates.items[i];
        if (update->dag_id != NULL && str_equal(update->dag_id, dag_id) &&
            str_equal(update->task_id, task_id))
            return true;
    }
    return false;
}

static enum status add_writer(struct lineage *lineage, const char *dag_id,
                              const struct task_def *task, struct err *err)
{
    const json_t *inputs = json_object_get(task->rest, "inputs");
    const char *text = json_string_value(task->settings);
    CLEANUP(mem_freep) char *settings = text == NULL ? json_format(task->settings) : NULL;
    json_t *item = json_build_object();
    json_put_string(item, "dag_id", dag_id);
    json_put_string(item, "task_id", task->id);
    json_put_string(item, "code", text != NULL ? text : settings);
    json_build_append(lineage->transformations, item);
    for (size_t i = 0; i < names_count(inputs); i++)
        if (add_upstream(lineage, name_at(inputs, i), err) != STATUS_OK)
            return err->code;
    return add_schedule(lineage, dag_id, err);
}

static void add_downstream(struct lineage *lineage, const char *uri, const char *dag_id)
{
    size_t i;
    const json_t *item;
    json_array_foreach(lineage->downstream, i, item)
    {
        if (str_equal(json_get_string(item, "dag_id", ""), dag_id) &&
            str_equal(json_get_string(item, "dataset", ""), uri != NULL ? uri : ""))
            return;
    }
    json_t *added = json_build_object();
    json_put_string(added, "dataset", uri);
    json_put_string(added, "dag_id", dag_id);
    json_build_append(lineage->downstream, added);
}

/* --- one DAG --------------------------------------------------------------------------------- */

static bool is_started(const struct lineage *lineage, const char *dag_id)
{
    for (size_t i = 0; i < lineage->waiters_count; i++)
        if (str_equal(lineage->waiters[i].dag_id, dag_id))
            return true;
    return false;
}

static enum status read_dag(struct lineage *lineage, const struct known_dag *known, struct err *err)
{
    const struct dag *dag = NULL;
    struct err problem = {0};
    bool is_reader = is_started(lineage, known->dag_id);
    bool reads = is_reader;
    bool has_outputs = false;
    enum status status = store_version_dag(lineage->store, known->version, &dag, &problem);
    if (status == STATUS_CORRUPT || status == STATUS_NOT_FOUND)
        return STATUS_OK; /* it went meanwhile, or is of an older program */
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *task = &dag->tasks[i];
        const json_t *outputs = json_object_get(task->rest, "outputs");
        bool is_input = names_have(json_object_get(task->rest, "inputs"), lineage->uri);
        bool is_output =
            task_def_writes(task, lineage->uri) || has_updated(lineage, known->dag_id, task->id);
        if (is_output && add_writer(lineage, known->dag_id, task, err) != STATUS_OK)
            return err->code;
        reads = reads || is_input;
        for (size_t k = 0; (is_reader || is_input) && k < names_count(outputs); k++) {
            has_outputs = true;
            add_downstream(lineage, name_at(outputs, k), known->dag_id);
        }
    }
    if (reads && !has_outputs)
        add_downstream(lineage, NULL, known->dag_id);
    return STATUS_OK;
}

/* --- the whole ------------------------------------------------------------------------------- */

static enum status keep_dag(void *context, const struct version_info *info, struct err *err)
{
    struct lineage *lineage = context;
    (void)err;
    if (!info->is_active || lineage->count == DAGS_MOST ||
        !store_sees(lineage->store, info->namespace_))
        return STATUS_OK;
    lineage->dags =
        mem_grow(lineage->dags, &lineage->capacity, lineage->count, sizeof *lineage->dags);
    lineage->dags[lineage->count++] = (struct known_dag){
        .dag_id = arena_strdup(lineage->arena, info->dag_id), .version = info->version};
    return STATUS_OK;
}

/* What is known of the dataset itself; it need not be in the store when a task names it. */
static enum status read_asset(struct lineage *lineage, struct err *err)
{
    struct asset_info asset = {0};
    struct err problem = {0};
    enum status status =
        store_asset_load(lineage->store, lineage->arena, lineage->uri, &asset, &problem);
    if (status == STATUS_OK && asset.id != 0)
        status = store_asset_updates(lineage->store, lineage->arena, asset.id, UPDATES_MOST,
                                     &lineage->updates, &problem);
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

static enum status read_all(struct lineage *lineage, struct err *err)
{
    struct err unknown = {0};
    enum status status = read_asset(lineage, &unknown);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = unknown;
        return status;
    }
    if (store_trigger_waiters(lineage->store, lineage->arena, lineage->uri, &lineage->waiters,
                              &lineage->waiters_count, err) != STATUS_OK ||
        store_version_each(lineage->store, keep_dag, lineage, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < lineage->count; i++)
        if (read_dag(lineage, &lineage->dags[i], err) != STATUS_OK)
            return err->code;
    if (status == STATUS_NOT_FOUND && json_array_size(lineage->transformations) == 0 &&
        json_array_size(lineage->downstream) == 0) {
        *err = unknown;
        return status;
    }
    return STATUS_OK;
}

static void fini(struct lineage *lineage)
{
    free(lineage->dags);
    json_decref(lineage->upstream);
    json_decref(lineage->transformations);
    json_decref(lineage->downstream);
}

enum status op_asset_lineage(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(fini)
    struct lineage lineage = {
        .arena = arena,
        .uri = json_get_string(request, "dataset", ""),
        .upstream = json_build_array(),
        .transformations = json_build_array(),
        .downstream = json_build_array(),
    };
    if (service_store(service, DB_READ_ONLY, &lineage.store, err) != STATUS_OK ||
        read_all(&lineage, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "dataset", lineage.uri);
    json_put(*out, "upstream_datasets", json_incref(lineage.upstream));
    json_put(*out, "transformations", json_incref(lineage.transformations));
    json_put(*out, "downstream_datasets", json_incref(lineage.downstream));
    return STATUS_OK;
}
