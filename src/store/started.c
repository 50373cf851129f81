#include "store/started.h"

#include "base/check.h"
#include "store/sight.h"
#include "store/store_priv.h"

#define COLUMNS                                                                                    \
    "t.id, t.attempt, t.run, t.node, t.map_index, u.version, t.started_at_us, d.dag_id,"           \
    " u.run_id, d.namespace, t.label,"                                                             \
    " CASE WHEN t.instance_base IS NULL THEN coalesce(t.inserted, 0) ELSE 0 END AS looks"
#define HELD "FROM (SELECT host, task FROM running LIMIT $1) h"

/* Row by row, whatever the planner thinks of a table that is empty one moment and full the next. */
static const char *const HELD_TASKS[] = {
    [DB_SQLITE] = "SELECT h.host, " COLUMNS " " HELD " LEFT JOIN task t ON t.id = h.task"
                  " LEFT JOIN run u ON u.id = t.run LEFT JOIN dag d ON d.id = u.dag",
    [DB_POSTGRES] = "SELECT h.host, x.* " HELD " LEFT JOIN LATERAL (SELECT " COLUMNS
                    " FROM task t JOIN run u ON u.id = t.run JOIN dag d ON d.id = u.dag"
                    " WHERE t.id = h.task OFFSET 0) x ON true",
};

static struct started_task read_row(struct db_stmt *stmt)
{
    struct started_task task = {
        .host = db_int(stmt, 0),
        .task = db_int(stmt, 1),
        .attempt = db_int(stmt, 2),
        .run = db_int(stmt, 3),
        .node = db_int(stmt, 4),
        .map_index = db_int(stmt, 5),
        .version = db_int(stmt, 6),
        .started_at_us = db_int(stmt, 7),
        .dag_id = db_text(stmt, 8),
        .run_id = db_text(stmt, 9),
        .space = db_text(stmt, 10),
        .label = db_text(stmt, 11),
    };
    int64_t tries = task.attempt - db_int(stmt, 12);
    task.tries = tries > 0 || task.attempt == 0 ? tries : 1;
    return task;
}

enum status store_started_each(struct store *store, int64_t limit, started_fn each, void *context,
                               bool *out_more, struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t seen = 0;
    CHECK(limit > 0);
    enum status status =
        db_query(store->db, &stmt, err, HELD_TASKS[db_dialect(store->db)], "i", limit + 1);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        /* Jobs have no run, and are told of elsewhere. */
        if (++seen > limit || db_is_null(stmt, 8))
            continue;
        struct started_task task = read_row(stmt);
        if (!store_sees(store, task.space))
            continue;
        status = each(context, &task, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "look at what is held");
    *out_more = seen > limit;
    return STATUS_OK;
}
