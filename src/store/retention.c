#include "store/retention.h"

#include "model/run_state.h"
#include "store/store_priv.h"

_Static_assert(RUN_SUCCESS == 2 && RUN_FAILED == 3 && RUN_CANCELLED == 4, "as in the SQL");
#define OVER "(2, 3, 4)"

/* Young runs end the search, so nothing is looked at that was created after the instant. */
static const char RUNS_AFTER[] =
    "SELECT id, CASE WHEN state IN " OVER " AND ended_at_us < $2 THEN 1 ELSE 0 END, created_at_us"
    " FROM run WHERE id > $1 ORDER BY id LIMIT $3";
static const char RUNS_ENDED[] =
    "SELECT id, ended_at_us FROM run WHERE ended_at_us IS NOT NULL AND (ended_at_us, id) > ($1, $2)"
    " AND ended_at_us < $3 AND state IN " OVER " ORDER BY ended_at_us, id LIMIT $4";
static const char RUNS_BEYOND[] =
    "SELECT id FROM (SELECT id, state, row_number()"
    " OVER (PARTITION BY dag ORDER BY logical_at_us DESC, id DESC) AS place FROM run) AS runs"
    " WHERE place > $1 AND state IN " OVER " ORDER BY id LIMIT $2";
static const char PLACE[] = "SELECT run FROM retention WHERE what = $1";
static const char PLACE_MOVE[] =
    "INSERT INTO retention (what, run) VALUES ($1, $2) ON CONFLICT (what) DO UPDATE SET"
    " run = excluded.run WHERE retention.run < excluded.run";
static const char VALUES_REMOVE[] =
    "DELETE FROM value WHERE task IN (SELECT t.id FROM task t JOIN block b ON t.id >= b.first"
    " AND t.id < b.first + b.count WHERE b.run = $1)";

/* How many runs are looked at for one that can go, at most. */
enum { LOOK_FACTOR = 10 };

enum status store_runs_ended_before(struct store *store, int64_t after, int64_t before_us,
                                    struct old_runs *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t most = (int64_t)out->room * LOOK_FACTOR;
    int64_t looked = 0;
    bool is_young = false;
    out->count = 0;
    out->looked_to = after;
    enum status status = db_query(store->db, &stmt, err, RUNS_AFTER, "iii", after, before_us, most);
    while (status == STATUS_OK && !is_young && db_next(stmt, &status, err)) {
        is_young = db_int(stmt, 2) >= before_us || out->count == out->room;
        if (is_young)
            break;
        looked++;
        out->looked_to = db_int(stmt, 0);
        if (db_int(stmt, 1) != 0)
            out->ids[out->count++] = db_int(stmt, 0);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "find old runs");
    if (is_young)
        db_reset(stmt);
    out->more = out->count == out->room || (!is_young && looked == most);
    return STATUS_OK;
}

enum status store_runs_ended_after(struct store *store, struct ended_place *place,
                                   int64_t before_us, struct old_runs *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct ended_place last = *place;
    out->count = 0;
    enum status status = db_query(store->db, &stmt, err, RUNS_ENDED, "iiii", place->ended_us,
                                  place->run, before_us, (int64_t)out->room);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        last = (struct ended_place){.run = db_int(stmt, 0), .ended_us = db_int(stmt, 1)};
        out->ids[out->count++] = last.run;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "find runs by their end");
    out->more = out->count == out->room;
    *place = last;
    return STATUS_OK;
}

enum status store_runs_beyond(struct store *store, int64_t keep, struct old_runs *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    out->count = 0;
    enum status status =
        db_query(store->db, &stmt, err, RUNS_BEYOND, "ii", keep, (int64_t)out->room);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out->ids[out->count++] = db_int(stmt, 0);
    out->more = out->count == out->room;
    return status == STATUS_OK ? status : err_wrap(err, "find runs beyond the last ones");
}

enum status store_retention_place(struct store *store, const char *what, int64_t *out,
                                  struct err *err)
{
    return db_get_int(store->db, 0, out, err, PLACE, "t", what);
}

enum status store_retention_move(struct store *store, const char *what, int64_t to, struct err *err)
{
    return db_do(store->db, err, PLACE_MOVE, "ti", what, to);
}

enum status store_values_remove(struct store *store, int64_t run, int64_t *out_count,
                                struct err *err)
{
    if (db_do(store->db, err, VALUES_REMOVE, "i", run) != STATUS_OK)
        return err_wrap(err, "remove values of run %lld", (long long)run);
    *out_count = db_changes(store->db);
    return STATUS_OK;
}
