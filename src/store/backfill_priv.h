#pragma once
/*
 * backfill_priv: how a backfill is read. Private to the store layer.
 */
#include "store/backfill_store.h"
#include "store/db.h"
#include "store/work.h"

#define BACKFILL_SELECT                                                                            \
    "SELECT b.id, b.dag, d.dag_id, b.version, v.number, b.state, b.from_us, b.to_us, b.until_us,"  \
    " b.newest_first, b.redo, b.max_active, b.queue, q.name, b.params, b.conf, b.tasks, b.note,"   \
    " b.reason, b.actor, b.size, b.cursor_us, b.is_spent, b.stops_running, b.created, b.redone,"   \
    " b.kept, b.succeeded, b.failed, b.cancelled, b.created_at_us, b.started_at_us, "              \
    "b.ended_at_us,"                                                                               \
    " d.active"                                                                                    \
    " FROM backfill b JOIN dag d ON d.id = b.dag JOIN version v ON v.id = b.version"               \
    " LEFT JOIN queue q ON q.id = b.queue"

/*
 * The run, which was over, is open again: what it ended as is taken back, and a backfill that ended
 * as failed goes on until the run is over again.
 */
NODISCARD enum status backfill_take_back(struct work *work, const struct run_row *run,
                                         struct err *err);

/* A row of BACKFILL_SELECT; texts in the arena. */
struct backfill_info backfill_row_read(struct db_stmt *stmt, struct arena *arena);
