#include "store/rows.h"

#include <string.h>

#include "base/check.h"
#include "store/db.h"

const struct task_def *task_row_def(const struct run_row *run, const struct task_row *task)
{
    CHECK(task->node >= 0);
    CHECK((size_t)task->node < run->dag->tasks_count);
    return &run->dag->tasks[task->node];
}

bool task_row_is_expander(const struct run_row *run, const struct task_row *task)
{
    return task->map_index < 0 && task_def_is_mapped(task_row_def(run, task));
}

struct ready_key ready_key_of(const struct run_row *run, const struct task_row *task)
{
    const struct task_def *def = task_row_def(run, task);
    bool is_inline = task_row_is_expander(run, task) || task_kind_is_inline(def->kind);
    return (struct ready_key){
        .scope = run->scope,
        .class = is_inline ? CLASS_INLINE : CLASS_PROCESS,
        .rank = -def->priority,
        .run = run->id,
        .task = task->id,
    };
}

/* --- runs ------------------------------------------------------------------------------------ */

static const char RUN_LOAD[] =
    "SELECT id, dag, version, scope, state, first_task, cancel_asked, open_main, open_finally,"
    " failures, started_at_us, ended_at_us, row_version, active FROM run WHERE id = $1";

enum status run_row_load(struct db *db, int64_t id, struct run_row *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(db, &stmt, err, RUN_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "load run %lld", (long long)id);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no run %lld", (long long)id);
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
    };
    out->read_state = out->state;
    out->finally_released = out->open_main == 0;
    db_reset(stmt);
    return STATUS_OK;
}

static const char RUN_SAVE[] =
    "UPDATE run SET scope = $4, state = $5, cancel_asked = $6, open_main = $7, open_finally = $8,"
    " failures = $9, started_at_us = $10, ended_at_us = $11, active = $12,"
    " row_version = row_version + 1"
    " WHERE id = $1 AND state = $2 AND row_version = $3";

enum status run_row_save(struct db *db, struct run_row *run, struct err *err)
{
    if (db_do(db, err, RUN_SAVE, "iiiiiiiiizzi", run->id, (int64_t)run->read_state,
              run->row_version, run->scope, (int64_t)run->state, run->cancel_asked, run->open_main,
              run->open_finally, run->failures, run->started_at_us, run->ended_at_us,
              run->active) != STATUS_OK)
        return err_wrap(err, "save run %lld", (long long)run->id);
    if (db_changes(db) != 1)
        return err_set(err, STATUS_CONFLICT, "run %lld was changed meanwhile", (long long)run->id);
    run->row_version++;
    run->read_state = run->state;
    run->dirty = false;
    return STATUS_OK;
}

/* --- tasks ----------------------------------------------------------------------------------- */

#define TASK_COLUMNS                                                                               \
    "id, run, node, map_index, generation, state, attempt, nonce, host, failures, losses,"         \
    " parents, p_success, p_failed, p_upstream, p_skipped, p_removed, instance_base, inserted,"    \
    " due_at_us, queued_at_us, started_at_us, ended_at_us, reason, exit_code, detail, label,"      \
    " log_bytes, cpu_ms, rss_kb, row_version"

static const char TASK_LOAD[] = "SELECT " TASK_COLUMNS " FROM task WHERE id = $1";
static const char TASK_RANGE[] =
    "SELECT " TASK_COLUMNS " FROM task WHERE id >= $1 AND id < $2 ORDER BY id";

static bool is_expanding(const struct task_row *task)
{
    return task->state == TASK_DEFERRED && task->instance_base != 0 &&
           task->inserted < task->counts.total;
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
    out->read_state = out->state;
    out->read_generation = out->generation;
    out->read_attempt = out->attempt;
    out->read_host = out->host;
    out->read_due_at_us = out->due_at_us;
    out->read_expanding = is_expanding(out);
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

/* --- the index tables ------------------------------------------------------------------------ */

static const char READY_ADD[] = "INSERT INTO ready (scope, class, rank, run, task, queue)"
                                " VALUES ($1, $2, $3, $4, $5, $6)";
static const char READY_REMOVE[] = "DELETE FROM ready WHERE scope = $1 AND class = $2"
                                   " AND rank = $3 AND run = $4 AND task = $5";
static const char GATE_ADD[] = "INSERT INTO gate (run, rank, task) VALUES ($1, $2, $3)";
static const char GATE_REMOVE[] = "DELETE FROM gate WHERE run = $1 AND rank = $2 AND task = $3";
static const char TIMER_ADD[] = "INSERT INTO timer (scope, due_at_us, task) VALUES ($1, $2, $3)";
static const char TIMER_REMOVE[] =
    "DELETE FROM timer WHERE scope = $1 AND due_at_us = $2 AND task = $3";
static const char RUNNING_ADD[] = "INSERT INTO running (host, task) VALUES ($1, $2)";
static const char RUNNING_REMOVE[] = "DELETE FROM running WHERE host = $1 AND task = $2";
static const char EXPANSION_ADD[] = "INSERT INTO expansion (scope, task) VALUES ($1, $2)";
static const char EXPANSION_REMOVE[] = "DELETE FROM expansion WHERE scope = $1 AND task = $2";

static enum status leave_indexes(struct db *db, const struct run_row *run,
                                 const struct task_row *task, struct err *err)
{
    struct ready_key key = ready_key_of(run, task);
    if (task->read_state == TASK_QUEUED)
        return db_do(db, err, READY_REMOVE, "iiiii", key.scope, (int64_t)key.class, key.rank,
                     key.run, key.task);
    if (task->read_state == TASK_SCHEDULED)
        return db_do(db, err, GATE_REMOVE, "iii", key.run, key.rank, key.task);
    if (task->read_state == TASK_UP_FOR_RETRY)
        return db_do(db, err, TIMER_REMOVE, "iii", run->scope, task->read_due_at_us, task->id);
    if (task->read_state == TASK_RUNNING)
        return db_do(db, err, RUNNING_REMOVE, "ii", task->read_host, task->id);
    if (task->read_expanding)
        return db_do(db, err, EXPANSION_REMOVE, "ii", run->scope, task->id);
    return STATUS_OK;
}

static enum status enter_indexes(struct db *db, const struct run_row *run,
                                 const struct task_row *task, struct err *err)
{
    struct ready_key key = ready_key_of(run, task);
    if (task->state == TASK_QUEUED)
        return db_do(db, err, READY_ADD, "iiiiit", key.scope, (int64_t)key.class, key.rank, key.run,
                     key.task, task_row_def(run, task)->queue);
    if (task->state == TASK_SCHEDULED)
        return db_do(db, err, GATE_ADD, "iii", key.run, key.rank, key.task);
    if (task->state == TASK_UP_FOR_RETRY)
        return db_do(db, err, TIMER_ADD, "iii", run->scope, task->due_at_us, task->id);
    if (task->state == TASK_RUNNING)
        return db_do(db, err, RUNNING_ADD, "ii", task->host, task->id);
    if (is_expanding(task))
        return db_do(db, err, EXPANSION_ADD, "ii", run->scope, task->id);
    return STATUS_OK;
}

static bool indexes_stay(const struct task_row *task)
{
    return !task->fresh && task->state == task->read_state && task->host == task->read_host &&
           task->due_at_us == task->read_due_at_us && is_expanding(task) == task->read_expanding;
}

/* --- saving ---------------------------------------------------------------------------------- */

static const char TASK_INSERT[] =
    "INSERT INTO task (id, run, node, map_index, generation, state, attempt, nonce, host, failures,"
    " losses, parents, p_success, p_failed, p_upstream, p_skipped, p_removed, instance_base,"
    " inserted, due_at_us, queued_at_us, started_at_us, ended_at_us, reason, row_version)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,"
    " $20, $21, $22, $23, $24, $25)";

static const char TASK_UPDATE[] =
    "UPDATE task SET generation = $5, state = $6, attempt = $7, nonce = $8, host = $9,"
    " failures = $10, losses = $11, parents = $12, p_success = $13, p_failed = $14,"
    " p_upstream = $15, p_skipped = $16, p_removed = $17, instance_base = $18, inserted = $19,"
    " due_at_us = $20, queued_at_us = $21, started_at_us = $22, ended_at_us = $23, reason = $24,"
    " exit_code = $25, detail = $26, label = $27, log_bytes = $28, cpu_ms = $29, rss_kb = $30,"
    " row_version = $4 + 1 WHERE id = $1 AND state = $2 AND attempt = $3 AND row_version = $4";

static enum status insert_task(struct db *db, const struct task_row *t, struct err *err)
{
    return db_do(db, err, TASK_INSERT, "iiiiiiibziiiiiiiizzzzzzii", t->id, t->run, t->node,
                 t->map_index, t->generation, (int64_t)t->state, t->attempt,
                 t->has_nonce ? &t->nonce : NULL, sizeof t->nonce, t->host, t->failures, t->losses,
                 t->counts.total, t->counts.success, t->counts.failed, t->counts.upstream_failed,
                 t->counts.skipped, t->counts.removed, t->instance_base, t->inserted, t->due_at_us,
                 t->queued_at_us, t->started_at_us, t->ended_at_us, (int64_t)t->reason,
                 t->row_version);
}

static enum status update_task(struct db *db, const struct task_row *t, struct err *err)
{
    if (db_do(db, err, TASK_UPDATE, "iiiiiiibziiiiiiiizzzzzzixttzzz", t->id, (int64_t)t->read_state,
              t->read_attempt, t->row_version, t->generation, (int64_t)t->state, t->attempt,
              t->has_nonce ? &t->nonce : NULL, sizeof t->nonce, t->host, t->failures, t->losses,
              t->counts.total, t->counts.success, t->counts.failed, t->counts.upstream_failed,
              t->counts.skipped, t->counts.removed, t->instance_base, t->inserted, t->due_at_us,
              t->queued_at_us, t->started_at_us, t->ended_at_us, (int64_t)t->reason, t->exit_code,
              t->detail, t->label, t->log_bytes, t->cpu_ms, t->rss_kb) != STATUS_OK)
        return err->code;
    if (db_changes(db) != 1)
        return err_set(err, STATUS_CONFLICT, "task %lld was changed meanwhile", (long long)t->id);
    return STATUS_OK;
}

enum status task_row_save(struct db *db, const struct run_row *run, struct task_row *task,
                          struct err *err)
{
    bool move = !indexes_stay(task);
    if (move && !task->fresh && leave_indexes(db, run, task, err) != STATUS_OK)
        return err_wrap(err, "save task %lld", (long long)task->id);
    enum status status = task->fresh ? insert_task(db, task, err) : update_task(db, task, err);
    if (status != STATUS_OK || (move && enter_indexes(db, run, task, err) != STATUS_OK))
        return err_wrap(err, "save task %lld", (long long)task->id);
    if (!task->fresh)
        task->row_version++;
    task->fresh = false;
    task->dirty = false;
    task->read_state = task->state;
    task->read_generation = task->generation;
    task->read_attempt = task->attempt;
    task->read_host = task->host;
    task->read_due_at_us = task->due_at_us;
    task->read_expanding = is_expanding(task);
    return STATUS_OK;
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
    if (db_do(db, err, ATTEMPT_KEEP, "iiiizzzixtzzz", task->id, task->attempt, task->generation,
              (int64_t)state, task->host, task->started_at_us, task->ended_at_us,
              (int64_t)task->reason, task->exit_code, task->detail, task->log_bytes, task->cpu_ms,
              task->rss_kb) != STATUS_OK)
        return err_wrap(err, "keep attempt %lld of task %lld", (long long)task->attempt,
                        (long long)task->id);
    return STATUS_OK;
}
