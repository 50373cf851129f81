/*
 * deadline_query: missed deadlines as people ask for them.
 */
#include "base/check.h"
#include "base/mem.h"
#include "model/dag.h"
#include "model/run_state.h"
#include "store/deadline.h"
#include "store/store_priv.h"

#define MISS_COLUMNS                                                                               \
    "m.run, m.task, m.kind, d.dag_id, r.run_id, r.version, m.node, m.map_index, m.due_at_us,"      \
    " m.ended_at_us, m.noticed_at_us, m.notified"
#define MISS_ROWS                                                                                  \
    "SELECT " MISS_COLUMNS                                                                         \
    " FROM sla_miss m JOIN run r ON r.id = m.run JOIN dag d ON d.id = m.dag"                       \
    " WHERE ($1 IS NULL OR d.dag_id = $1) AND ($2 = 0 OR m.run = $2)"                              \
    " AND ($3 = 0 OR m.ended_at_us IS NULL) AND " SEEN(                                            \
        "$5", "d.namespace") " ORDER BY m.due_at_us DESC, m.run DESC, m.task LIMIT $4"
static const char MISSES[] = MISS_ROWS;
static const char MISSES_COUNT[] = COUNT_OF(MISS_ROWS);

static const char *name_task(const struct dag *dag, int64_t node)
{
    return node >= 0 && (size_t)node < dag->tasks_count ? dag->tasks[node].id : NULL;
}

enum status store_sla_count(struct store *store, const struct sla_filter *filter, int64_t most,
                            int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, MISSES_COUNT, "tiiit", filter->dag_id, filter->run,
                      (int64_t)filter->open_only, most, store_sight(store));
}

enum status store_sla_each(struct store *store, const struct sla_filter *filter,
                           enum status (*each)(void *context, const struct sla_miss *miss,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, MISSES, "tiiit", filter->dag_id, filter->run,
                 (int64_t)filter->open_only, filter->limit, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct dag *dag = NULL;
        status = store_dag(store, db_int(stmt, 5), &dag, err);
        struct sla_miss miss = {
            .run = db_int(stmt, 0),
            .task = db_int(stmt, 1),
            .kind = (enum sla_kind)db_int(stmt, 2),
            .dag_id = db_text(stmt, 3),
            .run_id = db_text(stmt, 4),
            .task_id = dag != NULL ? name_task(dag, db_int(stmt, 6)) : NULL,
            .map_index = db_int(stmt, 7),
            .expected_us = db_int(stmt, 8),
            .actual_us = db_int(stmt, 9),
            .noticed_at_us = db_int(stmt, 10),
            .notified = db_int(stmt, 11),
        };
        if (status == STATUS_OK)
            status = each(context, &miss, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

/* --- how a DAG keeps its deadlines ----------------------------------------------------------- */

/* By its text first: to read every DAG only to find that it has none would take long. */
static const char DAGS[] = "SELECT d.id, d.dag_id FROM dag d JOIN version v ON v.id = d.version"
                           " WHERE ($1 IS NULL OR d.dag_id = $1) AND " SEEN(
                               "$2", "d.namespace") " AND (v.canonical LIKE '%\"sla\":%'"
                                                    " OR EXISTS (SELECT 1 FROM sla_miss m WHERE "
                                                    "m.dag = d.id)) ORDER BY d.dag_id";
/* A run that was cancelled says nothing. */
static const char KEPT[] =
    "SELECT count(*), CAST(coalesce(sum(CASE WHEN l.misses > 0 THEN 1 ELSE 0 END), 0) AS BIGINT),"
    " CAST(coalesce(sum(l.misses), 0) AS BIGINT), coalesce(max(l.worst), 0) FROM (SELECT"
    " (SELECT count(*) FROM sla_miss m WHERE m.run = r.id) AS misses,"
    " (SELECT max(coalesce(m.ended_at_us, m.noticed_at_us) - m.due_at_us) FROM sla_miss m"
    " WHERE m.run = r.id) AS worst"
    " FROM run r WHERE r.dag = $1 AND r.state IN (2, 3)"
    " ORDER BY r.dag DESC, r.logical_at_us DESC LIMIT $2) l";
_Static_assert(RUN_SUCCESS == 2 && RUN_FAILED == 3, "as in the SQL");
static const char OPEN[] = "SELECT count(*) FROM sla_miss WHERE dag = $1 AND ended_at_us IS NULL";
static const char UPCOMING[] = "SELECT min(x.due_at_us) FROM deadline x JOIN run r ON r.id = x.run"
                               " WHERE r.dag = $1 AND r.state IN (0, 1)";

struct known_dag {
    int64_t key;
    const char *dag_id;
};

static enum status list_dags(struct store *store, struct arena *arena, const char *dag_id,
                             struct known_dag **out, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct known_dag *dags = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, DAGS, "tt", dag_id, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        dags = mem_grow(dags, &capacity, count, sizeof *dags);
        dags[count++] = (struct known_dag){db_int(stmt, 0), arena_strdup(arena, db_text(stmt, 1))};
    }
    *out = dags;
    *out_count = count;
    return status;
}

static enum status read_record(struct store *store, const struct known_dag *dag, int64_t last,
                               struct sla_record *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    *out = (struct sla_record){.dag_id = dag->dag_id};
    if (db_query(store->db, &stmt, err, KEPT, "ii", dag->key, last) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (row) {
        out->runs = db_int(stmt, 0);
        out->late = db_int(stmt, 1);
        out->misses = db_int(stmt, 2);
        out->worst_ms = db_int(stmt, 3) / 1000;
        db_reset(stmt);
    }
    if (db_get_int(store->db, 0, &out->open, err, OPEN, "i", dag->key) != STATUS_OK)
        return err->code;
    return db_get_int(store->db, 0, &out->upcoming_us, err, UPCOMING, "i", dag->key);
}

enum status store_sla_report(struct store *store, const char *dag_id, int64_t last,
                             enum status (*each)(void *context, const struct sla_record *record,
                                                 struct err *err),
                             void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(mem_freep) struct known_dag *dags = NULL;
    size_t count = 0;
    if (list_dags(store, arena, dag_id, &dags, &count, err) != STATUS_OK)
        return err_wrap(err, "report on deadlines");
    for (size_t i = 0; i < count; i++) {
        struct sla_record record;
        if (read_record(store, &dags[i], last, &record, err) != STATUS_OK)
            return err_wrap(err, "report on deadlines");
        if (each(context, &record, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static const char IS_LATE[] = "SELECT count(*) FROM sla_miss WHERE run = $1 AND task = $2";

enum status store_sla_is_late(struct store *store, int64_t run, int64_t task, bool *out,
                              struct err *err)
{
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, IS_LATE, "ii", run, task) != STATUS_OK)
        return err->code;
    *out = count > 0;
    return STATUS_OK;
}
