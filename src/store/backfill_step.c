/*
 * backfill_step: one portion of a backfill, in one transaction.
 *
 * The backfill's row is locked first, so that of several schedulers one decides and the others
 * find the cursor moved. A date that got a run meanwhile, from the schedule, is noticed by the
 * index over dates: everything is undone then, and the next try finds that run.
 */
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/admission_priv.h"
#include "store/backfill_priv.h"
#include "store/control_priv.h"
#include "store/run_create_priv.h"
#include "store/store_priv.h"

enum { PORTION_MAX = 50, LOOKS_MAX = 500, ENDS_MAX = 1000 };

/* A date that gets a run of its own. */
struct fresh_date {
    struct tick_dates dates;
    char run_id[RUN_ID_TEXT_MAX];
};

struct step {
    struct store *store;
    struct arena *arena;
    struct backfill_info info;
    struct timetable *timetable; /* NULL: not needed yet */
    const struct dag *dag;
    char actor[BACKFILL_ACTOR_MAX];
    struct backfill_progress progress;
    struct fresh_date fresh[PORTION_MAX];
    size_t fresh_count;
};

/* --- the row --------------------------------------------------------------------------------- */

static const char BACKFILL_LOCK[] = "SELECT id FROM backfill WHERE id = $1 FOR UPDATE";
static const char BACKFILL_SAVE[] =
    "UPDATE backfill SET state = $2, cursor_us = $3, is_spent = $4, created = $5, redone = $6,"
    " kept = $7, succeeded = $8, failed = $9, cancelled = $10, ended_at_us = $11 WHERE id = $1";

static enum status load(struct step *step, int64_t id, struct err *err)
{
    struct db *db = step->store->db;
    int64_t locked = 0;
    if (db_dialect(db) == DB_POSTGRES &&
        db_get_int(db, 0, &locked, err, BACKFILL_LOCK, "i", id) != STATUS_OK)
        return err->code;
    if (store_backfill_load(step->store, step->arena, id, &step->info, err) != STATUS_OK)
        return err->code;
    (void)backfill_actor(id, step->actor);
    return STATUS_OK;
}

static enum status save(struct step *step, struct err *err)
{
    const struct backfill_info *info = &step->info;
    return db_do(step->store->db, err, BACKFILL_SAVE, "iiiiiiiiiiz", info->id, (int64_t)info->state,
                 info->cursor_us, (int64_t)info->is_spent, info->created, info->redone, info->kept,
                 info->succeeded, info->failed, info->cancelled, info->ended_at_us);
}

/* --- runs that ended ------------------------------------------------------------------------- */

static const char ENDED[] =
    "SELECT o.logical_at_us, coalesce(r.state, 4) FROM backfill_run o"
    " LEFT JOIN run r ON r.id = o.run WHERE o.backfill = $1 AND o.outcome IS NULL"
    " AND (r.id IS NULL OR r.state IN (2, 3, 4)) LIMIT $2";
_Static_assert(RUN_SUCCESS == 2 && RUN_FAILED == 3 && RUN_CANCELLED == 4, "as in the SQL");
static const char OUTCOME_SET[] = "UPDATE backfill_run SET outcome = $3"
                                  " WHERE backfill = $1 AND logical_at_us = $2";

static enum status note_ends(struct step *step, struct err *err)
{
    struct db *db = step->store->db;
    struct db_stmt *stmt = NULL;
    struct {
        int64_t date_us;
        int64_t state;
    } *ends = arena_array(step->arena, ENDS_MAX, sizeof *ends);
    size_t count = 0;
    enum status status = db_query(db, &stmt, err, ENDED, "ii", step->info.id, (int64_t)ENDS_MAX);
    for (; status == STATUS_OK && db_next(stmt, &status, err); count++) {
        ends[count].date_us = db_int(stmt, 0);
        ends[count].state = db_int(stmt, 1);
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        step->info.succeeded += ends[i].state == RUN_SUCCESS;
        step->info.failed += ends[i].state == RUN_FAILED;
        step->info.cancelled += ends[i].state == RUN_CANCELLED;
        status =
            db_later(db, err, OUTCOME_SET, "iii", step->info.id, ends[i].date_us, ends[i].state);
    }
    step->progress.ended = (int64_t)count;
    step->progress.is_more |= count == ENDS_MAX;
    return status;
}

/* --- dates ----------------------------------------------------------------------------------- */

static const char RUN_AT[] = "SELECT id, state, version FROM run WHERE dag = $1"
                             " AND logical_at_us = $2 AND kind IN ('scheduled', 'backfill')";
static const char RUN_ID_TAKEN[] = "SELECT count(*) FROM run WHERE dag = $1 AND run_id = $2";
/* It counts for the backfill from now on, not for its DAG. */
static const char RUN_PLACE[] = "UPDATE run SET queue = $2, behind = 1, backfill = $3,"
                                " admission = 1 WHERE id = $1";
_Static_assert(ADMISSION_GOING == 1, "as in the SQL");
static const char DATE_ADD[] =
    "INSERT INTO backfill_run (backfill, logical_at_us, run, action, outcome)"
    " VALUES ($1, $2, $3, $4, $5)";

struct dated_run {
    int64_t id;
    int64_t version;
    enum run_state state;
};

static enum status find_run(struct step *step, int64_t date_us, struct dated_run *out,
                            struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    *out = (struct dated_run){0};
    if (db_query(step->store->db, &stmt, err, RUN_AT, "ii", step->info.dag_key, date_us) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    *out = (struct dated_run){.id = db_int(stmt, 0),
                              .version = db_int(stmt, 2),
                              .state = (enum run_state)db_int(stmt, 1)};
    db_reset(stmt);
    return STATUS_OK;
}

static enum status keep_date(struct step *step, int64_t date_us, const struct dated_run *run,
                             struct err *err)
{
    step->info.kept++;
    step->progress.kept++;
    return db_later(step->store->db, err, DATE_ADD, "iiiii", step->info.id, date_us, run->id,
                    (int64_t)ACTION_KEEP, (int64_t)run->state);
}

/* The ids that were asked for, as nodes of a version; *out is NULL for all of them. */
static enum status choose_nodes(struct step *step, const struct dag *dag, const bool **out,
                                struct err *err)
{
    CLEANUP(json_decrefp) json_t *names = NULL;
    const char *text = step->info.tasks;
    if (json_parse(text, strlen(text), &names, err) != STATUS_OK)
        return err->code;
    *out = NULL;
    if (json_array_size(names) == 0)
        return STATUS_OK;
    bool *nodes = arena_array(step->arena, dag->tasks_count + 1, sizeof *nodes);
    memset(nodes, 0, (dag->tasks_count + 1) * sizeof *nodes);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int64_t node = name != NULL ? dag_find_task(dag, name) : -1;
        if (node >= 0)
            nodes[node] = true;
    }
    *out = nodes;
    return STATUS_OK;
}

/* What a redo clears: tasks that were asked for; else what did not succeed, or everything. */
static enum status choose_cleared(struct step *step, const struct dated_run *run, const bool **out,
                                  struct err *err)
{
    const struct dag *dag = NULL;
    if (store_dag(step->store, run->version, &dag, err) != STATUS_OK ||
        choose_nodes(step, dag, out, err) != STATUS_OK)
        return err->code;
    if (*out != NULL || step->info.redo != REDO_ALL)
        return STATUS_OK;
    bool *all = arena_array(step->arena, dag->tasks_count + 1, sizeof *all);
    for (size_t node = 0; node < dag->tasks_count; node++)
        all[node] = true;
    *out = all;
    return STATUS_OK;
}

static enum status redo_date(struct step *step, int64_t date_us, const struct dated_run *run,
                             struct err *err)
{
    struct clear_result result = {0};
    struct clear_request request = {
        .run = run->id, .map_index = -1, .dry_run = true, .actor = step->actor};
    if (choose_cleared(step, run, &request.nodes, err) != STATUS_OK ||
        clear_within(step->store, &request, step->arena, &result, err) != STATUS_OK)
        return err->code;
    if (result.count == 0)
        return keep_date(step, date_us, run, err);
    request.dry_run = false;
    request.whole = step->info.redo == REDO_ALL;
    if (db_do(step->store->db, err, RUN_PLACE, "iii", run->id, step->info.queue, step->info.id) !=
            STATUS_OK ||
        clear_within(step->store, &request, step->arena, &result, err) != STATUS_OK)
        return err->code;
    step->info.redone++;
    step->progress.redone++;
    return db_later(step->store->db, err, DATE_ADD, "iiiin", step->info.id, date_us, run->id,
                    (int64_t)ACTION_REDO);
}

/* Somebody may have given the name of the date to a run of his own. */
static enum status name_run(struct step *step, struct fresh_date *fresh, struct err *err)
{
    char name[TIMETABLE_RUN_ID_MAX];
    int64_t taken = 0;
    (void)timetable_run_id("backfill", fresh->dates.logical_at_us, name);
    if (db_get_int(step->store->db, 0, &taken, err, RUN_ID_TAKEN, "it", step->info.dag_key, name) !=
        STATUS_OK)
        return err->code;
    if (taken > 0)
        (void)snprintf(fresh->run_id, sizeof fresh->run_id, "%s__%lld", name,
                       (long long)step->info.id);
    else
        (void)snprintf(fresh->run_id, sizeof fresh->run_id, "%s", name);
    return STATUS_OK;
}

static enum status decide_date(struct step *step, const struct tick_dates *dates, struct err *err)
{
    struct dated_run run;
    if (find_run(step, dates->logical_at_us, &run, err) != STATUS_OK)
        return err->code;
    if (run.id == 0) {
        step->fresh[step->fresh_count] = (struct fresh_date){.dates = *dates};
        return name_run(step, &step->fresh[step->fresh_count++], err);
    }
    return backfill_decide(step->info.redo, run.state) == ACTION_REDO
               ? redo_date(step, dates->logical_at_us, &run, err)
               : keep_date(step, dates->logical_at_us, &run, err);
}

static enum status create_runs(struct step *step, struct err *err)
{
    const struct backfill_info *info = &step->info;
    const bool *selected = NULL;
    if (step->fresh_count == 0)
        return STATUS_OK;
    struct run_request *requests = arena_array(step->arena, step->fresh_count, sizeof *requests);
    struct run_created *created = arena_array(step->arena, step->fresh_count, sizeof *created);
    if (choose_nodes(step, step->dag, &selected, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < step->fresh_count; i++) {
        const struct fresh_date *fresh = &step->fresh[i];
        requests[i] = (struct run_request){
            .version = info->version,
            .run_id = fresh->run_id,
            .kind = "backfill",
            .logical_at_us = fresh->dates.logical_at_us,
            .interval_start_us = fresh->dates.interval_start_us,
            .interval_end_us = fresh->dates.interval_end_us,
            .params = info->params,
            .conf = info->conf,
            .note = info->note,
            .actor = step->actor,
            .backfill = info->id,
            .queue = info->queue,
            .is_behind = true,
            .is_limited = true,
            .selected = selected,
        };
    }
    enum status status = run_create_within(step->store, requests, step->fresh_count, created, err);
    for (size_t i = 0; i < step->fresh_count && status == STATUS_OK; i++)
        status = db_later(step->store->db, err, DATE_ADD, "iiiin", info->id,
                          requests[i].logical_at_us, created[i].id, (int64_t)ACTION_CREATE);
    step->info.created += (int64_t)step->fresh_count;
    step->progress.created = (int64_t)step->fresh_count;
    return status;
}

/* No more than may go on, and no more than a transaction should hold. */
static enum status begin_dates(struct step *step, zone_reader zones, struct err *err)
{
    struct backfill_info *info = &step->info;
    int64_t room = MIN(info->max_active - backfill_info_active(info), (int64_t)PORTION_MAX);
    if (info->state != BACKFILL_RUNNING || !info->is_active || info->is_spent || room <= 0)
        return STATUS_OK;
    if (store_dag(step->store, info->version, &step->dag, err) != STATUS_OK ||
        timetable_of_dag(step->dag, zones, &step->timetable, err) != STATUS_OK)
        return err->code;
    const struct backfill_range range = {.timetable = step->timetable,
                                         .from_us = info->from_us,
                                         .to_us = info->to_us,
                                         .until_us = info->until_us,
                                         .newest_first = info->newest_first};
    int looks = 0;
    while (looks < LOOKS_MAX && (int64_t)step->fresh_count + step->progress.redone < room) {
        struct tick_dates dates;
        if (!backfill_next(&range, &info->cursor_us, &dates)) {
            info->is_spent = true;
            break;
        }
        if (decide_date(step, &dates, err) != STATUS_OK)
            return err->code;
        looks++;
    }
    if (create_runs(step, err) != STATUS_OK)
        return err->code;
    step->progress.is_more |=
        !info->is_spent && backfill_info_active(info) < info->max_active && looks > 0;
    return STATUS_OK;
}

static const char WAITING[] = "SELECT count(*) FROM (SELECT 1 FROM waiting WHERE dag = $1"
                              " AND backfill = $2 LIMIT 1) w";

/* Runs are made waiting; where the past of a DAG counts, not all that were made may go. */
static enum status let_go(struct step *step, struct err *err)
{
    const struct let_go_request request = {.dag_key = step->info.dag_key,
                                           .backfill = step->info.id,
                                           .most = step->info.max_active,
                                           .newest_first = step->info.newest_first};
    int64_t waiting = 0;
    if (step->info.state != BACKFILL_RUNNING || !step->info.is_active)
        return STATUS_OK;
    if (db_get_int(step->store->db, 0, &waiting, err, WAITING, "ii", request.dag_key,
                   request.backfill) != STATUS_OK)
        return err->code;
    return waiting == 0
               ? STATUS_OK
               : admission_let_go_within(step->store, &request, &step->progress.let_go, err);
}

/* --- the end --------------------------------------------------------------------------------- */

static enum status end_if_done(struct step *step, struct err *err)
{
    struct backfill_info *info = &step->info;
    bool is_done = info->is_spent || info->state == BACKFILL_CANCELLING;
    if (!is_done || backfill_info_active(info) > 0)
        return STATUS_OK;
    info->state = backfill_verdict(info->state, info->failed, info->cancelled);
    info->ended_at_us = store_now_us(step->store);
    step->progress.is_over = true;
    step->progress.is_more = false;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_int(data, "backfill", info->id);
    json_put_string(data, "state", backfill_state_name(info->state));
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(step->store, EVENT_BACKFILL_ENDED, step->actor, text, err);
}

struct step_call {
    int64_t id;
    zone_reader zones;
    struct backfill_progress *out;
};

static enum status do_step(struct step *step, const struct step_call *call, struct err *err)
{
    CLEANUP(db_endp) struct db *db = step->store->db;
    if (db_begin(db, err) != STATUS_OK || load(step, call->id, err) != STATUS_OK)
        return err->code;
    if (step->info.state == BACKFILL_AWAITING || backfill_state_is_final(step->info.state))
        return STATUS_OK;
    bool was_spent = step->info.is_spent;
    if (note_ends(step, err) != STATUS_OK || begin_dates(step, call->zones, err) != STATUS_OK ||
        let_go(step, err) != STATUS_OK || end_if_done(step, err) != STATUS_OK)
        return err->code;
    const struct backfill_progress *done = &step->progress;
    bool is_moved = done->ended + done->created + done->redone + done->kept + done->let_go > 0;
    if (!is_moved && !done->is_over && step->info.is_spent == was_spent)
        return STATUS_OK;
    if (save(step, err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err->code;
    *call->out = step->progress;
    return STATUS_OK;
}

static enum status step_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct step *step = arena_alloc(arena, sizeof *step);
    *step = (struct step){.store = store, .arena = arena};
    enum status status = do_step(step, context, err);
    timetable_free(step->timetable);
    /* Who came in between made a run for one of the dates; some servers tell at the commit. */
    if (status == STATUS_CONFLICT)
        return err_set(err, STATUS_BUSY, "a date got a run meanwhile");
    return status;
}

enum status store_backfill_step(struct store *store, int64_t id, zone_reader zones,
                                struct backfill_progress *out, struct err *err)
{
    *out = (struct backfill_progress){0};
    const struct step_call call = {.id = id, .zones = zones, .out = out};
    if (store_repeat(store, step_once, &call, err) != STATUS_OK)
        return err_wrap(err, "backfill %lld", (long long)id);
    return STATUS_OK;
}

/* --- who is to be looked at ------------------------------------------------------------------ */

_Static_assert(BACKFILL_RUNNING == 1 && BACKFILL_PAUSED == 2 && BACKFILL_CANCELLING == 3,
               "as in the SQL");
#define OWN_ACTIVE "b.created + b.redone - b.succeeded - b.failed - b.cancelled"
static const char DUE[] =
    "SELECT b.id, CASE WHEN (b.state = 1 AND d.active <> 0 AND b.is_spent = 0 AND " OWN_ACTIVE
    " < b.max_active)"
    " OR ((b.is_spent = 1 OR b.state = 3) AND " OWN_ACTIVE " = 0)"
    " OR EXISTS (SELECT 1 FROM backfill_run o LEFT JOIN run r ON r.id = o.run"
    " WHERE o.backfill = b.id AND o.outcome IS NULL AND (r.id IS NULL OR r.state IN (2, 3, 4)))"
    " OR (b.state = 1 AND d.active <> 0 AND EXISTS (SELECT 1 FROM waiting w WHERE w.dag = b.dag"
    " AND w.backfill = b.id))"
    " THEN 1 ELSE 0 END FROM backfill b JOIN dag d ON d.id = b.dag WHERE b.state IN (0, 1, 2, 3) "
    "AND b.state > 0"
    " ORDER BY b.id";

enum status store_backfill_due(struct store *store, int64_t *out_ids, size_t most,
                               size_t *out_count, bool *out_goes_on, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    bool goes_on = false;
    enum status status = db_query(store->db, &stmt, err, DUE, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        goes_on = true;
        if (db_int(stmt, 1) != 0 && count < most)
            out_ids[count++] = db_int(stmt, 0);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look for backfills");
    *out_count = count;
    *out_goes_on = goes_on;
    return STATUS_OK;
}

static const char DOOMED[] =
    "SELECT r.id, b.id FROM backfill b JOIN backfill_run o ON o.backfill = b.id AND o.outcome IS "
    "NULL"
    " JOIN run r ON r.id = o.run WHERE b.state IN (0, 1, 2, 3) AND b.state = 3"
    " AND r.cancel_asked = 0 AND r.state IN (0, 1) AND (b.stops_running = 1 OR r.state = 0)"
    " ORDER BY r.id LIMIT $1";

enum status store_backfill_doomed(struct store *store, struct doomed_run *out_runs, size_t most,
                                  size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, DOOMED, "i", (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out_runs[count++] =
            (struct doomed_run){.run = db_int(stmt, 0), .backfill = db_int(stmt, 1)};
    if (status != STATUS_OK)
        return err_wrap(err, "look for runs of cancelled backfills");
    *out_count = count;
    return STATUS_OK;
}
