#include "store/monitor.h"

#include "base/check.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "store/sight.h"
#include "store/store_priv.h"

/* --- numbers --------------------------------------------------------------------------------- */

#define SPACE_OF_RUN "(SELECT d.namespace FROM dag d WHERE d.id = run.dag)"
static const char RUNS_GOING[] =
    "SELECT state, count(*) FROM (SELECT state FROM run WHERE state IN (0, 1)"
    " AND " SEEN("$2", SPACE_OF_RUN) " LIMIT $1) going GROUP BY state";
static const char RUNS_ENDED[] =
    "SELECT state, count(*) FROM (SELECT state FROM run WHERE ended_at_us >= $3"
    " AND " SEEN("$2", SPACE_OF_RUN) " ORDER BY ended_at_us DESC LIMIT $1) ended GROUP BY state";
/* clang-format off */
#define NUMBER(rows) "(" COUNT_OF(rows " LIMIT $1") ")"
static const char NUMBERS[] = "SELECT "
    NUMBER("SELECT 1 FROM running") ", "
    NUMBER("SELECT 1 FROM ready") ", "
    NUMBER("SELECT 1 FROM gate") ", "
    NUMBER("SELECT 1 FROM timer") ", "
    NUMBER("SELECT 1 FROM dead") ", "
    NUMBER("SELECT DISTINCT path FROM dag_file WHERE problems IS NOT NULL");
/* clang-format on */

static enum status add_runs(struct db_stmt *stmt, struct monitor_counts *counts, struct err *err)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 0);
        if (state >= 0 && state < RUN_STATE_COUNT)
            counts->runs[state] += db_int(stmt, 1);
    }
    return status;
}

enum status store_monitor_count(struct store *store, int64_t ended_since_us,
                                struct monitor_counts *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct monitor_counts counts = {0};
    if (db_query(store->db, &stmt, err, RUNS_GOING, "it", (int64_t)MONITOR_COUNT_MAX,
                 store_sight(store)) != STATUS_OK ||
        add_runs(stmt, &counts, err) != STATUS_OK ||
        db_query(store->db, &stmt, err, RUNS_ENDED, "iti", (int64_t)MONITOR_ENDED_MAX,
                 store_sight(store), ended_since_us) != STATUS_OK ||
        add_runs(stmt, &counts, err) != STATUS_OK ||
        db_query(store->db, &stmt, err, NUMBERS, "i", (int64_t)MONITOR_COUNT_MAX) != STATUS_OK)
        return err_wrap(err, "count what goes on");
    enum status status = STATUS_OK;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        counts.running = db_int(stmt, 0);
        counts.ready = db_int(stmt, 1);
        counts.held = db_int(stmt, 2);
        counts.later = db_int(stmt, 3);
        counts.dead = store_sees_all(store) ? db_int(stmt, 4) : 0;
        counts.broken_files = store_sees_all(store) ? db_int(stmt, 5) : 0;
    }
    if (status == STATUS_OK)
        *out = counts;
    return status;
}

/* --- throughput ------------------------------------------------------------------------------ */

enum { SECOND_US = 1000000, PAGE = 1000 };

/* No index leads to instants: ids rise with them, nearly, and the newest are read first. */
static const char NEWEST[] = "SELECT id, at_us, kind, new_state FROM event WHERE id < $1"
                             " ORDER BY id DESC LIMIT $2";

struct pace_reading {
    int64_t below;     /* ids that were not read yet */
    int64_t oldest_us; /* of the last row of the page */
    int64_t rows;
};

static enum status read_page(struct store *store, struct pace_reading *reading,
                             struct monitor_pace *pace, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, NEWEST, "ii", reading->below, (int64_t)PAGE);
    reading->rows = 0;
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        int64_t state = db_int(stmt, 3);
        reading->below = db_int(stmt, 0);
        reading->oldest_us = db_int(stmt, 1);
        reading->rows++;
        int64_t place = reading->oldest_us / SECOND_US - pace->first;
        bool is_done =
            db_int(stmt, 2) == EVENT_TASK_ENDED && (state == TASK_SUCCESS || state == TASK_FAILED);
        if (is_done && place >= 0 && place < (int64_t)pace->count)
            pace->seconds[place]++;
    }
    return status;
}

enum status store_monitor_pace(struct store *store, int64_t since_us, int64_t now_us,
                               struct monitor_pace *out, struct err *err)
{
    int64_t last = now_us / SECOND_US;
    int64_t first = MAX(MIN(since_us, now_us) / SECOND_US, last - MONITOR_SECONDS_MAX + 1);
    struct pace_reading reading = {.below = INT64_MAX};
    *out = (struct monitor_pace){.first = first, .count = (size_t)(last - first + 1)};
    for (int64_t read = 0; read < MONITOR_EVENTS_MAX; read += PAGE) {
        if (read_page(store, &reading, out, err) != STATUS_OK)
            return err_wrap(err, "count tasks that ended");
        if (reading.rows < PAGE || reading.oldest_us < first * SECOND_US)
            return STATUS_OK;
    }
    /* The second that reading stopped in is known in part only. */
    int64_t known = reading.oldest_us / SECOND_US + 1 - first;
    out->unread = (size_t)MIN(MAX(known, (int64_t)0), (int64_t)out->count);
    return STATUS_OK;
}

/* --- tasks of a run -------------------------------------------------------------------------- */

enum status store_monitor_nodes(struct store *store, int64_t run, monitor_each each, void *context,
                                struct err *err)
{
    struct run_row row;
    if (run_row_load(store->db, run, &row, err) != STATUS_OK ||
        store_dag(store, row.version, &row.dag, err) != STATUS_OK)
        return err->code;
    return task_rows_each(store->db, row.first_task, (int64_t)row.dag->tasks_count, each, context,
                          err);
}

enum status store_monitor_instances(struct store *store, const struct task_row *expander,
                                    monitor_each each, void *context, struct err *err)
{
    CHECK(expander->instance_base != 0);
    return task_rows_each(store->db, expander->instance_base, expander->inserted, each, context,
                          err);
}
