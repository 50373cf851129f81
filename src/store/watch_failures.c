/*
 * watch_failures: which tasks made a run fail.
 *
 * Those that end in this transaction are among them, so that what it has to write is written first;
 * of what they said only their rows here have more than the last line.
 */
#include "base/check.h"
#include "model/limits.h"
#include "store/watch_priv.h"

/* A mapped task is its instances here. */
#define FAILED_ROWS                                                                                \
    " FROM block b JOIN task t ON t.id >= b.first AND t.id < b.first + b.count"                    \
    " WHERE b.run = $1 AND t.state = 5 AND coalesce(t.instance_base, 0) = 0"
_Static_assert(TASK_FAILED == 5, "as in the SQL");
static const char COUNT[] = "SELECT count(*)" FAILED_ROWS;
static const char FIRST[] =
    "SELECT t.id, t.node, t.map_index, t.reason, t.exit_code, t.detail" FAILED_ROWS
    " ORDER BY t.ended_at_us, t.id LIMIT $2";

static void add(struct work *work, const struct run_row *run, const struct task_row *task,
                struct failures *out)
{
    const char *error = task->log_end != NULL ? task->log_end : task->detail;
    const struct alert_failed_task failed = {
        .task = task_row_def(run, task)->id,
        .map_index = task->map_index,
        .reason = task->reason != REASON_NONE ? reason_name(task->reason) : NULL,
        .has_exit_code = task->exit_code >= 0 && task->reason == REASON_EXIT,
        .exit_code = task->exit_code,
        .error = task->detail,
    };
    if (json_array_size(out->list) == 0 && error != NULL)
        out->first_error = arena_strdup(work->arena, error);
    CHECK(json_array_append_new(out->list, alert_failed_task_write(&failed)) == 0);
}

static enum status list_first(struct work *work, const struct run_row *run, struct failures *out,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(work->db, &stmt, err, FIRST, "ii", run->id, (int64_t)LIMIT_ALERT_LISTED);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct task_row *here = idmap_find(work->tasks, db_int(stmt, 0));
        const struct task_row task = {
            .node = db_int(stmt, 1),
            .map_index = db_int(stmt, 2),
            .reason = (enum reason)db_int(stmt, 3),
            .exit_code = db_is_null(stmt, 4) ? -1 : db_int(stmt, 4),
            .detail = db_text(stmt, 5),
            .log_end = here != NULL ? here->log_end : NULL,
        };
        add(work, run, &task, out);
    }
    return status;
}

enum status watch_failures(struct work *work, const struct run_row *run, struct failures *out,
                           struct err *err)
{
    struct failures failures = {.list = json_array()};
    if (saver_flush(&work->saver, work->db, err) != STATUS_OK ||
        db_get_int(work->db, 0, &failures.total, err, COUNT, "i", run->id) != STATUS_OK ||
        list_first(work, run, &failures, err) != STATUS_OK) {
        json_decref(failures.list);
        return err->code;
    }
    *out = failures;
    return STATUS_OK;
}
