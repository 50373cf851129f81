/*
 * dag.list: DAGs that ran are in the store, others in files.
 *
 * First all that match are collected, which takes no more than a row of each unless more than
 * their names decides; then those of the page are read, from whichever end it was asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "service/dag_json.h"
#include "service/dag_standing.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/schedule_json.h"
#include "spec/spec.h"
#include "spec/spec_find.h"
#include "store/dag_file.h"
#include "store/schedule.h"
#include "store/version.h"

/* One that may be meant. */
struct candidate {
    const char *dag_id;
    const struct version_info *info; /* NULL: only its file knows it */
    const struct dag *dag;           /* NULL: to be read from the store */
    const char *path;
};

struct listing {
    struct service *service;
    struct store *store;  /* or NULL */
    const char *tag;      /* only with it, or NULL */
    const json_t *tags;   /* only with one of them, or NULL */
    const char *pattern;  /* only with this in the id, whatever the case; or NULL */
    const json_t *paused; /* only those that are, or are not; NULL: both */
    bool with_inactive;
    bool is_brief;
    bool is_back; /* the last id first */
    struct arena *arena;
    struct strmap *seen;     /* DAGs */
    struct strmap *broken;   /* DAGs whose file has problems */
    struct strmap *resting;  /* DAGs that are paused, if that is asked for */
    struct spec_paths paths; /* in the folder */
    struct strmap *folder;   /* the same */
    struct strmap *known;    /* of these, files that a host has read as they are */
    struct candidate *found;
    size_t found_count;
    size_t found_capacity;
    struct spec_file **files; /* of those that only files know */
    size_t files_count;
    size_t files_capacity;
};

static void listing_fini(struct listing *listing)
{
    for (size_t i = 0; i < listing->files_count; i++)
        spec_file_free(listing->files[i]);
    free((void *)listing->files);
    free(listing->found);
    strmap_free(listing->known);
    strmap_free(listing->folder);
    spec_paths_fini(&listing->paths);
    strmap_free(listing->resting);
    strmap_free(listing->broken);
    strmap_free(listing->seen);
    arena_free(listing->arena);
}

static void add(struct listing *listing, struct candidate candidate)
{
    listing->found = mem_grow(listing->found, &listing->found_capacity, listing->found_count,
                              sizeof *listing->found);
    listing->found[listing->found_count++] = candidate;
}

/* --- what is there --------------------------------------------------------------------------- */

static enum status note_file(void *context, const struct dag_file *file, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    struct file_stamp stamp;
    if (strmap_find(listing->folder, file->path, &(int64_t){0}) &&
        file_stamp_read(file->path, &stamp) && file_stamp_equal(&stamp, &file->stamp))
        (void)strmap_add(listing->known, arena_strdup(listing->arena, file->path), 0);
    return STATUS_OK;
}

static enum status note_broken(void *context, const char *dag_id, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    (void)strmap_add(listing->broken, arena_strdup(listing->arena, dag_id), 0);
    return STATUS_OK;
}

static enum status note_paused(void *context, const char *dag_id, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    (void)strmap_add(listing->resting, arena_strdup(listing->arena, dag_id), 0);
    return STATUS_OK;
}

/* Once for each DAG: whether its name and its namespace are meant. `dag_id` stays. */
static bool is_named(struct listing *listing, const char *dag_id, const char *space)
{
    return strmap_add(listing->seen, dag_id, 0) &&
           (listing->pattern == NULL || strcasestr(dag_id, listing->pattern) != NULL) &&
           principal_sees(listing->service->principal, space);
}

static enum status note_version(void *context, const struct version_info *info, struct err *err)
{
    (void)err;
    struct listing *listing = context;
    const char *dag_id = arena_strdup(listing->arena, info->dag_id);
    if (!is_named(listing, dag_id, info->namespace_) ||
        (!info->is_active && !listing->with_inactive))
        return STATUS_OK;
    struct version_info *kept = arena_alloc(listing->arena, sizeof *kept);
    *kept = (struct version_info){
        .version = info->version,
        .number = info->number,
        .is_filed = info->is_filed,
        .is_active = info->is_active,
    };
    add(listing, (struct candidate){.dag_id = dag_id,
                                    .info = kept,
                                    .path = arena_strdup_null(listing->arena, info->path)});
    return STATUS_OK;
}

static enum status look_into_store(struct listing *listing, struct err *err)
{
    const struct dag_file_filter all = {0};
    if (listing->store == NULL)
        return STATUS_OK;
    if (listing->paths.count > 0 &&
        store_dag_file_each(listing->store, &all, note_file, listing, err) != STATUS_OK)
        return err->code;
    if (json_is_boolean(listing->paused) &&
        store_schedule_each_paused(listing->store, note_paused, listing, err) != STATUS_OK)
        return err->code;
    if (store_dag_each_broken(listing->store, note_broken, listing, err) != STATUS_OK)
        return err->code;
    return store_version_each(listing->store, note_version, listing, err);
}

/* Files with problems are not DAGs yet; `dag.validate` speaks of them. */
static void look_into_file(struct listing *listing, const char *path)
{
    struct err ignored = {0};
    struct spec_file *file = NULL;
    if (strmap_find(listing->known, path, &(int64_t){0}) ||
        spec_load_file(path, &file, &ignored) != STATUS_OK)
        return;
    listing->files = mem_grow((void *)listing->files, &listing->files_capacity,
                              listing->files_count, sizeof(struct spec_file *));
    listing->files[listing->files_count++] = file;
    const char *kept_path = arena_strdup(listing->arena, path);
    for (size_t i = 0; i < file->dags_count; i++)
        if (file->dags[i] != NULL &&
            is_named(listing, file->dags[i]->id, file->dags[i]->namespace_))
            add(listing, (struct candidate){
                             .dag_id = file->dags[i]->id, .dag = file->dags[i], .path = kept_path});
}

static void look_into_folder(struct listing *listing)
{
    for (size_t i = 0; i < listing->paths.count; i++)
        look_into_file(listing, listing->paths.items[i]);
}

/* A folder that cannot be read has none. */
static void find_paths(struct listing *listing)
{
    struct err ignored = {0};
    if (listing->service->dags == NULL ||
        spec_find_files(listing->service->dags, &listing->paths, &ignored) != STATUS_OK)
        return;
    for (size_t i = 0; i < listing->paths.count; i++)
        (void)strmap_add(listing->folder, listing->paths.items[i], 0);
}

/* --- what is meant --------------------------------------------------------------------------- */

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

/* Read what is not read yet, several with one question where that is cheaper. */
static enum status need_dags(struct listing *listing, struct candidate *first, size_t count,
                             struct err *err)
{
    CLEANUP(mem_freep) int64_t *versions = mem_zalloc(count + 1, sizeof *versions);
    size_t missing = 0;
    for (size_t i = 0; i < count; i++)
        if (first[i].dag == NULL)
            versions[missing++] = first[i].info->version;
    if (missing > 0 && store_version_fetch(listing->store, versions, missing, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (first[i].dag == NULL && store_version_dag(listing->store, first[i].info->version,
                                                      &first[i].dag, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static bool is_as_asked(const struct listing *listing, const struct candidate *candidate)
{
    bool is_paused = strmap_find(listing->resting, candidate->dag_id, &(int64_t){0});
    return !json_is_boolean(listing->paused) || json_is_true(listing->paused) == is_paused;
}

static bool is_tagged(const struct listing *listing, const struct dag *dag)
{
    return has_tag(dag, listing->tag) && has_one_tag(dag, listing->tags);
}

static bool asks_for_tags(const struct listing *listing)
{
    return listing->tag != NULL || json_array_size(listing->tags) > 0;
}

static void sift_paused(struct listing *listing)
{
    size_t kept = 0;
    for (size_t i = 0; i < listing->found_count; i++)
        if (is_as_asked(listing, &listing->found[i]))
            listing->found[kept++] = listing->found[i];
    listing->found_count = kept;
}

/* Leave those that match where more than the name decides. */
static enum status sift(struct listing *listing, struct err *err)
{
    size_t kept = 0;
    sift_paused(listing);
    if (!asks_for_tags(listing))
        return STATUS_OK;
    if (need_dags(listing, listing->found, listing->found_count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < listing->found_count; i++)
        if (is_tagged(listing, listing->found[i].dag))
            listing->found[kept++] = listing->found[i];
    listing->found_count = kept;
    return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->dag_id, ((const struct candidate *)b)->dag_id);
}

static int by_id_back(const void *a, const void *b)
{
    return by_id(b, a);
}

/* --- the page -------------------------------------------------------------------------------- */

static enum status show(struct listing *listing, const struct candidate *candidate, json_t *dags,
                        struct err *err)
{
    const struct dag *dag = candidate->dag;
    json_t *object = dag_json(dag);
    json_build_append(dags, object);
    json_put_string(object, "file", candidate->path);
    if (candidate->info != NULL)
        dag_standing_put(object, candidate->info,
                         strmap_find(listing->broken, dag->id, &(int64_t){0}));
    if (schedule_json_put(listing->service, listing->store, dag, object, err) != STATUS_OK)
        return err->code;
    return listing->is_brief
               ? STATUS_OK
               : dag_standing_put_last_run(listing->service, listing->store, dag->id, object, err);
}

static enum status show_page(struct listing *listing, const json_t *request, json_t *dags,
                             struct err *err)
{
    int64_t count = (int64_t)listing->found_count;
    int64_t limit = json_get_int(request, "limit", -1);
    int64_t from = MIN(json_get_int(request, "offset", 0), count);
    int64_t to = limit < 0 || limit > count - from ? count : from + limit;
    if (count > 0)
        qsort(listing->found, listing->found_count, sizeof *listing->found,
              listing->is_back ? by_id_back : by_id);
    if (to > from &&
        need_dags(listing, listing->found + from, (size_t)(to - from), err) != STATUS_OK)
        return err->code;
    for (int64_t i = from; i < to; i++)
        if (show(listing, &listing->found[i], dags, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

/* Both may be absent: -1 as a default stands for all of them, but is nothing that one may ask. */
static enum status check_page(const json_t *request, struct err *err)
{
    if (json_get_int(request, "limit", 0) < 0)
        return err_set(err, STATUS_INVALID, "'limit' must not be negative");
    if (json_get_int(request, "offset", 0) < 0)
        return err_set(err, STATUS_INVALID, "'offset' must not be negative");
    return STATUS_OK;
}

static enum status read_order(const json_t *request, bool *out_back, struct err *err)
{
    const char *order = json_get_string(request, "order_by", "dag_id");
    *out_back = order[0] == '-';
    if (str_equal(order + (*out_back ? 1 : 0), "dag_id"))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "DAGs are ordered by dag_id or -dag_id, not by '%.60s'",
                   order);
}

enum status op_dag_list(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(json_decrefp) json_t *dags = json_build_array();
    bool is_back = false;
    if (read_order(request, &is_back, err) != STATUS_OK || check_page(request, err) != STATUS_OK)
        return err->code;
    CLEANUP(listing_fini)
    struct listing listing = {
        .service = service,
        .tag = json_get_string(request, "tag", NULL),
        .tags = json_object_get(request, "tags"),
        .pattern = json_get_string(request, "pattern", NULL),
        .paused = json_object_get(request, "paused"),
        .with_inactive = json_get_bool(request, "all", false),
        .is_brief = json_get_bool(request, "brief", false),
        .is_back = is_back,
        .arena = arena_new(),
        .seen = strmap_new(),
        .broken = strmap_new(),
        .resting = strmap_new(),
        .folder = strmap_new(),
        .known = strmap_new(),
    };
    find_paths(&listing);
    if (service_store_if_any(service, &listing.store, err) != STATUS_OK ||
        look_into_store(&listing, err) != STATUS_OK)
        return err_wrap(err, "list DAGs");
    look_into_folder(&listing);
    if (sift(&listing, err) != STATUS_OK || show_page(&listing, request, dags, err) != STATUS_OK)
        return err_wrap(err, "list DAGs");
    *out = json_build_object();
    json_put_int(*out, "total_entries", (int64_t)listing.found_count);
    json_put(*out, "dags", TAKE(dags));
    return STATUS_OK;
}
