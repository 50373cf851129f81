#include <errno.h>
#include <poll.h>

#include "base/check.h"
#include "store/advance.h"
#include "store/host.h"
#include "store/rows.h"
#include "store/store_priv.h"

enum status db_listen(struct db *db, const char *channel, struct err *err)
{
    (void)db;
    (void)channel;
    (void)err;
    return STATUS_OK;
}

enum status db_wait(struct db *db, int wake_fd, int64_t timeout_ms, bool *out_heard,
                    struct err *err)
{
    (void)db;
    (void)err;
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    (void)poll(&fd, 1, (int)timeout_ms);
    *out_heard = false;
    return STATUS_OK;
}

enum status store_held(struct store *store, int64_t host, struct arena *arena,
                       struct claim **out_claims, size_t *out_count, struct err *err)
{
    static const char HELD[] = "SELECT task FROM running WHERE host = $1 ORDER BY task";
    struct db_stmt *stmt = NULL;
    int64_t ids[1000];
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, HELD, "i", host);
    while (status == STATUS_OK && db_next(stmt, &status, err) && count < 1000)
        ids[count++] = db_int(stmt, 0);
    if (status != STATUS_OK)
        return status;
    struct claim *claims = arena_array(arena, count + 1, sizeof *claims);
    for (size_t i = 0; i < count; i++) {
        struct task_row row = {.id = 0};
        if (task_row_load(store->db, arena, ids[i], &row, err) != STATUS_OK)
            return err->code;
        claims[i] = (struct claim){.task = row.id,
                                   .run = row.run,
                                   .node = row.node,
                                   .map_index = row.map_index,
                                   .generation = row.generation,
                                   .attempt = row.attempt,
                                   .nonce = row.nonce};
    }
    *out_claims = claims;
    *out_count = count;
    return STATUS_OK;
}

enum status store_stop_wishes(struct store *store, int64_t host, struct arena *arena,
                              struct stop_wish **out, size_t *out_count, struct err *err)
{
    static const char WISHES[] =
        "SELECT DISTINCT t.run FROM running r JOIN task t ON t.id = r.task"
        " JOIN run u ON u.id = t.run WHERE r.host = $1 AND u.cancel_asked <> 0";
    struct db_stmt *stmt = NULL;
    struct stop_wish *wishes = arena_array(arena, 1000, sizeof *wishes);
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, WISHES, "i", host);
    while (status == STATUS_OK && db_next(stmt, &status, err) && count < 1000)
        wishes[count++].run = db_int(stmt, 0);
    *out = wishes;
    *out_count = count;
    return status;
}

enum status store_host_resume(struct store *store, int64_t id, const struct host_request *request,
                              struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, "UPDATE host SET pid = $2 WHERE id = $1 AND ended_at_us IS NULL", "ii", id,
              request->pid) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no such host");
    return db_commit(db, err);
}

enum status store_host_renew(struct store *store, int64_t id, struct host_pulse *out,
                             struct err *err)
{
    int64_t found = 0;
    if (db_get_int(store->db, 0, &found, err,
                   "SELECT 1 FROM host WHERE id = $1 AND ended_at_us IS NULL", "i", id) != STATUS_OK)
        return err->code;
    if (found == 0)
        return err_set(err, STATUS_NOT_FOUND, "there is no such host");
    *out = (struct host_pulse){.leads = true, .living = 1};
    return STATUS_OK;
}

enum status store_sweep(struct store *store, int64_t self, struct arena *arena,
                        struct sweep_result *out, struct err *err)
{
    (void)store;
    (void)self;
    (void)arena;
    (void)err;
    *out = (struct sweep_result){0};
    return STATUS_OK;
}
