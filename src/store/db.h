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
 * Drivers are in sqlite/, behind db_driver.h.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct db;
struct db_stmt;

enum db_mode { DB_READ_WRITE, DB_READ_ONLY };

/* Open the database behind `url` ("sqlite:PATH"), creating it in read-write mode. */
NODISCARD enum status db_open(const char *url, enum db_mode mode, struct db **out, struct err *err);
void db_close(struct db *db); /* NULL is allowed */
/* How long to wait for another program that holds the database. */
void db_set_patience(struct db *db, int64_t timeout_ms);

/*
 * A write transaction. Waits for other writers; STATUS_BUSY when one that does not follow our
 * lock holds the file for too long. What is not committed by db_commit is undone by db_end.
 */
NODISCARD enum status db_begin(struct db *db, struct err *err);
/* A read transaction: everything until db_end sees one state of the database. */
NODISCARD enum status db_begin_read(struct db *db, struct err *err);
NODISCARD enum status db_commit(struct db *db, struct err *err);
void db_end(struct db *db); /* undo if a transaction is open; else nothing */
bool db_in_transaction(const struct db *db);

/*
 * Start a statement with values, by a format of one letter each: i int64_t, t const char * or
 * NULL, b const void * and size_t (NULL pointer: null), n null, z int64_t where 0 means null,
 * x int64_t where a negative one means null.
 */
NODISCARD enum status db_query(struct db *db, struct db_stmt **out, struct err *err,
                               const char *sql, const char *format, ...);
/* The same for a statement without rows; runs it. */
NODISCARD enum status db_do(struct db *db, struct err *err, const char *sql, const char *format,
                            ...);
/* Rows changed by the last db_do. */
int64_t db_changes(const struct db *db);

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
