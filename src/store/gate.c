/*
 * gate: tasks that a limit of their run or their mapped task holds, and how they come back.
 */
#include "base/mem.h"
#include "store/claim_priv.h"
#include "store/id_list.h"

static const char GATE_TOP[] =
    "SELECT task FROM gate WHERE run = $1 ORDER BY run, rank, task LIMIT $2";
static const char GATE_WITH_NODES[] =
    "SELECT g.task, t.node FROM gate g JOIN task t ON t.id = g.task WHERE g.run = $1"
    " ORDER BY g.run, g.rank, g.task";
static const char GATE_OF_TASK[] =
    "SELECT task FROM gate WHERE run = $1 AND rank = $2 AND task >= $3 AND task < $4"
    " ORDER BY run, rank, task LIMIT $5";
static const char RUNNING_OF_TASK[] = "SELECT count(*) FROM running WHERE task >= $1 AND task < $2";

enum status claim_collect_ids(struct db_stmt *stmt, struct id_list *out, struct err *err)
{
    enum status status = STATUS_OK;
    while (db_next(stmt, &status, err))
        id_list_add(out, db_int(stmt, 0));
    return status;
}

/* Those still at a gate become claimable. */
static enum status queue_held(struct work *work, const struct id_list *held, struct err *err)
{
    if (work_fetch_tasks(work, held->items, held->count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < held->count; i++) {
        struct task_row *task = NULL;
        if (work_task(work, held->items[i], &task, err) != STATUS_OK)
            return err->code;
        if (task->state == TASK_SCHEDULED)
            work_queue(work, task);
    }
    return STATUS_OK;
}

static bool has_one_lane(const struct run_row *run)
{
    for (size_t node = 1; node < run->dag->tasks_count; node++)
        if (run->lanes[node] != run->lanes[0])
            return false;
    return true;
}

/*
 * As many of each lane as there is room: what waits in a queue that is paused, or that no host
 * serves, must not keep the room from what could use it.
 */
static enum status list_by_lane(struct work *work, const struct run_row *run, struct id_list *held,
                                struct err *err)
{
    size_t nodes = run->dag->tasks_count;
    int64_t *taken = arena_array(work->arena, nodes, sizeof *taken); /* by the lane's first node */
    struct db_stmt *stmt = NULL;
    enum status status = db_query(work->db, &stmt, err, GATE_WITH_NODES, "i", run->id);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t first = 0;
        while (run->lanes[first] != run->lanes[db_int(stmt, 1)])
            first++;
        if (taken[first]++ < work_run_room(run))
            id_list_add(held, db_int(stmt, 0));
    }
    return status;
}

static enum status list_in_order(struct work *work, const struct run_row *run, struct id_list *held,
                                 struct err *err)
{
    struct db_stmt *stmt = NULL;
    return db_query(work->db, &stmt, err, GATE_TOP, "ii", run->id, work_run_room(run)) != STATUS_OK
               ? err->code
               : claim_collect_ids(stmt, held, err);
}

/* Tasks held by their run's limit come back when there is room. */
static enum status open_gate(struct work *work, const struct run_row *run, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list held = {0};
    if (!run->locked || run->dag->max_active_tasks == 0 || work_run_room(run) == 0)
        return STATUS_OK;
    enum status status = has_one_lane(run) ? list_in_order(work, run, &held, err)
                                           : list_by_lane(work, run, &held, err);
    return status == STATUS_OK ? queue_held(work, &held, err) : err_wrap(err, "find held tasks");
}

/* --- how many instances run at once ---------------------------------------------------------- */

static bool is_instance_of(const struct task_row *task, const struct task_row *expander)
{
    return task->map_index >= 0 && task->run == expander->run && task->node == expander->node;
}

/* Rows of this transaction are not saved yet, so the stored count is put right by them. */
static enum status count_running(struct work *work, struct task_row *expander, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(work->db, 0, &count, err, RUNNING_OF_TASK, "ii", expander->instance_base,
                   expander->instance_base + expander->counts.total) != STATUS_OK)
        return err_wrap(err, "count running instances");
    for (size_t i = 0; i < work->rows.count; i++) {
        const struct task_row *task = work->rows.items[i];
        if (is_instance_of(task, expander))
            count +=
                (task->state == TASK_RUNNING) - (!task->fresh && task->read_state == TASK_RUNNING);
    }
    expander->running = count;
    expander->has_running = true;
    return STATUS_OK;
}

enum status claim_binding_expander(struct work *work, const struct run_row *run,
                                   const struct task_row *task, struct task_row **out,
                                   struct err *err)
{
    *out = NULL;
    if (task->map_index < 0 || task_row_def(run, task)->max_parallel == 0)
        return STATUS_OK;
    if (work_node(work, run, task->node, out, err) != STATUS_OK)
        return err->code;
    return (*out)->has_running ? STATUS_OK : count_running(work, *out, err);
}

/* Instances held by max_parallel come back when one of them stops running. */
static enum status open_gate_of_task(struct work *work, const struct run_row *run,
                                     struct task_row *expander, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list held = {0};
    struct db_stmt *stmt = NULL;
    const struct task_def *def = task_row_def(run, expander);
    int64_t room = def->max_parallel - expander->running;
    if (room <= 0)
        return STATUS_OK;
    if (db_query(work->db, &stmt, err, GATE_OF_TASK, "iiiii", run->id,
                 ready_key_of(run, expander).rank, expander->instance_base,
                 expander->instance_base + expander->counts.total, room) != STATUS_OK ||
        claim_collect_ids(stmt, &held, err) != STATUS_OK)
        return err_wrap(err, "find held instances");
    return queue_held(work, &held, err);
}

enum status claim_open_gates(struct work *work, struct err *err)
{
    for (size_t i = 0; i < work->run_rows.count; i++)
        if (open_gate(work, work->run_rows.items[i], err) != STATUS_OK)
            return err->code;
    /* The list grows while it is walked; what it grows by has not stopped running. */
    size_t count = work->rows.count;
    for (size_t i = 0; i < count; i++) {
        const struct task_row *task = work->rows.items[i];
        struct task_row *expander = NULL;
        struct run_row *run = NULL;
        if (task->map_index < 0 || task->read_state != TASK_RUNNING || task->state == TASK_RUNNING)
            continue;
        if (work_run(work, task->run, &run, err) != STATUS_OK)
            return err->code;
        expander = idmap_find(work->tasks, run->first_task + task->node);
        if (expander != NULL && expander->has_running)
            continue; /* done for another instance */
        if (claim_binding_expander(work, run, task, &expander, err) != STATUS_OK)
            return err->code;
        if (expander != NULL && open_gate_of_task(work, run, expander, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}
