/*
 * run_query: runs and their tasks as people ask for them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "store/run_query_priv.h"
#include "store/run_store.h"
#include "store/store_priv.h"
#include "store/version.h"

/* --- finding --------------------------------------------------------------------------------- */

static const char FIND_BY_ID[] = "SELECT id FROM run WHERE id = $1";
static const char FIND_BY_RUN_ID[] =
    "SELECT r.id FROM run r JOIN dag d ON d.id = r.dag WHERE d.dag_id = $1 AND r.run_id = $2";
static const char FIND_LATEST[] = "SELECT r.id FROM run r JOIN dag d ON d.id = r.dag"
                                  " WHERE d.dag_id = $1 ORDER BY r.id DESC LIMIT 1";
static const char FIND_ANYWHERE[] =
    "SELECT r.id, d.dag_id FROM dag d CROSS JOIN run r WHERE r.dag = d.id AND r.run_id = $1"
    " AND " SEEN("$2", "d.namespace") " LIMIT 5";

/* A bare run id, as long as only one DAG of those that are seen has such a run. */
static enum status find_anywhere(struct store *store, const char *text, int64_t *out_id,
                                 struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct strbuf names;
    if (db_query(store->db, &stmt, err, FIND_ANYWHERE, "tt", text, store_sight(store)) != STATUS_OK)
        return err->code;
    strbuf_init(&names, 400);
    int64_t found = 0;
    *out_id = 0;
    enum status status = STATUS_OK;
    for (bool row = true; status == STATUS_OK;) {
        status = db_step(stmt, &row, err);
        if (status != STATUS_OK || !row)
            break;
        *out_id = db_int(stmt, 0);
        strbuf_addf(&names, "%s%s/%s", found++ > 0 ? ", " : "", db_text(stmt, 1), text);
    }
    if (status == STATUS_OK && found > 1)
        status = err_set(err, STATUS_INVALID, "several runs are called '%s': %s", text, names.text);
    strbuf_fini(&names);
    return status;
}

static enum status find_by_dag(struct store *store, const char *text, int64_t *out_id,
                               struct err *err)
{
    if (db_get_int(store->db, 0, out_id, err, FIND_LATEST, "t", text) != STATUS_OK)
        return err->code;
    if (*out_id == 0 && find_anywhere(store, text, out_id, err) != STATUS_OK)
        return err->code;
    if (*out_id != 0)
        return STATUS_OK;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info info;
    if (store_version_newest(store, arena, text, &info, err) != STATUS_OK)
        return err_wrap(err, "no run '%s'", text);
    return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no runs yet", text);
}

static enum status find_by_path(struct store *store, const char *text, const char *slash,
                                int64_t *out_id, struct err *err)
{
    CLEANUP(mem_freep) char *dag_id = mem_strndup(text, (size_t)(slash - text));
    if (db_get_int(store->db, 0, out_id, err, FIND_BY_RUN_ID, "tt", dag_id, slash + 1) != STATUS_OK)
        return err->code;
    if (*out_id == 0)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no run '%s'", dag_id, slash + 1);
    return STATUS_OK;
}

enum status store_run_find(struct store *store, const char *text, int64_t *out_id, struct err *err)
{
    int64_t id = 0;
    int64_t number = 0;
    const char *slash = strchr(text, '/');
    enum status status = STATUS_OK;
    if (str_parse_i64(text, 1, INT64_MAX, &number)) {
        if (db_get_int(store->db, 0, &id, err, FIND_BY_ID, "i", number) != STATUS_OK)
            return err->code;
        /* A DAG may be called 123 as well. */
        if (id == 0)
            status = find_by_dag(store, text, &id, err);
        if (status == STATUS_NOT_FOUND)
            status = err_set(err, STATUS_NOT_FOUND, "there is no run %s", text);
    } else {
        status = slash != NULL ? find_by_path(store, text, slash, &id, err)
                               : find_by_dag(store, text, &id, err);
    }
    if (status == STATUS_OK)
        *out_id = id;
    return status;
}

static const char FIND_BY_DATE[] =
    "SELECT r.id FROM run r WHERE r.dag = (SELECT id FROM dag WHERE dag_id = $1)"
    " AND r.logical_at_us <= $2 ORDER BY r.dag DESC, r.logical_at_us DESC, r.id DESC LIMIT 1";

enum status store_run_find_by_date(struct store *store, const char *dag_id, int64_t logical_at_us,
                                   int64_t *out_id, struct err *err)
{
    int64_t id = 0;
    if (db_get_int(store->db, 0, &id, err, FIND_BY_DATE, "ti", dag_id, logical_at_us) != STATUS_OK)
        return err->code;
    if (id == 0)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no run for this date or before it",
                       dag_id);
    *out_id = id;
    return STATUS_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

#define RUN_TABLES " FROM run r" RUN_JOINED

static const char RUN_LOAD[] = "SELECT " RUN_COLUMNS RUN_TABLES " WHERE r.id = $1";
static const char RUNS_LOAD[] =
    "SELECT " RUN_COLUMNS RUN_TABLES " WHERE r.id = ANY($1) ORDER BY r.id";
static const char RUN_LIST_ACTIVE[] =
    "SELECT " RUN_COLUMNS RUN_TABLES " WHERE r.state IN (0, 1) ORDER BY r.id DESC LIMIT $1";

/*
 * What is rare is found by an index of its own, which has to be said in its words. $1 before, $2
 * limit, $3 state, $4 DAG. Those that are active are so few that the DAG is asked of each.
 */
#define IN_ANY_STATE "CAST($3 AS BIGINT) < 0"
#define IF_ACTIVE    "r.state IN (0, 1) AND r.state = $3"
#define IF_SUCCESS   "r.state = $3"
#define IF_BAD       "r.state IN (3, 4) AND r.state = $3"
#define OF_ANY_DAG   " AND CAST($4 AS TEXT) IS NULL"
#define THE_DAG      "(SELECT id FROM dag WHERE dag_id = $4)"
#define OF_DAG       " AND r.dag = " THE_DAG
#define OF_DAG_EACH  " AND +r.dag = " THE_DAG
/* Said so that only the index of the DAG has the order: others may be most of all. */
#define ALL_OF_DAG " AND r.dag >= " THE_DAG " AND (r.dag, r.id) < (" THE_DAG ", $1)"
_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1 && RUN_SUCCESS == 2, "as in the SQL");
_Static_assert(RUN_FAILED == 3 && RUN_CANCELLED == 4, "as in the SQL");

#define RUNS_BY(which, order)                                                                      \
    {                                                                                              \
        .list = "SELECT " RUN_COLUMNS RUN_TABLES " WHERE r.id < $1 AND " which " ORDER BY " order  \
                " LIMIT $2",                                                                       \
    }
#define RUNS(which)        RUNS_BY(which, "r.id DESC")
#define RUNS_OF_DAG(which) RUNS_BY(which ALL_OF_DAG, "r.dag DESC, r.id DESC")

enum run_group { GROUP_ANY, GROUP_ACTIVE, GROUP_SUCCESS, GROUP_BAD, GROUP_COUNT };

static const struct {
    const char *list;
} RUN_QUERIES[GROUP_COUNT][2] = {
    [GROUP_ANY] = {RUNS(IN_ANY_STATE OF_ANY_DAG), RUNS_OF_DAG(IN_ANY_STATE)},
    [GROUP_ACTIVE] = {RUNS(IF_ACTIVE OF_ANY_DAG), RUNS(IF_ACTIVE OF_DAG_EACH)},
    [GROUP_SUCCESS] = {RUNS(IF_SUCCESS OF_ANY_DAG), RUNS_OF_DAG(IF_SUCCESS)},
    [GROUP_BAD] = {RUNS(IF_BAD OF_ANY_DAG), RUNS(IF_BAD OF_DAG)},
};

static enum run_group group_of(int64_t state)
{
    if (state < 0)
        return GROUP_ANY;
    if (!run_state_is_final((enum run_state)state))
        return GROUP_ACTIVE;
    return state == RUN_SUCCESS ? GROUP_SUCCESS : GROUP_BAD;
}

static const char *text_of(struct db_stmt *stmt, struct arena *arena, int column)
{
    const char *text = db_text(stmt, column);
    return arena != NULL && text != NULL ? arena_strdup(arena, text) : text;
}

void run_info_read(struct db_stmt *stmt, struct arena *arena, struct run_info *out)
{
    *out = (struct run_info){
        .id = db_int(stmt, 0),
        .dag_key = db_int(stmt, 1),
        .version = db_int(stmt, 2),
        .version_number = db_int(stmt, 3),
        .dag_id = text_of(stmt, arena, 4),
        .run_id = text_of(stmt, arena, 5),
        .namespace_ = text_of(stmt, arena, 6),
        .kind = text_of(stmt, arena, 7),
        .path = text_of(stmt, arena, 8),
        .state = (enum run_state)db_int(stmt, 9),
        .scope = db_int(stmt, 10),
        .logical_at_us = db_int(stmt, 11),
        .interval_start_us = db_int(stmt, 12),
        .interval_end_us = db_int(stmt, 13),
        .params = text_of(stmt, arena, 14),
        .conf = text_of(stmt, arena, 15),
        .note = text_of(stmt, arena, 16),
        .actor = text_of(stmt, arena, 17),
        .first_task = db_int(stmt, 18),
        .cancel_asked = db_int(stmt, 19),
        .open_main = db_int(stmt, 20),
        .open_finally = db_int(stmt, 21),
        .failures = db_int(stmt, 22),
        .created_at_us = db_int(stmt, 23),
        .started_at_us = db_int(stmt, 24),
        .ended_at_us = db_int(stmt, 25),
        .admission = (enum admission)db_int(stmt, 26),
        .backfill = db_int(stmt, 27),
        .queue = text_of(stmt, arena, 28),
        .space = text_of(stmt, arena, 29),
        .task_notes = db_int(stmt, 30),
    };
}

enum status store_run_load(struct store *store, struct arena *arena, int64_t id,
                           struct run_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, RUN_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
    run_info_read(stmt, arena, out);
    db_reset(stmt);
    return STATUS_OK;
}

enum status run_infos_ask(struct db *db, const int64_t *ids, size_t count, struct db_stmt **out,
                          struct err *err)
{
    if (db_dialect(db) == DB_SQLITE)
        return STATUS_OK;
    return db_query_ahead(db, out, err, RUNS_LOAD, "I", ids, count);
}

void run_infos_take(struct db_stmt *stmt, struct arena *arena, const int64_t *ids, size_t count,
                    struct run_info *out)
{
    struct err ignored = {0};
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, &ignored))
        for (size_t i = 0; i < count; i++)
            if (ids[i] == db_int(stmt, 0))
                run_info_read(stmt, arena, &out[i]);
}

static const char RUN_LOAD_NAMED[] =
    "SELECT " RUN_COLUMNS RUN_TABLES
    " WHERE r.dag = (SELECT x.id FROM dag x WHERE x.dag_id = $1) AND r.run_id = $2";

/* By the DAG and the id of the run, in one question; everything else is found first. */
enum status store_run_load_by(struct store *store, struct arena *arena, const char *text,
                              struct run_info *out, struct err *err)
{
    const char *slash = strchr(text, '/');
    struct db_stmt *stmt = NULL;
    bool row = false;
    int64_t id = 0;
    if (slash != NULL &&
        (db_query(store->db, &stmt, err, RUN_LOAD_NAMED, "tt",
                  arena_strndup(arena, text, (size_t)(slash - text)), slash + 1) != STATUS_OK ||
         db_step(stmt, &row, err) != STATUS_OK))
        return err->code;
    if (row) {
        run_info_read(stmt, arena, out);
        db_reset(stmt);
        return STATUS_OK;
    }
    if (store_run_find(store, text, &id, err) != STATUS_OK)
        return err->code;
    return store_run_load(store, arena, id, out, err);
}

/* In a file a question costs next to nothing. */
static enum status load_runs_singly(struct store *store, struct run_wanted *wanted, size_t count,
                                    struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct err problem = {0};
        enum status status =
            store_run_load(store, wanted[i].arena, wanted[i].id, &wanted[i].info, &problem);
        wanted[i].is_found = status == STATUS_OK;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            *err = problem;
            return status;
        }
    }
    return STATUS_OK;
}

enum status store_runs_load(struct store *store, struct run_wanted *wanted, size_t count,
                            struct err *err)
{
    if (db_dialect(store->db) == DB_SQLITE || count < 2)
        return load_runs_singly(store, wanted, count, err);
    CLEANUP(mem_freep) int64_t *ids = mem_alloc(count * sizeof *ids);
    CLEANUP(mem_freep) int64_t *versions = mem_alloc(count * sizeof *versions);
    struct db_stmt *stmt = NULL;
    size_t at = 0;
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        ids[i] = wanted[i].id;
    enum status status = db_query(store->db, &stmt, err, RUNS_LOAD, "I", ids, count);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        while (wanted[at].id != db_int(stmt, 0))
            CHECK(++at < count);
        run_info_read(stmt, wanted[at].arena, &wanted[at].info);
        wanted[at].is_found = true;
        versions[found++] = wanted[at].info.version;
    }
    return status == STATUS_OK ? store_dags_fetch(store, versions, found, err) : status;
}

/* Asked for once per DAG of a list: found by its key, whatever PostgreSQL thinks of the others. */
static const char RUN_LAST_OF_DAG[] =
    "SELECT " RUN_COLUMNS RUN_TABLES " WHERE r.id = (SELECT max(n.id) FROM run n WHERE n.dag ="
    " (SELECT x.id FROM dag x WHERE x.dag_id = $1))";

static enum status query_runs(struct store *store, const struct run_filter *filter,
                              struct db_stmt **out, struct err *err)
{
    bool is_last = filter->dag_id != NULL && filter->limit == 1 && filter->before == 0;
    if (filter->active_only)
        return db_query(store->db, out, err, RUN_LIST_ACTIVE, "i", filter->limit);
    if (is_last && group_of(filter->state) == GROUP_ANY)
        return db_query(store->db, out, err, RUN_LAST_OF_DAG, "t", filter->dag_id);
    const char *sql = RUN_QUERIES[group_of(filter->state)][filter->dag_id != NULL].list;
    return db_query(store->db, out, err, sql, "iiit",
                    filter->before != 0 ? filter->before : INT64_MAX, filter->limit, filter->state,
                    filter->dag_id);
}

enum status store_run_each(struct store *store, const struct run_filter *filter,
                           enum status (*each)(void *context, const struct run_info *info,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = query_runs(store, filter, &stmt, err);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct run_info info;
        run_info_read(stmt, NULL, &info);
        status = each(context, &info, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

/* One look into each DAG's names: there is no index of names alone. */
static const char NAMED[] =
    "SELECT r.id FROM dag d CROSS JOIN run r WHERE r.dag = d.id AND r.run_id = $1"
    " AND " SEEN("$3", "d.namespace") " ORDER BY 1 LIMIT $2";

enum status store_run_named(struct store *store, const char *run_id, int64_t *out, size_t most,
                            size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status =
        db_query(store->db, &stmt, err, NAMED, "tit", run_id, (int64_t)most, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out[count++] = db_int(stmt, 0);
    if (status == STATUS_OK)
        *out_count = count;
    return status;
}

/* --- tasks ----------------------------------------------------------------------------------- */

struct task_walk {
    struct store *store;
    struct run_row run;
    enum status (*each)(void *context, const struct run_row *run, const struct task_row *task,
                        struct err *err);
    void *context;
    struct expanded {
        int64_t node;
        int64_t base;
        int64_t inserted;
    } * expanded; /* mapped tasks met on the way, walked afterwards */
    size_t count;
    size_t capacity;
};

static enum status visit_node(void *context, const struct task_row *task, struct err *err)
{
    struct task_walk *walk = context;
    if (task->instance_base != 0) {
        walk->expanded =
            mem_grow(walk->expanded, &walk->capacity, walk->count, sizeof *walk->expanded);
        walk->expanded[walk->count++] =
            (struct expanded){task->node, task->instance_base, task->inserted};
    }
    return walk->each(walk->context, &walk->run, task, err);
}

static enum status visit_instance(void *context, const struct task_row *task, struct err *err)
{
    struct task_walk *walk = context;
    return walk->each(walk->context, &walk->run, task, err);
}

static enum status walk_tasks(struct task_walk *walk, struct err *err)
{
    struct db *db = walk->store->db;
    if (task_rows_each(db, walk->run.first_task, (int64_t)walk->run.dag->tasks_count, visit_node,
                       walk, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < walk->count; i++)
        if (task_rows_each(db, walk->expanded[i].base, walk->expanded[i].inserted, visit_instance,
                           walk, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status store_task_each(struct store *store, int64_t run,
                            enum status (*each)(void *context, const struct run_row *run,
                                                const struct task_row *task, struct err *err),
                            void *context, struct err *err)
{
    struct task_walk walk = {.store = store, .each = each, .context = context};
    bool own_snapshot = !db_in_transaction(store->db);
    if (own_snapshot && db_begin_read(store->db, err) != STATUS_OK)
        return err->code;
    enum status status = run_row_load(store->db, run, &walk.run, err);
    if (status == STATUS_OK)
        status = store_dag(store, walk.run.version, &walk.run.dag, err);
    if (status == STATUS_OK)
        status = walk_tasks(&walk, err);
    if (own_snapshot)
        db_end(store->db);
    free(walk.expanded);
    return status;
}

static bool has_mapped(const struct dag *dag)
{
    for (size_t i = 0; i < dag->tasks_count; i++)
        if (task_def_is_mapped(&dag->tasks[i]))
            return true;
    return false;
}

enum status store_task_each_of(struct store *store, const struct run_info *run,
                               enum status (*each)(void *context, const struct run_row *run,
                                                   const struct task_row *task, struct err *err),
                               void *context, struct err *err)
{
    struct task_walk walk = {
        .store = store,
        .run = {.id = run->id, .version = run->version, .first_task = run->first_task},
        .each = each,
        .context = context,
    };
    if (store_dag(store, run->version, &walk.run.dag, err) != STATUS_OK)
        return err->code;
    /* Without instances, which are read afterwards, one statement sees all at the same moment. */
    bool own_snapshot = !db_in_transaction(store->db) && has_mapped(walk.run.dag);
    if (own_snapshot && db_begin_read(store->db, err) != STATUS_OK)
        return err->code;
    enum status status = walk_tasks(&walk, err);
    if (own_snapshot)
        db_end(store->db);
    free(walk.expanded);
    return status;
}

enum status store_task_load(struct store *store, struct arena *arena, int64_t task,
                            struct task_row *out, struct err *err)
{
    return task_row_load(store->db, arena, task, out, err);
}

static const char ATTEMPT_LIST[] =
    "SELECT attempt, generation, state, host, queued_at_us, started_at_us, ended_at_us, reason,"
    " exit_code, detail, log_bytes, cpu_ms, rss_kb FROM attempt WHERE task = $1 ORDER BY attempt";

enum status store_attempt_each(struct store *store, int64_t task,
                               enum status (*each)(void *context, const struct task_row *attempt,
                                                   struct err *err),
                               void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, ATTEMPT_LIST, "i", task);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct task_row attempt = {
            .id = task,
            .attempt = db_int(stmt, 0),
            .generation = db_int(stmt, 1),
            .state = (enum task_state)db_int(stmt, 2),
            .host = db_int(stmt, 3),
            .queued_at_us = db_int(stmt, 4),
            .started_at_us = db_int(stmt, 5),
            .ended_at_us = db_int(stmt, 6),
            .reason = (enum reason)db_int(stmt, 7),
            .exit_code = db_is_null(stmt, 8) ? -1 : db_int(stmt, 8),
            .detail = db_text(stmt, 9),
            .log_bytes = db_int(stmt, 10),
            .cpu_ms = db_int(stmt, 11),
            .rss_kb = db_int(stmt, 12),
        };
        status = each(context, &attempt, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}
