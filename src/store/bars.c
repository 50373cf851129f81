#include "store/bars.h"

#include "base/check.h"
#include "base/mem.h"
#include "store/store_priv.h"
#include "store/version_priv.h"

/* --- DAGs ------------------------------------------------------------------------------------ */

#define COLUMNS                                                                                    \
    "SELECT d.id, d.version, v.number, d.dag_id, d.namespace, d.title, d.active, d.filed,"         \
    " s.offered, s.paused, s.next_us FROM dag d JOIN version v ON v.id = d.version"                \
    " LEFT JOIN schedule s ON s.dag = d.id"
static const char ALL[] = COLUMNS " WHERE " SEEN("$1", "d.namespace") " ORDER BY d.dag_id LIMIT $2";
static const char ONE[] = COLUMNS " WHERE " SEEN("$1", "d.namespace") " AND d.dag_id = $2";

static const char *copy(struct arena *arena, const char *text)
{
    return text != NULL ? arena_strdup(arena, text) : NULL;
}

static void read_dag(struct db_stmt *stmt, struct arena *arena, struct bars_dag *out)
{
    bool is_paused = db_int(stmt, 9) != 0;
    *out = (struct bars_dag){
        .key = db_int(stmt, 0),
        .version = db_int(stmt, 1),
        .number = db_int(stmt, 2),
        .dag_id = copy(arena, db_text(stmt, 3)),
        .namespace_ = copy(arena, db_text(stmt, 4)),
        .title = copy(arena, db_text(stmt, 5)),
        .is_active = db_int(stmt, 6) != DAG_INACTIVE,
        .is_filed = db_int(stmt, 7) == db_int(stmt, 1),
        .is_offered = db_int(stmt, 8) != 0,
        .is_paused = is_paused,
        .next_us = is_paused ? 0 : db_int(stmt, 10),
    };
}

/* Where questions take their time, one is asked for all of those that are active. */
static enum status fetch_versions(struct store *store, const struct bars_dag *dags, size_t count,
                                  struct err *err)
{
    CLEANUP(mem_freep) int64_t *versions = mem_alloc((count + 1) * sizeof *versions);
    size_t active = 0;
    for (size_t i = 0; i < count; i++)
        if (dags[i].is_active)
            versions[active++] = dags[i].version;
    return store_dags_fetch(store, versions, active, err);
}

enum status store_bars_dags(struct store *store, struct arena *arena, int64_t limit,
                            struct bars_dag **out, size_t *out_count, struct err *err)
{
    struct bars_dag *list = arena_array(arena, (size_t)limit + 1, sizeof *list);
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, ALL, "ti", store_sight(store), limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        read_dag(stmt, arena, &list[count++]);
    if (status == STATUS_OK)
        status = fetch_versions(store, list, count, err);
    if (status != STATUS_OK)
        return err_wrap(err, "look at DAGs");
    *out = list;
    *out_count = count;
    return STATUS_OK;
}

enum status store_bars_dag(struct store *store, struct arena *arena, const char *dag_id,
                           struct bars_dag *out, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, ONE, "tt", store_sight(store), dag_id);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        read_dag(stmt, arena, out);
        count = 1;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look at DAG '%s'", dag_id);
    *out_count = count;
    return STATUS_OK;
}

/* --- runs ------------------------------------------------------------------------------------ */

#define RUN_COLUMNS_OF_BAR "id, state, created_at_us, started_at_us, ended_at_us"
/* Along run_dag. On SQLite a question each costs less than a join that reads the same rows. */
static const char LAST_OF_DAG[] =
    "SELECT " RUN_COLUMNS_OF_BAR " FROM run WHERE dag = $1 ORDER BY id DESC LIMIT $2";
static const char LAST_OF_DAGS[] =
    "SELECT r.*, x.place FROM unnest($1::bigint[]) WITH ORDINALITY AS x (dag, place)"
    " CROSS JOIN LATERAL (SELECT " RUN_COLUMNS_OF_BAR " FROM run WHERE dag = x.dag"
    " ORDER BY id DESC LIMIT $2) r ORDER BY x.place, r.id DESC";

/* Of the DAG at `place`, or where that is in the rows, below 0. */
static enum status tell_runs(struct db_stmt *stmt, int64_t place, bars_run_fn each, void *context,
                             struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 1);
        if (state < 0 || state >= RUN_STATE_COUNT) {
            db_reset(stmt);
            return err_set(err, STATUS_CORRUPT, "a run has state %lld", (long long)state);
        }
        const struct bars_run run = {
            .dag = (size_t)(place >= 0 ? place : db_int(stmt, 5) - 1),
            .id = db_int(stmt, 0),
            .state = (enum run_state)state,
            .created_at_us = db_int(stmt, 2),
            .started_at_us = db_int(stmt, 3),
            .ended_at_us = db_int(stmt, 4),
        };
        each(context, &run);
    }
    return status;
}

enum status store_bars_runs(struct store *store, const struct bars_wish *wish, bars_run_fn each,
                            void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    bool at_once = db_dialect(store->db) != DB_SQLITE;
    if (at_once && wish->count > 0) {
        status = db_query(store->db, &stmt, err, LAST_OF_DAGS, "Ii", wish->dags, wish->count,
                          wish->limit);
        if (status == STATUS_OK)
            status = tell_runs(stmt, -1, each, context, err);
    }
    for (size_t i = 0; i < wish->count && !at_once && status == STATUS_OK; i++) {
        status = db_query(store->db, &stmt, err, LAST_OF_DAG, "ii", wish->dags[i], wish->limit);
        if (status == STATUS_OK)
            status = tell_runs(stmt, (int64_t)i, each, context, err);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look at the last runs of DAGs");
}
