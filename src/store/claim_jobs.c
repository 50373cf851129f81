/*
 * claim_jobs: jobs claimed in one statement.
 *
 * A job has no run whose limits it must keep: what stands first in a lane can be taken as it is. So
 * the database itself moves the rows, and nothing is read that is not needed afterwards. Tasks of
 * runs between the jobs are left to the longer way. Only where statements cost a round trip.
 */
#include <string.h>

#include "base/check.h"
#include "base/rng.h"
#include "store/claim_priv.h"
#include "store/job_priv.h"

_Static_assert(TASK_QUEUED == 2 && TASK_RUNNING == 3 && RUN_OF_JOBS == 0, "as in the SQL");

/*
 * Lists of ids instead of joins: whatever the statistics say, rows are looked up by key. What could
 * not be taken keeps its place, so the statement is whole in itself and needs no transaction around
 * it. A nonce is made of this call's random bytes, which nobody else knows, and the id. There is a
 * row with the count even if no job was taken.
 */
static const char TAKE_JOBS[] =
    "WITH top AS MATERIALIZED ("
    " SELECT ctid AS place, task, run FROM ready WHERE scope = $1 AND class = $2 AND lane = $3"
    " AND ($9 = 0 OR EXISTS (SELECT FROM lane l JOIN queue q ON q.id = l.queue"
    " WHERE l.id = $3 AND q.paused = 0 AND q.max_running = 0))"
    " ORDER BY scope, class, lane, rank, age_us, task LIMIT $4 FOR UPDATE SKIP LOCKED),"
    " taken AS (UPDATE task t SET state = 3, attempt = t.attempt + 1,"
    " nonce = substr(sha256($7::bytea || int8send(t.id)), 1, 16), host = $5,"
    " started_at_us = CASE WHEN $6 > 0 THEN $6 ELSE"
    " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint END,"
    " ended_at_us = NULL, due_at_us = NULL, reason = 0, exit_code = NULL, detail = NULL,"
    " log_bytes = NULL, cpu_ms = NULL, rss_kb = NULL, row_version = t.row_version + 1"
    " FROM job j, (SELECT $8::text AS name) q"
    " WHERE t.id = ANY (ARRAY (SELECT task FROM top WHERE run = 0)) AND j.id = t.id"
    " AND t.state = 2 AND j.cancel_asked = 0"
    " RETURNING " JOB_ROW_COLUMNS ", t.generation, t.attempt, t.nonce, t.failures, t.losses,"
    " t.queued_at_us, t.label, t.row_version, t.started_at_us),"
    " gone AS (DELETE FROM ready WHERE ctid = ANY (ARRAY ("
    "SELECT top.place FROM top JOIN taken ON taken.id = top.task))),"
    " held AS (INSERT INTO running (host, task, lane) SELECT $5, id, lane FROM taken)"
    " SELECT taken.*, (SELECT count(*) FROM top)"
    " FROM (VALUES (1)) one LEFT JOIN taken ON true";

enum { AT_TASK = JOB_ROW_COLUMNS_COUNT, AT_TOP = AT_TASK + 9 };

static struct task_row read_taken(struct db_stmt *stmt, const struct job_window *window,
                                  struct arena *arena)
{
    struct task_row task = {
        .id = db_int(stmt, 0),
        .run = RUN_OF_JOBS,
        .map_index = -1,
        .generation = db_int(stmt, AT_TASK),
        .state = TASK_RUNNING,
        .attempt = db_int(stmt, AT_TASK + 1),
        .host = window->host,
        .failures = db_int(stmt, AT_TASK + 3),
        .losses = db_int(stmt, AT_TASK + 4),
        .queued_at_us = db_int(stmt, AT_TASK + 5),
        .started_at_us = db_int(stmt, AT_TASK + 8),
        .exit_code = -1,
        .label = arena_strdup_null(arena, db_text(stmt, AT_TASK + 6)),
        .row_version = db_int(stmt, AT_TASK + 7),
        .cause = -1,
        .is_taken = true,
        .job = job_row_read(stmt, arena),
    };
    size_t size = 0;
    const void *nonce = db_blob(stmt, AT_TASK + 2, &size);
    CHECK(nonce != NULL);
    CHECK(size == sizeof task.nonce);
    memcpy(&task.nonce, nonce, sizeof task.nonce);
    task.has_nonce = true;
    task_row_note_read(&task);
    return task;
}

enum status claim_jobs(struct work *work, const struct job_window *window, struct jobs_taken *out,
                       struct err *err)
{
    struct nonce seed;
    rng_bytes(&seed, sizeof seed);
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(work->db, &stmt, err, TAKE_JOBS, "iiiiiibti", window->scope,
                 (int64_t)window->class, window->lane, window->most, window->host, window->now_us,
                 &seed, sizeof seed, window->queue, (int64_t)window->is_unseen);
    *out = (struct jobs_taken){.first = work->rows.count};
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->seen = db_int(stmt, AT_TOP);
        if (db_is_null(stmt, 0))
            continue;
        const struct task_row row = read_taken(stmt, window, work->arena);
        (void)work_add(work, &row);
        out->count++;
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "claim jobs");
}
