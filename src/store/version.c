#include "store/version.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_read.h"
#include "model/house_hooks.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

/* --- loading --------------------------------------------------------------------------------- */

#define INFO_COLUMNS                                                                               \
    "d.id, v.id, v.number, d.dag_id, d.namespace, d.title, v.hash, v.path, v.created_at_us,"       \
    " v.actor, d.version, d.filed, d.active"

static const char INFO_NEWEST[] = "SELECT " INFO_COLUMNS ", v.source FROM dag d"
                                  " JOIN version v ON v.id = d.version WHERE d.dag_id = $1";
static const char INFO_BY_ID[] = "SELECT " INFO_COLUMNS ", v.source FROM version v"
                                 " JOIN dag d ON d.id = v.dag WHERE v.id = $1";
static const char INFO_BY_NUMBER[] = "SELECT " INFO_COLUMNS ", v.source FROM version v"
                                     " JOIN dag d ON d.id = v.dag"
                                     " WHERE d.dag_id = $1 AND v.number = $2";
static const char INFO_ALL[] = "SELECT " INFO_COLUMNS " FROM dag d JOIN version v"
                               " ON v.id = d.version ORDER BY d.dag_id";
static const char INFO_OF_DAG[] = "SELECT " INFO_COLUMNS " FROM version v"
                                  " JOIN dag d ON d.id = v.dag WHERE d.dag_id = $1"
                                  " ORDER BY v.number DESC";
static const char DAG_IDS[] = "SELECT dag_id FROM dag ORDER BY dag_id LIMIT 10000";

static const char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

static void read_info(struct db_stmt *stmt, struct arena *arena, bool with_source,
                      struct version_info *out)
{
    *out = (struct version_info){
        .dag_key = db_int(stmt, 0),
        .version = db_int(stmt, 1),
        .number = db_int(stmt, 2),
        .dag_id = copy(arena, db_text(stmt, 3)),
        .namespace_ = copy(arena, db_text(stmt, 4)),
        .title = copy(arena, db_text(stmt, 5)),
        .hash = copy(arena, db_text(stmt, 6)),
        .path = copy(arena, db_text(stmt, 7)),
        .created_at_us = db_int(stmt, 8),
        .actor = copy(arena, db_text(stmt, 9)),
        .is_current = db_int(stmt, 10) == db_int(stmt, 1),
        .is_filed = db_int(stmt, 11) == db_int(stmt, 1),
        .is_active = db_int(stmt, 12) != DAG_INACTIVE,
        .source = with_source ? copy(arena, db_text(stmt, 13)) : NULL,
    };
}

static const char *nth_text(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

/* "there is no DAG 'x'", with the nearest name there is. */
static enum status no_such_dag(struct store *store, const char *dag_id, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char **names = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, DAG_IDS, "") != STATUS_OK)
        return err->code;
    for (bool row = true;;) {
        if (db_step(stmt, &row, err) != STATUS_OK || !row)
            break;
        names = mem_grow(names, &capacity, count, sizeof *names);
        names[count++] = arena_strdup(arena, db_text(stmt, 0));
    }
    const char *near = str_nearest(dag_id, count, nth_text, names);
    enum status status =
        near != NULL ? err_set(err, STATUS_NOT_FOUND, "there is no DAG '%s'; did you mean '%s'?",
                               dag_id, near)
                     : err_set(err, STATUS_NOT_FOUND, "there is no DAG '%s' in the store", dag_id);
    free(names);
    return status;
}

enum status store_version_newest(struct store *store, struct arena *arena, const char *dag_id,
                                 struct version_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, INFO_NEWEST, "t", dag_id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return no_such_dag(store, dag_id, err);
    read_info(stmt, arena, true, out);
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_version_load(struct store *store, struct arena *arena, int64_t version,
                               struct version_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, INFO_BY_ID, "i", version) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no DAG version %lld", (long long)version);
    read_info(stmt, arena, true, out);
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_version_numbered(struct store *store, struct arena *arena, const char *dag_id,
                                   int64_t number, struct version_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, INFO_BY_NUMBER, "ti", dag_id, number) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (row) {
        read_info(stmt, arena, true, out);
        db_reset(stmt);
        return STATUS_OK;
    }
    struct version_info current;
    if (store_version_newest(store, arena, dag_id, &current, err) != STATUS_OK)
        return err->code;
    return err_set(err, STATUS_NOT_FOUND,
                   "DAG '%s' has no version %lld; `eider dags versions %s` lists them", dag_id,
                   (long long)number, dag_id);
}

static const char LAST[] =
    "SELECT id FROM version WHERE dag = $1 ORDER BY dag DESC, number DESC LIMIT 1";

enum status store_version_last(struct store *store, int64_t dag_key, int64_t *out_version,
                               struct err *err)
{
    int64_t version = 0;
    if (db_get_int(store->db, 0, &version, err, LAST, "i", dag_key) != STATUS_OK)
        return err_wrap(err, "look for the newest version");
    if (version == 0)
        return err_set(err, STATUS_NOT_FOUND, "the DAG has no version any more");
    *out_version = version;
    return STATUS_OK;
}

typedef enum status (*version_fn)(void *context, const struct version_info *info, struct err *err);

static enum status each_row(struct db_stmt *stmt, version_fn each, void *context, struct err *err)
{
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            return STATUS_OK;
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct version_info info;
        read_info(stmt, arena, false, &info);
        if (each(context, &info, err) != STATUS_OK) {
            db_reset(stmt);
            return err->code;
        }
    }
}

enum status store_version_each_of(struct store *store, const char *dag_id,
                                  enum status (*each)(void *context,
                                                      const struct version_info *info,
                                                      struct err *err),
                                  void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info current;
    struct db_stmt *stmt = NULL;
    if (store_version_newest(store, arena, dag_id, &current, err) != STATUS_OK ||
        db_query(store->db, &stmt, err, INFO_OF_DAG, "t", dag_id) != STATUS_OK)
        return err->code;
    return each_row(stmt, each, context, err);
}

enum status store_version_each(struct store *store,
                               enum status (*each)(void *context, const struct version_info *info,
                                                   struct err *err),
                               void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, INFO_ALL, "") != STATUS_OK)
        return err->code;
    return each_row(stmt, each, context, err);
}

/* --- the DAG itself -------------------------------------------------------------------------- */

static const char CANONICAL[] = "SELECT canonical, places FROM version WHERE id = $1";
static const char CANONICALS[] = "SELECT canonical, places, id FROM version WHERE id = ANY($1)";

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct source_place *)a)->path, ((const struct source_place *)b)->path);
}

static enum status attach_places(struct dag *dag, const char *text, struct err *err)
{
    CLEANUP(json_decrefp) json_t *places = NULL;
    if (json_parse(text, strlen(text), &places, err) != STATUS_OK)
        return err->code;
    size_t count = json_object_size(places);
    struct source_place *items = arena_array(dag->arena, count, sizeof *items);
    size_t i = 0;
    const char *path = NULL;
    json_t *place = NULL;
    json_object_foreach(places, path, place)
    {
        items[i++] = (struct source_place){
            .path = arena_strdup(dag->arena, path),
            .line = (int)json_integer_value(json_array_get(place, 0)),
            .column = (int)json_integer_value(json_array_get(place, 1)),
        };
    }
    if (count > 0)
        qsort(items, count, sizeof *items, by_path);
    dag->places = items;
    dag->places_count = count;
    return STATUS_OK;
}

static enum status read_canonical(const char *canonical, struct dag **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    if (json_parse(canonical, strlen(canonical), &tree, err) != STATUS_OK)
        return err_wrap(err, "stored DAG");
    struct dag *dag = dag_read(tree, &(struct dag_read_options){0}, &diags);
    if (dag == NULL)
        return err_set(err, STATUS_CORRUPT, "stored DAG: %s",
                       diags.count > 0 ? diags.items[0].text : "cannot be read");
    *out = dag;
    return STATUS_OK;
}

static const struct dag *find_read(const struct store *store, int64_t version)
{
    const struct dag *dag = idmap_find(store->lent, version);
    return dag != NULL ? dag : idmap_find(store->dags, version);
}

/* Of a row with the canonical form and the places. */
static enum status keep_dag(struct store *store, int64_t version, struct db_stmt *stmt,
                            struct err *err)
{
    struct dag *dag = NULL;
    enum status status = read_canonical(db_text(stmt, 0), &dag, err);
    if (status == STATUS_OK && dag != NULL)
        status = attach_places(dag, db_text(stmt, 1), err);
    if (status != STATUS_OK) {
        dag_free(dag);
        return status;
    }
    house_hooks_add(store->hooks, dag);
    idmap_set(store->dags, version, dag);
    return STATUS_OK;
}

static enum status read_dag(struct store *store, int64_t version, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, CANONICAL, "i", version) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_CORRUPT, "DAG version %lld is missing", (long long)version);
    enum status status = keep_dag(store, version, stmt, err);
    db_reset(stmt);
    return status;
}

enum status store_dag(struct store *store, int64_t version, const struct dag **out, struct err *err)
{
    if (find_read(store, version) == NULL && read_dag(store, version, err) != STATUS_OK)
        return err->code;
    *out = find_read(store, version);
    return STATUS_OK;
}

enum status store_dags_fetch(struct store *store, const int64_t *versions, size_t count,
                             struct err *err)
{
    if (db_dialect(store->db) == DB_SQLITE || count < 2)
        return STATUS_OK; /* store_dag does it as well */
    CLEANUP(mem_freep) int64_t *missing = mem_alloc(count * sizeof *missing);
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (find_read(store, versions[i]) == NULL)
            missing[found++] = versions[i];
    if (found < 2)
        return STATUS_OK;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, CANONICALS, "I", missing, found);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        status = keep_dag(store, db_int(stmt, 2), stmt, err);
    if (status != STATUS_OK && stmt != NULL)
        db_reset(stmt);
    return status;
}

enum status store_version_dag(struct store *store, int64_t version, const struct dag **out,
                              struct err *err)
{
    return store_dag(store, version, out, err);
}

enum status store_version_fetch(struct store *store, const int64_t *versions, size_t count,
                                struct err *err)
{
    return store_dags_fetch(store, versions, count, err);
}

void store_version_lend(struct store *store, int64_t version, const struct dag *dag)
{
    idmap_set(store->lent, version, (struct dag *)(uintptr_t)dag);
}
