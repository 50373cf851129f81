#include "store/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "os/zone_file.h"
#include "store/channel.h"
#include "store/schedule_priv.h"
#include "store/store_priv.h"
#include "store/trigger_priv.h"

/* --- the row of a version -------------------------------------------------------------------- */

static const char *const ROW_LOAD[] = {
    [DB_SQLITE] = "SELECT offered, paused, cursor_us, timing FROM schedule WHERE dag = $1",
    [DB_POSTGRES] = "SELECT offered, paused, cursor_us, timing FROM schedule WHERE dag = $1"
                    " FOR UPDATE",
};
static const char ROW_SAVE[] =
    "INSERT INTO schedule (dag, offered, paused, cursor_us, next_us, timing, most_runs, overlap,"
    " needs_past, changed_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
    " ON CONFLICT (dag) DO UPDATE SET offered = $2, paused = $3, cursor_us = $4, next_us = $5,"
    " timing = $6, most_runs = $7, overlap = $8, needs_past = $9, changed_at_us = $10";

struct schedule_row {
    bool is_offered;
    bool is_paused;
    int64_t cursor_us;
    char *timing; /* heap; NULL: there is no row */
};

static enum status load_row(struct store *store, int64_t dag_key, struct schedule_row *out,
                            struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, ROW_LOAD[db_dialect(store->db)], "i", dag_key) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    *out = (struct schedule_row){0};
    if (!row)
        return STATUS_OK;
    *out = (struct schedule_row){
        .is_offered = db_int(stmt, 0) != 0,
        .is_paused = db_int(stmt, 1) != 0,
        .cursor_us = db_int(stmt, 2),
        .timing = mem_strdup(db_text(stmt, 3)),
    };
    db_reset(stmt);
    return STATUS_OK;
}

/* What makes the ticks: another text is another schedule. */
static char *format_timing(const struct dag *dag)
{
    static const char *const KEYS[] = {"schedule", "start_date", "end_date"};
    CLEANUP(json_decrefp) json_t *timing = json_object();
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
        json_t *value = json_object_get(dag->rest, KEYS[i]);
        if (value != NULL)
            json_put(timing, KEYS[i], json_incref(value));
    }
    return json_format(timing);
}

/* From where on ticks are to be decided. */
static int64_t new_cursor(const struct schedule_row *row, const char *timing,
                          const struct timetable *timetable, int64_t now_us)
{
    if (!row->is_offered)
        return MAX(row->cursor_us, timetable_first_cursor(timetable, now_us));
    return str_equal(row->timing, timing) ? row->cursor_us : MAX(row->cursor_us, now_us);
}

/* Of the file, where relative paths begin; "" for the root. Heap. */
static char *folder_of(const char *path)
{
    const char *last = strrchr(path, '/');
    char *folder = mem_strdup(path);
    folder[last != NULL ? last - path : 0] = '\0';
    return folder;
}

static bool waits_for_nothing(const struct dag *dag)
{
    CLEANUP(triggers_freep) struct triggers *triggers = NULL;
    struct err unreadable = {0};
    return triggers_of_dag(dag, &triggers, &unreadable) != STATUS_OK || triggers_are_none(triggers);
}

/* What it waits for, as long as it is offered; a paused one waits for nothing new. */
static enum status save_triggers(struct store *store, const struct current_version *current,
                                 bool is_paused, struct err *err)
{
    if (current->is_new && waits_for_nothing(current->dag))
        return STATUS_OK;
    CLEANUP(mem_freep) char *folder = folder_of(current->path);
    if (trigger_sync(store, current->dag_key, current->dag, folder, err) != STATUS_OK)
        return err->code;
    return trigger_hold(store, current->dag_key, is_paused, err);
}

static const char FIRST_MISSED[] =
    "INSERT INTO missed (dag, first_us, last_us, count, is_more, why, at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (dag, first_us) DO NOTHING";

/* What is left out when a DAG is seen for the first time, or again, is missed like the rest. */
static enum status note_first_missed(struct store *store, const struct current_version *current,
                                     const struct schedule_row *row,
                                     const struct timetable *timetable, struct err *err)
{
    int64_t since_us = row->timing != NULL ? row->cursor_us : INSTANT_US_MIN;
    int64_t now_us = store_now_us(store);
    if (!current->is_offered || row->is_offered)
        return STATUS_OK;
    struct missed_ticks missed = timetable_first_missed(timetable, since_us, now_us);
    if (missed.count == 0)
        return STATUS_OK;
    return db_later(store->db, err, FIRST_MISSED, "iiiiiii", current->dag_key, missed.first_us,
                    missed.last_us, (int64_t)missed.count, (int64_t)missed.is_more,
                    (int64_t)MISSED_LATE, now_us);
}

static enum status save_row(struct store *store, const struct current_version *current,
                            const struct schedule_row *row, struct err *err)
{
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    const struct dag *dag = current->dag;
    if (timetable_of_dag(dag, zone_file_read, &timetable, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *timing = format_timing(dag);
    int64_t now_us = store_now_us(store);
    int64_t next_us = 0;
    int64_t cursor_us =
        current->is_offered ? new_cursor(row, timing, timetable, now_us) : row->cursor_us;
    if (current->is_offered && !row->is_paused && !timetable_next(timetable, cursor_us, &next_us))
        next_us = 0;
    int64_t most_runs = timetable->policy.overlap == OVERLAP_ALLOW ? 0 : dag->max_active_runs;
    if (note_first_missed(store, current, row, timetable, err) != STATUS_OK)
        return err->code;
    return db_later(store->db, err, ROW_SAVE, "iiiiztiiii", current->dag_key,
                    (int64_t)current->is_offered, (int64_t)row->is_paused, cursor_us, next_us,
                    timing, most_runs, (int64_t)timetable->policy.overlap,
                    (int64_t)dag->depends_on_past, now_us);
}

enum status schedule_save(struct store *store, const struct current_version *current,
                          struct err *err)
{
    struct schedule_row row = {0};
    if (!current->is_new && load_row(store, current->dag_key, &row, err) != STATUS_OK)
        return err_wrap(err, "schedule of DAG '%s'", current->dag_id);
    CLEANUP(mem_freep) UNUSED char *old_timing = row.timing;
    bool is_first = current->is_offered && !row.is_offered;
    /* A pause outlives the file. */
    row.is_paused |= is_first && current->starts_paused;
    if (save_row(store, current, &row, err) != STATUS_OK ||
        (current->is_offered && save_triggers(store, current, row.is_paused, err) != STATUS_OK) ||
        (!current->is_offered && row.is_offered &&
         trigger_hold(store, current->dag_key, true, err) != STATUS_OK))
        return err_wrap(err, "schedule of DAG '%s'", current->dag_id);
    return db_notify(store->db, STORE_CHANNEL_NEWS, "", err);
}

static const char WITHDRAW[] = "UPDATE schedule SET offered = 0, next_us = NULL, changed_at_us = $2"
                               " WHERE dag = $1 AND offered = 1";

enum status schedule_withdraw(struct store *store, int64_t dag_key, struct err *err)
{
    if (db_do(store->db, err, WITHDRAW, "ii", dag_key, store_now_us(store)) != STATUS_OK ||
        trigger_hold(store, dag_key, true, err) != STATUS_OK)
        return err_wrap(err, "withdraw the schedule");
    return STATUS_OK;
}

static const char *const FORGET[] = {
    "DELETE FROM missed WHERE dag = $1",
    "DELETE FROM waiting WHERE dag = $1",
    "DELETE FROM schedule WHERE dag = $1",
};

enum status schedule_forget(struct store *store, int64_t dag_key, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(FORGET); i++)
        if (db_do(store->db, err, FORGET[i], "i", dag_key) != STATUS_OK)
            return err_wrap(err, "forget the schedule");
    return trigger_forget(store, dag_key, err);
}

/* --- looking --------------------------------------------------------------------------------- */

static const char INFO[] = "SELECT s.dag, s.offered, s.paused, s.cursor_us, s.next_us, s.most_runs"
                           " FROM dag d JOIN schedule s ON s.dag = d.id WHERE d.dag_id = $1";

enum status store_schedule_load(struct store *store, const char *dag_id, struct schedule_info *out,
                                struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, INFO, "t", dag_id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no DAG '%s' in the store", dag_id);
    *out = (struct schedule_info){
        .dag_key = db_int(stmt, 0),
        .is_offered = db_int(stmt, 1) != 0,
        .is_paused = db_int(stmt, 2) != 0,
        .cursor_us = db_int(stmt, 3),
        .next_us = db_int(stmt, 4),
        .most_runs = db_int(stmt, 5),
    };
    db_reset(stmt);
    return STATUS_OK;
}

static const char PAUSED[] =
    "SELECT d.dag_id FROM schedule s JOIN dag d ON d.id = s.dag WHERE s.paused <> 0";

enum status store_schedule_each_paused(struct store *store,
                                       enum status (*each)(void *context, const char *dag_id,
                                                           struct err *err),
                                       void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, PAUSED, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        status = each(context, db_text(stmt, 0), err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

const char *missed_why_text(enum missed_why why)
{
    static const char *const TEXTS[] = {
        [MISSED_LATE] = "late or paused",
        [MISSED_OVERLAP] = "overlap",
        [MISSED_INVALID] = "params without a default",
    };
    return why < ARRAY_LEN(TEXTS) ? TEXTS[why] : "unknown";
}

static const char MISSED[] = "SELECT first_us, last_us, count, is_more, why, at_us FROM missed"
                             " WHERE dag = $1 ORDER BY dag DESC, first_us DESC LIMIT $2";

enum status store_missed_list(struct store *store, struct arena *arena, int64_t dag_key,
                              size_t most, struct missed_list *out, struct err *err)
{
    struct missed_info *items = arena_array(arena, most, sizeof *items);
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, MISSED, "ii", dag_key, (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        items[count++] = (struct missed_info){
            .first_us = db_int(stmt, 0),
            .last_us = db_int(stmt, 1),
            .count = db_int(stmt, 2),
            .is_more = db_int(stmt, 3) != 0,
            .why = (enum missed_why)db_int(stmt, 4),
            .at_us = db_int(stmt, 5),
        };
    if (status != STATUS_OK)
        return status;
    *out = (struct missed_list){.items = items, .count = count};
    return STATUS_OK;
}

static const char CARRY_ON[] =
    "UPDATE schedule SET cursor_us = $2, next_us = CASE WHEN next_us IS NOT NULL THEN $2 END"
    " WHERE dag = (SELECT id FROM dag WHERE dag_id = $1)";

enum status store_schedule_carry_on(struct store *store, const char *dag_id, int64_t cursor_us,
                                    struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, CARRY_ON, "ti", dag_id, cursor_us) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

/* --- pause ----------------------------------------------------------------------------------- */

/* When it goes on, the scheduler looks what has become due: now is as good as the next tick. */
static const char PAUSE[] =
    "UPDATE schedule SET paused = $2, changed_at_us = $3,"
    " next_us = CASE WHEN $2 = 0 AND offered = 1 THEN $3 END WHERE dag = $1 AND paused <> $2";
static enum status tell(struct store *store, const struct pause_request *request, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "dag_id", request->dag_id);
    if (request->reason != NULL)
        json_put_string(data, "reason", request->reason);
    CLEANUP(mem_freep) char *text = json_format(data);
    if (store_tell(store, request->is_paused ? EVENT_DAG_PAUSED : EVENT_DAG_UNPAUSED,
                   request->actor, text, err) != STATUS_OK)
        return err->code;
    return db_notify(store->db, STORE_CHANNEL_NEWS, "", err);
}

struct pausing {
    const struct pause_request *request;
    bool *out_changed;
};

static enum status pause_once(struct store *store, const void *context, struct err *err)
{
    const struct pausing *call = context;
    const struct pause_request *request = call->request;
    CLEANUP(db_endp) struct db *db = store->db;
    struct schedule_info info = {0};
    if (db_begin(db, err) != STATUS_OK ||
        store_schedule_load(store, request->dag_id, &info, err) != STATUS_OK ||
        db_do(db, err, PAUSE, "iii", info.dag_key, (int64_t)request->is_paused,
              store_now_us(store)) != STATUS_OK)
        return err->code;
    bool changed = db_changes(db) > 0;
    if (changed && (trigger_set_paused(store, info.dag_key, request->is_paused, err) != STATUS_OK ||
                    tell(store, request, err) != STATUS_OK || db_commit(db, err) != STATUS_OK))
        return err->code;
    *call->out_changed = changed;
    return STATUS_OK;
}

enum status store_schedule_pause(struct store *store, const struct pause_request *request,
                                 bool *out_changed, struct err *err)
{
    return store_repeat(store, pause_once, &(struct pausing){request, out_changed}, err);
}
