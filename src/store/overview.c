#include "store/overview.h"

#include "model/dag.h"
#include "store/store_priv.h"

/* Task ids of a run, and of the instances of one task, follow one another: ranges of the key. */
static const char TALLY_NODES[] = "SELECT state, count(*) FROM task WHERE id >= $1 AND id < $2"
                                  " AND instance_base IS NULL GROUP BY state";
static const char TALLY_INSTANCES[] =
    "SELECT i.state, count(*) FROM task e JOIN task i ON i.id >= e.instance_base"
    " AND i.id < e.instance_base + e.inserted"
    " WHERE e.id >= $1 AND e.id < $2 AND e.instance_base IS NOT NULL GROUP BY i.state";
/* No instance inserted is stored as NULL. */
static const char TALLY_TO_COME[] =
    "SELECT CAST(coalesce(sum(parents - coalesce(inserted, 0)), 0) AS BIGINT) FROM task"
    " WHERE id >= $1 AND id < $2 AND instance_base IS NOT NULL"
    " AND parents > coalesce(inserted, 0)";

static enum status add_states(struct store *store, const char *sql, int64_t first, int64_t end,
                              struct tally *tally, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, sql, "ii", first, end) != STATUS_OK)
        return err->code;
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            return STATUS_OK;
        int64_t state = db_int(stmt, 0);
        if (state < 0 || state >= TASK_STATE_COUNT) {
            db_reset(stmt);
            return err_set(err, STATUS_CORRUPT, "a task has state %lld", (long long)state);
        }
        tally->states[state] += db_int(stmt, 1);
        tally->total += db_int(stmt, 1);
    }
}

enum status store_tally(struct store *store, const struct run_info *run, struct tally *out,
                        struct err *err)
{
    const struct dag *dag = NULL;
    struct tally tally = {0};
    int64_t to_come = 0;
    if (store_dag(store, run->version, &dag, err) != STATUS_OK)
        return err->code;
    int64_t first = run->first_task;
    int64_t end = first + (int64_t)dag->tasks_count;
    if (add_states(store, TALLY_NODES, first, end, &tally, err) != STATUS_OK ||
        add_states(store, TALLY_INSTANCES, first, end, &tally, err) != STATUS_OK ||
        db_get_int(store->db, 0, &to_come, err, TALLY_TO_COME, "ii", first, end) != STATUS_OK)
        return err_wrap(err, "count tasks");
    tally.states[TASK_NONE] += to_come;
    tally.total += to_come;
    *out = tally;
    return STATUS_OK;
}

static const char HELD_COUNT[] = "SELECT count(*) FROM running";
static const char HELD_LIST[] =
    "SELECT t.id FROM running r JOIN task t ON t.id = r.task"
    " LEFT JOIN run u ON u.id = t.run LEFT JOIN dag d ON d.id = u.dag"
    " LEFT JOIN job j ON j.id = t.id AND t.run = 0"
    " WHERE " SEEN("$2", "coalesce(d.namespace, j.namespace, '')") " ORDER BY t.run, t.id LIMIT $1";

enum status store_held_list(struct store *store, struct arena *arena, int64_t limit,
                            int64_t **out_tasks, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t most = 0;
    if (db_get_int(store->db, 0, &most, err, HELD_COUNT, "") != STATUS_OK)
        return err->code;
    most = MIN(most, limit);
    int64_t *tasks = arena_array(arena, (size_t)most + 1, sizeof *tasks);
    size_t count = 0;
    if (db_query(store->db, &stmt, err, HELD_LIST, "it", most, store_sight(store)) != STATUS_OK)
        return err->code;
    for (;;) {
        bool row = false;
        if (db_step(stmt, &row, err) != STATUS_OK)
            return err->code;
        if (!row)
            break;
        tasks[count++] = db_int(stmt, 0);
    }
    *out_tasks = tasks;
    *out_count = count;
    return STATUS_OK;
}

static const char HOST_LOAD[] =
    "SELECT h.id, h.name, h.kind, h.pid, h.slots, h.started_at_us, h.ended_at_us,"
    " (SELECT count(*) FROM running r WHERE r.host = h.id) FROM host h WHERE h.id = $1";

enum status store_host_load(struct store *store, struct arena *arena, int64_t id,
                            struct host_info *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, HOST_LOAD, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no host %lld", (long long)id);
    *out = (struct host_info){
        .id = db_int(stmt, 0),
        .name = arena_strdup(arena, db_text(stmt, 1)),
        .kind = arena_strdup(arena, db_text(stmt, 2)),
        .pid = db_int(stmt, 3),
        .slots = db_int(stmt, 4),
        .started_at_us = db_int(stmt, 5),
        .ended_at_us = db_int(stmt, 6),
        .holds = db_int(stmt, 7),
    };
    db_reset(stmt);
    return STATUS_OK;
}

/* In the order of claiming: nothing of another lane stands before it. */
static const char PLACE[] =
    "SELECT (SELECT count(*) FROM ready o WHERE o.scope = r.scope AND o.class = r.class"
    " AND o.lane = r.lane AND (o.rank < r.rank OR (o.rank = r.rank AND (o.age_us < r.age_us"
    " OR (o.age_us = r.age_us AND o.task < r.task))))),"
    " (SELECT count(*) FROM ready o WHERE o.scope = r.scope AND o.class = r.class"
    " AND o.lane = r.lane) FROM ready r WHERE r.run = $1 AND r.task = $2";

enum status store_queue_place(struct store *store, int64_t run, int64_t task,
                              struct queue_place *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct queue_place place = {0};
    enum status status = db_query(store->db, &stmt, err, PLACE, "ii", run, task);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        place = (struct queue_place){
            .is_ready = true,
            .ahead = db_int(stmt, 0),
            .behind = db_int(stmt, 1) - db_int(stmt, 0) - 1,
        };
    if (status != STATUS_OK)
        return err_wrap(err, "look for the task's place");
    *out = place;
    return STATUS_OK;
}

static const char GATE_AHEAD[] = "SELECT count(*) FROM gate g JOIN gate o ON o.run = g.run"
                                 " AND (o.rank < g.rank OR (o.rank = g.rank AND o.task < g.task))"
                                 " WHERE g.run = $1 AND g.task = $2";

enum status store_gate_ahead(struct store *store, int64_t run, int64_t task, int64_t *out,
                             struct err *err)
{
    return db_get_int(store->db, 0, out, err, GATE_AHEAD, "ii", run, task);
}

static const char HOST_SHARING[] =
    "SELECT count(*) FROM running r JOIN lane l ON l.id = r.lane JOIN queue q ON q.id = l.queue"
    " WHERE r.host = $1 AND q.max_share > 0";

enum status store_host_sharing(struct store *store, int64_t host, int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, HOST_SHARING, "i", host);
}

enum status store_ready_count(struct store *store, int64_t *out, struct err *err)
{
    return db_get_int(store->db, 0, out, err, "SELECT count(*) FROM ready", "");
}
