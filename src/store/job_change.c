/*
 * job_change: what people do to plain jobs.
 *
 * Each change reads the job, decides, leaves the old place and saves the row guarded by state,
 * attempt and version. Hosts go the same way, first the place, then the row, so that nobody waits
 * for the other; who comes second finds nothing, and looks again.
 */
#include "base/mem.h"
#include "base/str.h"
#include "model/event_kind.h"
#include "store/channel.h"
#include "store/job.h"
#include "store/rows.h"
#include "store/store_priv.h"

enum { RACES_MAX = 10, PURGE_PORTION = 1000 };

struct job_change {
    struct store *store;
    struct db *db;
    struct arena *arena;
    const char *actor;
    int64_t now_us;
    int64_t run_after_us; /* reschedule */
    struct task_row task;
    int64_t lane;
    int64_t rank;
    bool cancel_asked;
    bool was_overtaken; /* somebody changed the job meanwhile */
};

/* --- reading --------------------------------------------------------------------------------- */

static const char JOB_GET[] = "SELECT lane, rank, cancel_asked FROM job WHERE id = $1";

static enum status load(struct job_change *change, int64_t id, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(change->db, &stmt, err, JOB_GET, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no job %lld", (long long)id);
    change->lane = db_int(stmt, 0);
    change->rank = db_int(stmt, 1);
    change->cancel_asked = db_int(stmt, 2) != 0;
    db_reset(stmt);
    return task_row_load(change->db, change->arena, id, &change->task, err);
}

/* --- places and rows ------------------------------------------------------------------------- */

static const char READY_REMOVE[] =
    "DELETE FROM ready WHERE scope = 0 AND class = 0 AND lane = $1 AND rank = $2 AND task = $3";
static const char READY_ADD[] = "INSERT INTO ready (scope, class, lane, rank, age_us, task, run)"
                                " VALUES (0, 0, $1, $2, $3, $4, 0)";
static const char TIMER_REMOVE[] =
    "DELETE FROM timer WHERE scope = 0 AND due_at_us = $1 AND task = $2";
static const char TIMER_ADD[] = "INSERT INTO timer (scope, due_at_us, task) VALUES (0, $1, $2)";
_Static_assert(CLASS_PROCESS == 0, "as in the SQL");

static enum status overtaken(struct job_change *change, struct err *err)
{
    change->was_overtaken = true;
    return err_set(err, STATUS_CONFLICT, "job %lld is being changed by others all the time",
                   (long long)change->task.id);
}

static enum status leave_place(struct job_change *change, struct err *err)
{
    const struct task_row *task = &change->task;
    if (task_state_is_final(task->state))
        return STATUS_OK;
    enum status status = task->state == TASK_QUEUED
                             ? db_do(change->db, err, READY_REMOVE, "iii", change->lane,
                                     change->rank, task->id)
                             : db_do(change->db, err, TIMER_REMOVE, "ii", task->due_at_us, task->id);
    if (status != STATUS_OK)
        return status;
    return db_changes(change->db) == 1 ? STATUS_OK : overtaken(change, err);
}

static enum status take_place(struct job_change *change, struct err *err)
{
    const struct task_row *task = &change->task;
    if (task_state_is_final(task->state))
        return STATUS_OK;
    if (task->state != TASK_QUEUED)
        return db_do(change->db, err, TIMER_ADD, "ii", task->due_at_us, task->id);
    if (db_do(change->db, err, READY_ADD, "iiii", change->lane, change->rank, task->queued_at_us,
              task->id) != STATUS_OK)
        return err->code;
    return db_notify(change->db, STORE_CHANNEL_WORK, "", err);
}

static const char TASK_SAVE[] =
    "UPDATE task SET generation = $5, state = $6, host = $7, failures = $8, losses = $9,"
    " due_at_us = $10, queued_at_us = $11, started_at_us = $12, ended_at_us = $13, reason = $14,"
    " exit_code = $15, detail = $16, row_version = row_version + 1"
    " WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4";
static const char EVENT_ADD[] =
    "INSERT INTO event (at_us, kind, run, task, row_version, old_state, new_state, generation,"
    " attempt, actor, reason) VALUES ($1, $2, 0, $3, $4, $5, $6, $7, $8, $9, $10)";

static enum status write_event(struct job_change *change, enum event_kind kind, struct err *err)
{
    const struct task_row *task = &change->task;
    return db_do(change->db, err, EVENT_ADD, "iiiiiiiiti", change->now_us, (int64_t)kind, task->id,
                 task->row_version + 1, (int64_t)task->read_state, (int64_t)task->state,
                 task->generation, task->attempt, change->actor, (int64_t)task->reason);
}

static enum status save(struct job_change *change, enum event_kind kind, struct err *err)
{
    const struct task_row *task = &change->task;
    if (db_do(change->db, err, TASK_SAVE, "iiiiiiziizzzzixt", task->id, (int64_t)task->read_state,
              task->read_attempt, task->row_version, task->generation, (int64_t)task->state,
              task->host, task->failures, task->losses, task->due_at_us, task->queued_at_us,
              task->started_at_us, task->ended_at_us, (int64_t)task->reason, task->exit_code,
              task->detail) != STATUS_OK)
        return err->code;
    if (db_changes(change->db) != 1)
        return overtaken(change, err);
    if (take_place(change, err) != STATUS_OK)
        return err->code;
    return write_event(change, kind, err);
}

/* --- the frame ------------------------------------------------------------------------------- */

typedef enum status (*change_fn)(struct job_change *change, struct err *err);

static enum status change_once(struct job_change *change, int64_t id, change_fn decide,
                               struct err *err)
{
    CLEANUP(db_endp) struct db *db = change->db;
    change->was_overtaken = false;
    change->now_us = store_now_us(change->store);
    if (db_begin(db, err) != STATUS_OK || load(change, id, err) != STATUS_OK ||
        decide(change, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status change_job(struct job_change *change, struct store *store, int64_t id,
                              change_fn decide, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    change->store = store;
    change->db = store->db;
    change->arena = arena;
    enum status status = STATUS_OK;
    for (int i = 0; i < RACES_MAX; i++) {
        status = change_once(change, id, decide, err);
        if (status == STATUS_OK || !change->was_overtaken)
            break;
    }
    return status;
}

static enum status refuse(const struct job_change *change, const char *why, struct err *err)
{
    return err_set(err, STATUS_CONFLICT, "job %lld %s: %s", (long long)change->task.id, why,
                   job_status_name(change->task.state));
}

/* --- cancel ---------------------------------------------------------------------------------- */

static const char CANCEL_ASK[] = "UPDATE job SET cancel_asked = 1 WHERE id = $1";

/* Its owner ends it; the row's version rises, so that nobody overlooks it. */
static enum status ask_owner(struct job_change *change, struct err *err)
{
    if (change->cancel_asked)
        return STATUS_OK;
    if (db_do(change->db, err, CANCEL_ASK, "i", change->task.id) != STATUS_OK ||
        write_event(change, EVENT_JOB_CANCEL_ASKED, err) != STATUS_OK)
        return err->code;
    return db_notify(change->db, STORE_CHANNEL_STOP, "", err);
}

static enum status cancel(struct job_change *change, struct err *err)
{
    struct task_row *task = &change->task;
    if (task_state_is_final(task->state))
        return refuse(change, "is over already", err);
    if (task->state == TASK_RUNNING)
        return ask_owner(change, err);
    if (leave_place(change, err) != STATUS_OK)
        return err->code;
    task->state = TASK_CANCELLED;
    task->reason = REASON_CANCELLED;
    task->due_at_us = 0;
    task->ended_at_us = change->now_us;
    return save(change, EVENT_TASK_ENDED, err);
}

enum status store_job_cancel(struct store *store, int64_t id, const char *actor, struct err *err)
{
    struct job_change change = {.actor = actor};
    return change_job(&change, store, id, cancel, err);
}

/* --- retry ----------------------------------------------------------------------------------- */

static const char JOB_RENEW[] =
    "UPDATE job SET cancel_asked = 0, result = NULL, error = NULL WHERE id = $1";
static const char VALUES_DROP[] = "DELETE FROM value WHERE task = $1";
static const char DEAD_DROP[] = "DELETE FROM dead WHERE task = $1";

static enum status forget_outcome(struct job_change *change, struct err *err)
{
    const struct task_row *task = &change->task;
    bool had_attempt =
        task->attempt > 0 && task_state_is_final(task->state) && task->started_at_us != 0;
    if (had_attempt && task_row_keep_attempt(change->db, task, task->state, err) != STATUS_OK)
        return err->code;
    if (db_do(change->db, err, JOB_RENEW, "i", task->id) != STATUS_OK ||
        db_do(change->db, err, VALUES_DROP, "i", task->id) != STATUS_OK)
        return err->code;
    return db_do(change->db, err, DEAD_DROP, "i", task->id);
}

static enum status retry(struct job_change *change, struct err *err)
{
    struct task_row *task = &change->task;
    if (task->state == TASK_RUNNING)
        return refuse(change, "runs; cancel it first", err);
    if (task->state == TASK_QUEUED)
        return refuse(change, "waits for a free slot already", err);
    if (leave_place(change, err) != STATUS_OK || forget_outcome(change, err) != STATUS_OK)
        return err->code;
    task->generation++;
    task->state = TASK_QUEUED;
    task->failures = task->losses = 0;
    task->host = 0;
    task->due_at_us = task->started_at_us = task->ended_at_us = 0;
    task->queued_at_us = change->now_us;
    task->reason = REASON_NONE;
    task->exit_code = -1;
    task->detail = NULL;
    return save(change, EVENT_TASK_CLEARED, err);
}

enum status store_job_retry(struct store *store, int64_t id, const char *actor, struct err *err)
{
    struct job_change change = {.actor = actor};
    return change_job(&change, store, id, retry, err);
}

/* --- reschedule ------------------------------------------------------------------------------ */

static enum status reschedule(struct job_change *change, struct err *err)
{
    struct task_row *task = &change->task;
    if (task_state_is_final(task->state))
        return refuse(change, "is over already", err);
    if (task->state == TASK_RUNNING)
        return refuse(change, "runs already", err);
    if (leave_place(change, err) != STATUS_OK)
        return err->code;
    bool is_due = change->run_after_us <= change->now_us;
    if (is_due)
        task->state = TASK_QUEUED;
    else if (task->state != TASK_UP_FOR_RETRY)
        task->state = TASK_SCHEDULED;
    task->due_at_us = is_due ? 0 : change->run_after_us;
    task->queued_at_us = is_due ? change->now_us : 0;
    return save(change, EVENT_JOB_RESCHEDULED, err);
}

enum status store_job_reschedule(struct store *store, int64_t id, int64_t run_after_us,
                                 const char *actor, struct err *err)
{
    struct job_change change = {.actor = actor, .run_after_us = run_after_us};
    return change_job(&change, store, id, reschedule, err);
}

/* --- purge ----------------------------------------------------------------------------------- */

_Static_assert(TASK_SUCCESS == 4 && TASK_FAILED == 5 && TASK_SKIPPED == 6 && TASK_CANCELLED == 12,
               "as in the SQL");
#define OVER "(4, 5, 6, 7, 12, 13)"

static const char PURGE_FIND[] =
    "SELECT j.id, t.state FROM job j JOIN task t ON t.id = j.id"
    " WHERE t.state IN " OVER " AND t.ended_at_us < $1"
    " AND (CAST($2 AS BIGINT) = 0 OR j.id < $2)"
    " AND (CAST($3 AS TEXT) IS NULL"
    " OR j.queue = (SELECT q.id FROM queue q WHERE q.name = CAST($3 AS TEXT)))"
    " AND NOT EXISTS (SELECT 1 FROM dead d WHERE d.task = j.id)"
    " ORDER BY j.id DESC LIMIT $4";

/* The task's row first and guarded: who began a retry meanwhile keeps the job. */
static const struct db_bulk_form PURGE_FORMS[] = {
    {"DELETE FROM task WHERE id = $1 AND state IN " OVER,
     "DELETE FROM task WHERE id = ANY ($1) AND state IN " OVER, "i", "job"},
    {"DELETE FROM attempt WHERE task = $1", "DELETE FROM attempt WHERE task = ANY ($1)", "i",
     "attempt"},
    {"DELETE FROM value WHERE task = $1", "DELETE FROM value WHERE task = ANY ($1)", "i", "value"},
    {"DELETE FROM job WHERE id = $1", "DELETE FROM job WHERE id = ANY ($1)", "i", "job"},
};

struct purging {
    const struct job_purge *purge;
    int64_t before; /* go on below this id */
    int64_t left;   /* of what may go */
    int64_t ids[PURGE_PORTION];
    size_t count; /* of this portion */
    bool is_last;
};

static bool has_status(const struct job_purge *purge, int64_t state)
{
    const char *name = purge->filter.status;
    return name == NULL || str_equal(name, job_status_name((enum task_state)state));
}

static enum status find_portion(struct db *db, struct purging *purging, struct err *err)
{
    const struct job_purge *purge = purging->purge;
    struct db_stmt *stmt = NULL;
    int64_t seen = 0;
    enum status status =
        db_query(db, &stmt, err, PURGE_FIND, "iiti", purge->ended_before_us, purging->before,
                 purge->filter.queue, (int64_t)PURGE_PORTION);
    purging->count = 0;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        purging->before = db_int(stmt, 0);
        seen++;
        if (has_status(purge, db_int(stmt, 1)) && (int64_t)purging->count < purging->left)
            purging->ids[purging->count++] = db_int(stmt, 0);
    }
    purging->left -= (int64_t)purging->count;
    purging->is_last = seen < PURGE_PORTION || purging->left == 0;
    return status;
}

static enum status remove_portion(struct db *db, const struct purging *purging, struct err *err)
{
    enum status status = STATUS_OK;
    for (size_t form = 0; status == STATUS_OK && form < ARRAY_LEN(PURGE_FORMS); form++) {
        struct db_bulk bulk;
        db_bulk_init(&bulk, &PURGE_FORMS[form]);
        for (size_t i = 0; i < purging->count; i++)
            db_bulk_add(&bulk, purging->ids[i]);
        status =
            db_bulk_run(db, &bulk, form == 0 ? (int64_t)purging->count : DB_ANY_CHANGES, err);
        db_bulk_fini(&bulk);
    }
    return status;
}

static enum status tell_purge(struct store *store, const struct purging *purging, struct err *err)
{
    CLEANUP(mem_freep) char *data = mem_format("{\"jobs\":%zu}", purging->count);
    for (size_t i = 0; purging->purge->each != NULL && i < purging->count; i++)
        purging->purge->each(purging->purge->context, purging->ids[i]);
    return store_tell(store, EVENT_JOBS_PURGED, purging->purge->actor, data, err);
}

static enum status purge_portion(struct store *store, struct purging *purging, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    bool dry_run = purging->purge->dry_run;
    if ((dry_run ? db_begin_read(db, err) : db_begin(db, err)) != STATUS_OK ||
        find_portion(db, purging, err) != STATUS_OK)
        return err->code;
    if (dry_run || purging->count == 0)
        return STATUS_OK;
    if (remove_portion(db, purging, err) != STATUS_OK ||
        tell_purge(store, purging, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_job_purge(struct store *store, const struct job_purge *purge, int64_t *out_count,
                            struct err *err)
{
    CLEANUP(mem_freep) struct purging *purging = mem_zalloc(1, sizeof *purging);
    purging->purge = purge;
    purging->before = purge->filter.before;
    purging->left = purge->filter.limit;
    int64_t count = 0;
    while (!purging->is_last) {
        if (purge_portion(store, purging, err) != STATUS_OK)
            return err_wrap(err, "purge jobs (%lld are gone)", (long long)count);
        count += (int64_t)purging->count;
    }
    *out_count = count;
    return STATUS_OK;
}
