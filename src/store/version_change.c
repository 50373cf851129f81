/*
 * version_change: another version becomes the current one because somebody says so.
 */
#include "store/store_priv.h"
#include "store/version_priv.h"

static const char CURRENT_SET[] = "UPDATE dag SET version = $2, namespace = $3, title = $4,"
                                  " updated_at_us = $5 WHERE id = $1 AND version <> $2";
/* Before the version is looked for: who removes old ones holds the same lock. */
static const char *const LOCK[] = {
    [DB_SQLITE] = "SELECT id FROM dag WHERE dag_id = $1",
    [DB_POSTGRES] = "SELECT id FROM dag WHERE dag_id = $1 FOR UPDATE",
};
static const char OFFERED[] = "SELECT offered FROM schedule WHERE dag = $1";

static enum status rollback_once(struct store *store, const void *context, struct err *err)
{
    const struct rollback_request *request = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    struct version_info info;
    const struct dag *dag = NULL;
    int64_t offered = 0;
    int64_t locked = 0;
    if (db_begin(db, err) != STATUS_OK ||
        db_get_int(db, 0, &locked, err, LOCK[db_dialect(db)], "t", request->dag_id) != STATUS_OK ||
        store_version_numbered(store, arena, request->dag_id, request->number, &info, err) !=
            STATUS_OK ||
        store_dag(store, info.version, &dag, err) != STATUS_OK ||
        db_get_int(db, 0, &offered, err, OFFERED, "i", info.dag_key) != STATUS_OK ||
        db_do(db, err, CURRENT_SET, "iitti", info.dag_key, info.version, dag->namespace_,
              dag->title, store_now_us(store)) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_CONFLICT, "version %lld of DAG '%s' is the current one already",
                       (long long)request->number, request->dag_id);
    struct current_version current = {
        .dag_key = info.dag_key,
        .dag_id = info.dag_id,
        .version = info.version,
        .dag = dag,
        .path = info.path,
        .is_offered = offered != 0,
        .event = EVENT_DAG_ROLLED_BACK,
        .actor = request->actor,
        .reason = request->reason,
    };
    if (version_current_changed(store, &current, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_version_rollback(struct store *store, const struct rollback_request *request,
                                   struct err *err)
{
    enum status status = store_repeat(store, rollback_once, request, err);
    if (status != STATUS_UNKNOWN)
        return status;
    /* Done once more, it finds out whether it was done. */
    struct err again = {0};
    status = store_repeat(store, rollback_once, request, &again);
    if (status != STATUS_OK && status != STATUS_CONFLICT)
        *err = again;
    return status == STATUS_CONFLICT ? STATUS_OK : status;
}
