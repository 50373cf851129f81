/*
 * version_save: what is written becomes a version, and perhaps the current one.
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag_write.h"
#include "store/lane_priv.h"
#include "store/pool_priv.h"
#include "store/schedule_priv.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

static char *format_places(const struct dag *dag)
{
    CLEANUP(json_decrefp) json_t *places = json_object();
    for (size_t i = 0; i < dag->places_count; i++)
        json_put(places, dag->places[i].path,
                 json_pack("[ii]", dag->places[i].line, dag->places[i].column));
    return json_format(places);
}

static const char DAG_FIND[] =
    "SELECT d.id, d.version, d.filed, d.watched, d.active, v.path, s.offered FROM dag d"
    " LEFT JOIN version v ON v.id = d.filed LEFT JOIN schedule s ON s.dag = d.id"
    " WHERE d.dag_id = $1";
static const char DAG_INSERT[] =
    "INSERT INTO dag (id, dag_id, namespace, title, version, filed, watched, active, created_at_us,"
    " updated_at_us) VALUES ($1, $2, $3, $4, $5, $5, $6, 1, $7, $7)";
static const char DAG_UPDATE[] = "UPDATE dag SET namespace = $2, title = $3, version = $4,"
                                 " filed = $4, updated_at_us = $5 WHERE id = $1";
static const char DAG_OFFER[] =
    "UPDATE dag SET watched = 1, active = 1, updated_at_us = $2 WHERE id = $1";
static const char VERSION_FIND[] =
    "SELECT id, number, path, source FROM version WHERE dag = $1 AND hash = $2";
static const char VERSION_NUMBER[] = "SELECT max(number) FROM version WHERE dag = $1";
static const char VERSION_INSERT[] =
    "INSERT INTO version (id, dag, number, hash, canonical, source, places, path, created_at_us,"
    " timeout_ms, actor) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
static const char VERSION_TEXT[] =
    "UPDATE version SET source = $2, places = $3, path = $4 WHERE id = $1";

/* What the store knows of a DAG before it is saved. */
struct known_dag {
    int64_t key; /* 0: nothing */
    int64_t current;
    int64_t filed;
    bool is_watched;
    enum dag_activity activity;
    bool same_path;            /* as the version that its file means */
    bool is_scheduled;         /* it may run by itself */
    bool has_say;              /* what is saved may become the current version */
    char hash[SHA256_HEX_MAX]; /* of what is saved */
};

static enum status find_dag(struct store *store, const char *dag_id, const char *path,
                            struct known_dag *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, DAG_FIND, "t", dag_id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    *out = (struct known_dag){0};
    if (!row)
        return STATUS_OK;
    *out = (struct known_dag){
        .key = db_int(stmt, 0),
        .current = db_int(stmt, 1),
        .filed = db_int(stmt, 2),
        .is_watched = db_int(stmt, 3) != 0,
        .activity = (enum dag_activity)db_int(stmt, 4),
        .same_path = str_equal(db_text(stmt, 5), path),
        .is_scheduled = db_int(stmt, 6) != 0,
    };
    db_reset(stmt);
    return STATUS_OK;
}

/* The version with this meaning, if there is one; *out_same_text: written in the same words. */
static enum status find_version(struct store *store, const char *hash,
                                const struct version_source *source, struct version_ref *ref,
                                bool *out_same_text, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, VERSION_FIND, "it", ref->dag_key, hash) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    ref->version = row ? db_int(stmt, 0) : 0;
    ref->number = row ? db_int(stmt, 1) : 0;
    *out_same_text = row && str_equal(db_text(stmt, 2), source->path) &&
                     str_equal(db_text(stmt, 3), source->text);
    if (row)
        db_reset(stmt);
    return STATUS_OK;
}

/* With a number that was taken before, when the DAG is not new. */
static enum status insert_version(struct store *store, const struct dag *dag, const char *hash,
                                  const struct version_source *source,
                                  const struct version_ref *ref, struct err *err)
{
    CLEANUP(mem_freep) char *places = format_places(dag);
    CLEANUP(json_decrefp) json_t *tree = dag_write(dag);
    CLEANUP(mem_freep) char *canonical = json_format(tree);
    if (db_later(store->db, err, VERSION_INSERT, "iiitttttiit", ref->version, ref->dag_key,
                 ref->number, hash, canonical, source->text, places, source->path,
                 store_now_us(store), dag->timeout_ms,
                 source->actor != NULL ? source->actor : "") != STATUS_OK)
        return err->code;
    return named_files_save(store, ref->version, dag, err);
}

/* What follows from the current version, wherever it is written. */
static enum status follow(struct store *store, const struct current_version *current,
                          struct err *err)
{
    return current->version != 0 ? schedule_save(store, current, err)
                                 : schedule_forget(store, current->dag_key, err);
}

enum status version_current_changed(struct store *store, const struct current_version *current,
                                    struct err *err)
{
    if (follow(store, current, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "dag_id", current->dag_id);
    if (current->version != 0)
        json_put_id(data, "version", current->version);
    if (current->reason != NULL)
        json_put_string(data, "reason", current->reason);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, current->event, current->actor, text, err);
}

static enum status add_dag(struct store *store, const struct dag *dag, const char *hash,
                           const struct version_source *source, struct version_ref *ref,
                           struct err *err)
{
    int64_t now_us = store_now_us(store);
    *ref = (struct version_ref){
        .dag_key = id_next(&store->ids, now_us),
        .version = id_next(&store->ids, now_us),
        .number = 1,
        .is_new = true,
        .is_changed = true,
    };
    /* The dag row comes first: the version refers to it. */
    if (db_later(store->db, err, DAG_INSERT, "itttiii", ref->dag_key, dag->id, dag->namespace_,
                 dag->title, ref->version, (int64_t)source->is_offer, now_us) != STATUS_OK)
        return err->code;
    return insert_version(store, dag, hash, source, ref, err);
}

/* A version of a known DAG: the one with this meaning, or a new one. */
static enum status keep_version(struct store *store, const struct dag *dag,
                                const struct version_source *source, const struct known_dag *known,
                                struct version_ref *ref, struct err *err)
{
    bool same_text = false;
    if (find_version(store, known->hash, source, ref, &same_text, err) != STATUS_OK)
        return err->code;
    if (ref->version == 0) {
        int64_t last = 0;
        if (db_get_int(store->db, 0, &last, err, VERSION_NUMBER, "i", ref->dag_key) != STATUS_OK)
            return err->code;
        ref->version = id_next(&store->ids, store_now_us(store));
        ref->number = last + 1;
        ref->is_new = true;
        return insert_version(store, dag, known->hash, source, ref, err);
    }
    if (same_text || !known->has_say)
        return STATUS_OK;
    CLEANUP(mem_freep) char *places = format_places(dag);
    return db_do(store->db, err, VERSION_TEXT, "ittt", ref->version, source->text, places,
                 source->path);
}

/* Point the DAG at what its file means, and say that it is offered, as far as that is news. */
static enum status update_dag(struct store *store, const struct dag *dag,
                              const struct version_source *source, const struct known_dag *known,
                              struct version_ref *ref, struct err *err)
{
    int64_t now_us = store_now_us(store);
    bool moves = known->has_say && ref->version != known->filed;
    bool is_back = source->is_offer && (!known->is_watched || known->activity != DAG_ACTIVE);
    if (moves && db_do(store->db, err, DAG_UPDATE, "ittii", ref->dag_key, dag->namespace_,
                       dag->title, ref->version, now_us) != STATUS_OK)
        return err->code;
    if (is_back && db_do(store->db, err, DAG_OFFER, "ii", ref->dag_key, now_us) != STATUS_OK)
        return err->code;
    /* One that only changed its file was never gone. */
    ref->is_changed = moves || (is_back && (!known->is_watched || known->activity == DAG_INACTIVE));
    return STATUS_OK;
}

/* Of a DAG that hosts offer, only they say so; of others, whoever does more than run its file. */
static bool may_run_by_itself(const struct version_source *source, const struct known_dag *known)
{
    return source->is_offer || known->is_scheduled ||
           (!known->is_watched && !source->is_foreground);
}

static enum status keep_current(struct store *store, const struct dag *dag,
                                const struct version_source *source, const struct known_dag *known,
                                const struct version_ref *ref, struct err *err)
{
    bool moves = ref->version != known->filed;
    bool is_offered = may_run_by_itself(source, known);
    if (!ref->is_changed &&
        (!known->has_say || (known->same_path && is_offered == known->is_scheduled)))
        return STATUS_OK;
    struct current_version current = {
        .dag_key = ref->dag_key,
        .dag_id = dag->id,
        .version = moves ? ref->version : known->current,
        .dag = dag,
        .path = source->path,
        .is_new = known->key == 0,
        .is_offered = is_offered,
        .starts_paused = source->starts_paused && !known->is_watched,
        .event = moves ? EVENT_DAG_VERSION : EVENT_DAG_OFFERED,
        .actor = source->actor,
    };
    /* A DAG that comes back is what it was, also after a rollback. */
    if (current.version != ref->version &&
        store_dag(store, current.version, &current.dag, err) != STATUS_OK)
        return err->code;
    /* A file that only moved is no news, but what is named beside it moved along. */
    return ref->is_changed ? version_current_changed(store, &current, err)
                           : follow(store, &current, err);
}

enum status version_save_within(struct store *store, const struct dag *dag,
                                const struct version_source *source, struct version_ref *out,
                                struct err *err)
{
    struct known_dag known = {0};
    if (find_dag(store, dag->id, source->path, &known, err) != STATUS_OK)
        return err->code;
    (void)dag_hash(dag, known.hash);
    known.has_say = source->is_offer || !known.is_watched || known.same_path;
    struct version_ref ref = {.dag_key = known.key};
    enum status status = STATUS_OK;
    if (known.key == 0)
        status = add_dag(store, dag, known.hash, source, &ref, err);
    else if ((status = keep_version(store, dag, source, &known, &ref, err)) == STATUS_OK)
        status = update_dag(store, dag, source, &known, &ref, err);
    if (status != STATUS_OK || lanes_ensure(store, dag, err) != STATUS_OK ||
        pools_ensure(store, dag, err) != STATUS_OK ||
        keep_current(store, dag, source, &known, &ref, err) != STATUS_OK)
        return err->code;
    *out = ref;
    return STATUS_OK;
}

struct saving {
    const struct dag *dag;
    const struct version_source *source;
    struct version_ref *out;
};

static enum status save_once(struct store *store, const void *context, struct err *err)
{
    const struct saving *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    struct version_ref ref = {0};
    if (db_begin(db, err) != STATUS_OK ||
        version_save_within(store, call->dag, call->source, &ref, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK) {
        store_expect_race(store, err);
        return err_wrap(err, "keep the version of DAG '%s'", call->dag->id);
    }
    *call->out = ref;
    return STATUS_OK;
}

enum status store_version_save(struct store *store, const struct dag *dag,
                               const struct version_source *source, struct version_ref *out,
                               struct err *err)
{
    return store_repeat(store, save_once, &(struct saving){dag, source, out}, err);
}
