/*
 * pg_connect: making, checking and dropping the connection.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "store/postgres/pg_errors.h"
#include "store/postgres/pg_priv.h"

/* What holds unless the URL or libpq's environment says otherwise. */
static const struct default_option {
    const char *keyword;
    const char *value;
    bool for_writers;
} DEFAULTS[] = {
    {"application_name", "eider", false},
    {"connect_timeout", "5", false},
    {"keepalives_idle", "10", false},
    {"keepalives_interval", "5", false},
    {"keepalives_count", "3", false},
    {"tcp_user_timeout", "20000", false},
    {"target_session_attrs", "read-write", true},
};

static const char *default_for(const PQconninfoOption *option, enum db_mode mode)
{
    if (option->envvar != NULL && getenv(option->envvar) != NULL)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(DEFAULTS); i++)
        if (strcmp(DEFAULTS[i].keyword, option->keyword) == 0 &&
            (mode == DB_READ_WRITE || !DEFAULTS[i].for_writers))
            return DEFAULTS[i].value;
    return NULL;
}

enum { OPTIONS_MAX = 96 };

static PGconn *connect_with(const PQconninfoOption *options, enum db_mode mode)
{
    const char *keywords[OPTIONS_MAX] = {0};
    const char *values[OPTIONS_MAX] = {0};
    size_t count = 0;
    for (; options->keyword != NULL; options++) {
        const char *value = options->val != NULL ? options->val : default_for(options, mode);
        if (strcmp(options->keyword, "client_encoding") == 0)
            value = "UTF8";
        if (value == NULL)
            continue;
        CHECK(count < OPTIONS_MAX - 1);
        keywords[count] = options->keyword;
        values[count++] = value;
    }
    return PQconnectdbParams(keywords, values, 0);
}

static void name_place(struct pg_db *db)
{
    const char *host = PQhost(db->conn);
    (void)snprintf(db->where, sizeof db->where, "postgresql %s:%s/%s", host != NULL ? host : "",
                   PQport(db->conn), PQdb(db->conn));
}

static enum status connection_failure(struct pg_db *db, struct err *err)
{
    char words[PG_WORDS_MAX];
    pg_words(db->conn, words);
    const struct pg_error *error = pg_error_of_connect(words);
    return err_set(err, error->status, "postgresql: %s%s%s", words,
                   error->advice != NULL ? "; " : "", error->advice != NULL ? error->advice : "");
}

/*
 * A client that hangs must not hold locks for ever; one that waits must not do so either.
 *
 * Plans are kept for as long as the connection lives. One that was made while a table was small
 * must not read the whole of it when it is large: what has an index uses it. Compiling never pays
 * here.
 */
#define SESSION(local)                                                                             \
    "set_config('idle_in_transaction_session_timeout', '10s', " local "),"                         \
    " set_config('lock_timeout', '5s', " local "), set_config('statement_timeout', '30s', " local  \
    "), set_config('enable_seqscan', 'off', " local "), set_config('jit', 'off', " local ")"
const char PG_CLOCK[] = "SELECT " PG_CLOCK_SQL;
const char PG_CLOCK_LOCAL[] = "SELECT " PG_CLOCK_SQL ", " SESSION("true");

static const char SETUP[] = "SELECT " PG_CLOCK_SQL ", " SESSION("false");
/* The server gives up a statement whose client is gone. */
static const char CHECK_CLIENT[] = ", set_config('client_connection_check_interval', '2s', false)";
enum { VERSION_WITH_CLIENT_CHECK = 140000 };

static enum status set_up_session(struct pg_db *db, struct err *err)
{
    bool checks = PQserverVersion(db->conn) >= VERSION_WITH_CLIENT_CHECK;
    CLEANUP(mem_freep)
    char *sql = mem_format("%s%s", SETUP, checks ? CHECK_CLIENT : "");
    PGresult *result = NULL;
    int64_t asked_mono_us = clock_mono_us();
    int64_t server_us = 0;
    if (pg_run_simple(db, sql, &result, err) != STATUS_OK)
        return err->code;
    bool read = str_parse_i64(PQgetvalue(result, 0, 0), 0, INT64_MAX, &server_us);
    PQclear(result);
    CHECK(read);
    db->clock_offset_us = server_us - (asked_mono_us + clock_mono_us()) / 2;
    return STATUS_OK;
}

static void drop_words(void *context, const char *message)
{
    (void)context, (void)message;
}

static enum status make(struct pg_db *db, struct err *err)
{
    char *complaint = NULL;
    PQconninfoOption *options = PQconninfoParse(db->url, &complaint);
    if (options == NULL) {
        /* libpq's words may repeat the password. */
        PQfreemem(complaint);
        return err_set(err, STATUS_INVALID,
                       "the store's URL cannot be read; its form is "
                       "postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with special characters "
                       "percent-encoded");
    }
    db->conn = connect_with(options, db->mode);
    PQconninfoFree(options);
    CHECK(db->conn != NULL);
    if (PQstatus(db->conn) != CONNECTION_OK)
        return connection_failure(db, err);
    name_place(db);
    (void)PQsetNoticeProcessor(db->conn, drop_words, NULL);
    if (pg_version_check(PQserverVersion(db->conn), err) != STATUS_OK)
        return err->code;
    CHECK(PQsetnonblocking(db->conn, 1) == 0);
    CHECK(PQenterPipelineMode(db->conn) == 1);
    return set_up_session(db, err);
}

enum status pg_connect(struct pg_db *db, struct err *err)
{
    CHECK(db->conn == NULL);
    rng_bytes(&db->session, sizeof db->session);
    if (make(db, err) != STATUS_OK || pg_listen_again(db, err) != STATUS_OK) {
        pg_drop(db);
        return err->code;
    }
    return STATUS_OK;
}

void pg_drop(struct pg_db *db)
{
    PQfinish(db->conn);
    db->conn = NULL;
    db->answered = db->pending_count = 0;
    db->unsynced = false;
    db->drop_at_end = false;
    pg_statements_forget(db);
}

/* What came while nobody asked: notices, or the end of the connection. */
static bool still_there(struct pg_db *db)
{
    struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
    while (poll(&fd, 1, 0) > 0)
        if (PQconsumeInput(db->conn) == 0 || PQstatus(db->conn) != CONNECTION_OK)
            return false;
    pg_collect(db);
    return db->conn != NULL;
}

enum status pg_ensure(struct pg_db *db, struct err *err)
{
    CHECK(!db->base.in_transaction);
    if (db->conn != NULL && (db->drop_at_end || !still_there(db)))
        pg_drop(db);
    db->failure = (struct err){0};
    db->at_stake = false;
    db->used_mono_us = clock_mono_us();
    return db->conn != NULL ? STATUS_OK : pg_connect(db, err);
}
