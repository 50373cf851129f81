#include "store/listen.h"

#include "store/channel.h"
#include "store/store_priv.h"

bool store_can_listen(const struct store *store)
{
    return db_dialect(store->db) == DB_POSTGRES;
}

enum status store_listen_for_work(struct store *store, struct err *err)
{
    if (db_listen(store->db, STORE_CHANNEL_WORK, err) != STATUS_OK)
        return err_wrap(err, "listen for work");
    return STATUS_OK;
}

enum status store_listen_for_stops(struct store *store, struct err *err)
{
    if (db_listen(store->db, STORE_CHANNEL_STOP, err) != STATUS_OK)
        return err_wrap(err, "listen for wishes to stop");
    return STATUS_OK;
}

enum status store_wait(struct store *store, int wake_fd, int64_t timeout_ms, bool *out_heard,
                       struct err *err)
{
    if (db_wait(store->db, wake_fd, timeout_ms, out_heard, err) != STATUS_OK)
        return err_wrap(err, "wait for work");
    return STATUS_OK;
}
