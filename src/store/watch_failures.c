/*
 * watch_failures: which tasks made a run fail.
 *
 * Those that end in this transaction are among them, so that what it has to write is written first;
 * of what they said only their rows here have more than the last line. A mapped task is its
 * instances here, those of its last expansion.
 */
#include "base/check.h"
#include "model/blame.h"
#include "model/limits.h"
#include "store/watch_priv.h"

/* $1, $2: instances from one id up to another. */
#define FAILED_ROWS " FROM task t WHERE t.id >= $1 AND t.id < $2 AND t.state = 5"
_Static_assert(TASK_FAILED == 5, "as in the SQL");
static const char COUNT[] = "SELECT count(*)" FAILED_ROWS;
static const char FIRST[] =
    "SELECT t.id, t.ended_at_us" FAILED_ROWS " ORDER BY t.ended_at_us, t.id LIMIT $3";

/* A task of the DAG as it ended. */
struct node_end {
    int64_t id;
    int64_t ended_at_us;
    int64_t instance_base; /* 0: it has no instances */
    int64_t inserted;
};

struct culprit {
    int64_t id;
    int64_t ended_at_us;
};

struct search {
    struct work *work;
    const struct run_row *run;
    struct node_end *nodes;
    enum task_state *states;
    struct culprit first[LIMIT_ALERT_LISTED]; /* by when they ended */
    size_t count;
    int64_t total;
};

static enum status note_node(void *context, const struct task_row *row, struct err *err)
{
    (void)err;
    struct search *search = context;
    size_t node = (size_t)row->node;
    CHECK(node < search->run->dag->tasks_count);
    search->nodes[node] =
        (struct node_end){row->id, row->ended_at_us, row->instance_base, row->inserted};
    /* One that was stopped may have had instances that failed before. */
    bool has_failed = row->instance_base != 0 && row->counts.failed > 0;
    search->states[node] = has_failed ? TASK_FAILED : row->state;
    return STATUS_OK;
}

static bool is_before(const struct culprit *a, const struct culprit *b)
{
    return a->ended_at_us != b->ended_at_us ? a->ended_at_us < b->ended_at_us : a->id < b->id;
}

static void add_culprit(struct search *search, struct culprit culprit)
{
    size_t at = MIN(search->count, ARRAY_LEN(search->first) - 1);
    if (search->count == ARRAY_LEN(search->first) && !is_before(&culprit, &search->first[at]))
        return;
    for (; at > 0 && is_before(&culprit, &search->first[at - 1]); at--)
        search->first[at] = search->first[at - 1];
    search->first[at] = culprit;
    search->count = MIN(search->count + 1, ARRAY_LEN(search->first));
}

static enum status add_instances(struct search *search, const struct node_end *node,
                                 int64_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t end = node->instance_base + node->inserted;
    *out_count = 0;
    if (node->instance_base == 0)
        return STATUS_OK;
    enum status status =
        db_get_int(search->work->db, 0, out_count, err, COUNT, "ii", node->instance_base, end);
    if (status == STATUS_OK && *out_count > 0)
        status = db_query(search->work->db, &stmt, err, FIRST, "iii", node->instance_base, end,
                          (int64_t)LIMIT_ALERT_LISTED);
    while (status == STATUS_OK && stmt != NULL && db_next(stmt, &status, err))
        add_culprit(search, (struct culprit){db_int(stmt, 0), db_int(stmt, 1)});
    return status;
}

static enum status find_culprits(struct search *search, struct err *err)
{
    const struct dag *dag = search->run->dag;
    struct arena *arena = search->work->arena;
    bool *blamed = arena_array(arena, dag->tasks_count, sizeof *blamed);
    search->nodes = arena_array(arena, dag->tasks_count, sizeof *search->nodes);
    search->states = arena_array(arena, dag->tasks_count, sizeof *search->states);
    if (task_rows_each(search->work->db, search->run->first_task, (int64_t)dag->tasks_count,
                       note_node, search, err) != STATUS_OK)
        return err->code;
    blame_find(dag, search->states, blamed);
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct node_end *node = &search->nodes[i];
        int64_t instances = 0;
        if (!blamed[i])
            continue;
        if (add_instances(search, node, &instances, err) != STATUS_OK)
            return err->code;
        if (instances == 0)
            add_culprit(search, (struct culprit){node->id, node->ended_at_us});
        search->total += MAX(instances, (int64_t)1);
    }
    return STATUS_OK;
}

static void describe(struct work *work, const struct run_row *run, const struct task_row *task,
                     struct failures *out)
{
    const struct task_row *here = idmap_find(work->tasks, task->id);
    const char *log_end = here != NULL ? here->log_end : NULL;
    const char *error = log_end != NULL ? log_end : task->detail;
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

enum status watch_failures(struct work *work, const struct run_row *run, struct failures *out,
                           struct err *err)
{
    struct search search = {.work = work, .run = run};
    if (saver_flush(&work->saver, work->db, err) != STATUS_OK ||
        find_culprits(&search, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *list = json_array();
    struct failures failures = {.list = list, .total = search.total};
    for (size_t i = 0; i < search.count; i++) {
        struct task_row task;
        if (task_row_load(work->db, work->arena, search.first[i].id, &task, err) != STATUS_OK)
            return err->code;
        describe(work, run, &task, &failures);
    }
    failures.list = TAKE(list);
    *out = failures;
    return STATUS_OK;
}
