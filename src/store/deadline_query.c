/*
 * deadline_query: missed deadlines as people ask for them.
 */
#include "base/check.h"
#include "base/mem.h"
#include "model/dag.h"
#include "model/run_state.h"
#include "store/deadline.h"
#include "store/sight.h"
#include "store/store_priv.h"

#define MISS_COLUMNS                                                                               \
    "m.run, m.task, m.kind, d.dag_id, r.run_id, r.version, m.node, m.map_index, m.due_at_us,"      \
    " m.ended_at_us, m.noticed_at_us, m.notified"
/* $1 DAG, $2 run, $3 whether late still, $4 limit, $5 what is seen */
#define LATEST   "m.due_at_us DESC, m.run DESC, m.task"
#define THE_DAG  "(SELECT g.id FROM dag g WHERE g.dag_id = $1)"
#define ANY_DAG  "$1 IS NULL"
#define IF_OPEN  " AND ($3 = 0 OR m.ended_at_us IS NULL)"
#define ALL_SEEN " AND $5 = ''"
/* As equal would be, but then PostgreSQL walks over those of all DAGs, hoping to meet it soon. */
#define OF_DAG  "m.dag >= " THE_DAG " AND m.dag <= " THE_DAG " AND $2 = 0"
#define OF_RUN  "m.run = $2 AND (" ANY_DAG " OR m.dag = " THE_DAG ")"
#define OF_ANY  "$2 = 0 AND " ANY_DAG
#define IS_SEEN " AND m.dag IN (SELECT x.id FROM dag x WHERE " SEEN("$5", "x.namespace") ")"
/* What is late is of a run that goes on. */
#define IS_OPEN                                                                                    \
    " FROM run a CROSS JOIN sla_miss m WHERE a.state IN (0, 1) AND m.run = a.id AND $3 <> 0"       \
    " AND m.ended_at_us IS NULL AND ($2 = 0 OR m.run = $2) AND (" ANY_DAG " OR m.dag = " THE_DAG   \
    ")"
_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1, "as in the SQL");

struct miss_queries {
    const char *list;
    const char *count;
};
/* Every miss has its run and its DAG, so the first ones are known before these are. */
#define QUERIES(from, order)                                                                       \
    {                                                                                              \
        "SELECT " MISS_COLUMNS " FROM (SELECT m.*" from " ORDER BY " order LATEST                  \
        " LIMIT $4) m JOIN run r ON r.id = m.run JOIN dag d ON d.id = m.dag ORDER BY " LATEST,     \
            COUNT_OF("SELECT 1 AS one" from " LIMIT $4")                                           \
    }
#define MISSES(of, order)                                                                          \
    {                                                                                              \
        QUERIES(" FROM sla_miss m WHERE " of IF_OPEN ALL_SEEN, order),                             \
            QUERIES(" FROM sla_miss m WHERE " of IF_OPEN IS_SEEN, order)                           \
    }

/* By what is asked for, then by whether all is seen or some. */
enum miss_way { MISSES_OF_ANY, MISSES_OF_DAG, MISSES_OF_RUN, MISSES_OPEN, MISS_WAY_COUNT };
static const struct miss_queries MISSES_BY[MISS_WAY_COUNT][2] = {
    [MISSES_OF_ANY] = MISSES(OF_ANY, ""),
    [MISSES_OF_DAG] = MISSES(OF_DAG, "m.dag DESC, "),
    [MISSES_OF_RUN] = MISSES(OF_RUN, ""),
    [MISSES_OPEN] = {QUERIES(IS_OPEN ALL_SEEN, ""), QUERIES(IS_OPEN IS_SEEN, "")},
};

static const struct miss_queries *choose(const struct store *store, const struct sla_filter *filter)
{
    enum miss_way way = MISSES_OF_ANY;
    if (filter->dag_id != NULL)
        way = MISSES_OF_DAG;
    if (filter->run != 0)
        way = MISSES_OF_RUN;
    if (filter->open_only)
        way = MISSES_OPEN;
    return &MISSES_BY[way][!store_sees_all(store)];
}

static const char *name_task(const struct dag *dag, int64_t node)
{
    return node >= 0 && (size_t)node < dag->tasks_count ? dag->tasks[node].id : NULL;
}

enum status store_sla_count(struct store *store, const struct sla_filter *filter, int64_t most,
                            int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, choose(store, filter)->count, "tiiit", filter->dag_id,
                      filter->run, (int64_t)filter->open_only, most, store_sight(store));
}

enum status store_sla_each(struct store *store, const struct sla_filter *filter,
                           enum status (*each)(void *context, const struct sla_miss *miss,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, choose(store, filter)->list, "tiiit", filter->dag_id,
                 filter->run, (int64_t)filter->open_only, filter->limit, store_sight(store));
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
