#include "store/admission.h"

#include <string.h>

#include "base/check.h"
#include "store/admission_priv.h"
#include "store/channel.h"
#include "store/id_list.h"

/* Numbers of enum run_state and enum admission. */
_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1 && RUN_SUCCESS == 2, "as in the SQL");
_Static_assert(ADMISSION_GOING == 1 && ADMISSION_WAITING == 2, "as in the SQL");

/* --- how full it is -------------------------------------------------------------------------- */

static const char ROOM_ONE[] = "SELECT dag, most_runs, needs_past FROM schedule WHERE dag = $1";
static const char ROOM_MANY[] = "SELECT dag, most_runs, needs_past FROM schedule"
                                " WHERE dag = ANY($1) ORDER BY dag FOR UPDATE";
/* No further than it matters: thousands may go where there is no bound, or wait where there is. */
#define GOING_OF(dag, most)                                                                        \
    "(SELECT count(*) FROM (SELECT 1 FROM run r WHERE r.dag = " dag " AND r.admission = 1"         \
    " AND r.state IN (0, 1) AND r.backfill = 0 LIMIT " most ") g)"
/* Not as EXISTS: of that PostgreSQL may make a table of all who wait. */
#define HAS_WAITING(dag)                                                                           \
    "coalesce((SELECT 1 FROM waiting w WHERE w.dag = " dag " AND w.backfill = 0 LIMIT 1), 0)"
static const char USE_ONE[] = "SELECT $1, " GOING_OF("$1", "$2") ", " HAS_WAITING("$1");
/* A statement of its own: what others did before the lock was given must be seen. */
static const char USE_MANY[] = "SELECT s.dag, " GOING_OF("s.dag", "s.most_runs") ", " HAS_WAITING(
    "s.dag") " FROM schedule s WHERE s.dag = ANY($1)";

static enum status read_rooms(struct db_stmt *stmt, struct arena *arena, struct idmap *out,
                              struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err)) {
        struct admission_room *room = arena_alloc(arena, sizeof *room);
        *room = (struct admission_room){
            .dag_key = db_int(stmt, 0),
            .most = db_int(stmt, 1),
            .needs_past = db_int(stmt, 2) != 0,
        };
        idmap_set(out, room->dag_key, room);
    }
    return status;
}

static enum status read_use(struct db_stmt *stmt, struct idmap *rooms, struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err)) {
        struct admission_room *room = idmap_find(rooms, db_int(stmt, 0));
        if (room == NULL)
            continue;
        room->going = db_int(stmt, 1);
        room->has_waiting = db_int(stmt, 2) != 0;
    }
    return status;
}

/* In a file there is nothing to send. */
static enum status ask_rooms(struct db *db, const struct id_list *keys,
                             struct admission_question *out, struct err *err)
{
    if (db_dialect(db) == DB_SQLITE || keys->count == 0)
        return STATUS_OK;
    if (db_query_ahead(db, &out->rooms, err, ROOM_MANY, "I", keys->items, keys->count) != STATUS_OK)
        return err->code;
    return db_query_ahead(db, &out->use, err, USE_MANY, "I", keys->items, keys->count);
}

static enum status read_one(struct db *db, struct arena *arena, int64_t key, struct idmap *out,
                            struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(db, &stmt, err, ROOM_ONE, "i", key) != STATUS_OK ||
        read_rooms(stmt, arena, out, err) != STATUS_OK)
        return err->code;
    const struct admission_room *room = idmap_find(out, key);
    if (room == NULL)
        return STATUS_OK;
    if (db_query(db, &stmt, err, USE_ONE, "ii", key, room->most) != STATUS_OK)
        return err->code;
    return read_use(stmt, out, err);
}

static enum status read_answer(struct db *db, struct arena *arena, const struct id_list *keys,
                               const struct admission_question *question, struct idmap *out,
                               struct err *err)
{
    if (question->rooms != NULL) {
        if (read_rooms(question->rooms, arena, out, err) != STATUS_OK)
            return err->code;
        return read_use(question->use, out, err);
    }
    for (size_t i = 0; i < keys->count; i++)
        if (read_one(db, arena, keys->items[i], out, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status admission_rooms(struct store *store, struct arena *arena, const int64_t *keys,
                            size_t count, struct idmap *out, struct err *err)
{
    const struct id_list list = {.items = (int64_t *)(uintptr_t)keys, .count = count};
    struct admission_question question = {0};
    if (ask_rooms(store->db, &list, &question, err) != STATUS_OK)
        return err->code;
    return read_answer(store->db, arena, &list, &question, out, err);
}

bool admission_is_full(const struct admission_room *room)
{
    return room->most > 0 && (room->going >= room->most || room->has_waiting);
}

/* --- the run before -------------------------------------------------------------------------- */

static const char PAST_STATE[] =
    "SELECT state FROM run WHERE dag = $1 AND logical_at_us < $2"
    " AND kind IN ('scheduled', 'backfill') ORDER BY dag DESC, logical_at_us DESC LIMIT 1";

bool admission_is_of_series(const char *kind)
{
    return strcmp(kind, "scheduled") == 0 || strcmp(kind, "backfill") == 0;
}

enum status admission_past_is_fine(struct db *db, int64_t dag_key, int64_t logical_at_us, bool *out,
                                   struct err *err)
{
    int64_t state = RUN_SUCCESS;
    if (db_get_int(db, RUN_SUCCESS, &state, err, PAST_STATE, "ii", dag_key, logical_at_us) !=
        STATUS_OK)
        return err_wrap(err, "look for the run before");
    *out = state == RUN_SUCCESS;
    return STATUS_OK;
}

/* --- runs that are made ---------------------------------------------------------------------- */

static bool is_counted(const struct run_request *request)
{
    return request->is_limited && request->backfill == 0;
}

static enum status decide_one(struct work *work, struct admission_room *room,
                              struct admission_asked *asked, struct err *err)
{
    const struct run_request *request = asked->request;
    bool in_series = room->needs_past && admission_is_of_series(request->kind);
    /* Where the past decides, what waits for it does not stand before what need not. */
    bool is_behind = room->has_waiting && (in_series || !room->needs_past);
    bool goes = !is_behind && (room->most == 0 || room->going < room->most);
    if (goes && in_series) {
        goes = !room->has_newer;
        if (goes && admission_past_is_fine(work->db, asked->dag_key, request->logical_at_us, &goes,
                                           err) != STATUS_OK)
            return err->code;
    }
    room->has_newer |= in_series;
    room->going += goes;
    room->has_waiting |= !goes;
    asked->admission = goes ? ADMISSION_GOING : ADMISSION_WAITING;
    return STATUS_OK;
}

enum status admission_ask(struct work *work, struct admission_asked *asked, size_t count,
                          struct admission_question *out, struct err *err)
{
    CLEANUP(idmap_freep) struct idmap *seen = idmap_new();
    *out = (struct admission_question){0};
    for (size_t i = 0; i < count; i++) {
        asked[i].admission = asked[i].request->is_limited ? ADMISSION_WAITING : ADMISSION_FREE;
        if (!is_counted(asked[i].request) || idmap_find(seen, asked[i].dag_key) != NULL)
            continue;
        idmap_set(seen, asked[i].dag_key, work);
        id_list_add(&out->keys, asked[i].dag_key);
    }
    return ask_rooms(work->db, &out->keys, out, err);
}

enum status admission_decide(struct work *work, struct admission_asked *asked, size_t count,
                             const struct admission_question *question, struct err *err)
{
    CLEANUP(idmap_freep) struct idmap *rooms = idmap_new();
    if (read_answer(work->db, work->arena, &question->keys, question, rooms, err) != STATUS_OK)
        return err_wrap(err, "count the runs that go");
    for (size_t i = 0; i < count; i++) {
        struct admission_room *room = idmap_find(rooms, asked[i].dag_key);
        if (!is_counted(asked[i].request))
            continue;
        if (room == NULL)
            return err_set(err, STATUS_CORRUPT, "a DAG has no row in 'schedule'");
        if (decide_one(work, room, &asked[i], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

void admission_question_fini(struct admission_question *question)
{
    id_list_fini(&question->keys);
}

void admission_enqueue(struct work *work, const struct run_row *run, int64_t logical_at_us)
{
    db_bulk_add(&work->saver.bulks[SAVER_WAITING_TAKEN], run->dag_key, run->backfill, logical_at_us,
                run->id);
}

/* --- runs that end --------------------------------------------------------------------------- */

static const char WAITING_DROP[] = "DELETE FROM waiting WHERE dag = $1 AND backfill = $2"
                                   " AND run = $3";
static const char WAITED[] = "UPDATE run SET admission = 1 WHERE id = $1";
static const char TELL_IF_WAITED_FOR[] = "SELECT pg_notify($1, '') WHERE EXISTS"
                                         " (SELECT 1 FROM waiting WHERE dag = ANY($2))";

static bool has_ended(const struct run_row *run)
{
    return run->state != run->read_state && run_state_is_final(run->state);
}

static enum status note_end(struct work *work, const struct run_row *run, struct err *err)
{
    if (run->admission != ADMISSION_WAITING)
        return STATUS_OK;
    /* It was cancelled, or every task of it was marked. */
    if (db_later(work->db, err, WAITING_DROP, "iii", run->dag_key, run->backfill, run->id) !=
        STATUS_OK)
        return err->code;
    return db_later(work->db, err, WAITED, "i", run->id);
}

enum status admission_note_ends(struct work *work, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list dags = {0};
    bool is_backfill = false;
    for (size_t i = 0; i < work->run_rows.count; i++) {
        const struct run_row *run = work->run_rows.items[i];
        if (run->admission == ADMISSION_FREE || !has_ended(run))
            continue;
        if (note_end(work, run, err) != STATUS_OK)
            return err->code;
        id_list_add(&dags, run->dag_key);
        is_backfill |= run->backfill != 0;
    }
    /* Elsewhere the process that ends a run wakes the scheduler by itself. */
    if (dags.count == 0 || db_dialect(work->db) != DB_POSTGRES)
        return STATUS_OK;
    if (is_backfill)
        return db_notify(work->db, STORE_CHANNEL_NEWS, "", err);
    return db_later(work->db, err, TELL_IF_WAITED_FOR, "tI", STORE_CHANNEL_NEWS, dags.items,
                    dags.count);
}

/* --- for people ------------------------------------------------------------------------------ */

static const char GOING[] = "SELECT count(*) FROM run WHERE dag = $1 AND admission = 1"
                            " AND state IN (0, 1) AND backfill = $2";
static const char WAITING[] = "SELECT count(*) FROM waiting WHERE dag = $1 AND backfill = $2";

enum status store_admission_count(struct store *store, int64_t dag_key, int64_t backfill,
                                  struct admission_count *out, struct err *err)
{
    struct admission_count count = {0};
    if (db_get_int(store->db, 0, &count.going, err, GOING, "ii", dag_key, backfill) != STATUS_OK ||
        db_get_int(store->db, 0, &count.waiting, err, WAITING, "ii", dag_key, backfill) !=
            STATUS_OK)
        return err_wrap(err, "count the runs that go");
    *out = count;
    return STATUS_OK;
}
