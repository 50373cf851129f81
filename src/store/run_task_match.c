#include "store/run_task_match.h"

#include <string.h>

#include "store/store_priv.h"

#define NEVER "9223372036854775807"

/* $1 runs, $2 states, $3-$6 ranges. A run's tasks stand in the blocks it has. In one CASE, so that
 * of most tasks PostgreSQL looks at the state alone. */
#define TASK_MATCHES                                                                               \
    "t.id >= b.first AND t.id < b.first + b.count AND CASE WHEN"                                   \
    " (($2 >> CAST(t.state AS INTEGER)) & 1) = 1 AND coalesce(t.started_at_us, -1) >= $3"          \
    " AND coalesce(t.started_at_us, " NEVER ") <= $4 AND coalesce(t.ended_at_us, -1) >= $5"        \
    " AND coalesce(t.ended_at_us, " NEVER ") <= $6 THEN true ELSE false END"
static const char RUN_WITH[] =
    "SELECT b.run FROM block b JOIN task t ON " TASK_MATCHES " WHERE b.run = $1 LIMIT 1";
/* Of each block the first, or PostgreSQL would read all tasks there are. */
static const char RUNS_WITH[] =
    "SELECT b.run FROM block b CROSS JOIN LATERAL (SELECT t.id FROM task t WHERE " TASK_MATCHES
    " ORDER BY t.id LIMIT 1) f WHERE b.run = ANY($1)";

static void note_run(const struct run_task_filter *filter, int64_t run, bool *out)
{
    for (size_t i = 0; i < filter->count; i++)
        out[i] |= filter->runs[i] == run;
}

static enum status find_singly(struct store *store, const struct run_task_filter *filter, bool *out,
                               struct err *err)
{
    for (size_t i = 0; i < filter->count; i++) {
        int64_t found = 0;
        if (db_get_int(store->db, 0, &found, err, RUN_WITH, "iiiiii", filter->runs[i],
                       (int64_t)(filter->states != 0 ? filter->states : ~0U),
                       run_range_first(&filter->started), run_range_last(&filter->started),
                       run_range_first(&filter->ended),
                       run_range_last(&filter->ended)) != STATUS_OK)
            return err->code;
        out[i] = found != 0;
    }
    return STATUS_OK;
}

enum status store_runs_with_tasks(struct store *store, const struct run_task_filter *filter,
                                  bool *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    memset(out, 0, filter->count * sizeof *out);
    if (db_dialect(store->db) == DB_SQLITE)
        return find_singly(store, filter, out, err);
    enum status status =
        db_query(store->db, &stmt, err, RUNS_WITH, "Iiiiii", filter->runs, filter->count,
                 (int64_t)(filter->states != 0 ? filter->states : ~0U),
                 run_range_first(&filter->started), run_range_last(&filter->started),
                 run_range_first(&filter->ended), run_range_last(&filter->ended));
    while (status == STATUS_OK && db_next(stmt, &status, err))
        note_run(filter, db_int(stmt, 0), out);
    return status;
}

/* $1 runs; what a task is to be as above. */
#define TASK_COUNTS                                                                                \
    "SELECT b.run, count(*), count(CASE WHEN " TASK_MATCHES " THEN 1 END) FROM block b "
static const char COUNT_OF_RUN[] =
    TASK_COUNTS "JOIN task t ON t.id >= b.first AND t.id < b.first + b.count WHERE b.run = $1"
                " GROUP BY b.run";
/* Bounded, or PostgreSQL would read all tasks there are. */
static const char COUNT_OF_RUNS[] =
    TASK_COUNTS "CROSS JOIN LATERAL (SELECT * FROM task WHERE id >= b.first"
                " AND id < b.first + b.count ORDER BY id LIMIT 1000000) t WHERE b.run = ANY($1)"
                " GROUP BY b.run";

static enum status ask_counts(struct store *store, const struct run_task_filter *filter,
                              size_t place, struct db_stmt **out, struct err *err)
{
    int64_t states = (int64_t)(filter->states != 0 ? filter->states : ~0U);
    if (db_dialect(store->db) == DB_SQLITE)
        return db_query(store->db, out, err, COUNT_OF_RUN, "iiiiii", filter->runs[place], states,
                        run_range_first(&filter->started), run_range_last(&filter->started),
                        run_range_first(&filter->ended), run_range_last(&filter->ended));
    return db_query(store->db, out, err, COUNT_OF_RUNS, "Iiiiii", filter->runs, filter->count,
                    states, run_range_first(&filter->started), run_range_last(&filter->started),
                    run_range_first(&filter->ended), run_range_last(&filter->ended));
}

enum status store_runs_count_tasks(struct store *store, const struct run_task_filter *filter,
                                   struct run_task_count *out, struct err *err)
{
    enum status status = STATUS_OK;
    size_t questions = db_dialect(store->db) == DB_SQLITE ? filter->count : 1;
    memset(out, 0, filter->count * sizeof *out);
    for (size_t i = 0; i < questions && status == STATUS_OK; i++) {
        struct db_stmt *stmt = NULL;
        status = ask_counts(store, filter, i, &stmt, err);
        while (status == STATUS_OK && db_next(stmt, &status, err))
            for (size_t k = 0; k < filter->count; k++)
                if (filter->runs[k] == db_int(stmt, 0))
                    out[k] = (struct run_task_count){db_int(stmt, 1), db_int(stmt, 2)};
    }
    return status;
}
