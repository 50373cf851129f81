#include "store/tier_count.h"

#include "base/str.h"
#include "model/dag.h"
#include "store/id_list.h"

#define RUNNING                                                                                    \
    "SELECT u.version, count(*) FROM running r JOIN task t ON t.id = r.task"                       \
    " JOIN run u ON u.id = t.run"
#define BY_VERSION " GROUP BY u.version"
static const char *const COUNTS[] = {
    [DB_SQLITE] = RUNNING BY_VERSION,
    [DB_POSTGRES] = RUNNING " WHERE r.task <> ALL($1)" BY_VERSION,
};

enum status tier_count(struct store *store, const char *tier, const int64_t *gone,
                       size_t gone_count, int64_t *out, struct err *err)
{
    /* Versions first: one that is not known yet is read from the same store. */
    CLEANUP(id_list_fini) struct id_list versions = {0};
    CLEANUP(id_list_fini) struct id_list counts = {0};
    enum db_dialect dialect = db_dialect(store->db);
    struct db_stmt *stmt = NULL;
    enum status status =
        dialect == DB_POSTGRES
            ? db_query(store->db, &stmt, err, COUNTS[dialect], "I", gone, gone_count)
            : db_query(store->db, &stmt, err, COUNTS[dialect], "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        id_list_add(&versions, db_int(stmt, 0));
        id_list_add(&counts, db_int(stmt, 1));
    }
    int64_t running = 0;
    for (size_t i = 0; status == STATUS_OK && i < versions.count; i++) {
        const struct dag *dag = NULL;
        status = store_dag(store, versions.items[i], &dag, err);
        if (status == STATUS_OK && str_equal(dag->tier, tier))
            running += counts.items[i];
    }
    if (status != STATUS_OK)
        return err_wrap(err, "count tasks of the tier '%s'", tier);
    *out = running;
    return STATUS_OK;
}
