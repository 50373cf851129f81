/*
 * trigger_run: one run of what happened, in the transaction that takes it.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/params.h"
#include "store/run_create_priv.h"
#include "store/trigger_priv.h"

static const char LOCK[] =
    "UPDATE trigger_dag SET row_version = row_version + 1 WHERE dag = $1 AND paused = 0";
static const char LOCK_SCHEDULE[] = "SELECT dag FROM schedule WHERE dag = $1 FOR UPDATE";
static const char NEWEST[] = "SELECT version FROM dag WHERE id = $1";
static const struct db_bulk_form CAUSES = {
    "INSERT INTO run_cause (run, kind, source, name, state, at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6)",
    "INSERT INTO run_cause (run, kind, source, name, state, at_us)"
    " SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[],"
    " $6::bigint[])",
    "iiitii", "cause"};

enum status trigger_lock(struct store *store, int64_t dag_key, bool *out_free, struct err *err)
{
    /* Whoever changes a DAG has the row of its schedule first, and so has who lets runs go. */
    int64_t ignored = 0;
    if (db_dialect(store->db) == DB_POSTGRES &&
        db_get_int(store->db, 0, &ignored, err, LOCK_SCHEDULE, "i", dag_key) != STATUS_OK)
        return err->code;
    if (db_do(store->db, err, LOCK, "i", dag_key) != STATUS_OK)
        return err->code;
    *out_free = db_changes(store->db) > 0;
    return STATUS_OK;
}

enum status trigger_newest(struct store *store, int64_t dag_key, int64_t *out_version,
                           const struct dag **out, struct err *err)
{
    if (db_get_int(store->db, 0, out_version, err, NEWEST, "i", dag_key) != STATUS_OK)
        return err->code;
    if (*out_version == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no such DAG any more");
    return store_dag(store, *out_version, out, err);
}

enum status trigger_load(struct store *store, int64_t dag_key, struct triggers **out,
                         struct err *err)
{
    const struct dag *dag = NULL;
    int64_t version = 0;
    if (trigger_newest(store, dag_key, &version, &dag, err) != STATUS_OK)
        return err->code;
    return triggers_of_dag(dag, out, err);
}

static enum status save_causes(struct store *store, const struct trigger_run *run, int64_t id,
                               struct err *err)
{
    struct db_bulk bulk;
    db_bulk_init(&bulk, &CAUSES);
    for (size_t i = 0; i < run->causes_count; i++) {
        const struct trigger_cause *cause = &run->causes[i];
        db_bulk_add(&bulk, id, (int64_t)cause->kind, cause->source, cause->name,
                    (int64_t)cause->state, cause->at_us);
    }
    enum status status = db_bulk_run(store->db, &bulk, (int64_t)bulk.rows, err);
    db_bulk_fini(&bulk);
    return status;
}

enum status trigger_make_run(struct store *store, const struct trigger_run *run,
                             struct run_created *out, struct err *err)
{
    const struct dag *dag = NULL;
    int64_t version = 0;
    CLEANUP(json_decrefp) json_t *params = NULL;
    if (trigger_newest(store, run->dag_key, &version, &dag, err) != STATUS_OK ||
        params_resolve_typed(dag, run->conf, NULL, &params, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *params_text = json_format(params);
    CLEANUP(mem_freep) char *conf_text = json_format(run->conf);
    const struct run_request request = {
        .version = version,
        .kind = run->kind,
        .logical_at_us = run->logical_at_us,
        .interval_start_us = run->interval_start_us,
        .interval_end_us = run->interval_end_us,
        .params = params_text,
        .conf = conf_text,
        .note = run->note != NULL ? run->note : "",
        .actor = run->actor,
        .is_limited = true,
    };
    if (run_create_within(store, &request, 1, out, err) != STATUS_OK)
        return err->code;
    return save_causes(store, run, out->id, err);
}
