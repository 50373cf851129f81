/*
 * past: tasks that wait for the same task of the run before, by logical date.
 *
 * Such a task has its rule met and stays in the state none, with a row in `past` that names what it
 * waits for. The scheduler looks at these rows when a task of the kind ended well.
 */
#include <string.h>

#include "base/check.h"
#include "store/admission.h"
#include "store/admission_priv.h"
#include "store/channel.h"
#include "store/id_list.h"

enum { AT_ONCE_MAX = 100 };

/* Numbers of enum task_state. */
_Static_assert(TASK_SUCCESS == 4 && TASK_SKIPPED == 6 && TASK_REMOVED == 13, "as in the SQL");
#define FINE_STATES "(4, 6, 13)"

static const char RUN_BEFORE[] =
    "SELECT p.version, p.first_task FROM run r JOIN run p ON p.dag = r.dag"
    " AND p.logical_at_us < r.logical_at_us AND p.kind IN ('scheduled', 'backfill')"
    " WHERE r.id = $1 AND r.kind IN ('scheduled', 'backfill')"
    " ORDER BY p.dag DESC, p.logical_at_us DESC LIMIT 1";
static const char FINE[] = "SELECT count(*) FROM task WHERE id = $1 AND state IN " FINE_STATES;
static const char NOTE[] = "INSERT INTO past (task, run, before) VALUES ($1, $2, $3)"
                           " ON CONFLICT (task) DO UPDATE SET before = $3";
static const char FORGET[] = "DELETE FROM past WHERE task = $1";

/* *out is 0 when there is no such task. */
static enum status find_before(struct work *work, const struct run_row *run,
                               const struct task_row *task, int64_t *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    const struct dag *dag = NULL;
    *out = 0;
    if (db_query(work->db, &stmt, err, RUN_BEFORE, "i", run->id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return STATUS_OK;
    int64_t version = db_int(stmt, 0);
    int64_t first_task = db_int(stmt, 1);
    db_reset(stmt);
    if (store_dag(work->store, version, &dag, err) != STATUS_OK)
        return err->code;
    int64_t node = dag_find_task(dag, task_row_def(run, task)->id);
    *out = node >= 0 ? first_task + node : 0;
    return STATUS_OK;
}

enum status past_queue(struct work *work, const struct run_row *run, struct task_row *task,
                       struct err *err)
{
    int64_t before = 0;
    int64_t is_fine = 0;
    if (find_before(work, run, task, &before, err) != STATUS_OK ||
        (before != 0 && db_get_int(work->db, 0, &is_fine, err, FINE, "i", before) != STATUS_OK))
        return err_wrap(err, "look for the task of the run before");
    if (before != 0 && is_fine == 0)
        return db_later(work->db, err, NOTE, "iii", task->id, task->run, before);
    work_queue(work, task);
    return STATUS_OK;
}

static const char TELL_IF_ANY[] =
    "SELECT pg_notify($1, '') WHERE EXISTS (SELECT 1 FROM past WHERE before = $2)";

enum status past_note(struct work *work, const struct task_row *task, struct err *err)
{
    bool left = task->read_state == TASK_NONE && task->state != TASK_NONE && !task->fresh;
    bool is_fine = task->state == TASK_SUCCESS || task->state == TASK_SKIPPED;
    if (left && db_later(work->db, err, FORGET, "i", task->id) != STATUS_OK)
        return err->code;
    if (!is_fine || db_dialect(work->db) != DB_POSTGRES)
        return STATUS_OK;
    return db_later(work->db, err, TELL_IF_ANY, "ti", STORE_CHANNEL_NEWS, task->id);
}

/* --- going on -------------------------------------------------------------------------------- */

/* One that is not there any more keeps nobody waiting. */
static const char READY[] =
    "SELECT p.task, p.run FROM past p LEFT JOIN task b ON b.id = p.before"
    " WHERE b.id IS NULL OR b.state IN " FINE_STATES " ORDER BY p.run, p.task LIMIT $1";
static const char LEFT[] = "SELECT count(*) FROM past";

struct waiter {
    int64_t task;
    int64_t run;
};

struct waiters {
    struct waiter items[AT_ONCE_MAX];
    size_t count;
};

static enum status list_waiters(struct store *store, struct waiters *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, READY, "i", (int64_t)AT_ONCE_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out->items[out->count++] = (struct waiter){.task = db_int(stmt, 0), .run = db_int(stmt, 1)};
    return status;
}

static enum status decide_again(struct work *work, const struct waiters *waiters, struct err *err)
{
    int64_t ids[AT_ONCE_MAX];
    for (size_t i = 0; i < waiters->count; i++)
        ids[i] = waiters->items[i].run;
    if (work_fetch_runs(work, ids, waiters->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < waiters->count; i++)
        ids[i] = waiters->items[i].task;
    if (work_fetch_tasks(work, ids, waiters->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < waiters->count; i++) {
        struct task_row *task = idmap_find(work->tasks, ids[i]);
        if (task != NULL && task->state == TASK_NONE)
            work_touch(work, task);
        else if (db_later(work->db, err, FORGET, "i", ids[i]) != STATUS_OK)
            return err->code;
    }
    if (work_settle(work, err) != STATUS_OK)
        return err->code;
    return work_save(work, err);
}

static enum status go_on_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    struct work work;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    work_init(&work, store, NULL);
    enum status status = decide_again(&work, context, err);
    work_fini(&work);
    return status == STATUS_OK ? db_commit(db, err) : status;
}

enum status store_past_let_go(struct store *store, int64_t *out_count, bool *out_left,
                              struct err *err)
{
    struct waiters waiters = {0};
    int64_t left = 0;
    if (list_waiters(store, &waiters, err) != STATUS_OK ||
        (waiters.count > 0 && store_repeat(store, go_on_once, &waiters, err) != STATUS_OK) ||
        db_get_int(store->db, 0, &left, err, LEFT, "") != STATUS_OK)
        return err_wrap(err, "let tasks go on that waited for their past");
    *out_count = (int64_t)waiters.count;
    *out_left = left > 0;
    return STATUS_OK;
}

/* From the task on, back over those that wait as well. */
static const char WHY[] =
    "SELECT r.run_id, b.state, r.id FROM (WITH RECURSIVE chain (task, depth) AS"
    " (SELECT before, 1 FROM past WHERE task = $1 UNION ALL SELECT p.before, c.depth + 1"
    " FROM chain c JOIN past p ON p.task = c.task WHERE c.depth < 5000)"
    " SELECT task, depth, (SELECT max(depth) FROM chain) AS deepest FROM chain) w"
    " JOIN task b ON b.id = w.task JOIN run r ON r.id = b.run"
    " WHERE w.depth = 1 OR w.depth = w.deepest ORDER BY w.depth";

struct link {
    const char *run_id;
    enum task_state state;
    int64_t run;
};

static const char *past_text(struct arena *arena, const struct link *before,
                             const struct link *head)
{
    const char *chain = "";
    if (head->run != before->run)
        chain = arena_format(arena,
                             " and waits in turn, back to that of run %lld, %s, which is "
                             "%s",
                             (long long)head->run, head->run_id, task_state_name(head->state));
    return arena_format(arena,
                        "depends_on_past: the same task of run %s is %s%s; it goes when that one "
                        "has succeeded or was skipped",
                        before->run_id, task_state_name(before->state), chain);
}

enum status store_past_why(struct store *store, struct arena *arena, int64_t task,
                           struct past_reason *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct link links[2]; /* the run before, and where it began */
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, WHY, "i", task);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct link *link = &links[MIN(count, (size_t)1)];
        count++;
        *link = (struct link){.run_id = arena_strdup(arena, db_text(stmt, 0)),
                              .state = (enum task_state)db_int(stmt, 1),
                              .run = db_int(stmt, 2)};
    }
    if (status != STATUS_OK)
        return status;
    *out = (struct past_reason){0};
    if (count == 0)
        return STATUS_OK;
    const struct link *head = &links[count > 1];
    *out = (struct past_reason){
        .text = past_text(arena, &links[0], head),
        .remedy = arena_format(arena,
                               task_state_is_final(head->state)
                                   ? "`eider retry %lld` runs again what did not succeed of %s"
                                   : "`eider explain %lld` tells what %s waits for",
                               (long long)head->run, head->run_id),
        .before_id = links[0].run_id,
        .before_state = links[0].state,
        .run = head->run,
        .run_id = head->run_id,
        .state = head->state,
    };
    return STATUS_OK;
}
