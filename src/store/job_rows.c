#include <string.h>

#include "base/check.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "model/dag_fields.h"
#include "store/db.h"
#include "store/job_priv.h"

/* A DAG of one task that nothing depends on: where the rules of runs ask for one. */
static const struct dag JOB_DAG = {.id = "job", .tasks_count = 0};

struct run_row *job_run_new(struct arena *arena)
{
    struct run_row *run = arena_alloc(arena, sizeof *run);
    *run = (struct run_row){
        .id = RUN_OF_JOBS,
        .state = RUN_RUNNING,
        .read_state = RUN_RUNNING,
        .dag = &JOB_DAG,
        .locked = true,
    };
    return run;
}

enum claim_class job_class_of(const char *handler)
{
    return strcmp(handler, "noop") == 0 ? CLASS_INLINE : CLASS_PROCESS;
}

static const char JOB_LOAD[] =
    "SELECT " JOB_ROW_COLUMNS " FROM job j JOIN queue q ON q.id = j.queue WHERE j.id = $1";
static const char JOBS_LOAD[] =
    "SELECT " JOB_ROW_COLUMNS " FROM job j JOIN queue q ON q.id = j.queue WHERE j.id = ANY($1)";

static struct retry_policy policy_of(int64_t retries, int64_t delay_ms)
{
    struct retry_policy policy = RETRY_POLICY_DEFAULT;
    policy.retries = retries;
    if (delay_ms >= 0) {
        policy.delay_ms = delay_ms;
        policy.backoff = 1;
        policy.max_delay_ms = delay_ms;
    }
    return policy;
}

const struct job_row *job_row_read(struct db_stmt *stmt, struct arena *arena)
{
    struct job_row *job = arena_alloc(arena, sizeof *job);
    *job = (struct job_row){
        .lane = db_int(stmt, 1),
        .rank = db_int(stmt, 2),
        .created_at_us = db_int(stmt, 3),
        .handler = arena_strdup(arena, db_text(stmt, 4)),
        .payload = arena_strdup(arena, db_text(stmt, 5)),
        .namespace_ = arena_strdup(arena, db_text(stmt, 6)),
        .queue = arena_strdup(arena, db_text(stmt, 11)),
        .cancel_asked = db_int(stmt, 12) != 0,
    };
    job->class = job_class_of(job->handler);
    job->def = *task_def_default();
    job->def.id = job->handler;
    job->def.retry = policy_of(db_int(stmt, 7), db_int(stmt, 8));
    job->def.timeout_ms = db_int(stmt, 9);
    job->def.on_lost_lease = db_int(stmt, 10) != 0 ? LOST_LEASE_FINISH : LOST_LEASE_STOP;
    job->def.queue = job->queue;
    job->def.priority = -job->rank;
    return job;
}

static enum status give_jobs(struct db_stmt *stmt, struct arena *arena, const struct idmap *rows,
                             struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err)) {
        struct task_row *row = idmap_find(rows, db_int(stmt, 0));
        CHECK(row != NULL);
        row->job = job_row_read(stmt, arena);
    }
    return status;
}

static enum status load_jobs(struct db *db, struct arena *arena, const struct idmap *rows,
                             const int64_t *ids, size_t count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_dialect(db) == DB_POSTGRES)
        return db_query(db, &stmt, err, JOBS_LOAD, "I", ids, count) != STATUS_OK
                   ? err->code
                   : give_jobs(stmt, arena, rows, err);
    for (size_t i = 0; i < count; i++)
        if (db_query(db, &stmt, err, JOB_LOAD, "i", ids[i]) != STATUS_OK ||
            give_jobs(stmt, arena, rows, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status job_rows_complete(struct db *db, struct arena *arena, struct task_row *const *rows,
                              size_t count, struct err *err)
{
    CLEANUP(mem_freep) int64_t *ids = mem_alloc((count + 1) * sizeof *ids);
    CLEANUP(idmap_freep) struct idmap *jobs = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i]->run != RUN_OF_JOBS)
            continue;
        if (jobs == NULL)
            jobs = idmap_new();
        idmap_set(jobs, rows[i]->id, rows[i]);
        ids[found++] = rows[i]->id;
    }
    if (found == 0)
        return STATUS_OK;
    if (load_jobs(db, arena, jobs, ids, found, err) != STATUS_OK)
        return err_wrap(err, "load jobs");
    for (size_t i = 0; i < count; i++)
        if (rows[i]->run == RUN_OF_JOBS && rows[i]->job == NULL)
            return err_set(err, STATUS_CORRUPT, "job %lld has no job row", (long long)rows[i]->id);
    return STATUS_OK;
}
