#include "store/dag_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

#define LIVING(name)                                                                               \
    "EXISTS (SELECT 1 FROM host h WHERE h.name = " name " AND h.kind = 'daemon'"                   \
    " AND h.ended_at_us IS NULL)"

/* --- saving ---------------------------------------------------------------------------------- */

static const char FILE_FIND[] =
    "SELECT id, broken_at_us FROM dag_file WHERE host = $1 AND path = $2";
static const char FILE_INSERT[] =
    "INSERT INTO dag_file (id, host, path, size, mtime_ns, ctime_ns, inode, hash, parts, problems,"
    " broken_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
static const char FILE_UPDATE[] =
    "UPDATE dag_file SET size = $2, mtime_ns = $3, ctime_ns = $4, inode = $5, hash = $6,"
    " parts = $7, problems = $8, broken_at_us = $9 WHERE id = $1";
static const char FILE_TOUCH[] = "UPDATE dag_file SET size = $2, mtime_ns = $3, ctime_ns = $4,"
                                 " inode = $5, parts = $6 WHERE id = $1";
static const char FILE_DELETE[] = "DELETE FROM dag_file WHERE id = $1";
static const char OFFER_TAKEN[] =
    "SELECT f.path FROM dag d JOIN dag_offer o ON o.dag = d.id JOIN dag_file f ON f.id = o.file"
    " WHERE d.dag_id = $1 AND f.host = $2 AND f.path <> $3 ORDER BY f.path LIMIT 1";
static const char OFFER_INSERT[] = "INSERT INTO dag_offer (dag, file) VALUES ($1, $2)";
static const char OFFERS_DOUBT[] = "UPDATE dag SET active = 2 WHERE active = 1 AND id IN"
                                   " (SELECT o.dag FROM dag_offer o WHERE o.file = $1)";
static const char OFFERS_DELETE[] = "DELETE FROM dag_offer WHERE file = $1";

struct known_file {
    int64_t id; /* 0: it is new */
    int64_t broken_at_us;
};

static enum status find_file(struct store *store, const char *host, const char *path,
                             struct known_file *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, FILE_FIND, "tt", host, path) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    *out = (struct known_file){0};
    if (!row)
        return STATUS_OK;
    *out = (struct known_file){.id = db_int(stmt, 0), .broken_at_us = db_int(stmt, 1)};
    db_reset(stmt);
    return STATUS_OK;
}

/* Whether another file has a DAG of this one; said in the result. */
static enum status find_rival(struct store *store, const char *host,
                              const struct dag_file_change *change, struct dag_file_result *out,
                              struct err *err)
{
    for (size_t i = 0; i < change->dags_count; i++) {
        const char *dag_id = change->dags[i]->id;
        struct db_stmt *stmt = NULL;
        bool row = false;
        if (db_query(store->db, &stmt, err, OFFER_TAKEN, "ttt", dag_id, host, change->path) !=
                STATUS_OK ||
            db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            continue;
        out->is_refused = true;
        out->line = change->lines[i];
        (void)snprintf(out->refusal, sizeof out->refusal,
                       "the DAG '%s' of %s is in %s already: give one of them another id", dag_id,
                       change->path, db_text(stmt, 0));
        db_reset(stmt);
        return STATUS_OK;
    }
    return STATUS_OK;
}

static char *refusal_json(const struct dag_file_result *result)
{
    CLEANUP(json_decrefp)
    json_t *problems = json_pack("[[i,i,o]]", result->line, 1,
                                 json_text(result->refusal, strlen(result->refusal)));
    return json_format(problems);
}

/* What was refused has no hash: it may turn out good without being changed. */
static enum status keep_file(struct store *store, const char *host,
                             const struct dag_file_change *change,
                             const struct dag_file_result *result, struct known_file *known,
                             struct err *err)
{
    CLEANUP(mem_freep) char *refusal = result->is_refused ? refusal_json(result) : NULL;
    bool is_refused = result->is_refused;
    const char *problems = is_refused ? refusal : change->problems;
    const struct file_stamp *stamp = &change->stamp;
    const char *hash = is_refused ? "" : change->hash;
    int64_t now_us = store_now_us(store);
    int64_t broken_at_us = problems == NULL          ? 0
                           : known->broken_at_us > 0 ? known->broken_at_us
                                                     : now_us;
    if (known->id != 0)
        return db_do(store->db, err, FILE_UPDATE, "iiiiitttz", known->id, stamp->size,
                     stamp->mtime_ns, stamp->ctime_ns, stamp->inode, hash, change->parts, problems,
                     broken_at_us);
    known->id = id_next(&store->ids, now_us);
    return db_later(store->db, err, FILE_INSERT, "ittiiiitttz", known->id, host, change->path,
                    stamp->size, stamp->mtime_ns, stamp->ctime_ns, stamp->inode, hash,
                    change->parts, problems, broken_at_us);
}

static enum status drop_offers(struct store *store, int64_t file, struct err *err)
{
    if (db_do(store->db, err, OFFERS_DOUBT, "i", file) != STATUS_OK)
        return err->code;
    return db_do(store->db, err, OFFERS_DELETE, "i", file);
}

/* Its versions, and that it offers them. */
static enum status keep_dags(struct store *store, const struct dag_file_batch *batch,
                             const struct dag_file_change *change, int64_t file,
                             struct dag_file_result *result, struct err *err)
{
    const struct version_source source = {
        .path = change->path,
        .text = change->text,
        .actor = batch->actor,
        .is_offer = true,
        .starts_paused = batch->starts_paused,
    };
    for (size_t i = 0; i < change->dags_count; i++) {
        struct version_ref ref;
        if (version_save_within(store, change->dags[i], &source, &ref, err) != STATUS_OK)
            return err_wrap(err, "DAG '%s'", change->dags[i]->id);
        if (db_later(store->db, err, OFFER_INSERT, "ii", ref.dag_key, file) != STATUS_OK)
            return err->code;
        result->changed += ref.is_changed;
    }
    return STATUS_OK;
}

static enum status save_change(struct store *store, const struct dag_file_batch *batch,
                               const struct dag_file_change *change, struct dag_file_result *result,
                               struct err *err)
{
    struct known_file known = {0};
    *result = (struct dag_file_result){0};
    if (find_file(store, batch->host, change->path, &known, err) != STATUS_OK)
        return err->code;
    if (change->is_same && known.id != 0)
        return db_do(store->db, err, FILE_TOUCH, "iiiiit", known.id, change->stamp.size,
                     change->stamp.mtime_ns, change->stamp.ctime_ns, change->stamp.inode,
                     change->parts);
    if (change->problems == NULL &&
        find_rival(store, batch->host, change, result, err) != STATUS_OK)
        return err->code;
    bool is_known = known.id != 0;
    if (keep_file(store, batch->host, change, result, &known, err) != STATUS_OK)
        return err->code;
    if (result->is_refused || change->problems != NULL)
        return STATUS_OK;
    if (is_known && drop_offers(store, known.id, err) != STATUS_OK)
        return err->code;
    return keep_dags(store, batch, change, known.id, result, err);
}

struct saving {
    const struct dag_file_batch *batch;
    struct dag_file_result *out;
};

static enum status save_once(struct store *store, const void *context, struct err *err)
{
    const struct saving *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    enum status status = db_begin(db, err);
    for (size_t i = 0; i < call->batch->count && status == STATUS_OK; i++) {
        status = save_change(store, call->batch, &call->batch->changes[i], &call->out[i], err);
        if (status != STATUS_OK)
            status = err_wrap(err, "keep what %s says", call->batch->changes[i].path);
    }
    if (status == STATUS_OK)
        status = db_commit(db, err);
    if (status != STATUS_OK) {
        /* Hosts that start together keep the same versions: the second look finds them. */
        store_expect_race(store, err);
        return err->code;
    }
    return STATUS_OK;
}

enum status store_dag_files_save(struct store *store, const struct dag_file_batch *batch,
                                 struct dag_file_result *out, struct err *err)
{
    return store_repeat(store, save_once, &(struct saving){batch, out}, err);
}

/* --- going ----------------------------------------------------------------------------------- */

struct removal {
    const char *host;
    const char *const *paths;
    size_t count;
};

static enum status remove_once(struct store *store, const void *context, struct err *err)
{
    const struct removal *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    enum status status = db_begin(db, err);
    for (size_t i = 0; i < call->count && status == STATUS_OK; i++) {
        struct known_file known = {0};
        status = find_file(store, call->host, call->paths[i], &known, err);
        if (status != STATUS_OK || known.id == 0)
            continue;
        status = drop_offers(store, known.id, err);
        if (status == STATUS_OK)
            status = db_do(db, err, FILE_DELETE, "i", known.id);
    }
    if (status == STATUS_OK)
        status = db_commit(db, err);
    if (status == STATUS_UNKNOWN)
        store_expect_race(store, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "forget DAG files");
}

enum status store_dag_files_remove(struct store *store, const char *host, const char *const *paths,
                                   size_t count, struct err *err)
{
    return store_repeat(store, remove_once, &(struct removal){host, paths, count}, err);
}

static const char DOUBTFUL[] = "SELECT id, dag_id, version FROM dag WHERE active = 2 ORDER BY id";
static const char IS_OFFERED[] = "SELECT count(*) FROM dag_offer o JOIN dag_file f ON f.id = o.file"
                                 " WHERE o.dag = $1 AND (f.host = $2 OR " LIVING("f.host") ")";
static const char ACTIVITY_SET[] =
    "UPDATE dag SET active = $2, updated_at_us = $3 WHERE id = $1 AND active = 2";

struct doubtful {
    int64_t key;
    char *dag_id;
    int64_t version;
};

struct settling {
    const char *host;
    const char *actor;
    int64_t *out_gone;
};

struct doubtful_list {
    struct doubtful *items;
    size_t count;
    size_t capacity;
};

static void doubtful_list_fini(struct doubtful_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].dag_id);
    free(list->items);
}

static enum status list_doubtful(struct store *store, struct doubtful_list *list, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, DOUBTFUL, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list->items = mem_grow(list->items, &list->capacity, list->count, sizeof *list->items);
        list->items[list->count++] = (struct doubtful){
            .key = db_int(stmt, 0),
            .dag_id = mem_strdup(db_text(stmt, 1)),
            .version = db_int(stmt, 2),
        };
    }
    return status;
}

static enum status settle_dag(struct store *store, const struct settling *call,
                              const struct doubtful *dag, bool *out_gone, struct err *err)
{
    int64_t offers = 0;
    if (db_get_int(store->db, 0, &offers, err, IS_OFFERED, "it", dag->key, call->host) !=
            STATUS_OK ||
        db_do(store->db, err, ACTIVITY_SET, "iii", dag->key,
              (int64_t)(offers > 0 ? DAG_ACTIVE : DAG_INACTIVE), store_now_us(store)) != STATUS_OK)
        return err->code;
    *out_gone = offers == 0 && db_changes(store->db) > 0;
    if (!*out_gone)
        return STATUS_OK;
    struct current_version current = {
        .dag_key = dag->key,
        .dag_id = dag->dag_id,
        .version = dag->version,
        .event = EVENT_DAG_WITHDRAWN,
        .actor = call->actor,
    };
    if (store_dag(store, dag->version, &current.dag, err) != STATUS_OK)
        return err->code;
    return version_current_changed(store, &current, err);
}

static enum status settle_once(struct store *store, const void *context, struct err *err)
{
    const struct settling *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    CLEANUP(doubtful_list_fini) struct doubtful_list list = {0};
    int64_t gone = 0;
    if (db_begin(db, err) != STATUS_OK || list_doubtful(store, &list, err) != STATUS_OK)
        return err_wrap(err, "see which DAGs are gone");
    for (size_t i = 0; i < list.count; i++) {
        bool is_gone = false;
        if (settle_dag(store, call, &list.items[i], &is_gone, err) != STATUS_OK)
            return err_wrap(err, "see whether DAG '%s' is gone", list.items[i].dag_id);
        gone += is_gone;
    }
    if (db_commit(db, err) != STATUS_OK) {
        store_expect_race(store, err);
        return err_wrap(err, "see which DAGs are gone");
    }
    *call->out_gone = gone;
    return STATUS_OK;
}

enum status store_dag_files_settle(struct store *store, const char *host, const char *actor,
                                   int64_t *out_gone, struct err *err)
{
    return store_repeat(store, settle_once, &(struct settling){host, actor, out_gone}, err);
}

/* --- hosts that do not come back ------------------------------------------------------------- */

enum { REMEMBERED_S = 24 * 60 * 60 };

#define STALE                                                                                      \
    "f.host <> $1 AND NOT EXISTS (SELECT 1 FROM host h WHERE h.name = f.host"                      \
    " AND h.kind = 'daemon' AND (h.ended_at_us IS NULL OR h.ended_at_us > $2))"
static const char STALE_COUNT[] = "SELECT count(*) FROM dag_file f WHERE " STALE;
static const char STALE_OFFERS[] =
    "DELETE FROM dag_offer WHERE file IN (SELECT f.id FROM dag_file f WHERE " STALE ")"
    " AND EXISTS (SELECT 1 FROM dag_offer o JOIN dag_file g ON g.id = o.file"
    " WHERE o.dag = dag_offer.dag AND g.host = $1)";
static const char STALE_FILES[] =
    "DELETE FROM dag_file WHERE id IN (SELECT f.id FROM dag_file f WHERE " STALE ")"
    " AND NOT EXISTS (SELECT 1 FROM dag_offer o WHERE o.file = dag_file.id)";

static enum status forget_once(struct store *store, const void *context, struct err *err)
{
    const char *host = context;
    CLEANUP(db_endp) struct db *db = store->db;
    int64_t since_us = store_now_us(store) - (int64_t)REMEMBERED_S * 1000000;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, STALE_OFFERS, "ti", host, since_us) != STATUS_OK ||
        db_do(db, err, STALE_FILES, "ti", host, since_us) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "forget the files of hosts that left");
    return STATUS_OK;
}

enum status store_dag_files_forget(struct store *store, const char *host, struct err *err)
{
    int64_t stale = 0;
    int64_t since_us = store_now_us(store) - (int64_t)REMEMBERED_S * 1000000;
    if (db_get_int(store->db, 0, &stale, err, STALE_COUNT, "ti", host, since_us) != STATUS_OK)
        return err->code;
    return stale == 0 ? STATUS_OK : store_repeat(store, forget_once, host, err);
}

/* --- looking --------------------------------------------------------------------------------- */

#define FILE_COLUMNS                                                                               \
    "SELECT f.host, f.path, f.size, f.mtime_ns, f.ctime_ns, f.inode, f.hash, f.parts, f.problems," \
    " f.broken_at_us FROM dag_file f"
static const char LIST_ALL[] = FILE_COLUMNS " ORDER BY f.path, f.host";
static const char LIST_OF_HOST[] = FILE_COLUMNS " WHERE f.host = $1 ORDER BY f.path";
static const char LIST_BROKEN[] =
    FILE_COLUMNS " WHERE f.problems IS NOT NULL ORDER BY f.path, f.host";
static const char LIST_OF_DAG[] = FILE_COLUMNS " JOIN dag_offer o ON o.file = f.id"
                                               " JOIN dag d ON d.id = o.dag WHERE d.dag_id = $1"
                                               " ORDER BY f.path, f.host";

static enum status query_files(struct store *store, const struct dag_file_filter *filter,
                               struct db_stmt **out, struct err *err)
{
    if (filter->dag_id != NULL)
        return db_query(store->db, out, err, LIST_OF_DAG, "t", filter->dag_id);
    if (filter->host != NULL)
        return db_query(store->db, out, err, LIST_OF_HOST, "t", filter->host);
    return db_query(store->db, out, err, filter->broken_only ? LIST_BROKEN : LIST_ALL, "");
}

enum status store_dag_file_each(struct store *store, const struct dag_file_filter *filter,
                                dag_file_fn each, void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = query_files(store, filter, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct dag_file file = {
            .host = db_text(stmt, 0),
            .path = db_text(stmt, 1),
            .stamp =
                {
                    .size = db_int(stmt, 2),
                    .mtime_ns = db_int(stmt, 3),
                    .ctime_ns = db_int(stmt, 4),
                    .inode = db_int(stmt, 5),
                },
            .hash = db_text(stmt, 6),
            .parts = db_text(stmt, 7),
            .problems = db_text(stmt, 8),
            .broken_at_us = db_int(stmt, 9),
        };
        if (filter->broken_only && file.problems == NULL)
            continue;
        status = each(context, &file, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static const char BROKEN_DAGS[] =
    "SELECT DISTINCT d.dag_id FROM dag_file f JOIN dag_offer o ON o.file = f.id"
    " JOIN dag d ON d.id = o.dag WHERE f.problems IS NOT NULL";

enum status store_dag_each_broken(struct store *store,
                                  enum status (*each)(void *context, const char *dag_id,
                                                      struct err *err),
                                  void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, BROKEN_DAGS, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        status = each(context, db_text(stmt, 0), err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static const char KEPT[] =
    "SELECT f.host, f.path, d.dag_id FROM dag_file f JOIN dag_offer o ON o.file = f.id"
    " JOIN dag d ON d.id = o.dag WHERE f.problems IS NOT NULL AND d.active <> 0 AND " SEEN(
        "$1", "d.namespace") " ORDER BY d.dag_id";

enum status store_dag_file_each_kept(struct store *store,
                                     enum status (*each)(void *context,
                                                         const struct dag_file_offer *o,
                                                         struct err *err),
                                     void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, KEPT, "t", store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct dag_file_offer offer = {
            .host = db_text(stmt, 0),
            .path = db_text(stmt, 1),
            .dag_id = db_text(stmt, 2),
        };
        status = each(context, &offer, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look for DAGs of broken files");
}
