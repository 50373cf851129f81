/*
 * wait_look: who looks, and whether runs of other DAGs are there.
 */
#include "base/check.h"
#include "base/str.h"
#include "store/lane_priv.h"
#include "store/repeat.h"
#include "store/version.h"
#include "store/wait_row_priv.h"

/* --- who looks ------------------------------------------------------------------------------- */

/* Guarded by the host that looked before: of two that take over, one finds it done. */
static const char TAKE_OF_DEAD[] =
    "UPDATE wait SET host = $1 FROM host h, run r WHERE h.id = wait.host AND r.id = wait.run"
    " AND h.ended_at_us IS NOT NULL AND r.scope = $2 AND wait.lane = $3 AND wait.host <> 0";
static const char TAKE_OF_RUN[] = "UPDATE wait SET host = $1 FROM run r WHERE r.id = wait.run"
                                  " AND r.scope = $2 AND wait.host <> 0 AND wait.host <> $1";
static const char LEFT[] = "SELECT count(*) FROM (SELECT 1 FROM wait w JOIN host h ON h.id = w.host"
                           " WHERE w.host <> 0 AND h.ended_at_us IS NOT NULL LIMIT 1) x";

enum status store_waits_left(struct store *store, bool *out, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, LEFT, "") != STATUS_OK)
        return err_wrap(err, "look for waits of hosts that are gone");
    *out = count > 0;
    return STATUS_OK;
}

static enum status take_served(struct store *store, const struct wait_taker *taker,
                               struct arena *arena, struct err *err)
{
    struct lanes lanes;
    const struct lane_question question = {
        .scope = taker->scope, .labels = taker->labels, .queues = taker->queues};
    if (lanes_look(store, &question, arena, &lanes, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < lanes.count; i++)
        if (lanes.items[i].is_served && db_do(store->db, err, TAKE_OF_DEAD, "iii", taker->host,
                                              taker->scope, lanes.items[i].id) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

struct take_call {
    const struct wait_taker *taker;
    struct arena *arena;
};

static enum status take_once(struct store *store, const void *context, struct err *err)
{
    const struct take_call *call = context;
    const struct wait_taker *taker = call->taker;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    enum status status = taker->scope != 0
                             ? db_do(db, err, TAKE_OF_RUN, "ii", taker->host, taker->scope)
                             : take_served(store, taker, call->arena, err);
    return status == STATUS_OK ? db_commit(db, err) : status;
}

enum status store_waits_take(struct store *store, const struct wait_taker *taker,
                             struct arena *arena, struct wait_list *out, struct err *err)
{
    bool is_left = taker->scope != 0;
    if (taker->takes && !is_left && store_waits_left(store, &is_left, err) != STATUS_OK)
        return err->code;
    if (taker->takes && is_left &&
        store_repeat(store, take_once, &(struct take_call){taker, arena}, err) != STATUS_OK)
        return err_wrap(err, "take over waits");
    return wait_rows_of_host(store->db, taker->host, arena, out, err);
}

/* --- other DAGs ------------------------------------------------------------------------------ */

#define RUN_OF_DAG                                                                                 \
    "SELECT r.state, r.version, r.first_task FROM run r JOIN dag d ON d.id = r.dag"                \
    " WHERE d.dag_id = $1"
static const char RUNS_FOR_DATE[] = RUN_OF_DAG " AND r.logical_at_us = $2";
static const char RUN_LATEST[] =
    RUN_OF_DAG " AND r.logical_at_us >= $2 ORDER BY r.logical_at_us DESC, r.id DESC LIMIT 1";
static const char TASK_STATE[] = "SELECT state FROM task WHERE id = $1";

struct seen_run {
    enum run_state state;
    int64_t version;
    int64_t first_task;
};

/* The runs that a wait is about. */
struct seen_runs {
    const char *dag;
    int64_t date_us;
    struct seen_run items[8]; /* manual runs may share a date; more than these are not looked at */
    size_t count;
};

static enum status read_runs(struct db *db, const struct wait_info *wait, struct seen_runs *out,
                             struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(db, &stmt, err, wait->date_us != 0 ? RUNS_FOR_DATE : RUN_LATEST,
                                  "ti", wait->dag, wait->date_us);
    *out = (struct seen_runs){.dag = wait->dag, .date_us = wait->date_us};
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        if (out->count == ARRAY_LEN(out->items)) {
            db_reset(stmt);
            break;
        }
        out->items[out->count++] = (struct seen_run){
            .state = (enum run_state)db_int(stmt, 0),
            .version = db_int(stmt, 1),
            .first_task = db_int(stmt, 2),
        };
    }
    return status;
}

/* The state of what is waited for in one run, as a bit; none when the run has no such task. */
static enum status state_bit(struct store *store, const struct wait_info *wait,
                             const struct seen_run *run, unsigned *out, struct err *err)
{
    const struct dag *dag = NULL;
    int64_t state = TASK_NONE;
    if (wait->dag_task == NULL) {
        *out = 1u << run->state;
        return STATUS_OK;
    }
    if (store_version_dag(store, run->version, &dag, err) != STATUS_OK)
        return err->code;
    int64_t node = dag_find_task(dag, wait->dag_task);
    if (node >= 0 && db_get_int(store->db, TASK_NONE, &state, err, TASK_STATE, "i",
                                run->first_task + node) != STATUS_OK)
        return err->code;
    *out = node >= 0 ? 1u << (unsigned)state : 0;
    return STATUS_OK;
}

static enum status is_met(struct store *store, const struct wait_info *wait,
                          const struct seen_runs *runs, bool *out, struct err *err)
{
    *out = false;
    for (size_t i = 0; i < runs->count && !*out; i++) {
        unsigned bit = 0;
        if (state_bit(store, wait, &runs->items[i], &bit, err) != STATUS_OK)
            return err->code;
        *out = (wait->states & bit) != 0;
    }
    return STATUS_OK;
}

enum status store_waits_look(struct store *store, const struct wait_info *waits, size_t count,
                             bool *out_met, struct err *err)
{
    struct seen_runs runs = {0};
    for (size_t i = 0; i < count; i++) {
        const struct wait_info *wait = &waits[i];
        CHECK(wait->dag != NULL);
        /* Many wait for the same run. */
        bool is_same = str_equal(runs.dag, wait->dag) && runs.date_us == wait->date_us;
        if ((!is_same && read_runs(store->db, wait, &runs, err) != STATUS_OK) ||
            is_met(store, wait, &runs, &out_met[i], err) != STATUS_OK)
            return err_wrap(err, "look for a run of '%s'", wait->dag);
    }
    return STATUS_OK;
}

static const char TARGET[] =
    "SELECT (SELECT count(*) FROM dag WHERE dag_id = $1), (SELECT count(*) FROM (SELECT 1 FROM run "
    "r"
    " JOIN dag d ON d.id = r.dag WHERE d.dag_id = $1 AND ($2 = 0 OR r.logical_at_us = $2) LIMIT 1)"
    " x)";

enum status store_wait_target(struct store *store, const struct wait_info *wait,
                              enum wait_target *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    *out = WAIT_TARGET_RUN;
    if (wait->dag == NULL)
        return STATUS_OK;
    if (db_query(store->db, &stmt, err, TARGET, "ti", wait->dag, wait->date_us) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for the run that is waited for");
    CHECK(row);
    *out = db_int(stmt, 0) == 0   ? WAIT_TARGET_NO_DAG
           : db_int(stmt, 1) == 0 ? WAIT_TARGET_NO_RUN
                                  : WAIT_TARGET_RUN;
    db_reset(stmt);
    return STATUS_OK;
}
