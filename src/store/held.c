/*
 * held: what a host holds by the record, and what of it was asked to stop.
 */
#include "base/str.h"
#include "store/advance.h"
#include "store/claim_priv.h"
#include "store/id_list.h"

static const char HELD_BY[] = "SELECT task FROM running WHERE host = $1 ORDER BY task";
static const char STOP_RUNS[] =
    "SELECT DISTINCT t.run, 0, 0 FROM running h JOIN task t ON t.id = h.task"
    " JOIN run r ON r.id = t.run WHERE h.host = $1 AND r.cancel_asked <> 0";
static const char STOP_TASKS[] = "SELECT t.run, w.task, w.attempt FROM task_wish w"
                                 " JOIN running h ON h.task = w.task AND h.host = $1"
                                 " JOIN task t ON t.id = w.task AND t.attempt = w.attempt";
static const char STOP_JOBS[] =
    "SELECT 0, h.task, t.attempt FROM running h JOIN job j ON j.id = h.task"
    " JOIN task t ON t.id = h.task WHERE h.host = $1 AND j.cancel_asked <> 0";

static enum status load_held(struct work *work, int64_t host, struct arena *arena,
                             struct claim **out_claims, size_t *out_count, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list ids = {0};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, HELD_BY, "i", host);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        id_list_add(&ids, db_int(stmt, 0));
    if (status != STATUS_OK || work_fetch_tasks(work, ids.items, ids.count, err) != STATUS_OK)
        return err->code;
    struct claim *claims = arena_array(arena, ids.count, sizeof *claims);
    size_t count = 0;
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        struct run_row *run = NULL;
        if (work_run(work, task->run, &run, err) != STATUS_OK)
            return err->code;
        if (task->state == TASK_RUNNING && task->host == host)
            claims[count++] = claim_of_row(run, task, arena);
    }
    *out_claims = claims;
    *out_count = count;
    return STATUS_OK;
}

enum status store_held(struct store *store, int64_t host, struct arena *arena,
                       struct claim **out_claims, size_t *out_count, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin_read(db, err) != STATUS_OK)
        return err_wrap(err, "look at what this host holds");
    struct work work;
    work_init_timeless(&work, store, NULL);
    work.lock = RUN_UNLOCKED;
    enum status status = load_held(&work, host, arena, out_claims, out_count, err);
    work_fini(&work);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look at what this host holds");
}

enum status store_stop_wishes(struct store *store, int64_t host, struct arena *arena,
                              struct stop_wish **out, size_t *out_count, struct err *err)
{
    static const char *const QUESTIONS[] = {STOP_RUNS, STOP_TASKS, STOP_JOBS};
    enum { COLUMNS = 3 };
    CLEANUP(id_list_fini) struct id_list found = {0};
    for (size_t i = 0; i < ARRAY_LEN(QUESTIONS); i++) {
        struct db_stmt *stmt = NULL;
        enum status status = db_query(store->db, &stmt, err, QUESTIONS[i], "i", host);
        while (status == STATUS_OK && db_next(stmt, &status, err)) {
            for (int column = 0; column < COLUMNS; column++)
                id_list_add(&found, db_int(stmt, column));
        }
        if (status != STATUS_OK)
            return err_wrap(err, "look for what to stop");
    }
    size_t count = found.count / COLUMNS;
    struct stop_wish *wishes = arena_array(arena, count, sizeof *wishes);
    for (size_t i = 0; i < count; i++) {
        const int64_t *row = &found.items[i * COLUMNS];
        wishes[i] = (struct stop_wish){.run = row[0], .task = row[1], .attempt = row[2]};
    }
    *out = wishes;
    *out_count = count;
    return STATUS_OK;
}
