#pragma once
/*
 * db_driver: what a database must be able to do for db.h. Private to the store layer.
 */
#include <stdbool.h>
#include <stdint.h>

#include "store/db.h"

struct db_driver {
    const char *scheme;       /* of the URL, with the colon: "sqlite:" */
    const char *other_scheme; /* the same, or NULL */
    bool keeps_scheme;        /* open() wants the whole URL */
    enum db_dialect dialect;
    const char *const *migrations;

    enum status (*open)(const char *location, enum db_mode mode, struct db **out, struct err *err);
    void (*close)(struct db *db);
    void (*set_patience)(struct db *db, int64_t timeout_ms);
    void (*rest)(struct db *db, int64_t idle_ms); /* NULL: an open database costs nobody anything */
    int64_t (*now_us)(struct db *db);

    enum status (*begin)(struct db *db, bool write, struct err *err);
    enum status (*commit)(struct db *db, struct err *err);
    void (*rollback)(struct db *db);
    /*
     * A failure does not end the transaction, which goes back to a savepoint now. NULL: statements
     * that failed leave nothing behind.
     */
    void (*forgive)(struct db *db);

    /* A statement ready for binding: prepared before, or now. */
    enum status (*prepare)(struct db *db, const char *sql, struct db_stmt **out, struct err *err);
    void (*bind_int)(struct db_stmt *stmt, int index, int64_t value);
    void (*bind_text)(struct db_stmt *stmt, int index, const char *text);
    void (*bind_blob)(struct db_stmt *stmt, int index, const void *bytes, size_t size);
    /* `letter` is that of db_query's format: PostgreSQL wants a type even then. */
    void (*bind_null)(struct db_stmt *stmt, int index, char letter);
    void (*bind_ints)(struct db_stmt *stmt, int index, const int64_t *items, size_t count);
    enum status (*step)(struct db_stmt *stmt, bool *out_row, struct err *err);
    void (*reset)(struct db_stmt *stmt);

    /* These may be NULL: statements are then run at once, and nothing is ever heard. */
    enum status (*later)(struct db_stmt *stmt, struct err *err);
    enum status (*send_ahead)(struct db_stmt *stmt, struct err *err);
    enum status (*bulk)(struct db *db, const struct db_bulk *bulk, int64_t expected,
                        struct err *err);
    enum status (*listen)(struct db *db, const char *channel, struct err *err);
    enum status (*notify)(struct db *db, const char *channel, const char *text, struct err *err);
    enum status (*wait)(struct db *db, int wake_fd, int64_t timeout_ms, bool *out_heard,
                        struct err *err);

    int64_t (*column_int)(struct db_stmt *stmt, int column);
    bool (*column_is_null)(struct db_stmt *stmt, int column);
    const char *(*column_text)(struct db_stmt *stmt, int column);
    const void *(*column_blob)(struct db_stmt *stmt, int column, size_t *out_size);

    enum status (*script)(struct db *db, const char *sql, struct err *err);
    enum status (*has_table)(struct db *db, const char *name, bool *out, struct err *err);
    /* Keep other migrations out until the transaction ends; NULL: writing alone does. */
    enum status (*lock_schema)(struct db *db, struct err *err);
    enum status (*backup)(struct db *db, const char *path, struct err *err);
    enum status (*verify)(struct db *db, struct err *err);
};

/* Drivers embed these as their first member. */
struct db {
    const struct db_driver *driver;
    bool in_transaction;
    bool has_parts; /* that transaction holds others: a rehearsal, or several callers' together */
    bool is_within; /* one of them is open */
    bool is_spoilt; /* it must not last: not all of it is as it should be */
    bool has_kept;  /* some of them were committed */
    struct db_watcher watcher;
    int64_t changes;
};

struct db_stmt {
    const struct db_driver *driver;
};

extern const struct db_driver SQLITE_DRIVER;
extern const struct db_driver POSTGRES_DRIVER;
