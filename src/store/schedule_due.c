/*
 * schedule_due: what is due becomes runs.
 *
 * A batch is one transaction: the rows of some DAGs are locked, their ticks decided on, the runs
 * made, the missed ticks noted and the cursors moved. Rows that another scheduler has are left to
 * it. Should a run for one of the dates be there already, made by a backfill or by hand, the
 * batch is undone and one DAG after the other done with care: each date is looked for first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sabotage.h"
#include "model/params.h"
#include "os/zone_file.h"
#include "store/admission_priv.h"
#include "store/run_create_priv.h"
#include "store/schedule.h"
#include "store/store_priv.h"

enum { BATCH_DAGS = 100, BATCH_RUNS = 200, DAG_RUNS = 20, PUT_OFF_US = 60000000 };

static const char NEXT[] = "SELECT next_us FROM schedule WHERE next_us IS NOT NULL"
                           " ORDER BY next_us LIMIT 1";
#define DUE                                                                                        \
    "SELECT s.dag, s.cursor_us, d.version FROM schedule s JOIN dag d ON d.id = s.dag"              \
    " WHERE s.next_us <= $1 ORDER BY s.next_us LIMIT $2"
static const char *const DUE_LOCK[] = {
    [DB_SQLITE] = DUE,
    [DB_POSTGRES] = DUE " FOR UPDATE OF s SKIP LOCKED",
};
static const char DATE_TAKEN[] = "SELECT count(*) FROM run WHERE dag = $1"
                                 " AND ((logical_at_us = $2 AND kind IN ('scheduled', 'backfill'))"
                                 " OR run_id = $3)";
static const char STRETCH[] =
    "UPDATE missed SET last_us = $3, count = count + $4, is_more = is_more + $5"
    " WHERE dag = $1 AND why = $6 AND last_us = $2";
static const char STRETCH_NEW[] =
    "INSERT INTO missed (dag, first_us, last_us, count, is_more, why, at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (dag, first_us) DO NOTHING";
static const struct db_bulk_form MOVE = {
    "UPDATE schedule SET cursor_us = $2, next_us = $3 WHERE dag = $1 AND cursor_us <= $2",
    "UPDATE schedule s SET cursor_us = v.cursor, next_us = v.next"
    " FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) v (dag, cursor, next)"
    " WHERE s.dag = v.dag AND s.cursor_us <= v.cursor",
    "iiz",
    "schedule",
};

/* One DAG of the batch. */
struct due_dag {
    int64_t key;
    int64_t version;
    int64_t cursor_us;
    int64_t next_us; /* after it; 0: never */
    const struct dag *dag;
    struct timetable *timetable;
    struct admission_room *room; /* where the policy asks for it */
    char *params;                /* heap; NULL: some have no default */
};

struct batch {
    struct store *store;
    struct arena *arena;
    int64_t now_us;
    bool is_careful;
    struct due_dag *dags;
    size_t dags_count;
    struct idmap *rooms;
    struct run_request *requests;
    size_t requests_count;
    struct due_started *out;
};

static void batch_fini(struct batch *batch)
{
    for (size_t i = 0; i < batch->dags_count; i++) {
        timetable_free(batch->dags[i].timetable);
        free(batch->dags[i].params);
    }
    idmap_free(batch->rooms);
    arena_free(batch->arena);
}

/* --- reading --------------------------------------------------------------------------------- */

static enum status list_due(struct batch *batch, struct err *err)
{
    struct db *db = batch->store->db;
    struct db_stmt *stmt = NULL;
    int64_t most = batch->is_careful ? 1 : BATCH_DAGS;
    batch->dags = arena_array(batch->arena, BATCH_DAGS, sizeof *batch->dags);
    const char *sql = SABOTAGE("no_unique_date") ? DUE : DUE_LOCK[db_dialect(db)];
    enum status status = db_query(db, &stmt, err, sql, "ii", batch->now_us, most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        batch->dags[batch->dags_count++] = (struct due_dag){
            .key = db_int(stmt, 0), .cursor_us = db_int(stmt, 1), .version = db_int(stmt, 2)};
    SABOTAGE_PAUSE("no_unique_date"); /* until others have listed the same */
    return status;
}

static void note_trouble(struct batch *batch, const struct due_dag *due, const struct err *trouble)
{
    struct due_started *out = batch->out;
    (void)snprintf(out->troubled, sizeof out->troubled, "%s", due->dag->id);
    (void)snprintf(out->trouble, sizeof out->trouble, "%s", trouble->text);
}

static enum status read_dag(struct batch *batch, struct due_dag *due, struct err *err)
{
    struct err trouble = {0};
    CLEANUP(json_decrefp) json_t *params = NULL;
    if (store_dag(batch->store, due->version, &due->dag, err) != STATUS_OK)
        return err->code;
    if (timetable_of_dag(due->dag, zone_file_read, &due->timetable, &trouble) != STATUS_OK) {
        /* What cannot be decided here, as with a zone that is not known, holds up nobody. */
        due->next_us = batch->now_us + PUT_OFF_US;
        note_trouble(batch, due, &trouble);
        return STATUS_OK;
    }
    if (params_resolve(due->dag, NULL, &params, &trouble) == STATUS_OK)
        due->params = json_format(params);
    else
        note_trouble(batch, due, &trouble);
    return STATUS_OK;
}

static bool asks_for_room(const struct timetable_policy *policy)
{
    return policy->overlap == OVERLAP_SKIP ||
           (policy->overlap == OVERLAP_QUEUE && policy->catchup == CATCHUP_ALL);
}

static enum status read_dags(struct batch *batch, struct err *err)
{
    int64_t ids[BATCH_DAGS];
    size_t count = 0;
    for (size_t i = 0; i < batch->dags_count; i++)
        ids[i] = batch->dags[i].version;
    if (store_dags_fetch(batch->store, ids, batch->dags_count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < batch->dags_count; i++) {
        struct due_dag *due = &batch->dags[i];
        if (read_dag(batch, due, err) != STATUS_OK)
            return err->code;
        if (due->timetable != NULL && asks_for_room(&due->timetable->policy))
            ids[count++] = due->key;
    }
    if (admission_rooms(batch->store, batch->arena, ids, count, batch->rooms, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < batch->dags_count; i++)
        batch->dags[i].room = idmap_find(batch->rooms, batch->dags[i].key);
    return STATUS_OK;
}

/* --- deciding -------------------------------------------------------------------------------- */

/* Ticks next to those that were missed last, for the same reason, make that stretch longer. */
static enum status note_missed(struct batch *batch, const struct due_dag *due, enum missed_why why,
                               const struct missed_ticks *ticks, struct err *err)
{
    struct db *db = batch->store->db;
    int64_t before_us = 0;
    if (!timetable_previous(due->timetable, ticks->first_us, &before_us))
        before_us = 0;
    struct due_started *out = batch->out;
    out->missed++;
    (void)snprintf(out->missed_dag, sizeof out->missed_dag, "%s", due->dag->id);
    if (db_do(db, err, STRETCH, "iiiiii", due->key, before_us, ticks->last_us,
              (int64_t)ticks->count, (int64_t)ticks->is_more, (int64_t)why) != STATUS_OK)
        return err->code;
    if (db_changes(db) > 0)
        return STATUS_OK;
    return db_do(db, err, STRETCH_NEW, "iiiiiii", due->key, ticks->first_us, ticks->last_us,
                 (int64_t)ticks->count, (int64_t)ticks->is_more, (int64_t)why, batch->now_us);
}

static enum status note_missed_tick(struct batch *batch, const struct due_dag *due,
                                    enum missed_why why, int64_t tick_us, struct err *err)
{
    const struct missed_ticks ticks = {.count = 1, .first_us = tick_us, .last_us = tick_us};
    return note_missed(batch, due, why, &ticks, err);
}

static enum status is_date_taken(struct batch *batch, const struct due_dag *due,
                                 int64_t logical_at_us, bool *out, struct err *err)
{
    char run_id[TIMETABLE_RUN_ID_MAX];
    int64_t taken = 0;
    if (db_get_int(batch->store->db, 0, &taken, err, DATE_TAKEN, "iit", due->key, logical_at_us,
                   timetable_run_id("scheduled", logical_at_us, run_id)) != STATUS_OK)
        return err->code;
    *out = taken > 0;
    return STATUS_OK;
}

static enum status add_tick(struct batch *batch, struct due_dag *due, int64_t tick_us,
                            struct err *err)
{
    struct tick_dates dates = timetable_dates(due->timetable, tick_us);
    bool is_taken = false;
    if (due->params == NULL)
        return note_missed_tick(batch, due, MISSED_INVALID, tick_us, err);
    if (due->timetable->policy.overlap == OVERLAP_SKIP && admission_is_full(due->room))
        return note_missed_tick(batch, due, MISSED_OVERLAP, tick_us, err);
    if (batch->is_careful &&
        is_date_taken(batch, due, dates.logical_at_us, &is_taken, err) != STATUS_OK)
        return err->code;
    if (is_taken)
        return STATUS_OK;
    if (due->room != NULL)
        due->room->going++;
    batch->requests[batch->requests_count++] = (struct run_request){
        .version = due->version,
        .kind = "scheduled",
        .logical_at_us = dates.logical_at_us,
        .interval_start_us = dates.interval_start_us,
        .interval_end_us = dates.interval_end_us,
        .params = due->params,
        .conf = "{}",
        .note = "",
        .actor = "schedule",
        .is_limited = true,
    };
    batch->out->needs_room |= due->timetable->policy.overlap == OVERLAP_REPLACE;
    return STATUS_OK;
}

/* What is to be caught up is made a few at a time: the next when the last of them goes. */
static bool is_held(const struct batch *batch, const struct due_dag *due, int64_t first_us)
{
    const struct timetable_policy *policy = &due->timetable->policy;
    return due->room != NULL && policy->overlap == OVERLAP_QUEUE && due->room->has_waiting &&
           first_us < batch->now_us - policy->grace_ms * 1000;
}

static enum status decide(struct batch *batch, struct due_dag *due, struct err *err)
{
    int64_t ticks[DAG_RUNS];
    struct due found;
    if (due->timetable == NULL)
        return STATUS_OK;
    size_t left = BATCH_RUNS - batch->requests_count;
    timetable_due(due->timetable, due->cursor_us, batch->now_us, ticks, MIN(left, (size_t)DAG_RUNS),
                  &found);
    if (found.runs_count > 0 && is_held(batch, due, ticks[0])) {
        due->next_us = 0;
        return STATUS_OK;
    }
    if (found.missed.count > 0 &&
        note_missed(batch, due, MISSED_LATE, &found.missed, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < found.runs_count; i++)
        if (add_tick(batch, due, ticks[i], err) != STATUS_OK)
            return err->code;
    due->cursor_us = found.cursor_us;
    if (!timetable_next(due->timetable, due->cursor_us, &due->next_us))
        due->next_us = 0;
    return STATUS_OK;
}

/* --- writing --------------------------------------------------------------------------------- */

static enum status make_runs(struct batch *batch, struct err *err)
{
    struct run_created *created =
        arena_array(batch->arena, MAX(batch->requests_count, (size_t)1), sizeof *created);
    if (run_create_within(batch->store, batch->requests, batch->requests_count, created, err) !=
        STATUS_OK)
        return err->code;
    batch->out->runs = batch->requests_count;
    for (size_t i = 0; i < batch->requests_count; i++)
        batch->out->waiting += created[i].is_waiting;
    return STATUS_OK;
}

static enum status move_cursors(struct batch *batch, struct err *err)
{
    CLEANUP(db_bulk_fini) struct db_bulk bulk;
    db_bulk_init(&bulk, &MOVE);
    for (size_t i = 0; i < batch->dags_count; i++)
        db_bulk_add(&bulk, batch->dags[i].key, batch->dags[i].cursor_us, batch->dags[i].next_us);
    /* A cursor that somebody moved further means that its dates have runs. */
    int64_t expected = SABOTAGE("no_unique_date") ? DB_ANY_CHANGES : (int64_t)bulk.rows;
    return db_bulk_run(batch->store->db, &bulk, expected, err);
}

/* What dies in between has moved the cursors and made no runs. */
static enum status move_cursors_apart(struct batch *batch, struct err *err)
{
    struct db *db = batch->store->db;
    if (move_cursors(batch, err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err->code;
    SABOTAGE_PAUSE("cursor_moves_apart");
    return db_begin(db, err);
}

static enum status start(struct batch *batch, struct err *err)
{
    if (list_due(batch, err) != STATUS_OK || read_dags(batch, err) != STATUS_OK)
        return err->code;
    batch->requests = arena_array(batch->arena, BATCH_RUNS, sizeof *batch->requests);
    size_t decided = 0;
    while (decided < batch->dags_count && batch->requests_count < BATCH_RUNS)
        if (decide(batch, &batch->dags[decided++], err) != STATUS_OK)
            return err->code;
    for (size_t i = decided; i < batch->dags_count; i++) {
        timetable_free(batch->dags[i].timetable);
        free(batch->dags[i].params);
    }
    batch->dags_count = decided;
    bool is_apart = SABOTAGE("cursor_moves_apart");
    if (is_apart && move_cursors_apart(batch, err) != STATUS_OK)
        return err->code;
    if (make_runs(batch, err) != STATUS_OK)
        return err->code;
    return is_apart ? STATUS_OK : move_cursors(batch, err);
}

struct starting {
    bool is_careful;
    struct due_started *out;
};

static enum status start_once(struct store *store, const void *context, struct err *err)
{
    const struct starting *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    *call->out = (struct due_started){0};
    CLEANUP(batch_fini)
    struct batch batch = {
        .store = store,
        .arena = arena_new(),
        .now_us = store_now_us(store),
        .is_careful = call->is_careful,
        .rooms = idmap_new(),
        .out = call->out,
    };
    if (start(&batch, err) != STATUS_OK)
        return err->code;
    return batch.dags_count > 0 ? db_commit(db, err) : STATUS_OK;
}

enum status store_schedule_start_due(struct store *store, struct due_started *out, struct err *err)
{
    int64_t next_us = 0;
    struct due_started started = {0};
    struct starting call = {.out = &started};
    if (db_get_int(store->db, INT64_MAX, &next_us, err, NEXT, "") != STATUS_OK)
        return err_wrap(err, "look what is due");
    if (next_us > store_now_us(store)) {
        *out = (struct due_started){.next_us = next_us};
        return STATUS_OK;
    }
    enum status status = store_repeat(store, start_once, &call, err);
    if (status == STATUS_CONFLICT) {
        call.is_careful = true;
        *err = (struct err){0};
        status = store_repeat(store, start_once, &call, err);
    }
    if (status != STATUS_OK ||
        db_get_int(store->db, INT64_MAX, &started.next_us, err, NEXT, "") != STATUS_OK)
        return err_wrap(err, "start what is due");
    *out = started;
    return STATUS_OK;
}
