/*
 * run_change: small changes to a run as a whole.
 */
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/run_delete_priv.h"
#include "store/run_store.h"
#include "store/work.h"

static const char NOTE_SET[] = "UPDATE run SET note = $2, row_version = row_version + 1"
                               " WHERE id = $1";

enum status store_run_set_note(struct store *store, int64_t run_id, const char *note,
                               const char *actor, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct work work;
    struct run_row *run = NULL;
    work_init(&work, store, actor);
    enum status status = work_run(&work, run_id, &run, err);
    if (status == STATUS_OK) {
        work_event(&work, EVENT_RUN_NOTE, run, NULL, NULL);
        status = work_save(&work, err);
    }
    work_fini(&work);
    if (status != STATUS_OK || db_do(db, err, NOTE_SET, "it", run_id, note) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "note");
    return STATUS_OK;
}

/* By the blocks of the run's task ids, which are found by its number; what remains goes by it too.
 */
static const char *const DELETE_BLOCK[] = {
    "DELETE FROM value WHERE task >= $1 AND task < $2",
    "DELETE FROM attempt WHERE task >= $1 AND task < $2",
    "DELETE FROM dead WHERE task >= $1 AND task < $2",
    "DELETE FROM wait WHERE task >= $1 AND task < $2",
    "DELETE FROM task_wish WHERE task >= $1 AND task < $2",
    "DELETE FROM task WHERE id >= $1 AND id < $2",
};
/* That it was deleted is told first, and stays. */
#define EVENTS_OF_RUN        "run = $1 AND run > 0 AND kind <> 13"
#define DELETE_EVENTS_OF_RUN "DELETE FROM event WHERE " EVENTS_OF_RUN
_Static_assert(EVENT_RUN_DELETED == 13, "as in the SQL");
static const char *const DELETE_REST[] = {
    "DELETE FROM block WHERE run = $1",
    "DELETE FROM deadline WHERE run = $1",
    "DELETE FROM sla_miss WHERE run = $1",
    EVENTS_REMOVED_NOTE(EVENTS_OF_RUN),
    DELETE_EVENTS_OF_RUN,
    "DELETE FROM run_cause WHERE run = $1",
    "DELETE FROM task_note WHERE run = $1",
    "DELETE FROM run_trace WHERE run = $1",
    "DELETE FROM run WHERE id = $1",
};
static const char NEXT_BLOCK[] =
    "SELECT first, count FROM block WHERE run = $1 AND first > $2 ORDER BY run, first LIMIT 1";

static enum status delete_block(struct db *db, int64_t first, int64_t count, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(DELETE_BLOCK); i++)
        if (db_do(db, err, DELETE_BLOCK[i], "ii", first, first + count) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static enum status delete_rows(struct db *db, int64_t run, struct err *err)
{
    for (int64_t first = 0;;) {
        struct db_stmt *stmt = NULL;
        bool row = false;
        if (db_query(db, &stmt, err, NEXT_BLOCK, "ii", run, first) != STATUS_OK ||
            db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            break;
        first = db_int(stmt, 0);
        int64_t count = db_int(stmt, 1);
        db_reset(stmt);
        if (delete_block(db, first, count, err) != STATUS_OK)
            return err->code;
    }
    for (size_t i = 0; i < ARRAY_LEN(DELETE_REST); i++)
        if (db_do(db, err, DELETE_REST[i], "i", run) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

static const char EVENT_DELETED[] =
    "INSERT INTO event (at_us, kind, run, actor, data) VALUES ($1, $2, $3, $4, $5)";
static const char NAMES_GET[] =
    "SELECT d.dag_id, r.run_id FROM run r JOIN dag d ON d.id = r.dag WHERE r.id = $1";

/* What the run was, for those who ask when it is gone; heap. */
static enum status describe(struct store *store, int64_t run, char **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    CLEANUP(json_decrefp) json_t *data = NULL;
    struct err ignored = {0};
    if (store->reason == NULL ||
        json_parse(store->reason, strlen(store->reason), &data, &ignored) != STATUS_OK)
        data = json_object();
    if (db_query(store->db, &stmt, err, NAMES_GET, "i", run) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (row) {
        json_put_string(data, "dag_id", db_text(stmt, 0));
        json_put_string(data, "run_id", db_text(stmt, 1));
        db_reset(stmt);
    }
    *out = json_format(data);
    return STATUS_OK;
}

struct run_found {
    struct run_row *run;
    bool is_found;
};

static void note_found(void *context, const struct run_row *row)
{
    struct run_found *found = context;
    *found->run = *row;
    found->is_found = true;
}

/* Locked first, so that nobody reopens it meanwhile. */
enum status run_delete_within(struct store *store, int64_t run_id, const char *actor,
                              struct err *err)
{
    struct db *db = store->db;
    struct run_row run;
    struct run_found found = {.run = &run};
    if (run_rows_load(db, (struct id_span){&run_id, 1}, RUN_LOCK, note_found, &found, err) !=
        STATUS_OK)
        return err->code;
    if (!found.is_found)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)run_id);
    if (!run_state_is_final(run.state))
        return err_set(err, STATUS_CONFLICT, "the run is not over; stop it first");
    CLEANUP(mem_freep) char *data = NULL;
    if (describe(store, run_id, &data, err) != STATUS_OK ||
        db_do(db, err, EVENT_DELETED, "iiitt", store_now_us(store), (int64_t)EVENT_RUN_DELETED,
              run_id, actor, data) != STATUS_OK)
        return err->code;
    return delete_rows(db, run_id, err);
}

enum status store_run_delete(struct store *store, int64_t run_id, const char *actor,
                             struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        run_delete_within(store, run_id, actor, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err->code == STATUS_CONFLICT ? err->code : err_wrap(err, "delete");
    return STATUS_OK;
}
