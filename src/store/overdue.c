#include "store/control.h"
#include "store/store_priv.h"

static const char OVERDUE[] =
    "SELECT r.id FROM run r JOIN version v ON v.id = r.version WHERE r.state IN (0, 1)"
    " AND r.state = 1 AND r.scope = 0 AND r.cancel_asked = 0 AND v.timeout_ms > 0"
    " AND r.started_at_us + v.timeout_ms * 1000 <= $1 ORDER BY r.id LIMIT $2";
static const char NEXT[] =
    "SELECT min(r.started_at_us + v.timeout_ms * 1000) FROM run r JOIN version v"
    " ON v.id = r.version WHERE r.state IN (0, 1) AND r.state = 1 AND r.scope = 0"
    " AND r.cancel_asked = 0 AND v.timeout_ms > 0";

enum status store_runs_overdue(struct store *store, int64_t *out_ids, size_t most,
                               size_t *out_count, int64_t *out_next_us, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status =
        db_query(store->db, &stmt, err, OVERDUE, "ii", store_now_us(store), (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        out_ids[count++] = db_int(stmt, 0);
    *out_count = count;
    if (status == STATUS_OK)
        status = db_get_int(store->db, 0, out_next_us, err, NEXT, "");
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "look for runs that take too long");
}
