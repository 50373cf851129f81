#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/db.h"

const struct task_def *task_row_def(const struct run_row *run, const struct task_row *task)
{
    if (task->job != NULL)
        return &task->job->def;
    CHECK(task->node >= 0);
    CHECK((size_t)task->node < run->dag->tasks_count);
    return &run->dag->tasks[task->node];
}

bool task_row_is_expander(const struct run_row *run, const struct task_row *task)
{
    return task->map_index < 0 && task_def_is_mapped(task_row_def(run, task));
}

/* More than any two priorities are apart. */
#define RANK_BEHIND ((int64_t)1 << 40)

struct ready_key ready_key_of(const struct run_row *run, const struct task_row *task)
{
    if (task->job != NULL)
        return (struct ready_key){
            .class = task->job->class,
            .lane = task->job->lane,
            .rank = task->job->rank,
            .age_us = task->job->created_at_us,
            .task = task->id,
        };
    const struct task_def *def = task_row_def(run, task);
    int64_t behind = run->is_behind ? RANK_BEHIND : 0;
    bool is_inline = task_row_is_expander(run, task) || task_def_is_inline(def);
    return (struct ready_key){
        .scope = run->scope,
        .class = is_inline ? CLASS_INLINE : CLASS_PROCESS,
        .lane = run->lanes[task->node],
        .rank = behind - def->weight,
        .age_us = run->created_at_us,
        .task = task->id,
    };
}

/* --- runs ------------------------------------------------------------------------------------ */

#define RUN_COLUMNS                                                                                \
    "id, dag, version, scope, state, first_task, cancel_asked, open_main, open_finally,"           \
    " failures, started_at_us, ended_at_us, row_version, active, created_at_us, admission,"        \
    " backfill, awaited, queue, behind"

static const char RUN_LOAD[] = "SELECT " RUN_COLUMNS " FROM run WHERE id = $1";
static const char *const RUNS_LOAD[] = {
    [RUN_UNLOCKED] = "SELECT " RUN_COLUMNS " FROM run WHERE id = ANY($1) ORDER BY id",
    [RUN_LOCK] = "SELECT " RUN_COLUMNS " FROM run WHERE id = ANY($1) ORDER BY id FOR UPDATE",
    [RUN_TRY_LOCK] =
        "SELECT " RUN_COLUMNS " FROM run WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED",
};

static void read_run(struct db_stmt *stmt, bool locked, struct run_row *out)
{
    *out = (struct run_row){
        .id = db_int(stmt, 0),
        .dag_key = db_int(stmt, 1),
        .version = db_int(stmt, 2),
        .scope = db_int(stmt, 3),
        .state = (enum run_state)db_int(stmt, 4),
        .first_task = db_int(stmt, 5),
        .cancel_asked = db_int(stmt, 6),
        .open_main = db_int(stmt, 7),
        .open_finally = db_int(stmt, 8),
        .failures = db_int(stmt, 9),
        .started_at_us = db_int(stmt, 10),
        .ended_at_us = db_int(stmt, 11),
        .row_version = db_int(stmt, 12),
        .active = db_int(stmt, 13),
        .created_at_us = db_int(stmt, 14),
        .admission = (enum admission)db_int(stmt, 15),
        .backfill = db_int(stmt, 16),
        .is_awaited = db_int(stmt, 17) != 0,
        .queue = db_int(stmt, 18),
        .is_behind = db_int(stmt, 19) != 0,
        .locked = locked,
    };
    out->read_state = out->state;
    out->finally_released = out->open_main == 0;
}

enum status run_row_load(struct db *db, int64_t id, struct run_row *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(db, &stmt, err, RUN_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "load run %lld", (long long)id);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
    read_run(stmt, db_dialect(db) == DB_SQLITE, out);
    db_reset(stmt);
    return STATUS_OK;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static enum status load_runs_singly(struct db *db, struct id_span ids,
                                    void (*each)(void *context, const struct run_row *row),
                                    void *context, struct err *err)
{
    for (size_t i = 0; i < ids.count; i++) {
        struct run_row row;
        enum status status = run_row_load(db, ids.items[i], &row, err);
        if (status == STATUS_OK)
            each(context, &row);
        else if (status != STATUS_NOT_FOUND)
            return status;
    }
    return STATUS_OK;
}

enum status run_rows_load(struct db *db, struct id_span ids, enum run_lock lock,
                          void (*each)(void *context, const struct run_row *row), void *context,
                          struct err *err)
{
    if (ids.count == 0)
        return STATUS_OK;
    CLEANUP(mem_freep) int64_t *sorted = mem_alloc(ids.count * sizeof *sorted);
    memcpy(sorted, ids.items, ids.count * sizeof *sorted);
    qsort(sorted, ids.count, sizeof *sorted, by_number);
    if (db_dialect(db) == DB_SQLITE)
        return load_runs_singly(db, (struct id_span){sorted, ids.count}, each, context, err);
    struct db_stmt *stmt = NULL;
    enum status status = db_query(db, &stmt, err, RUNS_LOAD[lock], "I", sorted, ids.count);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct run_row row;
        read_run(stmt, lock != RUN_UNLOCKED, &row);
        each(context, &row);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "load runs");
}

/* --- tasks ----------------------------------------------------------------------------------- */

#define TASK_COLUMNS                                                                               \
    "id, run, node, map_index, generation, state, attempt, nonce, host, failures, losses,"         \
    " parents, p_success, p_failed, p_upstream, p_skipped, p_removed, instance_base, inserted,"    \
    " due_at_us, queued_at_us, started_at_us, ended_at_us, reason, exit_code, detail, label,"      \
    " log_bytes, cpu_ms, rss_kb, row_version"

static const char TASK_LOAD[] = "SELECT " TASK_COLUMNS " FROM task WHERE id = $1";
static const char TASKS_LOAD[] = "SELECT " TASK_COLUMNS " FROM task WHERE id = ANY($1)";
static const char TASK_RANGE[] =
    "SELECT " TASK_COLUMNS " FROM task WHERE id >= $1 AND id < $2 ORDER BY id";

bool task_row_is_expanding(const struct task_row *task)
{
    return task->state == TASK_DEFERRED && task->instance_base != 0 &&
           task->inserted < task->counts.total;
}

bool task_row_needs_slots(const struct run_row *run, const struct task_row *task)
{
    return task_row_def(run, task)->pool != NULL && !task_row_is_expander(run, task);
}

bool task_row_left_slots(const struct run_row *run, const struct task_row *task)
{
    return !task->fresh && task->read_state == TASK_RUNNING &&
           (task->state != TASK_RUNNING || task->attempt != task->read_attempt) &&
           task_row_needs_slots(run, task);
}

bool task_waits_for_pool(enum task_state state, enum reason reason)
{
    return state == TASK_SCHEDULED && (reason == REASON_POOL || reason == REASON_CAP);
}

static const enum reason REASON_OF_WISH[] = {
    [WISH_NONE] = REASON_NONE, [WISH_STOP] = REASON_STOPPING, [WISH_CLEAR] = REASON_CLEARING};

static enum task_wish wish_of(enum task_state state, enum reason reason)
{
    bool may_have = state == TASK_RUNNING || state == TASK_DEFERRED;
    return may_have && reason == REASON_STOPPING   ? WISH_STOP
           : may_have && reason == REASON_CLEARING ? WISH_CLEAR
                                                   : WISH_NONE;
}

void task_row_set_wish(struct task_row *task, enum task_wish wish)
{
    task->wish = wish;
    task->reason = REASON_OF_WISH[wish];
    task->dirty = true;
}

void task_row_note_read(struct task_row *task)
{
    task->read_wish = task->wish;
    task->read_reason = task->reason;
    task->read_gate = task->gate;
    task->read_state = task->state;
    task->read_generation = task->generation;
    task->read_attempt = task->attempt;
    task->read_host = task->host;
    task->read_due_at_us = task->due_at_us;
    task->read_expanding = task_row_is_expanding(task);
}

static const char *copy_text(struct arena *arena, struct db_stmt *stmt, int column)
{
    const char *text = db_text(stmt, column);
    return text != NULL && arena != NULL ? arena_strdup(arena, text) : text;
}

/* With an arena the texts are copied into it; without, they are borrowed until the next step. */
static void read_task(struct db_stmt *stmt, struct arena *arena, struct task_row *out)
{
    *out = (struct task_row){
        .id = db_int(stmt, 0),
        .run = db_int(stmt, 1),
        .node = db_int(stmt, 2),
        .map_index = db_int(stmt, 3),
        .generation = db_int(stmt, 4),
        .state = (enum task_state)db_int(stmt, 5),
        .attempt = db_int(stmt, 6),
        .host = db_int(stmt, 8),
        .failures = db_int(stmt, 9),
        .losses = db_int(stmt, 10),
        .counts =
            {
                .total = db_int(stmt, 11),
                .success = db_int(stmt, 12),
                .failed = db_int(stmt, 13),
                .upstream_failed = db_int(stmt, 14),
                .skipped = db_int(stmt, 15),
                .removed = db_int(stmt, 16),
            },
        .instance_base = db_int(stmt, 17),
        .inserted = db_int(stmt, 18),
        .due_at_us = db_int(stmt, 19),
        .queued_at_us = db_int(stmt, 20),
        .started_at_us = db_int(stmt, 21),
        .ended_at_us = db_int(stmt, 22),
        .reason = (enum reason)db_int(stmt, 23),
        .exit_code = db_is_null(stmt, 24) ? -1 : db_int(stmt, 24),
        .detail = copy_text(arena, stmt, 25),
        .label = copy_text(arena, stmt, 26),
        .log_bytes = db_int(stmt, 27),
        .cpu_ms = db_int(stmt, 28),
        .rss_kb = db_int(stmt, 29),
        .row_version = db_int(stmt, 30),
        .cause = -1,
    };
    size_t size = 0;
    const void *nonce = db_blob(stmt, 7, &size);
    if (nonce != NULL && size == sizeof out->nonce) {
        memcpy(&out->nonce, nonce, sizeof out->nonce);
        out->has_nonce = true;
    }
    out->wish = wish_of(out->state, out->reason);
    task_row_note_read(out);
}

enum status task_row_load(struct db *db, struct arena *arena, int64_t id, struct task_row *out,
                          struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(db, &stmt, err, TASK_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "load task %lld", (long long)id);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no task %lld", (long long)id);
    read_task(stmt, arena, out);
    db_reset(stmt);
    return STATUS_OK;
}

enum status task_rows_load(struct db *db, struct arena *arena, struct id_span ids,
                           void (*each)(void *context, const struct task_row *row), void *context,
                           struct err *err)
{
    struct task_row task;
    struct db_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    if (db_dialect(db) == DB_SQLITE) {
        for (size_t i = 0; i < ids.count; i++) {
            status = task_row_load(db, arena, ids.items[i], &task, err);
            if (status == STATUS_OK)
                each(context, &task);
            else if (status != STATUS_NOT_FOUND)
                return status;
        }
        return STATUS_OK;
    }
    if (ids.count > 0)
        status = db_query(db, &stmt, err, TASKS_LOAD, "I", ids.items, ids.count);
    while (ids.count > 0 && status == STATUS_OK && db_next(stmt, &status, err)) {
        read_task(stmt, arena, &task);
        each(context, &task);
    }
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "load tasks");
}

enum status task_rows_each(struct db *db, int64_t first, int64_t count,
                           enum status (*each)(void *context, const struct task_row *row,
                                               struct err *err),
                           void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(db, &stmt, err, TASK_RANGE, "ii", first, first + count) != STATUS_OK)
        return err->code;
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err_wrap(err, "list tasks");
        if (!row)
            return STATUS_OK;
        struct task_row task;
        read_task(stmt, NULL, &task);
        if (each(context, &task, err) != STATUS_OK) {
            db_reset(stmt);
            return err->code;
        }
    }
}

/* An attempt that another should have followed, but did not, was kept before: that record stays. */
static const char ATTEMPT_KEEP[] =
    "INSERT INTO attempt (task, attempt, generation, state, nonce, host, queued_at_us,"
    " started_at_us, ended_at_us, reason, exit_code, detail, log_bytes, cpu_ms, rss_kb)"
    " SELECT id, $2, $3, $4, nonce, $5, queued_at_us, $6, $7, $8, $9, $10, $11, $12, $13"
    " FROM task WHERE id = $1 ON CONFLICT (task, attempt) DO NOTHING";

enum status task_row_keep_attempt(struct db *db, const struct task_row *task, enum task_state state,
                                  struct err *err)
{
    if (db_later(db, err, ATTEMPT_KEEP, "iiiizzzixtzzz", task->id, task->attempt, task->generation,
                 (int64_t)state, task->host, task->started_at_us, task->ended_at_us,
                 (int64_t)task->reason, task->exit_code, task->detail, task->log_bytes,
                 task->cpu_ms, task->rss_kb) != STATUS_OK)
        return err_wrap(err, "keep attempt %lld of task %lld", (long long)task->attempt,
                        (long long)task->id);
    return STATUS_OK;
}
