#include "store/expander_list.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/id_list.h"

static const char EXPANSIONS[] =
    "SELECT e.task, t.run, t.node, t.parents, coalesce(t.inserted, 0),"
    " t.p_success + t.p_failed + t.p_upstream + t.p_skipped + t.p_removed"
    " FROM expansion e JOIN task t ON t.id = e.task WHERE e.scope = $1 AND e.task > $2"
    " ORDER BY e.scope, e.task LIMIT $3";

void expander_list_fini(struct expander_list *list)
{
    free(list->items);
}

enum status expander_list_read(struct work *work, int64_t scope, int64_t after,
                               struct expander_list *out, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list runs = {0};
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(work->db, &stmt, err, EXPANSIONS, "iii", scope, after, (int64_t)EXPANDERS_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->items = mem_grow(out->items, &out->capacity, out->count, sizeof *out->items);
        out->items[out->count++] = (struct expander){
            .task = db_int(stmt, 0),
            .run = db_int(stmt, 1),
            .node = db_int(stmt, 2),
            .uninserted = db_int(stmt, 3) - db_int(stmt, 4),
            .open = db_int(stmt, 4) - db_int(stmt, 5),
        };
        id_list_add(&runs, db_int(stmt, 1));
    }
    if (status != STATUS_OK)
        return err_wrap(err, "find mapped tasks");
    return work_fetch_runs(work, runs.items, runs.count, err);
}
