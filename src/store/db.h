#pragma once
/*
 * db: a database connection, whichever database it is.
 *
 * Thin: statements, transactions, values in and out. What the rows mean is the
 * business of the store modules above. SQL is written with $1, $2, ... and only what both
 * SQLite and PostgreSQL accept; statements are prepared once per connection and kept, keyed by
 * the address of their text, which therefore must be a constant.
 *
 * Ownership  Statements belong to the connection. Column texts are borrowed until the next step.
 * Threads    One thread per connection.
 *
 * Drivers are in sqlite/ and postgres/, behind db_driver.h.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct db;
struct db_stmt;

enum db_mode { DB_READ_WRITE, DB_READ_ONLY };
enum db_dialect { DB_SQLITE, DB_POSTGRES };

/*
 * Open the database behind `url`: "sqlite:PATH", created in read-write mode, or
 * "postgresql://..." in any form that libpq takes.
 *
 * A connection that breaks is made again by the next call outside a transaction; inside one,
 * everything fails until db_end. What a failure means for the caller:
 *
 *   STATUS_BUSY         nothing happened, the same again may work (deadlock, lock, restart)
 *   STATUS_UNREACHABLE  nothing happened, there is no server to talk to
 *   STATUS_UNKNOWN      the answer to a commit was lost: read back what is there
 *   STATUS_CONFLICT     a key exists already
 *   STATUS_FULL, STATUS_DENIED, STATUS_CORRUPT, STATUS_INVALID  as they say
 */
NODISCARD enum status db_open(const char *url, enum db_mode mode, struct db **out, struct err *err);
void db_close(struct db *db); /* NULL is allowed */
enum db_dialect db_dialect(const struct db *db);
/* How long to wait for another program that holds the database, or for a server's answer. */
void db_set_patience(struct db *db, int64_t timeout_ms);
/*
 * Outside transactions: let go of a server's connection that was not used within that time; the
 * next call makes another one.
 */
void db_rest(struct db *db, int64_t idle_ms);

/*
 * Now, by the clock that all users of the database share. In a write transaction on PostgreSQL the
 * instant the server began it, else that clock carried on by this machine's steady one.
 */
int64_t db_now_us(struct db *db);

/* How a transaction, or a part of one (db_together_begin), ended. */
enum db_end { DB_BEGAN_WITHIN, DB_UNDONE_WITHIN, DB_KEPT, DB_FAILED, DB_UNDONE };

/* Hears of ends; a commit that was made, or failed, took so long. Without `ended`: nobody does. */
struct db_watcher {
    void *context;
    void (*ended)(void *context, enum db_end how, int64_t took_us);
};

void db_watch(struct db *db, const struct db_watcher *watcher);

/*
 * A write transaction. Waits for other writers; STATUS_BUSY when one that does not follow our
 * lock holds the file for too long. What is not committed by db_commit is undone by db_end.
 */
NODISCARD enum status db_begin(struct db *db, struct err *err);
/* A write transaction that no other migration of this database runs beside. */
NODISCARD enum status db_begin_migration(struct db *db, struct err *err);
/* A read transaction: everything until db_end sees one state of the database. */
NODISCARD enum status db_begin_read(struct db *db, struct err *err);
NODISCARD enum status db_commit(struct db *db, struct err *err);
void db_end(struct db *db); /* undo if a transaction is open; else nothing */
bool db_in_transaction(const struct db *db);
/*
 * From here to db_close nothing lasts: what is committed is seen by this connection alone, and
 * undone when it is closed. Others wait for what it has locked, so it has to be short.
 */
NODISCARD enum status db_rehearse(struct db *db, struct err *err);
/* False: a rehearsal lost its transaction, with the connection or the disk; close it. */
bool db_can_go_on(const struct db *db);
/*
 * From here to db_together_commit transactions are parts of one: each can be undone alone, and all
 * become durable at once. A failure leaves nothing of any.
 */
NODISCARD enum status db_together_begin(struct db *db, struct err *err);
NODISCARD enum status db_together_commit(struct db *db, struct err *err);
/* From here on it can only fail (STATUS_IO): what was done must not last without what could not be.
 */
void db_together_spoil(struct db *db);
/* Instead of the commit: nothing of it happened. True: no part of it had been committed. */
bool db_together_undo(struct db *db);

/*
 * Start a statement with values, by a format of one letter each: i int64_t, t const char * or
 * NULL, b const void * and size_t (NULL pointer: null), n null, z int64_t where 0 means null,
 * x int64_t where a negative one means null. On PostgreSQL also I: const int64_t * and size_t, an
 * array of numbers.
 */
NODISCARD enum status db_query(struct db *db, struct db_stmt **out, struct err *err,
                               const char *sql, const char *format, ...);
/*
 * The same in a transaction, on its way at once: its rows are asked for later, and others may be
 * sent meanwhile.
 */
NODISCARD enum status db_query_ahead(struct db *db, struct db_stmt **out, struct err *err,
                                     const char *sql, const char *format, ...);
/* The same for a statement without rows; runs it. */
NODISCARD enum status db_do(struct db *db, struct err *err, const char *sql, const char *format,
                            ...);
/* Rows changed by the last db_do. */
int64_t db_changes(const struct db *db);

/*
 * The same for a statement whose answer nobody waits for: it is sent with the next one. Its failure
 * is the failure of a later call of the transaction, at the latest of db_commit.
 */
NODISCARD enum status db_later(struct db *db, struct err *err, const char *sql, const char *format,
                               ...);

/*
 * One statement for many rows, in the way that each database does best: SQLite runs `one` for every
 * row, PostgreSQL `many` once, whose parameters are arrays, one per column.
 */
struct db_bulk_form {
    const char *one;
    const char *many;
    const char *format; /* of a row: letters of db_query except I */
    const char *what;   /* "task": for the message when rows were changed by others meanwhile */
};

struct db_cell {
    char letter; /* i, t, b; n for null */
    int64_t number;
    const void *bytes; /* borrowed until the bulk has run */
    size_t size;
};

struct db_bulk {
    const struct db_bulk_form *form;
    size_t columns;
    size_t rows;
    size_t capacity; /* in cells */
    struct db_cell *cells;
};

void db_bulk_init(struct db_bulk *bulk, const struct db_bulk_form *form);
void db_bulk_fini(struct db_bulk *bulk);
/* One row, by the form's format. */
void db_bulk_add(struct db_bulk *bulk, ...);
/* The same from cells that are made already, one per column. */
void db_bulk_add_cells(struct db_bulk *bulk, const struct db_cell *cells);
enum { DB_ANY_CHANGES = -1 };
/*
 * Run it for the rows added and forget them; no rows, nothing happens. Unless `expected` is
 * DB_ANY_CHANGES, another number of rows changed is STATUS_BUSY. Like db_later, PostgreSQL may
 * tell so only with a later call of the transaction, at the latest with db_commit.
 */
NODISCARD enum status db_bulk_run(struct db *db, struct db_bulk *bulk, int64_t expected,
                                  struct err *err);

/*
 * Wake-ups between processes, on PostgreSQL only; elsewhere nothing is heard. db_notify belongs to
 * the transaction and takes effect with its commit. db_wait returns when something was
 * heard, when `wake_fd` (-1: none) is readable, or after the time; *out_heard tells whether it was
 * the first. After a broken connection it listens again, and says heard, since it cannot know.
 */
NODISCARD enum status db_listen(struct db *db, const char *channel, struct err *err);
NODISCARD enum status db_notify(struct db *db, const char *channel, const char *text,
                                struct err *err);
NODISCARD enum status db_wait(struct db *db, int wake_fd, int64_t timeout_ms, bool *out_heard,
                              struct err *err);

/* Next row: *out_row tells whether there is one. After the last row the statement is reset. */
NODISCARD enum status db_step(struct db_stmt *stmt, bool *out_row, struct err *err);
/* For loops over rows: true while there is one; *status tells how it went. */
static inline bool db_next(struct db_stmt *stmt, enum status *status, struct err *err)
{
    bool row = false;
    *status = db_step(stmt, &row, err);
    return *status == STATUS_OK && row;
}
/* Leave a statement before its last row. */
void db_reset(struct db_stmt *stmt);

int64_t db_int(struct db_stmt *stmt, int column); /* NULL is 0 */
bool db_is_null(struct db_stmt *stmt, int column);
const char *db_text(struct db_stmt *stmt, int column); /* NULL is NULL */
const void *db_blob(struct db_stmt *stmt, int column, size_t *out_size);

/* First column of the only row, or `otherwise` when there is none. */
NODISCARD enum status db_get_int(struct db *db, int64_t otherwise, int64_t *out, struct err *err,
                                 const char *sql, const char *format, ...);

/* Several statements in one text, without values: migrations. */
NODISCARD enum status db_script(struct db *db, const char *sql, struct err *err);

NODISCARD enum status db_has_table(struct db *db, const char *name, bool *out, struct err *err);

/* The migrations of this database's dialect, oldest first, closed by NULL. */
const char *const *db_migrations(const struct db *db);

/* Copy the whole database, online, into a new file at `path`. */
NODISCARD enum status db_backup(struct db *db, const char *path, struct err *err);
/* Everything in the file is as it should be, as far as the database can tell. */
NODISCARD enum status db_verify(struct db *db, struct err *err);

static inline void db_closep(struct db **db)
{
    db_close(*db);
}

static inline void db_endp(struct db **db)
{
    if (*db != NULL)
        db_end(*db);
}
