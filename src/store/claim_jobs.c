/*
 * claim_jobs: jobs claimed in one statement.
 *
 * A job has no run whose limits it must keep: what stands first in a lane can be taken as it is. So
 * the database itself moves the rows, and nothing is read that is not needed afterwards. Tasks of
 * runs between the jobs are left to the longer way. Only where statements cost a round trip.
 */
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
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
    " AND (rank, age_us, task) > ($10, $11, $12)"
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

static bool is_before(const struct job_place *a, const struct job_place *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->age_us != b->age_us ? a->age_us < b->age_us : a->task < b->task;
}

enum status claim_jobs(struct work *work, const struct job_window *window, struct jobs_taken *out,
                       struct err *err)
{
    struct nonce seed;
    rng_bytes(&seed, sizeof seed);
    const struct job_place after = window->after != NULL ? *window->after : JOB_PLACE_FIRST;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, TAKE_JOBS, "iiiiiibtiiii", window->scope,
                                  (int64_t)window->class, window->lane, window->most, window->host,
                                  window->now_us, &seed, sizeof seed, window->queue,
                                  (int64_t)window->is_unseen, after.rank, after.age_us, after.task);
    *out = (struct jobs_taken){.first = work->rows.count, .last = after};
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->seen = db_int(stmt, AT_TOP);
        if (db_is_null(stmt, 0))
            continue;
        const struct task_row row = read_taken(stmt, window, work->arena);
        (void)work_add(work, &row);
        out->count++;
        const struct job_place place = {row.job->rank, row.job->created_at_us, row.id};
        if (is_before(&out->last, &place))
            out->last = place;
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "claim jobs");
}

/* --- going on -------------------------------------------------------------------------------- */

enum { TRAIL_LEAST_US = 50000, TRAIL_MOST_US = 2000000, TRAIL_FACTOR = 20 };

void claim_leave_trail(struct work *work, const struct job_window *window,
                       const struct jobs_taken *taken, int64_t next_due_us, int64_t spent_us)
{
    int64_t spared_us = MAX(TRAIL_FACTOR * spent_us, (int64_t)TRAIL_LEAST_US);
    own_jobs_set_trail(work->store->own_jobs,
                       &(struct job_trail){
                           .origin = {window->lane, window->class, window->queue},
                           .last = taken->last,
                           .next_due_us = next_due_us,
                           .until_us = clock_mono_us() + MIN(spared_us, (int64_t)TRAIL_MOST_US),
                       });
}

/* The same room as before, and nothing that only a look could find. */
static bool may_follow(const struct work *work, const struct advance_request *request,
                       const struct job_trail *trail)
{
    bool is_due = trail->next_due_us != 0 && trail->next_due_us <= work->now_us;
    return !is_due && request->scope == 0 && !request->jobs_only && work->ready.count == 0 &&
           work->run_rows.count == 0;
}

enum status claim_follow_trail(struct work *work, const struct advance_request *request,
                               struct claim_list *claims, int64_t slots[CLASS_COUNT],
                               int64_t *out_lane, struct err *err)
{
    const struct job_trail *found = own_jobs_trail(work->store->own_jobs);
    *out_lane = 0;
    if (found == NULL)
        return STATUS_OK;
    work_read_clock(work);
    if (!may_follow(work, request, found))
        return STATUS_OK;
    struct job_trail trail = *found;
    const struct job_window window = {
        .class = trail.origin.class,
        .lane = trail.origin.lane,
        .queue = trail.origin.queue,
        .host = request->host,
        .now_us = work->now_us,
        .most = slots[trail.origin.class],
        .after = &trail.last,
        .is_unseen = true,
    };
    struct run_row *run = NULL;
    struct jobs_taken taken = {0};
    if (window.most <= 0)
        return STATUS_OK;
    if (claim_jobs(work, &window, &taken, err) != STATUS_OK ||
        work_run(work, RUN_OF_JOBS, &run, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < taken.count; i++)
        claim_list_add(claims, run, work->rows.items[taken.first + i]);
    slots[trail.origin.class] -= (int64_t)taken.count;
    bool is_filled = slots[trail.origin.class] == 0;
    *out_lane = is_filled ? window.lane : 0;
    trail.last = taken.last;
    trail.until_us = is_filled ? trail.until_us : 0;
    own_jobs_set_trail(work->store->own_jobs, &trail);
    claims->next_due_us = trail.next_due_us;
    claims->knows_next_due = is_filled;
    return STATUS_OK;
}
