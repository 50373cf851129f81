#include "store/listen.h"

#include "store/channel.h"
#include "store/store_priv.h"

bool store_can_listen(const struct store *store)
{
    return db_dialect(store->db) == DB_POSTGRES;
}

static enum status listen_on(struct store *store, const char *channel, struct err *err)
{
    if (db_listen(store->db, channel, err) != STATUS_OK)
        return err_wrap(err, "listen for what others tell");
    return STATUS_OK;
}

enum status store_listen_for_work(struct store *store, struct err *err)
{
    return listen_on(store, STORE_CHANNEL_WORK, err);
}

enum status store_listen_for_news(struct store *store, struct err *err)
{
    return listen_on(store, STORE_CHANNEL_NEWS, err);
}

enum status store_listen_for_notices(struct store *store, struct err *err)
{
    return listen_on(store, STORE_CHANNEL_NOTICE, err);
}

enum status store_listen_for_stops(struct store *store, struct err *err)
{
    return listen_on(store, STORE_CHANNEL_STOP, err);
}

enum status store_wait(struct store *store, int wake_fd, int64_t timeout_ms, bool *out_heard,
                       struct err *err)
{
    if (db_wait(store->db, wake_fd, timeout_ms, out_heard, err) != STATUS_OK)
        return err_wrap(err, "wait for work");
    return STATUS_OK;
}
