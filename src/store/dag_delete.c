#include "store/dag_delete.h"

#include "base/arena.h"
#include "base/mem.h"
#include "store/run_delete_priv.h"
#include "store/schedule_priv.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

static const char RUNS_ACTIVE[] = "SELECT count(*) FROM run WHERE dag = $1 AND state IN (0, 1)";
static const char BACKFILL_ACTIVE[] =
    "SELECT id FROM backfill WHERE dag = $1 AND state IN (0, 1, 2, 3) ORDER BY id LIMIT 1";
static const char RUNS_COUNT[] = "SELECT count(*) FROM run WHERE dag = $1";
static const char RUNS_LIST[] = "SELECT id FROM run WHERE dag = $1 ORDER BY id LIMIT $2";
static const char OFFER_FIND[] =
    "SELECT f.path, f.host FROM dag_offer o JOIN dag_file f ON f.id = o.file WHERE o.dag = $1"
    " AND EXISTS (SELECT 1 FROM host h WHERE h.name = f.host AND h.kind = 'daemon'"
    " AND h.ended_at_us IS NULL) ORDER BY f.path LIMIT 1";
static const char CLOSE[] = "UPDATE dag SET active = 0 WHERE id = $1 AND active <> 0";
/* Where its file still lies, it is read again. */
static const char FILES_DOUBT[] = "UPDATE dag_file SET mtime_ns = 0, hash = '' WHERE id IN"
                                  " (SELECT o.file FROM dag_offer o WHERE o.dag = $1)";
/* Events and messages are the record of what people did and were told, and age by themselves. */
static const char *const DELETE_DAG[] = {
    "DELETE FROM dag_offer WHERE dag = $1",
    "DELETE FROM backfill_run WHERE backfill IN (SELECT b.id FROM backfill b WHERE b.dag = $1)",
    "DELETE FROM backfill WHERE dag = $1",
    "DELETE FROM webhook_call WHERE webhook IN (SELECT w.id FROM webhook w WHERE w.dag = $1)",
    "DELETE FROM webhook WHERE dag = $1",
    "DELETE FROM file_arrival WHERE dag = $1",
    "DELETE FROM retention WHERE what = 'files/' || CAST(CAST($1 AS BIGINT) AS TEXT)",
    "DELETE FROM sla_miss WHERE dag = $1",
    "DELETE FROM version_file WHERE version IN (SELECT v.id FROM version v WHERE v.dag = $1)",
    "DELETE FROM version WHERE dag = $1",
    "DELETE FROM dag WHERE id = $1",
};

static enum status refuse_if_offered(struct store *store, const struct version_info *dag,
                                     struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, OFFER_FIND, "i", dag->dag_key) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    enum status status = err_set(err, STATUS_CONFLICT,
                                 "DAG '%s' is active: host '%s' offers it from %s; remove it there "
                                 "first",
                                 dag->dag_id, db_text(stmt, 1), db_text(stmt, 0));
    db_reset(stmt);
    return status;
}

/* It would go on making runs. */
static enum status refuse_if_backfilled(struct store *store, const struct version_info *dag,
                                        struct err *err)
{
    int64_t backfill = 0;
    if (db_get_int(store->db, 0, &backfill, err, BACKFILL_ACTIVE, "i", dag->dag_key) != STATUS_OK)
        return err->code;
    if (backfill != 0)
        return err_set(err, STATUS_CONFLICT,
                       "backfill %lld of DAG '%s' is not over; cancel it first",
                       (long long)backfill, dag->dag_id);
    return STATUS_OK;
}

static enum status check(struct store *store, struct arena *arena, const char *dag_id,
                         struct version_info *out, struct err *err)
{
    int64_t active = 0;
    if (store_version_newest(store, arena, dag_id, out, err) != STATUS_OK ||
        refuse_if_offered(store, out, err) != STATUS_OK ||
        refuse_if_backfilled(store, out, err) != STATUS_OK ||
        db_get_int(store->db, 0, &active, err, RUNS_ACTIVE, "i", out->dag_key) != STATUS_OK)
        return err->code;
    if (active > 0)
        return err_set(err, STATUS_CONFLICT, "%lld run%s of DAG '%s' %s not over; stop %s first",
                       (long long)active, active == 1 ? "" : "s", dag_id,
                       active == 1 ? "is" : "are", active == 1 ? "it" : "them");
    return STATUS_OK;
}

enum status store_dag_delete_check(struct store *store, const char *dag_id, int64_t *out_runs,
                                   struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info info;
    if (check(store, arena, dag_id, &info, err) != STATUS_OK)
        return err->code;
    return db_get_int(store->db, 0, out_runs, err, RUNS_COUNT, "i", info.dag_key);
}

static enum status delete_runs(struct store *store, int64_t dag, const char *actor,
                               struct dag_delete_step *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, RUNS_LIST, "ii", dag, (int64_t)DAG_DELETE_RUNS);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out->runs[out->runs_count++] = db_int(stmt, 0);
    for (size_t i = 0; i < out->runs_count && status == STATUS_OK; i++)
        status = run_delete_within(store, out->runs[i], actor, err);
    return status;
}

static enum status delete_dag(struct store *store, const struct version_info *dag,
                              const struct dag_delete_request *request, struct err *err)
{
    struct current_version current = {
        .dag_key = dag->dag_key,
        .dag_id = dag->dag_id,
        .event = EVENT_DAG_DELETED,
        .actor = request->actor,
        .reason = request->reason,
    };
    if (version_current_changed(store, &current, err) != STATUS_OK ||
        db_do(store->db, err, FILES_DOUBT, "i", dag->dag_key) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < ARRAY_LEN(DELETE_DAG); i++)
        if (db_do(store->db, err, DELETE_DAG[i], "i", dag->dag_key) != STATUS_OK)
            return err->code;
    return named_files_sweep(store, err);
}

struct deleting {
    const struct dag_delete_request *request;
    struct dag_delete_step *out;
};

static enum status step_once(struct store *store, const void *context, struct err *err)
{
    const struct deleting *call = context;
    const struct dag_delete_request *request = call->request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    struct version_info info;
    struct dag_delete_step step = {0};
    if (db_begin(db, err) != STATUS_OK ||
        check(store, arena, request->dag_id, &info, err) != STATUS_OK ||
        db_do(db, err, CLOSE, "i", info.dag_key) != STATUS_OK ||
        schedule_withdraw(store, info.dag_key, err) != STATUS_OK ||
        delete_runs(store, info.dag_key, request->actor, &step, err) != STATUS_OK)
        return err->code;
    step.is_done = step.runs_count < DAG_DELETE_RUNS;
    if (step.is_done && delete_dag(store, &info, request, err) != STATUS_OK)
        return err->code;
    if (db_commit(db, err) != STATUS_OK)
        return err->code;
    *call->out = step;
    return STATUS_OK;
}

enum status store_dag_delete_step(struct store *store, const struct dag_delete_request *request,
                                  struct dag_delete_step *out, struct err *err)
{
    if (store_repeat(store, step_once, &(struct deleting){request, out}, err) != STATUS_OK)
        return err_wrap(err, "delete DAG '%s'", request->dag_id);
    return STATUS_OK;
}
