#include "store/bars.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
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

enum status store_bars_dags(struct store *store, struct arena *arena, int64_t limit,
                            struct bars_dag **out, size_t *out_count, struct err *err)
{
    struct bars_dag *list = arena_array(arena, (size_t)limit + 1, sizeof *list);
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, ALL, "ti", store_sight(store), limit);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        read_dag(stmt, arena, &list[count++]);
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
/*
 * On SQLite the runs are found along run_dag alone, and then read in the order in which they lie in
 * the file: runs of one DAG lie far from each other, and each page would be read again for almost
 * every DAG.
 */
static const char IDS_OF_DAG[] = "SELECT id FROM run WHERE dag = $1 ORDER BY id DESC LIMIT $2";
static const char RUNS_BY_ID[] = "SELECT " RUN_COLUMNS_OF_BAR " FROM run"
                                 " WHERE id IN (SELECT value FROM json_each($1)) ORDER BY id DESC";
static const char LAST_OF_DAGS[] =
    "SELECT r.*, x.place FROM unnest($1::bigint[]) WITH ORDINALITY AS x (dag, place)"
    " CROSS JOIN LATERAL (SELECT " RUN_COLUMNS_OF_BAR " FROM run WHERE dag = x.dag"
    " ORDER BY id DESC LIMIT $2) r ORDER BY r.id DESC";

static enum status read_run(struct db_stmt *stmt, size_t place, struct bars_run *out,
                            struct err *err)
{
    int64_t state = db_int(stmt, 1);
    if (state < 0 || state >= RUN_STATE_COUNT)
        return err_set(err, STATUS_CORRUPT, "a run has state %lld", (long long)state);
    *out = (struct bars_run){
        .dag = place,
        .id = db_int(stmt, 0),
        .state = (enum run_state)state,
        .created_at_us = db_int(stmt, 2),
        .started_at_us = db_int(stmt, 3),
        .ended_at_us = db_int(stmt, 4),
    };
    return STATUS_OK;
}

static enum status tell_at_once(struct store *store, const struct bars_wish *wish, bars_run_fn each,
                                void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct bars_run run;
    enum status status =
        db_query(store->db, &stmt, err, LAST_OF_DAGS, "Ii", wish->dags, wish->count, wish->limit);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        status = read_run(stmt, (size_t)db_int(stmt, 5) - 1, &run, err);
        if (status == STATUS_OK)
            each(context, &run);
        else
            db_reset(stmt);
    }
    return status;
}

enum { DIGITS_MAX = 21 }; /* of an id, and what parts it from the next */

/* Which run belongs to which of the DAGs that were asked for. */
struct found {
    int64_t id;
    size_t place;
};

static int newest_first(const void *a, const void *b)
{
    const struct found *x = a;
    const struct found *y = b;
    return (x->id < y->id) - (x->id > y->id);
}

static enum status find_ids(struct store *store, const struct bars_wish *wish, struct found *found,
                            size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    size_t count = 0;
    for (size_t i = 0; i < wish->count && status == STATUS_OK; i++) {
        status = db_query(store->db, &stmt, err, IDS_OF_DAG, "ii", wish->dags[i], wish->limit);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            found[count++] = (struct found){db_int(stmt, 0), i};
    }
    qsort(found, count, sizeof *found, newest_first);
    *out_count = count;
    return status;
}

static enum status tell_found(struct store *store, const struct found *found, size_t count,
                              bars_run_fn each, void *context, struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf ids;
    struct db_stmt *stmt = NULL;
    struct bars_run run;
    size_t next = 0;
    strbuf_init(&ids, (count + 1) * DIGITS_MAX);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&ids, "%c%lld", i == 0 ? '[' : ',', (long long)found[i].id);
    strbuf_add(&ids, count == 0 ? "[]" : "]");
    enum status status = db_query(store->db, &stmt, err, RUNS_BY_ID, "t", ids.text);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        while (next < count && found[next].id > db_int(stmt, 0))
            next++; /* removed meanwhile */
        CHECK(next < count);
        status = read_run(stmt, found[next].place, &run, err);
        if (status == STATUS_OK)
            each(context, &run);
        else
            db_reset(stmt);
    }
    return status;
}

static enum status tell_in_file_order(struct store *store, const struct bars_wish *wish,
                                      bars_run_fn each, void *context, struct err *err)
{
    size_t count = 0;
    CLEANUP(mem_freep)
    struct found *found = mem_alloc((wish->count * (size_t)wish->limit + 1) * sizeof *found);
    if (find_ids(store, wish, found, &count, err) != STATUS_OK)
        return err->code;
    return tell_found(store, found, count, each, context, err);
}

enum status store_bars_runs(struct store *store, const struct bars_wish *wish, bars_run_fn each,
                            void *context, struct err *err)
{
    if (wish->count == 0)
        return STATUS_OK;
    enum status status = db_dialect(store->db) == DB_SQLITE
                             ? tell_in_file_order(store, wish, each, context, err)
                             : tell_at_once(store, wish, each, context, err);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look at the last runs of DAGs");
}
