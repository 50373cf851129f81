/*
 * pg_notice: wake-ups between processes.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/pg_priv.h"

static enum status listen_on(struct pg_db *db, const char *channel, struct err *err)
{
    char *quoted = PQescapeIdentifier(db->conn, channel, strlen(channel));
    if (quoted == NULL)
        return err_set(err, STATUS_INVALID, "'%s' cannot be the name of a channel", channel);
    CLEANUP(mem_freep) char *sql = mem_format("LISTEN %s", quoted);
    PQfreemem(quoted);
    return pg_run_simple(db, sql, NULL, err);
}

enum status pg_listen_again(struct pg_db *db, struct err *err)
{
    for (size_t i = 0; i < PG_CHANNELS_MAX && db->channels[i] != NULL; i++) {
        db->must_tell = true;
        if (listen_on(db, db->channels[i], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status pg_listen(struct db *base, const char *channel, struct err *err)
{
    struct pg_db *db = pg_of(base);
    size_t i = 0;
    for (; i < PG_CHANNELS_MAX && db->channels[i] != NULL; i++)
        if (strcmp(db->channels[i], channel) == 0)
            return STATUS_OK;
    CHECK(i < PG_CHANNELS_MAX);
    if (pg_ensure(db, err) != STATUS_OK || listen_on(db, channel, err) != STATUS_OK)
        return err->code;
    db->channels[i] = mem_strdup(channel);
    return STATUS_OK;
}

enum status pg_notify(struct db *base, const char *channel, const char *text, struct err *err)
{
    return db_later(base, err, "SELECT pg_notify($1, $2)", "tt", channel, text);
}

static bool take_notices(struct pg_db *db)
{
    bool heard = db->must_tell;
    db->must_tell = false;
    for (PGnotify *notice; (notice = PQnotifies(db->conn)) != NULL; heard = true)
        PQfreemem(notice);
    return heard;
}

enum status pg_wait(struct db *base, int wake_fd, int64_t timeout_ms, bool *out_heard,
                    struct err *err)
{
    struct pg_db *db = pg_of(base);
    int64_t deadline_us = clock_mono_us() + timeout_ms * 1000;
    for (;;) {
        if (pg_ensure(db, err) != STATUS_OK)
            return err->code;
        *out_heard = take_notices(db);
        int64_t left_ms = (deadline_us - clock_mono_us() + 999) / 1000;
        if (*out_heard || left_ms <= 0)
            return STATUS_OK;
        struct pollfd fds[] = {{.fd = PQsocket(db->conn), .events = POLLIN},
                               {.fd = wake_fd, .events = POLLIN}};
        int ready = poll(fds, ARRAY_LEN(fds), (int)MIN(left_ms, (int64_t)60000));
        CHECK(ready >= 0 || errno == EINTR);
        if (ready > 0 && fds[1].revents != 0)
            return STATUS_OK;
    }
}
