/*
 * deadline: looking at what is due.
 *
 * The runs are locked first and in order, as by whoever ends their tasks: an end comes either
 * before the look, which then finds it, or after it, and then finds the miss to complete.
 */
#include "store/deadline.h"

#include "base/check.h"
#include "base/clock.h"
#include "store/id_list.h"
#include "store/watch_priv.h"

enum { PORTION = 50 };

static const char NEXT[] = "SELECT min(due_at_us) FROM deadline";
static const char DUE[] = "SELECT run, task, kind, generation, due_at_us FROM deadline"
                          " WHERE due_at_us <= $1 ORDER BY due_at_us, run, task LIMIT $2";
static const char DROP[] = "DELETE FROM deadline WHERE run = $1 AND task = $2 AND kind = $3"
                           " AND generation = $4 AND due_at_us = $5";
static const char MISS_ADD[] =
    "INSERT INTO sla_miss (run, task, kind, generation, due_at_us, dag, node, map_index,"
    " noticed_at_us, ended_at_us, notified) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)"
    " ON CONFLICT (run, task, kind, generation) DO NOTHING";
static const char EVENT_MISSED[] =
    "INSERT INTO event (at_us, kind, run, task, data) VALUES ($1, $2, $3, $4, $5)";

enum status store_deadline_next(struct store *store, int64_t *out_us, struct err *err)
{
    int64_t next_us = 0;
    if (db_get_int(store->db, 0, &next_us, err, NEXT, "") != STATUS_OK)
        return err_wrap(err, "look for deadlines");
    *out_us = next_us != 0 ? next_us : INT64_MAX;
    return STATUS_OK;
}

struct due {
    int64_t run;
    int64_t task;
    enum sla_kind kind;
    int64_t generation;
    int64_t due_at_us;
};

struct due_list {
    struct due items[PORTION];
    size_t count;
};

static enum status list_due(struct work *work, struct due_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, DUE, "ii", work->now_us, (int64_t)PORTION);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out->items[out->count++] = (struct due){
            .run = db_int(stmt, 0),
            .task = db_int(stmt, 1),
            .kind = (enum sla_kind)db_int(stmt, 2),
            .generation = db_int(stmt, 3),
            .due_at_us = db_int(stmt, 4),
        };
    return status;
}

static enum status fetch(struct work *work, const struct due_list *list, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    CLEANUP(id_list_fini) struct id_list tasks = {0};
    for (size_t i = 0; i < list->count; i++) {
        id_list_add(&runs, list->items[i].run);
        if (list->items[i].task != 0)
            id_list_add(&tasks, list->items[i].task);
    }
    if (work_fetch_runs(work, runs.items, runs.count, err) != STATUS_OK)
        return err->code;
    return work_fetch_tasks(work, tasks.items, tasks.count, err);
}

/* When it was done, 0 while it is not. False: the deadline means nothing any more. */
static bool met_at(const struct run_row *run, const struct task_row *task, const struct due *due,
                   int64_t *out_us)
{
    bool is_start = due->kind == SLA_START_WITHIN;
    if (due->task == 0) {
        bool is_over = run_state_is_final(run->state);
        *out_us = is_start && run->started_at_us != 0 ? run->started_at_us
                  : is_over                           ? run->ended_at_us
                                                      : 0;
        return true;
    }
    if (task == NULL)
        return false;
    bool counts_from_start = is_start || due->kind == SLA_WITHIN;
    if (counts_from_start && task->generation != due->generation)
        return false;
    if (is_start && task->started_at_us != 0) {
        *out_us = task->started_at_us;
        /* Of a retry, the first start is not known here: it was before this one. */
        return task->failures == 0 && task->losses == 0;
    }
    *out_us = task_state_is_final(task->state) ? task->ended_at_us : 0;
    return true;
}

/* A deadline and whom it is about. */
struct lateness {
    const struct due *due;
    struct run_row *run;
    const struct task_row *task; /* NULL: the run itself */
    int64_t actual_us;           /* 0: it is late still */
};

static enum status tell(struct work *work, const struct lateness *late, struct deadline_result *out,
                        struct err *err)
{
    const struct due *due = late->due;
    char expected[INSTANT_TEXT_MAX];
    int64_t told = 0;
    const struct miss_key miss = {due->kind, due->generation};
    const struct message message = {
        .kind = HOOK_SLA_MISS,
        .miss = &miss,
        .task = late->task,
        .state = late->task != NULL ? task_state_name(late->task->state)
                                    : run_state_name(late->run->state),
        .reason = sla_kind_name(due->kind),
        .error = arena_format(work->arena, "expected by %s (%s)",
                              instant_format(due->due_at_us, expected), sla_kind_name(due->kind)),
    };
    if (watch_tell(work, late->run, &message, &told, err) != STATUS_OK)
        return err->code;
    out->told += told;
    return STATUS_OK;
}

static enum status record(struct work *work, const struct lateness *late,
                          struct deadline_result *out, struct err *err)
{
    const struct due *due = late->due;
    int64_t node = late->task != NULL ? late->task->node : -1;
    int64_t map_index = late->task != NULL ? late->task->map_index : -1;
    const char *data = arena_format(work->arena, "{\"kind\":\"%s\",\"due_at_us\":\"%lld\"}",
                                    sla_kind_name(due->kind), (long long)due->due_at_us);
    if (db_do(work->db, err, MISS_ADD, "iiiiiiiiiz", due->run, due->task, (int64_t)due->kind,
              due->generation, due->due_at_us, late->run->dag_key, node, map_index, work->now_us,
              late->actual_us) != STATUS_OK)
        return err->code;
    if (db_changes(work->db) == 0)
        return STATUS_OK; /* a retry of what was late before */
    out->missed++;
    if (db_later(work->db, err, EVENT_MISSED, "iiizt", work->now_us, (int64_t)EVENT_SLA_MISSED,
                 due->run, due->task, data) != STATUS_OK)
        return err->code;
    return late->actual_us == 0 ? tell(work, late, out, err) : STATUS_OK;
}

static enum status look(struct work *work, const struct due *due, struct deadline_result *out,
                        struct err *err)
{
    struct lateness late = {
        .due = due,
        .run = idmap_find(work->runs, due->run),
        .task = due->task != 0 ? idmap_find(work->tasks, due->task) : NULL,
    };
    if (db_do(work->db, err, DROP, "iiiii", due->run, due->task, (int64_t)due->kind,
              due->generation, due->due_at_us) != STATUS_OK)
        return err->code;
    if (db_changes(work->db) == 0)
        return STATUS_OK; /* another was faster */
    out->looked++;
    if (late.run == NULL || late.run->dag->watch == NULL ||
        !met_at(late.run, late.task, due, &late.actual_us))
        return STATUS_OK;
    bool is_met = late.actual_us != 0 && late.actual_us <= due->due_at_us;
    return is_met ? STATUS_OK : record(work, &late, out, err);
}

static enum status pass(struct work *work, struct deadline_result *out, struct err *err)
{
    struct due_list list = {.count = 0};
    if (list_due(work, &list, err) != STATUS_OK || fetch(work, &list, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < list.count; i++)
        if (look(work, &list.items[i], out, err) != STATUS_OK)
            return err->code;
    return db_commit(work->db, err);
}

static enum status pass_once(struct store *store, const void *context, struct err *err)
{
    struct deadline_result *out = *(struct deadline_result *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    *out = (struct deadline_result){0};
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    struct work work;
    work_init(&work, store, "sla");
    enum status status = pass(&work, out, err);
    work_fini(&work);
    return status;
}

enum status store_deadline_pass(struct store *store, struct deadline_result *out, struct err *err)
{
    if (store_repeat(store, pass_once, &out, err) != STATUS_OK)
        return err_wrap(err, "look at deadlines");
    return STATUS_OK;
}
