#include "store/glance.h"

#include "base/check.h"
#include "store/backfill_store.h"
#include "store/store_priv.h"

_Static_assert(RUN_QUEUED == 0 && RUN_RUNNING == 1 && BACKFILL_RUNNING == 1 &&
                   BACKFILL_PAUSED == 2 && BACKFILL_CANCELLING == 3,
               "as in the SQL");

static const char GLANCE[] =
    "SELECT (SELECT next_us FROM schedule WHERE next_us IS NOT NULL ORDER BY next_us LIMIT 1),"
    " (SELECT min(due_at_us) FROM deadline),"
    " CASE WHEN EXISTS (SELECT 1 FROM wait) THEN"
    " (SELECT r.due_at_us FROM timer r JOIN wait w ON w.task = r.task WHERE r.scope = 0"
    " ORDER BY r.scope, r.due_at_us LIMIT 1) END,"
    " (SELECT 1 FROM run WHERE state IN (0, 1) LIMIT 1),"
    " (SELECT 1 FROM waiting LIMIT 1),"
    " (SELECT 1 FROM past LIMIT 1),"
    " (SELECT 1 FROM trigger_pending WHERE seen = 0 LIMIT 1),"
    " (SELECT 1 FROM trigger_watch WHERE kind = 2 LIMIT 1),"
    " (SELECT 1 FROM backfill WHERE state IN (0, 1, 2, 3) AND state > 0 LIMIT 1),"
    " (SELECT min(due_at_us) FROM notice WHERE state IN (0, 1))";

static int64_t instant_or_never(struct db_stmt *stmt, int column)
{
    return db_is_null(stmt, column) ? INT64_MAX : db_int(stmt, column);
}

enum status store_glance(struct store *store, struct store_glance *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, GLANCE, "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for something to do");
    CHECK(row);
    *out = (struct store_glance){
        .next_schedule_us = instant_or_never(stmt, 0),
        .next_deadline_us = instant_or_never(stmt, 1),
        .next_wait_us = instant_or_never(stmt, 2),
        .has_runs = !db_is_null(stmt, 3),
        .has_waiting_runs = !db_is_null(stmt, 4),
        .has_waiting_tasks = !db_is_null(stmt, 5),
        .has_events = !db_is_null(stmt, 6),
        .has_watched_files = !db_is_null(stmt, 7),
        .has_backfills = !db_is_null(stmt, 8),
        .next_message_us = instant_or_never(stmt, 9),
    };
    db_reset(stmt);
    return STATUS_OK;
}
