#include "store/backfill_store.h"

#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "store/backfill_priv.h"
#include "store/channel.h"
#include "store/store_priv.h"

enum { TOKEN_TEXT_MAX = 64, CREATE_TRIES = 5 };

static enum status tell(struct store *store, enum event_kind kind, const char *actor,
                        json_t *taken_data, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = taken_data;
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, actor, text, err);
}

/* --- making one ------------------------------------------------------------------------------ */

static const char BACKFILL_ADD[] =
    "INSERT INTO backfill (dag, version, state, from_us, to_us, until_us, newest_first, redo,"
    " max_active, queue, params, conf, tasks, note, reason, actor, token, size, cursor_us,"
    " created_at_us, started_at_us) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,"
    " $14, $15, $16, $17, $18, $19, $20, $21)";
static const char BACKFILL_BY_TOKEN[] = "SELECT id FROM backfill WHERE token = $1";

struct creation {
    const struct backfill_request *request;
    char token[TOKEN_TEXT_MAX];
    int64_t *out_id;
};

static const char DAG_NAME[] = "SELECT dag_id FROM dag WHERE id = $1";

static enum status put_dag_id(struct store *store, int64_t dag_key, json_t *data, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, DAG_NAME, "i", dag_key);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        json_put_string(data, "dag_id", db_text(stmt, 0));
    return status;
}

static enum status tell_creation(struct store *store, const struct backfill_request *request,
                                 int64_t id, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_int(data, "backfill", id);
    if (put_dag_id(store, request->dag_key, data, err) != STATUS_OK)
        return err->code;
    json_put_int(data, "dag", request->dag_key);
    json_put_int(data, "size", request->size);
    json_put_instant(data, "from", request->from_us);
    json_put_instant(data, "to", request->to_us);
    json_put_string(data, "redo", backfill_redo_name(request->redo));
    if (request->reason[0] != '\0')
        json_put_string(data, "reason", request->reason);
    return tell(store, EVENT_BACKFILL_CREATED, request->actor, TAKE(data), err);
}

static enum status create_once(struct store *store, const void *context, struct err *err)
{
    const struct creation *call = context;
    const struct backfill_request *request = call->request;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    int64_t now_us = store_now_us(store);
    enum backfill_state state = request->awaits_approval ? BACKFILL_AWAITING : BACKFILL_RUNNING;
    if (db_do(db, err, BACKFILL_ADD, "iiiiiiiiiitttttttiiiz", request->dag_key, request->version,
              (int64_t)state, request->from_us, request->to_us, request->until_us,
              (int64_t)request->newest_first, (int64_t)request->redo, request->max_active,
              request->queue, request->params, request->conf, request->tasks, request->note,
              request->reason, request->actor, call->token, request->size, request->cursor_us,
              now_us, request->awaits_approval ? (int64_t)0 : now_us) != STATUS_OK ||
        db_get_int(db, 0, call->out_id, err, BACKFILL_BY_TOKEN, "t", call->token) != STATUS_OK ||
        tell_creation(store, request, *call->out_id, err) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_NEWS, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_backfill_create(struct store *store, const struct backfill_request *request,
                                  int64_t *out_id, struct err *err)
{
    struct creation call = {.request = request, .out_id = out_id};
    uint64_t chance[2];
    rng_bytes(chance, sizeof chance);
    (void)snprintf(call.token, sizeof call.token, "%016llx%016llx", (unsigned long long)chance[0],
                   (unsigned long long)chance[1]);
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < CREATE_TRIES; tries++) {
        status = store_repeat(store, create_once, &call, err);
        if (status != STATUS_UNKNOWN && status != STATUS_CONFLICT)
            continue;
        /* The answer was lost, or the one of the try before: look whether it is there. */
        int64_t id = 0;
        if (db_get_int(store->db, 0, &id, err, BACKFILL_BY_TOKEN, "t", call.token) != STATUS_OK)
            return err_wrap(err, "make a backfill");
        *out_id = id;
        status = id != 0 ? STATUS_OK : status;
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "make a backfill");
}

/* --- looking --------------------------------------------------------------------------------- */

int64_t backfill_info_active(const struct backfill_info *info)
{
    return info->created + info->redone - info->succeeded - info->failed - info->cancelled;
}

static const char *text_at(struct db_stmt *stmt, int column, struct arena *arena)
{
    return db_is_null(stmt, column) ? NULL : arena_strdup(arena, db_text(stmt, column));
}

struct backfill_info backfill_row_read(struct db_stmt *stmt, struct arena *arena)
{
    return (struct backfill_info){
        .id = db_int(stmt, 0),
        .dag_key = db_int(stmt, 1),
        .dag_id = text_at(stmt, 2, arena),
        .version = db_int(stmt, 3),
        .version_number = db_int(stmt, 4),
        .state = (enum backfill_state)db_int(stmt, 5),
        .from_us = db_int(stmt, 6),
        .to_us = db_int(stmt, 7),
        .until_us = db_int(stmt, 8),
        .newest_first = db_int(stmt, 9) != 0,
        .redo = (enum backfill_redo)db_int(stmt, 10),
        .max_active = db_int(stmt, 11),
        .queue = db_int(stmt, 12),
        .queue_name = text_at(stmt, 13, arena),
        .params = text_at(stmt, 14, arena),
        .conf = text_at(stmt, 15, arena),
        .tasks = text_at(stmt, 16, arena),
        .note = text_at(stmt, 17, arena),
        .reason = text_at(stmt, 18, arena),
        .actor = text_at(stmt, 19, arena),
        .size = db_int(stmt, 20),
        .cursor_us = db_int(stmt, 21),
        .is_spent = db_int(stmt, 22) != 0,
        .stops_running = db_int(stmt, 23) != 0,
        .created = db_int(stmt, 24),
        .redone = db_int(stmt, 25),
        .kept = db_int(stmt, 26),
        .succeeded = db_int(stmt, 27),
        .failed = db_int(stmt, 28),
        .cancelled = db_int(stmt, 29),
        .created_at_us = db_int(stmt, 30),
        .started_at_us = db_int(stmt, 31),
        .ended_at_us = db_int(stmt, 32),
        .is_active = db_int(stmt, 33) != 0,
    };
}

static const char BACKFILL_LOAD[] = BACKFILL_SELECT " WHERE b.id = $1";
#define BACKFILL_ROWS                                                                              \
    BACKFILL_SELECT " WHERE (CAST($1 AS TEXT) IS NULL OR d.dag_id = CAST($1 AS TEXT))"             \
                    " AND ($2 < 0 OR b.state = $2) AND " SEEN(                                     \
                        "$4", "d.namespace") " ORDER BY b.id DESC LIMIT $3"
static const char BACKFILL_LIST[] = BACKFILL_ROWS;
static const char BACKFILL_LIST_COUNT[] = COUNT_OF(BACKFILL_ROWS);

enum status store_backfill_load(struct store *store, struct arena *arena, int64_t id,
                                struct backfill_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, BACKFILL_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look at a backfill");
    if (!row)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no backfill %lld; `eider backfill list` shows them",
                       (long long)id);
    *out = backfill_row_read(stmt, arena);
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_backfill_count(struct store *store, const struct backfill_filter *filter,
                                 int64_t most, int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, BACKFILL_LIST_COUNT, "tiit", filter->dag_id,
                      filter->state, most, store_sight(store));
}

enum status store_backfill_each(struct store *store, const struct backfill_filter *filter,
                                enum status (*each)(void *context, const struct backfill_info *info,
                                                    struct err *err),
                                void *context, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, BACKFILL_LIST, "tiit", filter->dag_id,
                                  filter->state, filter->limit, store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct backfill_info info = backfill_row_read(stmt, arena);
        status = each(context, &info, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "list backfills");
}

static const char DATE_LIST[] =
    "SELECT o.logical_at_us, o.run, r.run_id, o.action, coalesce(r.state, o.outcome, 4)"
    " FROM backfill_run o LEFT JOIN run r ON r.id = o.run WHERE o.backfill = $1"
    " ORDER BY o.backfill, o.logical_at_us LIMIT $2";
_Static_assert(RUN_CANCELLED == 4, "as in the SQL");

enum status store_backfill_date_each(struct store *store, int64_t id, int64_t limit,
                                     enum status (*each)(void *context,
                                                         const struct backfill_date *date,
                                                         struct err *err),
                                     void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, DATE_LIST, "ii", id, limit);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct backfill_date date = {
            .logical_at_us = db_int(stmt, 0),
            .run = db_int(stmt, 1),
            .run_id = db_text(stmt, 2),
            .action = (enum backfill_action)db_int(stmt, 3),
            .state = (enum run_state)db_int(stmt, 4),
        };
        status = each(context, &date, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "list the dates of a backfill");
}

/* --- changing -------------------------------------------------------------------------------- */

static const char BACKFILL_CHANGE[] =
    "UPDATE backfill SET state = $2, stops_running = CASE WHEN $3 = 1 THEN 1 ELSE stops_running "
    "END,"
    " started_at_us = coalesce(started_at_us, $4), ended_at_us = $5 WHERE id = $1 AND state = $6";

static json_t *describe_change(const struct backfill_change *change,
                               const struct backfill_info *info, enum backfill_state to)
{
    json_t *data = json_object();
    json_t *was = json_object();
    json_put_int(data, "backfill", change->id);
    json_put_string(data, "dag_id", info->dag_id);
    json_put_string(data, "change", backfill_verb_name(change->verb));
    json_put_string(data, "state", backfill_state_name(to));
    json_put_string(was, "state", backfill_state_name(info->state));
    json_put(data, "was", was);
    if (change->stops_running)
        json_put_bool(data, "running", true);
    if (change->reason != NULL)
        json_put_string(data, "reason", change->reason);
    return data;
}

/* Nobody else got in between, or somebody did and the caller looks again. */
static enum status write_change(struct store *store, const struct backfill_change *change,
                                const struct backfill_info *info, enum backfill_state to,
                                struct err *err)
{
    struct db *db = store->db;
    int64_t now_us = store_now_us(store);
    bool is_begun = to == BACKFILL_RUNNING;
    if (db_do(db, err, BACKFILL_CHANGE, "iiizzi", change->id, (int64_t)to,
              (int64_t)change->stops_running, is_begun ? now_us : (int64_t)0,
              backfill_state_is_final(to) ? now_us : (int64_t)0, (int64_t)info->state) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_BUSY, "the backfill was changed meanwhile; try again");
    if (tell(store, EVENT_BACKFILL_CHANGED, change->actor, describe_change(change, info, to),
             err) != STATUS_OK ||
        db_notify(db, STORE_CHANNEL_NEWS, "", err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status change_once(struct store *store, const void *context, struct err *err)
{
    const struct backfill_change *change = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    struct backfill_info info = {0};
    enum backfill_state to;
    if (db_begin(db, err) != STATUS_OK ||
        store_backfill_load(store, arena, change->id, &info, err) != STATUS_OK)
        return err->code;
    if (!backfill_verb_leads(change->verb, info.state, &to))
        return err_set(err, STATUS_CONFLICT, "cannot %s backfill %lld: it is %s",
                       backfill_verb_name(change->verb), (long long)info.id,
                       backfill_state_name(info.state));
    return write_change(store, change, &info, to, err);
}

enum status store_backfill_change(struct store *store, const struct backfill_change *change,
                                  struct err *err)
{
    return store_repeat(store, change_once, change, err);
}

/* --- removing -------------------------------------------------------------------------------- */

static const char DATES_DROP[] = "DELETE FROM backfill_run WHERE backfill = $1";
static const char BACKFILL_DROP[] = "DELETE FROM backfill WHERE id = $1";

struct removal {
    int64_t id;
    const char *actor;
};

static enum status forget_once(struct store *store, const void *context, struct err *err)
{
    const struct removal *call = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    struct backfill_info info = {0};
    if (db_begin(db, err) != STATUS_OK ||
        store_backfill_load(store, arena, call->id, &info, err) != STATUS_OK)
        return err->code;
    if (!backfill_state_is_final(info.state))
        return err_set(err, STATUS_CONFLICT, "backfill %lld is not over; cancel it first",
                       (long long)info.id);
    json_t *data = json_object();
    json_put_int(data, "backfill", info.id);
    json_put_string(data, "dag_id", info.dag_id);
    json_put_string(data, "change", "forget");
    if (tell(store, EVENT_BACKFILL_CHANGED, call->actor, data, err) != STATUS_OK ||
        db_do(db, err, DATES_DROP, "i", info.id) != STATUS_OK ||
        db_do(db, err, BACKFILL_DROP, "i", info.id) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_backfill_forget(struct store *store, int64_t id, const char *actor,
                                  struct err *err)
{
    return store_repeat(store, forget_once, &(struct removal){id, actor}, err);
}
