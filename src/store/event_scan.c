#include "store/event_scan.h"

#include "base/mem.h"
#include "store/store_priv.h"

enum { SLACK = 10000 };

#define ROWS    "SELECT " EVENT_ROW_COLUMNS EVENT_ROW_FROM " WHERE e.id > $1 AND e.id < $2"
#define ANY_RUN " AND $3 = 0"
/* The index of runs leaves out jobs, which is to be said. */
#define OF_RUN " AND e.run = $3 AND e.run > 0"

/* By whether a run is meant, then by the direction. */
static const char *const SCANS[2][2] = {
    {ROWS ANY_RUN " ORDER BY e.id LIMIT $4", ROWS ANY_RUN " ORDER BY e.id DESC LIMIT $4"},
    {ROWS OF_RUN " ORDER BY e.run, e.id LIMIT $4",
     ROWS OF_RUN " ORDER BY e.run DESC, e.id DESC LIMIT $4"},
};

enum status store_event_scan(struct store *store, const struct event_scan *scan,
                             enum status (*each)(void *context, const struct event_row *row,
                                                 struct err *err),
                             void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, SCANS[scan->run != 0][scan->is_descending], "iiii",
                 scan->after, scan->before != 0 ? scan->before : INT64_MAX, scan->run, scan->limit);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct event_row row = event_row_read(stmt);
        status = each(context, &row, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

static const char NEWEST[] = "SELECT coalesce(max(id), 0) FROM event";
static const char TIME_FROM[] = "SELECT at_us FROM event WHERE id >= $1 ORDER BY id LIMIT 1";

enum status store_event_find(struct store *store, int64_t at_us, int64_t *out_id, struct err *err)
{
    int64_t low = 0;
    int64_t high = 0;
    if (db_get_int(store->db, 0, &high, err, NEWEST, "") != STATUS_OK)
        return err->code;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t there_us = INT64_MAX;
        if (db_get_int(store->db, INT64_MAX, &there_us, err, TIME_FROM, "i", middle) != STATUS_OK)
            return err->code;
        if (there_us < at_us)
            low = middle + 1;
        else
            high = middle;
    }
    *out_id = MAX(low - SLACK, (int64_t)0);
    return STATUS_OK;
}
