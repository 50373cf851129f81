/*
 * job_change: what people do to plain jobs.
 *
 * Each change reads the job, decides, and saves it guarded by state, attempt and version; who finds
 * that somebody else came first looks again.
 */
#include "base/mem.h"
#include "base/str.h"
#include "model/event_kind.h"
#include "store/channel.h"
#include "store/job.h"
#include "store/work.h"

enum { PURGE_PORTION = 1000 };

struct job_change {
    struct work work;
    struct task_row *task;
    int64_t run_after_us; /* reschedule */
};

/* --- the frame ------------------------------------------------------------------------------- */

typedef enum status (*decide_fn)(struct job_change *change, struct err *err);

struct change_call {
    int64_t job;
    const char *actor;
    decide_fn decide;
    int64_t run_after_us;
};

static const char JOB_EXISTS[] = "SELECT count(*) FROM job WHERE id = $1";

/* A task of a run is not meant, though it has a row of the same kind. */
static enum status load(struct job_change *change, int64_t id, struct err *err)
{
    int64_t found = 0;
    if (db_get_int(change->work.db, 0, &found, err, JOB_EXISTS, "i", id) != STATUS_OK)
        return err->code;
    if (found == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no job %lld", (long long)id);
    return work_task(&change->work, id, &change->task, err);
}

static enum status save(struct job_change *change, struct err *err)
{
    enum status status = work_save(&change->work, err);
    if (status == STATUS_OK)
        status = db_commit(change->work.db, err);
    /* Somebody came first: nothing happened, and another look tells what is left to do. */
    if (status == STATUS_CONFLICT)
        return err_set(err, STATUS_BUSY, "job %lld is being changed by others all the time",
                       (long long)change->task->id);
    return status;
}

static enum status change_once(struct store *store, const void *context, struct err *err)
{
    const struct change_call *call = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct job_change change = {.run_after_us = call->run_after_us};
    work_init(&change.work, store, call->actor);
    enum status status = load(&change, call->job, err);
    if (status == STATUS_OK)
        status = call->decide(&change, err);
    if (status == STATUS_OK)
        status = save(&change, err);
    work_fini(&change.work);
    return status;
}

static enum status change_job(struct store *store, const struct change_call *call, struct err *err)
{
    return store_repeat(store, change_once, call, err);
}

static enum status refuse(const struct job_change *change, const char *why, struct err *err)
{
    return err_set(err, STATUS_CONFLICT, "job %lld %s: %s", (long long)change->task->id, why,
                   job_status_name(change->task->state));
}

/* --- cancel ---------------------------------------------------------------------------------- */

/* Its owner sees the mark and ends the attempt. */
static enum status ask_owner(struct job_change *change, struct err *err)
{
    struct work *work = &change->work;
    struct run_row *run = NULL;
    if (change->task->job->cancel_asked)
        return STATUS_OK;
    if (work_run(work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    /* After the task's row, as an outcome does: else the two would wait for each other. */
    db_bulk_add(&work->saver.bulks[SAVER_JOB_CANCEL], change->task->id);
    work_event(work, EVENT_JOB_CANCEL_ASKED, run, change->task, NULL);
    /* Its row is written too, so that of a cancel and an end at the same time one comes first. */
    change->task->dirty = true;
    return db_notify(work->db, STORE_CHANNEL_STOP, "", err);
}

static enum status cancel(struct job_change *change, struct err *err)
{
    struct task_row *task = change->task;
    struct run_row *run = NULL;
    if (task_state_is_final(task->state))
        return refuse(change, "is over already", err);
    if (task->state == TASK_RUNNING)
        return ask_owner(change, err);
    if (work_run(&change->work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    return work_end_task(&change->work, run, task,
                         (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
}

enum status store_job_cancel(struct store *store, int64_t id, const char *actor, struct err *err)
{
    return change_job(store, &(struct change_call){.job = id, .actor = actor, .decide = cancel},
                      err);
}

/* --- retry ----------------------------------------------------------------------------------- */

static const char JOB_RENEW[] =
    "UPDATE job SET cancel_asked = 0, result = NULL, error = NULL, ended_as = NULL WHERE id = $1";
static const char VALUES_DROP[] = "DELETE FROM value WHERE task = $1";

static enum status forget_outcome(struct job_change *change, struct err *err)
{
    struct db *db = change->work.db;
    const struct task_row *task = change->task;
    bool had_attempt =
        task->attempt > 0 && task_state_is_final(task->state) && task->started_at_us != 0;
    if (had_attempt && task_row_keep_attempt(db, task, task->state, err) != STATUS_OK)
        return err->code;
    if (db_do(db, err, JOB_RENEW, "i", task->id) != STATUS_OK ||
        db_do(db, err, VALUES_DROP, "i", task->id) != STATUS_OK)
        return err->code;
    return work_forget_letter(&change->work, task, err);
}

static enum status retry(struct job_change *change, struct err *err)
{
    struct task_row *task = change->task;
    struct run_row *run = NULL;
    if (task->state == TASK_RUNNING)
        return refuse(change, "runs; cancel it first", err);
    if (task->state == TASK_QUEUED)
        return refuse(change, "waits for a free slot already", err);
    if (forget_outcome(change, err) != STATUS_OK ||
        work_run(&change->work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    task->generation++;
    task->failures = task->losses = 0;
    task->host = 0;
    task->due_at_us = task->started_at_us = task->ended_at_us = 0;
    task->reason = REASON_NONE;
    task->exit_code = -1;
    task->detail = NULL;
    task->log_bytes = task->cpu_ms = task->rss_kb = 0;
    task->state = TASK_NONE;
    work_queue(&change->work, task);
    work_event(&change->work, EVENT_TASK_CLEARED, run, task, NULL);
    return STATUS_OK;
}

enum status store_job_retry(struct store *store, int64_t id, const char *actor, struct err *err)
{
    return change_job(store, &(struct change_call){.job = id, .actor = actor, .decide = retry},
                      err);
}

/* --- reschedule ------------------------------------------------------------------------------ */

static enum status reschedule(struct job_change *change, struct err *err)
{
    struct task_row *task = change->task;
    struct run_row *run = NULL;
    if (task_state_is_final(task->state))
        return refuse(change, "is over already", err);
    if (task->state == TASK_RUNNING)
        return refuse(change, "runs already", err);
    if (work_run(&change->work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    if (change->run_after_us > change->work.now_us) {
        task->state = TASK_UP_FOR_RETRY;
        task->due_at_us = change->run_after_us;
        task->queued_at_us = 0;
        task->dirty = true;
    } else if (task->state != TASK_QUEUED) {
        task->due_at_us = 0;
        work_queue(&change->work, task);
    }
    work_event(&change->work, EVENT_JOB_RESCHEDULED, run, task, NULL);
    return STATUS_OK;
}

enum status store_job_reschedule(struct store *store, int64_t id, int64_t run_after_us,
                                 const char *actor, struct err *err)
{
    return change_job(
        store,
        &(struct change_call){
            .job = id, .actor = actor, .decide = reschedule, .run_after_us = run_after_us},
        err);
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
    enum status status = db_query(db, &stmt, err, PURGE_FIND, "iiti", purge->ended_before_us,
                                  purging->before, purge->filter.queue, (int64_t)PURGE_PORTION);
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
        status = db_bulk_run(db, &bulk, form == 0 ? (int64_t)purging->count : DB_ANY_CHANGES, err);
        db_bulk_fini(&bulk);
    }
    return status;
}

static enum status tell_purge(struct store *store, const struct purging *purging, struct err *err)
{
    CLEANUP(mem_freep) char *data = mem_format("{\"jobs\":%zu}", purging->count);
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
        tell_purge(store, purging, err) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; purging->purge->each != NULL && i < purging->count; i++)
        purging->purge->each(purging->purge->context, purging->ids[i]);
    return STATUS_OK;
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
