/*
 * run_change: small changes to a run as a whole.
 */
#include "base/check.h"
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
    if (status == STATUS_OK)
        status = work_event(&work, EVENT_RUN_NOTE, run, NULL, NULL, err);
    work_fini(&work);
    if (status != STATUS_OK || db_do(db, err, NOTE_SET, "it", run_id, note) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "note");
    return STATUS_OK;
}

/* Values and attempts go by the ids of the run's tasks, before those go. */
static const char *const DELETE_ROWS[] = {
    "DELETE FROM value WHERE task IN (SELECT id FROM task WHERE run = $1)",
    "DELETE FROM attempt WHERE task IN (SELECT id FROM task WHERE run = $1)",
    "DELETE FROM event WHERE run = $1",
    "DELETE FROM task WHERE run = $1",
    "DELETE FROM run WHERE id = $1",
};

static const char EVENT_DELETED[] =
    "INSERT INTO event (at_us, kind, run, actor) VALUES ($1, $2, $3, $4)";

enum status store_run_delete(struct store *store, int64_t run_id, const char *actor,
                             struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    struct run_row run;
    if (db_begin(db, err) != STATUS_OK || run_row_load(db, run_id, &run, err) != STATUS_OK)
        return err_wrap(err, "delete");
    if (!run_state_is_final(run.state))
        return err_set(err, STATUS_CONFLICT, "the run is not over; stop it first");
    for (size_t i = 0; i < ARRAY_LEN(DELETE_ROWS); i++)
        if (db_do(db, err, DELETE_ROWS[i], "i", run_id) != STATUS_OK)
            return err_wrap(err, "delete");
    if (db_do(db, err, EVENT_DELETED, "iiit", store->now_us(), (int64_t)EVENT_RUN_DELETED, run_id,
              actor) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "delete");
    return STATUS_OK;
}
