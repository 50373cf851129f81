/*
 * The files of DAGs: which of them have problems; and DAGs whose files are gone.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "blob/blob.h"
#include "service/dag_circle.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/dag_delete.h"
#include "store/dag_file.h"
#include "store/sight.h"
#include "store/version.h"

/* --- dag.errors ------------------------------------------------------------------------------ */

struct error_listing {
    const char *name;        /* of a DAG or a file; NULL: all */
    struct strmap *offering; /* paths of files that offer the DAG; without one, any that is seen */
    bool is_known;           /* there is such a file */
    bool sees_all;           /* who asks: every namespace */
    struct arena *arena;
    json_t *errors;
};

/* As a path, or as the name of the file with or without its suffix. */
static bool is_file_named(const char *path, const char *name)
{
    static const char *const SUFFIXES[] = {"", ".yaml", ".yml"};
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    size_t rest = strlen(path) >= length ? strlen(path) - length : 0;
    if (strcmp(path, name) == 0 ||
        (rest > 0 && path[rest - 1] == '/' && strcmp(path + rest, name) == 0))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++)
        if (strncmp(base, name, length) == 0 && strcmp(base + length, SUFFIXES[i]) == 0)
            return true;
    return false;
}

/* A file that was refused says so of a DAG that another one offers. */
static bool speaks_of(const struct dag_file *file, const char *dag_id)
{
    CLEANUP(mem_freep) char *quoted = mem_format("the DAG '%s' of ", dag_id);
    return file->problems != NULL && strstr(file->problems, quoted) != NULL;
}

static enum status note_offering(void *context, const struct dag_file *file, struct err *err)
{
    (void)err;
    struct error_listing *listing = context;
    (void)strmap_add(listing->offering, arena_strdup(listing->arena, file->path), 0);
    return STATUS_OK;
}

static enum status note_seen(void *context, const struct dag_file_offer *offer, struct err *err)
{
    (void)err;
    struct error_listing *listing = context;
    (void)strmap_add(listing->offering, arena_strdup(listing->arena, offer->path), 0);
    return STATUS_OK;
}

static bool is_listed(const struct error_listing *listing, const struct dag_file *file)
{
    const char *name = listing->name;
    if (strmap_find(listing->offering, file->path, &(int64_t){0}))
        return true;
    if (name == NULL)
        return listing->sees_all;
    return is_file_named(file->path, name) || speaks_of(file, name);
}

/*
 * How much of the line it is, and the line, which what was kept long ago has not. A file that only
 * has the name of a DAG, or speaks of it, may be of a namespace that is not seen: nobody reads its
 * lines who may not read all.
 */
static void put_source(const struct error_listing *listing, const struct dag_file *file,
                       const json_t *problem, json_t *object)
{
    bool is_shown = listing->sees_all || strmap_find(listing->offering, file->path, &(int64_t){0});
    json_put_int(object, "length", MAX(json_integer_value(json_array_get(problem, 3)), 1));
    json_put_string(object, "source",
                    is_shown ? json_string_value(json_array_get(problem, 4)) : NULL);
}

static enum status list_problems(void *context, const struct dag_file *file, struct err *err)
{
    struct error_listing *listing = context;
    CLEANUP(json_decrefp) json_t *problems = NULL;
    if (!is_listed(listing, file))
        return STATUS_OK;
    listing->is_known = true;
    if (file->problems == NULL)
        return STATUS_OK;
    if (json_parse(file->problems, strlen(file->problems), &problems, err) != STATUS_OK)
        return err_wrap(err, "problems of %s", file->path);
    for (size_t i = 0; i < json_array_size(problems); i++) {
        json_t *problem = json_array_get(problems, i);
        json_t *object = json_build_object();
        json_put_string(object, "file", file->path);
        json_put_int(object, "line", json_integer_value(json_array_get(problem, 0)));
        json_put_int(object, "column", json_integer_value(json_array_get(problem, 1)));
        json_put(object, "message", json_incref(json_array_get(problem, 2)));
        put_source(listing, file, problem, object);
        json_put_instant(object, "since", file->broken_at_us);
        json_put_string(object, "hostname", file->host);
        json_build_append(listing->errors, object);
    }
    return STATUS_OK;
}

/* Its text names them all. */
static enum status sees_circle(struct store *store, const struct dag_circle *circle, bool *out,
                               struct err *err)
{
    *out = true;
    for (size_t i = 0; i < circle->dags_count && *out && !store_sees_all(store); i++)
        if (store_sees_dag(store, circle->dag_ids[i], out, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* Of no single file, and no reason not to run them. */
static enum status list_circles(struct store *store, const char *dag_id, json_t *errors,
                                struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dag_circles found;
    if (dag_circles_find(store, arena, &found, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < found.count; i++) {
        const char *text = arena_format(arena, "warning: DAGs start each other in a circle: %s",
                                        found.items[i].text);
        bool is_seen = false;
        if (sees_circle(store, &found.items[i], &is_seen, err) != STATUS_OK)
            return err->code;
        if (!is_seen || (dag_id != NULL && !dag_circle_has(&found.items[i], dag_id)))
            continue;
        json_t *object = json_build_object();
        json_put_string(object, "file", found.items[i].path);
        json_put_int(object, "line", 0);
        json_put_int(object, "column", 0);
        json_put_string(object, "message", text);
        json_put_int(object, "length", 1);
        json_put_string(object, "source", NULL);
        json_put_instant(object, "since", 0);
        json_put_string(object, "hostname", NULL);
        json_build_append(errors, object);
    }
    return STATUS_OK;
}

struct kept_listing {
    json_t *errors;
    struct strmap *firsts; /* of each file the place of its first problem */
    struct arena *arena;
};

static const char *file_key(struct arena *arena, const char *host, const char *path)
{
    return arena_format(arena, "%s\n%s", host, path);
}

/* Problems of one file follow each other. */
static enum status put_kept_dag(void *context, const struct dag_file_offer *offer, struct err *err)
{
    (void)err;
    struct kept_listing *kept = context;
    int64_t place = 0;
    if (!strmap_find(kept->firsts, file_key(kept->arena, offer->host, offer->path), &place))
        return STATUS_OK;
    for (size_t i = (size_t)place; i < json_array_size(kept->errors); i++) {
        json_t *error = json_array_get(kept->errors, i);
        if (!str_equal(json_get_string(error, "file", ""), offer->path) ||
            !str_equal(json_get_string(error, "hostname", ""), offer->host))
            break;
        json_build_append(json_object_get(error, "dags"), json_string(offer->dag_id));
    }
    return STATUS_OK;
}

/* To each problem the DAGs that its file goes on offering as they were before. */
static enum status put_kept_dags(struct store *store, json_t *errors, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strmap_freep) struct strmap *firsts = strmap_new();
    struct kept_listing kept = {.errors = errors, .firsts = firsts, .arena = arena};
    size_t i;
    json_t *error;
    json_array_foreach(errors, i, error)
    {
        json_put(error, "dags", json_build_array());
        (void)strmap_add(firsts,
                         file_key(arena, json_get_string(error, "hostname", ""),
                                  json_get_string(error, "file", "")),
                         (int64_t)i);
    }
    return store != NULL ? store_dag_file_each_kept(store, put_kept_dag, &kept, err) : STATUS_OK;
}

static enum status find_offering(struct store *store, struct error_listing *listing,
                                 struct err *err)
{
    const struct dag_file_filter of_dag = {.dag_id = listing->name};
    if (listing->name != NULL)
        return store_dag_file_each(store, &of_dag, note_offering, listing, err);
    return listing->sees_all ? STATUS_OK : store_dag_file_each_kept(store, note_seen, listing, err);
}

enum status op_dag_errors(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *errors = json_build_array();
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(strmap_freep) struct strmap *offering = strmap_new();
    struct store *store = NULL;
    struct error_listing listing = {
        .name = json_get_string(request, "dag", NULL),
        .offering = offering,
        .arena = arena,
        .errors = errors,
    };
    const struct dag_file_filter all = {.broken_only = listing.name == NULL};
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    listing.sees_all = store != NULL && store_sees_all(store);
    if ((store != NULL && find_offering(store, &listing, err) != STATUS_OK) ||
        (store != NULL &&
         store_dag_file_each(store, &all, list_problems, &listing, err) != STATUS_OK) ||
        (store != NULL && list_circles(store, listing.name, errors, err) != STATUS_OK) ||
        put_kept_dags(store, errors, err) != STATUS_OK)
        return err->code;
    if (!listing.is_known && lookup_dag_name(service, listing.name, err) != STATUS_OK)
        return err->code;
    *out = json_build_list("errors", TAKE(errors));
    return STATUS_OK;
}

/* --- dag.delete ------------------------------------------------------------------------------ */

static enum status delete_all(struct service *service, struct store *store,
                              const struct dag_delete_request *request, struct err *err)
{
    struct blob *blob = NULL;
    struct dag_delete_step step = {.is_done = false};
    while (!step.is_done) {
        if (store_dag_delete_step(store, request, &step, err) != STATUS_OK ||
            service_blob_if_any(service, &blob, err) != STATUS_OK)
            return err->code;
        for (size_t i = 0; i < step.runs_count && blob != NULL; i++)
            if (blob_delete_all(blob, &step.runs[i], 1, err) != STATUS_OK)
                return err_wrap(err, "run %lld is deleted, its logs are not",
                                (long long)step.runs[i]);
    }
    return STATUS_OK;
}

enum status op_dag_delete(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    struct store *store = NULL;
    struct dag_delete_request deletion = {
        .dag_id = json_get_string(request, "dag", ""),
        .actor = service->actor,
        .reason = json_get_string(request, "reason", NULL),
    };
    bool dry_run = json_get_bool(request, "dry_run", false);
    int64_t runs = 0;
    if (service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_dag_delete_check(store, deletion.dag_id, &runs, err) != STATUS_OK ||
        (!dry_run && delete_all(service, store, &deletion, err) != STATUS_OK))
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "dag_id", deletion.dag_id);
    json_put_int(*out, "runs", runs);
    json_put_bool(*out, "deleted", !dry_run);
    return STATUS_OK;
}
