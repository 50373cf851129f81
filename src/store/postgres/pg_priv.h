#pragma once
/*
 * pg_priv: what the parts of the PostgreSQL driver share.
 *
 *   pg_connect    making, checking and dropping the connection
 *   pg_pipeline   what was sent and not answered yet, failures
 *   pg_statement  prepared statements, values in and out
 *   pg_bulk       many rows as arrays
 *   pg_notice     listening
 *   postgres_driver  transactions, the clock and the rest of db_driver.h
 *
 * The connection is always in pipeline mode (except for scripts): statements are queued, and sent
 * and awaited together by pg_flush. The first failure of a transaction is kept and
 * repeated until the transaction ends.
 */
#include <libpq-fe.h>

#include "base/strbuf.h"
#include "store/db_driver.h"

enum { PG_STATEMENTS_MAX = 2048, PG_PARAMS_MAX = 48, PG_CHANNELS_MAX = 8 };

/* From PostgreSQL's pg_type; they never change. */
enum pg_type {
    PG_UNKNOWN = 0, /* the server decides */
    PG_BOOL = 16,
    PG_BYTEA = 17,
    PG_INT8 = 20,
    PG_TEXT = 25,
    PG_BYTEA_ARRAY = 1001,
    PG_TEXT_ARRAY = 1009,
    PG_INT8_ARRAY = 1016,
};

struct pg_param {
    Oid type;
    bool is_null;
    size_t offset; /* into the bytes of the statement */
    size_t size;
};

enum pg_prepared { PG_NOT_PREPARED, PG_PREPARE_SENT, PG_PREPARED };

struct pg_stmt {
    struct db_stmt base;
    struct pg_db *owner;
    const char *sql; /* key: the address */
    enum pg_prepared prepared;
    unsigned number; /* in its name on the server */
    int params_count;
    Oid types[PG_PARAMS_MAX]; /* as prepared */
    struct pg_param params[PG_PARAMS_MAX];
    struct strbuf bytes;
    bool is_sent; /* ahead of the first step */
    bool has_run;
    PGresult *result;
    int row;
};

/* What an answer is for, in the order of sending. */
enum pg_answer {
    PG_ANSWER_PREPARE,
    PG_ANSWER_ROWS,  /* kept in its statement */
    PG_ANSWER_COUNT, /* only how many rows were changed */
    PG_ANSWER_CLOCK,
    PG_ANSWER_COMMIT,
    PG_ANSWER_ROLLBACK,
    PG_ANSWER_SYNC,
};

struct pg_pending {
    enum pg_answer answer;
    struct pg_stmt *stmt; /* NULL for a sync */
    int64_t expected;     /* of a count, or DB_ANY_CHANGES */
    const char *what;
};

struct pg_db {
    struct db base;
    char *url;
    char where[160]; /* server and database, for messages */
    enum db_mode mode;
    int64_t patience_ms;

    PGconn *conn;         /* NULL: to be made */
    int64_t used_mono_us; /* when something was asked of it last */
    uint64_t session;     /* random: names of statements, which poolers may mix up */
    bool drop_at_end;     /* the transaction ends with this connection */
    bool without_names;   /* a pooler loses prepared statements */
    unsigned statements;  /* named so far */
    struct pg_stmt *slots[PG_STATEMENTS_MAX];

    struct pg_pending *pending; /* a queue: from `answered` to `pending_count` */
    size_t answered, pending_count, pending_capacity;
    bool unsynced;      /* something was sent after the last sync */
    bool at_stake;      /* what is under way takes effect even if the answer is lost */
    struct err failure; /* the first; STATUS_OK: none */

    bool writes;      /* the open transaction is a write transaction */
    bool has_instant; /* its beginning is known */
    int64_t began_at_us;
    int64_t sent_mono_us;    /* when the question for the clock left */
    int64_t clock_offset_us; /* of the server's clock to the steady one */

    char *channels[PG_CHANNELS_MAX];
    bool must_tell; /* notices may have been missed */
};

static inline struct pg_db *pg_of(struct db *db)
{
    return (struct pg_db *)db;
}

/* --- pg_connect ---------------------------------------------------------------------------- */

NODISCARD enum status pg_connect(struct pg_db *db, struct err *err);
/* Outside transactions: a connection that works as far as can be seen without asking. */
NODISCARD enum status pg_ensure(struct pg_db *db, struct err *err);
/* The server's clock; the second also sets what a session of a pooler does not keep. */
#define PG_CLOCK_SQL "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
extern const char PG_CLOCK[];
extern const char PG_CLOCK_LOCAL[];
/* Forget the connection and all that was under way. */
void pg_drop(struct pg_db *db);

/* --- pg_pipeline --------------------------------------------------------------------------- */

struct pg_values {
    int count;
    const Oid *types;
    const char *const *values;
    const int *lengths;
};

/* Queue one statement; `pending` says what its answer is for. */
NODISCARD enum status pg_send(struct pg_db *db, const struct pg_pending *pending,
                              const struct pg_values *values, struct err *err);
/* The same for a statement of the driver's own, without values. */
NODISCARD enum status pg_send_plain(struct pg_db *db, const char *sql, enum pg_answer answer,
                                    struct err *err);
/* Close what was queued; errors before do not reach what comes after. */
void pg_sync(struct pg_db *db);
/* Write as much as the socket takes, without waiting. */
void pg_push(struct pg_db *db);
/* Take the answers that are there, without waiting. */
void pg_collect(struct pg_db *db);
/* Send everything and await the answers; a failure is kept. */
void pg_await(struct pg_db *db);
/* The same, and tell the first failure. */
NODISCARD enum status pg_flush(struct pg_db *db, struct err *err);
/* The kept failure, if there is one; outside transactions it is then forgotten. */
NODISCARD enum status pg_report(struct pg_db *db, struct err *err);
/* Run a text outside the pipeline; rows are in text form. *out may be NULL. */
NODISCARD enum status pg_run_simple(struct pg_db *db, const char *sql, PGresult **out,
                                    struct err *err);
/* Keep a failure unless there is one already. */
void pg_keep_failure(struct pg_db *db, enum status status, const char *fmt, ...) PRINTF(3, 4);
/* The first line of what libpq says about the connection. Returns `out`. */
enum { PG_WORDS_MAX = 240 };
const char *pg_words(const PGconn *conn, char out[static PG_WORDS_MAX]);

/* --- pg_statement -------------------------------------------------------------------------- */

struct pg_stmt *pg_slot(struct pg_db *db, const char *sql);
void pg_statements_forget(struct pg_db *db); /* a new connection has none of them */
void pg_statements_free(struct pg_db *db);

NODISCARD enum status pg_prepare(struct db *base, const char *sql, struct db_stmt **out,
                                 struct err *err);
void pg_bind_int(struct db_stmt *base, int index, int64_t value);
void pg_bind_text(struct db_stmt *base, int index, const char *text);
void pg_bind_blob(struct db_stmt *base, int index, const void *bytes, size_t size);
void pg_bind_null(struct db_stmt *base, int index, char letter);
void pg_bind_ints(struct db_stmt *base, int index, const int64_t *items, size_t count);
NODISCARD enum status pg_step(struct db_stmt *base, bool *out_row, struct err *err);
NODISCARD enum status pg_later(struct db_stmt *base, struct err *err);
NODISCARD enum status pg_send_ahead(struct db_stmt *base, struct err *err);
void pg_reset(struct db_stmt *base);
int64_t pg_column_int(struct db_stmt *base, int column);
bool pg_column_is_null(struct db_stmt *base, int column);
const char *pg_column_text(struct db_stmt *base, int column);
const void *pg_column_blob(struct db_stmt *base, int column, size_t *out_size);

/* --- pg_bulk ------------------------------------------------------------------------------- */

/* An array of one dimension as the wire has it. */
void pg_array_begin(struct strbuf *out, enum pg_type item_type, size_t count, bool has_nulls);
void pg_array_add_int(struct strbuf *out, int64_t value);
NODISCARD enum status pg_bulk(struct db *base, const struct db_bulk *bulk, int64_t expected,
                              struct err *err);

/* --- pg_notice ----------------------------------------------------------------------------- */

NODISCARD enum status pg_listen(struct db *base, const char *channel, struct err *err);
NODISCARD enum status pg_notify(struct db *base, const char *channel, const char *text,
                                struct err *err);
NODISCARD enum status pg_wait(struct db *base, int wake_fd, int64_t timeout_ms, bool *out_heard,
                              struct err *err);
/* On a new connection. */
NODISCARD enum status pg_listen_again(struct pg_db *db, struct err *err);
