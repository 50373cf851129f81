#include "store/host.h"

#include "store/store_priv.h"

static const char HOST_INSERT[] =
    "INSERT INTO host (id, maker, name, pid, boot, kind, slots, started_at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
static const char HOST_END[] =
    "UPDATE host SET ended_at_us = $2 WHERE id = $1 AND ended_at_us IS NULL";
static const char HOST_LIST[] =
    "SELECT h.id, h.name, h.kind, h.pid, h.slots, h.started_at_us, h.ended_at_us,"
    " (SELECT count(*) FROM running r WHERE r.host = h.id) FROM host h"
    " WHERE $1 = 1 OR h.ended_at_us IS NULL ORDER BY h.id DESC";
static const char HOST_OF_RUN[] =
    "SELECT DISTINCT r.host FROM running r JOIN task t ON t.id = r.task"
    " WHERE t.run = $1";

enum status store_host_add(struct store *store, const struct host_request *request, int64_t *out_id,
                           struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    int64_t now_us = store_now_us(store);
    int64_t id = id_next(&store->ids, now_us);
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, HOST_INSERT, "iitittii", id, (int64_t)store->ids.maker, request->name,
              request->pid, request->boot, request->kind, request->slots, now_us) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "register this host");
    *out_id = id;
    return STATUS_OK;
}

enum status store_host_end(struct store *store, int64_t id, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, HOST_END, "ii", id, store_now_us(store)) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "take leave of the store");
    return STATUS_OK;
}

enum status store_host_each(struct store *store, bool with_ended,
                            enum status (*each)(void *context, const struct host_info *info,
                                                struct err *err),
                            void *context, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, HOST_LIST, "i", (int64_t)with_ended);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct host_info info = {
            .id = db_int(stmt, 0),
            .name = db_text(stmt, 1),
            .kind = db_text(stmt, 2),
            .pid = db_int(stmt, 3),
            .slots = db_int(stmt, 4),
            .started_at_us = db_int(stmt, 5),
            .ended_at_us = db_int(stmt, 6),
            .holds = db_int(stmt, 7),
        };
        status = each(context, &info, err);
        if (status != STATUS_OK)
            db_reset(stmt);
    }
    return status;
}

enum status store_host_of_run(struct store *store, int64_t run,
                              void (*each)(void *context, int64_t host), void *context,
                              struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, HOST_OF_RUN, "i", run);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        each(context, db_int(stmt, 0));
    }
    return status;
}
