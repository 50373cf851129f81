#include "store/run_trace.h"

#include <stdio.h>

#include "store/work.h"

static const char TRACE_ADD[] = "INSERT INTO run_trace (run, traceparent) VALUES ($1, $2)";
static const char TRACE_GET[] = "SELECT traceparent FROM run_trace WHERE run = $1";

enum status run_trace_keep(struct work *work, int64_t run, const char *traceparent, struct err *err)
{
    return db_later(work->db, err, TRACE_ADD, "it", run, traceparent);
}

enum status store_run_trace(struct store *store, int64_t run, char out[static TRACEPARENT_MAX],
                            struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, TRACE_GET, "i", run) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for the trace of run %lld", (long long)run);
    (void)snprintf(out, TRACEPARENT_MAX, "%s", row ? db_text(stmt, 0) : "");
    db_reset(stmt);
    return STATUS_OK;
}
