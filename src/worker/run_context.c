#include "worker/run_context.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/value.h"
#include "store/version.h"
#include "worker/spill.h"

static struct run_context *make(const struct run_source *source)
{
    struct run_context *context = mem_zalloc(1, sizeof *context);
    context->source = source;
    context->arena = arena_new();
    context->items = idmap_new();
    return context;
}

/* Its info is there. */
static enum status complete(struct run_context *context, struct err *err)
{
    const struct run_info *info = &context->info;
    if (store_version_dag(context->source->store, info->version, &context->dag, err) != STATUS_OK ||
        json_parse(info->params, strlen(info->params), &context->params, err) != STATUS_OK ||
        json_parse(info->conf, strlen(info->conf), &context->conf, err) != STATUS_OK)
        return err->code;
    if (context->source->is_traced &&
        store_run_trace(context->source->store, info->id, context->above, err) != STATUS_OK)
        return err->code;
    /* dirname() may write into its argument. */
    context->dag_dir =
        info->path[0] != '\0' ? dirname(arena_strdup(context->arena, info->path)) : "/";
    return STATUS_OK;
}

enum status run_context_new(const struct run_source *source, int64_t run, struct run_context **out,
                            struct err *err)
{
    struct run_context *context = make(source);
    if (store_run_load(source->store, context->arena, run, &context->info, err) != STATUS_OK ||
        complete(context, err) != STATUS_OK) {
        run_context_free(context);
        return err_wrap(err, "run %lld", (long long)run);
    }
    *out = context;
    return STATUS_OK;
}

enum status run_context_new_many(const struct run_source *source, const int64_t *ids, size_t count,
                                 struct idmap *into, struct err *err)
{
    CLEANUP(mem_freep) struct run_wanted *wanted = mem_zalloc(count, sizeof *wanted);
    CLEANUP(mem_freep) struct run_context **made = mem_zalloc(count, sizeof(struct run_context *));
    for (size_t i = 0; i < count; i++) {
        made[i] = make(source);
        wanted[i] = (struct run_wanted){.id = ids[i], .arena = made[i]->arena};
    }
    enum status status = store_runs_load(source->store, wanted, count, err);
    for (size_t i = 0; i < count; i++) {
        made[i]->info = wanted[i].info;
        if (status == STATUS_OK && wanted[i].is_found)
            status = complete(made[i], err);
        if (status == STATUS_OK && wanted[i].is_found)
            idmap_set(into, ids[i], made[i]);
        else
            run_context_free(made[i]);
    }
    return status;
}

/* What a mapped task was expanded over. */
struct run_items {
    int64_t generation; /* of the instances that it was read for */
    json_t *list;
};

static void run_items_free(struct run_items *items)
{
    if (items == NULL)
        return;
    json_decref(items->list);
    free(items);
}

void run_context_free(struct run_context *context)
{
    if (context == NULL)
        return;
    size_t cursor = 0;
    for (struct run_items *items; (items = idmap_next(context->items, &cursor)) != NULL;)
        run_items_free(items);
    idmap_free(context->items);
    json_decref(context->params);
    json_decref(context->conf);
    arena_free(context->arena);
    free(context);
}

/* --- values ---------------------------------------------------------------------------------- */

static enum status find_row(struct run_context *context, const char *task_id, struct task_row *out,
                            struct arena *arena, struct err *err)
{
    int64_t node = dag_find_task(context->dag, task_id);
    if (node < 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no task '%s'", task_id);
    if (context->source->store == NULL)
        return err_set(err, STATUS_NOT_FOUND, "values of task '%s' exist only in a run", task_id);
    return store_task_load(context->source->store, arena, context->info.first_task + node, out,
                           err);
}

struct gathering {
    struct run_context *context;
    json_t *list;
    const char *key;
    size_t found;
};

static enum status gather(void *context, const struct instance_value *instance, struct err *err)
{
    struct gathering *gathering = context;
    json_t *value = NULL;
    if (!instance->succeeded)
        return STATUS_OK;
    if (instance->value.key != NULL) {
        struct spill_key key = {gathering->context->info.id, instance->task, instance->attempt,
                                gathering->key};
        if (spill_get(gathering->context->source->blob, &key, &instance->value, &value, err) !=
            STATUS_OK)
            return err->code;
        gathering->found++;
    }
    (void)json_array_append_new(gathering->list, value != NULL ? value : json_null());
    return STATUS_OK;
}

static enum status missing(const char *task_id, const char *key, const struct task_row *row,
                           struct err *err)
{
    return err_set(err, STATUS_NOT_FOUND, "task '%s' (%s) has no value '%s'", task_id,
                   task_state_name(row->state), key);
}

static enum status value_of_instances(struct run_context *context, const char *task_id,
                                      const struct task_row *row, const char *key, json_t **out,
                                      struct err *err)
{
    CLEANUP(json_decrefp) json_t *list = json_array();
    struct gathering gathering = {.context = context, .list = list, .key = key};
    if (store_value_of_instances(context->source->store,
                                 (struct instance_range){row->instance_base, row->inserted}, key,
                                 gather, &gathering, err) != STATUS_OK)
        return err->code;
    if (gathering.found == 0 && json_array_size(list) > 0)
        return missing(task_id, key, row, err);
    *out = TAKE(list);
    return STATUS_OK;
}

enum status run_context_value(struct run_context *context, const char *task_id, const char *key,
                              json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct task_row row = {.id = 0};
    if (find_row(context, task_id, &row, arena, err) != STATUS_OK)
        return err->code;
    if (row.instance_base != 0)
        return value_of_instances(context, task_id, &row, key, out, err);
    struct value_info value;
    enum status status = store_value_load(context->source->store, arena, row.id, key, &value, err);
    if (status == STATUS_NOT_FOUND)
        return missing(task_id, key, &row, err);
    if (status != STATUS_OK)
        return status;
    struct spill_key place = {context->info.id, row.id, row.attempt, key};
    return spill_get(context->source->blob, &place, &value, out, err);
}

enum status run_context_value_of_dag(struct run_context *context, const char *dag_id,
                                     const char *task_id, const char *key, json_t **out,
                                     struct err *err)
{
    const struct run_source *source = context->source;
    struct run_context *other = NULL;
    int64_t run = 0;
    if (strcmp(dag_id, context->dag->id) == 0)
        return run_context_value(context, task_id, key, out, err);
    if (source->store == NULL)
        return err_set(err, STATUS_NOT_FOUND, "values of DAG '%s' exist only in a run", dag_id);
    if (store_run_find_by_date(source->store, dag_id, context->info.logical_at_us, &run, err) !=
            STATUS_OK ||
        run_context_new(source, run, &other, err) != STATUS_OK)
        return err->code;
    CHECK(other != NULL);
    enum status status = run_context_value(other, task_id, key, out, err);
    if (status != STATUS_OK)
        (void)err_wrap(err, "run '%s' of DAG '%s'", other->info.run_id, dag_id);
    run_context_free(other);
    return status;
}

static enum status note_key(void *context, const struct value_info *value, struct err *err)
{
    (void)err;
    if (strncmp(value->key, "__", 2) != 0)
        (void)json_array_append_new(context, json_string(value->key));
    return STATUS_OK;
}

enum status run_context_values(struct run_context *context, const char *task_id, json_t **out,
                               struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *keys = json_array();
    CLEANUP(json_decrefp) json_t *values = json_object();
    struct task_row row = {.id = 0};
    if (find_row(context, task_id, &row, arena, err) != STATUS_OK)
        return err->code;
    int64_t first = row.instance_base != 0 ? row.instance_base : row.id;
    if (store_value_each(context->source->store, first, note_key, keys, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        json_t *value = NULL;
        if (run_context_value(context, task_id, key, &value, err) != STATUS_OK)
            return err->code;
        json_put(values, key, value);
    }
    *out = TAKE(values);
    return STATUS_OK;
}

/* --- items ----------------------------------------------------------------------------------- */

static enum status load_items(struct run_context *context, int64_t expander, json_t **out,
                              struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct value_info value;
    struct task_row row = {.id = 0};
    struct store *store = context->source->store;
    if (store_task_load(store, arena, expander, &row, err) != STATUS_OK ||
        store_value_load(store, arena, expander, RUN_CONTEXT_ITEMS_KEY, &value, err) != STATUS_OK)
        return err->code;
    struct spill_key key = {context->info.id, expander, row.attempt, RUN_CONTEXT_ITEMS_KEY};
    return spill_get(context->source->blob, &key, &value, out, err);
}

enum status run_context_item(struct run_context *context, const struct claim *claim,
                             const json_t **out, struct err *err)
{
    struct run_items *items = idmap_find(context->items, claim->expander);
    if (items == NULL || items->generation != claim->generation) {
        json_t *list = NULL;
        if (load_items(context, claim->expander, &list, err) != STATUS_OK)
            return err_wrap(err, "items of the mapped task");
        run_items_free(items);
        items = mem_zalloc(1, sizeof *items);
        *items = (struct run_items){.generation = claim->generation, .list = list};
        idmap_set(context->items, claim->expander, items);
    }
    const json_t *item = json_array_get(items->list, (size_t)claim->map_index);
    if (item == NULL)
        return err_set(err, STATUS_CORRUPT, "the mapped task has no item %lld",
                       (long long)claim->map_index);
    *out = item;
    return STATUS_OK;
}
