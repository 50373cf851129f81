/*
 * DAGs: those that ran are in the store, others in files.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "service/dag_json.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/run_json.h"
#include "service/schedule_json.h"
#include "service/sla_json.h"
#include "service/trigger_json.h"
#include "spec/spec_find.h"
#include "store/dag_file.h"
#include "store/version.h"

/* --- the last run ---------------------------------------------------------------------------- */

struct last_run {
    const struct service *service;
    json_t *run;
};

static enum status keep_run(void *context, const struct run_info *run, struct err *err)
{
    (void)err;
    struct last_run *last = context;
    last->run = run_json(last->service, run, NULL);
    return STATUS_OK;
}

static enum status put_last_run(const struct service *service, struct store *store,
                                const char *dag_id, json_t *object, struct err *err)
{
    struct last_run last = {.service = service};
    struct run_filter filter = {.dag_id = dag_id, .state = -1, .limit = 1};
    if (store != NULL && store_run_each(store, &filter, keep_run, &last, err) != STATUS_OK) {
        json_decref(last.run);
        return err->code;
    }
    json_put(object, "last_run", last.run != NULL ? last.run : json_null());
    return STATUS_OK;
}

/* --- dag.list -------------------------------------------------------------------------------- */

struct dag_listing {
    struct service *service;
    struct store *store;  /* or NULL */
    const char *tag;      /* only with it, or NULL */
    const json_t *tags;   /* only with one of them, or NULL */
    const char *pattern;  /* only with this in the id, whatever the case; or NULL */
    const json_t *paused; /* only those that are, or are not; NULL: both */
    bool with_inactive;
    bool is_brief;
    int64_t skip;    /* still to be left out */
    int64_t limit;   /* of the page; below 0: all */
    int64_t matched; /* on all pages */
    struct arena *arena;
    struct strmap *seen;   /* DAGs */
    struct strmap *broken; /* DAGs whose file has problems */
    struct strmap *known;  /* files that a host has read as they are */
    json_t *dags;
};

static enum status note_file(void *context, const struct dag_file *file, struct err *err)
{
    (void)err;
    struct dag_listing *listing = context;
    struct file_stamp stamp;
    if (file_stamp_read(file->path, &stamp) && file_stamp_equal(&stamp, &file->stamp))
        (void)strmap_add(listing->known, arena_strdup(listing->arena, file->path), 0);
    return STATUS_OK;
}

static enum status note_broken(void *context, const char *dag_id, struct err *err)
{
    (void)err;
    struct dag_listing *listing = context;
    (void)strmap_add(listing->broken, arena_strdup(listing->arena, dag_id), 0);
    return STATUS_OK;
}

static bool has_tag(const struct dag *dag, const char *tag)
{
    for (size_t i = 0; i < dag->tags.count; i++)
        if (tag != NULL && str_equal(dag->tags.items[i], tag))
            return true;
    return tag == NULL;
}

static bool has_one_tag(const struct dag *dag, const json_t *tags)
{
    for (size_t i = 0; i < json_array_size(tags); i++)
        if (has_tag(dag, json_string_value(json_array_get(tags, i))))
            return true;
    return json_array_size(tags) == 0;
}

static bool is_tagged(const struct dag_listing *listing, const struct dag *dag)
{
    return has_tag(dag, listing->tag) && has_one_tag(dag, listing->tags);
}

/* Once for each DAG: whether its name and its namespace are meant. */
static bool is_named(struct dag_listing *listing, const char *dag_id, const char *space)
{
    const char *id = arena_strdup(listing->arena, dag_id); /* its file is closed before the map */
    return strmap_add(listing->seen, id, 0) &&
           (listing->pattern == NULL || strcasestr(dag_id, listing->pattern) != NULL) &&
           principal_sees(listing->service->principal, space);
}

/* Whether it is on the page, once it is known to match. */
static bool is_on_page(struct dag_listing *listing)
{
    listing->matched++;
    if (listing->skip > 0) {
        listing->skip--;
        return false;
    }
    return listing->limit < 0 || (int64_t)json_array_size(listing->dags) < listing->limit;
}

/* Whether it is paused as was asked for; what the schedule says goes to the object. */
static enum status put_schedule(struct dag_listing *listing, const struct dag *dag, json_t *object,
                                bool *out_meant, struct err *err)
{
    if (schedule_json_put(listing->service, listing->store, dag, object, err) != STATUS_OK)
        return err->code;
    *out_meant = !json_is_boolean(listing->paused) ||
                 json_is_true(listing->paused) == json_get_bool(object, "is_paused", false);
    return STATUS_OK;
}

/* What the store says about a DAG beside its meaning. */
static void put_state(json_t *object, const struct version_info *info, bool is_broken)
{
    json_put_int(object, "dag_version", info->number);
    json_put_bool(object, "is_active", info->is_active);
    json_put_bool(object, "is_rolled_back", !info->is_filed);
    json_put_bool(object, "has_import_errors", is_broken);
    json_put_string(object, "status",
                    !info->is_active  ? "inactive"
                    : is_broken       ? "broken"
                    : !info->is_filed ? "rolled_back"
                                      : "active");
}

/* `info` is NULL for one that only its file knows. */
static enum status show_dag(struct dag_listing *listing, const struct dag *dag, const char *path,
                            const struct version_info *info, struct err *err)
{
    bool is_meant = true;
    json_t *object = dag_json(dag);
    json_build_append(listing->dags, object);
    json_put_string(object, "file", path);
    if (info != NULL)
        put_state(object, info, strmap_find(listing->broken, dag->id, &(int64_t){0}));
    if (put_schedule(listing, dag, object, &is_meant, err) != STATUS_OK)
        return err->code;
    return listing->is_brief ? STATUS_OK
                             : put_last_run(listing->service, listing->store, dag->id, object, err);
}

/* One whose name is meant. */
static enum status list_dag(struct dag_listing *listing, const struct dag *dag, const char *path,
                            const struct version_info *info, struct err *err)
{
    CLEANUP(json_decrefp) json_t *schedule = json_build_object();
    bool is_meant = true;
    if (!is_tagged(listing, dag))
        return STATUS_OK;
    if (listing->paused != NULL &&
        put_schedule(listing, dag, schedule, &is_meant, err) != STATUS_OK)
        return err->code;
    return is_meant && is_on_page(listing) ? show_dag(listing, dag, path, info, err) : STATUS_OK;
}

/* Of thousands only those that are shown are read, unless more than their names decides. */
static enum status list_version(void *context, const struct version_info *info, struct err *err)
{
    struct dag_listing *listing = context;
    const struct dag *dag = NULL;
    bool is_plain =
        listing->tag == NULL && json_array_size(listing->tags) == 0 && listing->paused == NULL;
    if (!is_named(listing, info->dag_id, info->namespace_) ||
        (!info->is_active && !listing->with_inactive) || (is_plain && !is_on_page(listing)))
        return STATUS_OK;
    if (store_version_dag(listing->store, info->version, &dag, err) != STATUS_OK)
        return err->code;
    return is_plain ? show_dag(listing, dag, info->path, info, err)
                    : list_dag(listing, dag, info->path, info, err);
}

/* Files with problems are not DAGs yet; `dag.validate` speaks of them. */
static enum status list_file(struct dag_listing *listing, const char *path, struct err *err)
{
    struct err ignored = {0};
    CLEANUP(spec_file_freep) struct spec_file *file = NULL;
    if (strmap_find(listing->known, path, &(int64_t){0}) ||
        spec_load_file(path, &file, &ignored) != STATUS_OK)
        return STATUS_OK;
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL &&
            is_named(listing, file->dags[i]->id, file->dags[i]->namespace_) &&
            list_dag(listing, file->dags[i], path, NULL, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status list_store(struct dag_listing *listing, struct err *err)
{
    const struct dag_file_filter all = {0};
    if (listing->store == NULL)
        return STATUS_OK;
    if (store_dag_file_each(listing->store, &all, note_file, listing, err) != STATUS_OK ||
        store_dag_each_broken(listing->store, note_broken, listing, err) != STATUS_OK)
        return err->code;
    return store_version_each(listing->store, list_version, listing, err);
}

static enum status list_folder(struct dag_listing *listing, struct err *err)
{
    struct spec_paths paths = {0};
    struct err ignored = {0};
    enum status status = STATUS_OK;
    if (listing->service->dags != NULL &&
        spec_find_files(listing->service->dags, &paths, &ignored) == STATUS_OK)
        for (size_t i = 0; i < paths.count && status == STATUS_OK; i++)
            status = list_file(listing, paths.items[i], err);
    spec_paths_fini(&paths);
    return status;
}

enum status op_dag_list(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strmap_freep) struct strmap *seen = strmap_new();
    CLEANUP(strmap_freep) struct strmap *broken = strmap_new();
    CLEANUP(strmap_freep) struct strmap *known = strmap_new();
    CLEANUP(json_decrefp) json_t *dags = json_build_array();
    struct dag_listing listing = {
        .service = service,
        .tag = json_get_string(request, "tag", NULL),
        .tags = json_object_get(request, "tags"),
        .pattern = json_get_string(request, "pattern", NULL),
        .paused = json_object_get(request, "paused"),
        .with_inactive = json_get_bool(request, "all", false),
        .is_brief = json_get_bool(request, "brief", false),
        .skip = json_get_int(request, "offset", 0),
        .limit = json_get_int(request, "limit", -1),
        .arena = arena,
        .seen = seen,
        .broken = broken,
        .known = known,
        .dags = dags,
    };
    if (service_store_if_any(service, &listing.store, err) != STATUS_OK ||
        list_store(&listing, err) != STATUS_OK || list_folder(&listing, err) != STATUS_OK)
        return err_wrap(err, "list DAGs");
    *out = json_build_object();
    json_put_int(*out, "total_entries", listing.matched);
    json_put(*out, "dags", TAKE(dags));
    return STATUS_OK;
}

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
    put_state(object, &current, broken > 0);
    json_put_int(object, "dag_version", found->version);
    return STATUS_OK;
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
    json_put(object, "tasks", describe_tasks(found.dag));
    if (put_last_run(service, store, found.dag->id, object, err) != STATUS_OK ||
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
