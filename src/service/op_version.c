/*
 * Versions of a DAG: which there are, what makes them differ, and going back to one.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_diff.h"
#include "model/dag_files.h"
#include "model/limits.h"
#include "model/text_diff.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/named_file.h"
#include "store/version.h"

enum { DIFF_BYTES_MAX = 16 << 20, REASON_BYTES_MAX = 1000 };

/* The member "reason", or NULL. */
static enum status read_reason(const json_t *request, const char **out, struct err *err)
{
    const char *reason = json_get_string(request, "reason", NULL);
    if (reason != NULL && strlen(reason) > REASON_BYTES_MAX)
        return err_set(err, STATUS_LIMIT, "a reason has at most %d bytes", REASON_BYTES_MAX);
    *out = reason != NULL && reason[0] != '\0' ? reason : NULL;
    return STATUS_OK;
}

/* --- dag.versions ---------------------------------------------------------------------------- */

static json_t *version_json(const struct version_info *info)
{
    json_t *object = json_build_object();
    json_put_int(object, "version_number", info->number);
    json_put_string(object, "dag_id", info->dag_id);
    json_put_string(object, "hash", info->hash);
    json_put_instant(object, "created_at", info->created_at_us);
    json_put_string(object, "actor", info->actor[0] != '\0' ? info->actor : NULL);
    json_put_string(object, "file", info->path);
    json_put_bool(object, "is_current", info->is_current);
    json_put_bool(object, "is_filed", info->is_filed);
    return object;
}

static enum status list_version(void *context, const struct version_info *info, struct err *err)
{
    (void)err;
    json_build_append(context, version_json(info));
    return STATUS_OK;
}

enum status op_dag_versions(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *versions = json_build_array();
    struct store *store = NULL;
    const char *dag_id = json_get_string(request, "dag", "");
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_version_each_of(store, dag_id, list_version, versions, err) != STATUS_OK)
        return err->code;
    *out = json_build_list("versions", TAKE(versions));
    json_put_string(*out, "dag_id", dag_id);
    return STATUS_OK;
}

/* --- dag.diff -------------------------------------------------------------------------------- */

struct sides {
    struct store *store;
    struct arena *arena;
    struct version_info info[2]; /* before and after */
    const struct dag *dag[2];
};

struct before_search {
    int64_t than;
    int64_t found;
};

static enum status find_before(void *context, const struct version_info *info, struct err *err)
{
    (void)err;
    struct before_search *search = context;
    if (info->number < search->than && info->number > search->found)
        search->found = info->number;
    return STATUS_OK;
}

/* By default what the current version changed; with one number, what changed since that one. */
static enum status choose_sides(struct sides *sides, const json_t *request, struct err *err)
{
    const char *dag_id = json_get_string(request, "dag", "");
    int64_t from = json_get_int(request, "from", 0);
    int64_t to = json_get_int(request, "to", 0);
    struct version_info *after = &sides->info[1];
    enum status status =
        to > 0 ? store_version_numbered(sides->store, sides->arena, dag_id, to, after, err)
               : store_version_newest(sides->store, sides->arena, dag_id, after, err);
    if (status != STATUS_OK)
        return status;
    struct before_search search = {.than = after->number};
    if (from == 0 &&
        store_version_each_of(sides->store, dag_id, find_before, &search, err) != STATUS_OK)
        return err->code;
    if (from == 0 && search.found == 0)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no version before %lld", dag_id,
                       (long long)after->number);
    return store_version_numbered(sides->store, sides->arena, dag_id,
                                  from > 0 ? from : search.found, &sides->info[0], err);
}

static enum status file_text(const struct sides *sides, size_t side, const char *name,
                             const char **out, struct err *err)
{
    const struct named_file *file = dag_find_file(sides->dag[side], name);
    size_t size = 0;
    *out = "";
    if (file == NULL)
        return STATUS_OK;
    if (store_named_file_load(sides->store, sides->arena, file->hash, out, &size, err) != STATUS_OK)
        return err->code;
    if (strlen(*out) != size)
        *out =
            arena_format(sides->arena, "(%zu bytes that are no text, %.12s)\n", size, file->hash);
    return STATUS_OK;
}

/* Names of files on either side; those of the second that the first has are left out. */
static enum status diff_files(const struct sides *sides, struct strbuf *text, struct err *err)
{
    for (size_t side = 0; side < 2; side++) {
        const struct dag *dag = sides->dag[side];
        for (size_t i = 0; i < dag->files_count; i++) {
            const char *name = dag->files[i].name;
            struct diff_text texts[2];
            if (side == 1 && dag_find_file(sides->dag[0], name) != NULL)
                continue;
            for (size_t k = 0; k < 2; k++) {
                texts[k].name = arena_format(sides->arena, "%s (version %lld)", name,
                                             (long long)sides->info[k].number);
                if (file_text(sides, k, name, &texts[k].text, err) != STATUS_OK)
                    return err->code;
            }
            text_diff(&texts[0], &texts[1], text);
        }
    }
    return STATUS_OK;
}

static enum status diff_texts(const struct sides *sides, struct strbuf *text, struct err *err)
{
    struct diff_text texts[2];
    for (size_t i = 0; i < 2; i++) {
        const char *path = sides->info[i].path;
        texts[i] = (struct diff_text){
            .name = arena_format(sides->arena, "%s (version %lld)",
                                 path[0] != '\0' ? path : sides->info[i].dag_id,
                                 (long long)sides->info[i].number),
            .text = sides->info[i].source,
        };
    }
    text_diff(&texts[0], &texts[1], text);
    return diff_files(sides, text, err);
}

enum status op_dag_diff(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct sides sides = {.arena = arena};
    if (service_store(service, DB_READ_ONLY, &sides.store, err) != STATUS_OK ||
        choose_sides(&sides, request, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < 2; i++)
        if (store_version_dag(sides.store, sides.info[i].version, &sides.dag[i], err) != STATUS_OK)
            return err->code;
    struct strbuf text;
    strbuf_init(&text, DIFF_BYTES_MAX);
    enum status status = diff_texts(&sides, &text, err);
    if (status == STATUS_OK) {
        *out = json_build_object();
        json_put_string(*out, "dag_id", sides.info[1].dag_id);
        json_put_int(*out, "from", sides.info[0].number);
        json_put_int(*out, "to", sides.info[1].number);
        json_put(*out, "changes", dag_diff(sides.dag[0], sides.dag[1]));
        json_put(*out, "text", json_text(text.text, text.length));
    }
    strbuf_fini(&text);
    return status;
}

/* --- dag.rollback ---------------------------------------------------------------------------- */

enum status op_dag_rollback(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct version_info info;
    struct rollback_request rollback = {
        .dag_id = json_get_string(request, "dag", ""),
        .number = json_get_int(request, "version", 0),
        .actor = service->actor,
    };
    bool dry_run = json_get_bool(request, "dry_run", false);
    if (read_reason(request, &rollback.reason, err) != STATUS_OK ||
        service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        (!dry_run && store_version_rollback(store, &rollback, err) != STATUS_OK) ||
        store_version_numbered(store, arena, rollback.dag_id, rollback.number, &info, err) !=
            STATUS_OK)
        return err->code;
    if (!dry_run)
        service_wake(service);
    *out = version_json(&info);
    return STATUS_OK;
}
