#include "store/db.h"

#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "store/db_driver.h"

static const struct db_driver *const DRIVERS[] = {&SQLITE_DRIVER, &POSTGRES_DRIVER};

static bool driver_is_for(const struct db_driver *driver, const char *url)
{
    return str_starts_with(url, driver->scheme) ||
           (driver->other_scheme != NULL && str_starts_with(url, driver->other_scheme));
}

enum status db_open(const char *url, enum db_mode mode, struct db **out, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(DRIVERS); i++)
        if (driver_is_for(DRIVERS[i], url))
            return DRIVERS[i]->open(
                DRIVERS[i]->keeps_scheme ? url : url + strlen(DRIVERS[i]->scheme), mode, out, err);
    /* Only the scheme: the rest may hold a password. */
    return err_set(err, STATUS_INVALID,
                   "store '%.*s' is not one this version knows; use sqlite:PATH or "
                   "postgresql://USER@HOST/DATABASE",
                   (int)MIN(strcspn(url, ":/@"), (size_t)100), url);
}

enum db_dialect db_dialect(const struct db *db)
{
    return db->driver->dialect;
}

int64_t db_now_us(struct db *db)
{
    return db->driver->now_us(db);
}

void db_close(struct db *db)
{
    if (db == NULL)
        return;
    db->has_parts = false;
    db_end(db);
    db->driver->close(db);
}

void db_set_patience(struct db *db, int64_t timeout_ms)
{
    db->driver->set_patience(db, timeout_ms);
}

void db_rest(struct db *db, int64_t idle_ms)
{
    CHECK(!db->in_transaction);
    if (db->driver->rest != NULL)
        db->driver->rest(db, idle_ms);
}

void db_watch(struct db *db, const struct db_watcher *watcher)
{
    db->watcher = *watcher;
}

static void tell_end(const struct db *db, enum db_end how, int64_t since_us)
{
    if (db->watcher.ended != NULL)
        db->watcher.ended(db->watcher.context, how, since_us != 0 ? clock_mono_us() - since_us : 0);
}

static enum status refuse_spoilt(struct err *err)
{
    return err_set(err, STATUS_IO, "the transaction around this one was broken off; try again");
}

static enum status begin_within(struct db *db, struct err *err)
{
    CHECK(!db->is_within);
    /* What follows might last: a transaction that is gone does not hold it. */
    if (db->is_spoilt)
        return refuse_spoilt(err);
    if (db_later(db, err, "SAVEPOINT within", "") != STATUS_OK)
        return err->code;
    db->is_within = true;
    tell_end(db, DB_BEGAN_WITHIN, 0);
    return STATUS_OK;
}

static enum status begin(struct db *db, bool write, struct err *err)
{
    if (db->has_parts)
        return begin_within(db, err);
    CHECK(!db->in_transaction);
    if (db->driver->begin(db, write, err) != STATUS_OK)
        return err->code;
    db->in_transaction = true;
    return STATUS_OK;
}

enum status db_begin(struct db *db, struct err *err)
{
    return begin(db, true, err);
}

enum status db_begin_read(struct db *db, struct err *err)
{
    return begin(db, false, err);
}

enum status db_begin_migration(struct db *db, struct err *err)
{
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    if (db->driver->lock_schema != NULL && db->driver->lock_schema(db, err) != STATUS_OK) {
        db_end(db);
        return err_wrap(err, "wait for another migration");
    }
    return STATUS_OK;
}

enum status db_rehearse(struct db *db, struct err *err)
{
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    db->has_parts = true;
    db->has_kept = false;
    return STATUS_OK;
}

/*
 * What is done together is short and finds its rows by their keys: PostgreSQL would take longer to
 * plan some of it for the values at hand, each time anew, than to do it.
 */
static const char PLAN_ONCE[] = "SET LOCAL plan_cache_mode = force_generic_plan";

enum status db_together_begin(struct db *db, struct err *err)
{
    if (db_rehearse(db, err) != STATUS_OK)
        return err->code;
    return db_dialect(db) == DB_POSTGRES ? db_later(db, err, PLAN_ONCE, "") : STATUS_OK;
}

static enum status commit_within(struct db *db, struct err *err)
{
    CHECK(db->is_within);
    /* On the way with what is not answered yet, so that one wait tells of all of it. */
    if (db_do(db, err, "RELEASE SAVEPOINT within", "") != STATUS_OK)
        return err_wrap(err, "commit");
    db->is_within = false;
    db->has_kept = true;
    return STATUS_OK;
}

static void end_within(struct db *db)
{
    struct err ignored = {0};
    if (!db->is_within)
        return;
    if (db->driver->forgive != NULL)
        db->driver->forgive(db);
    db->is_spoilt = db_script(db, "ROLLBACK TO SAVEPOINT within; RELEASE SAVEPOINT within",
                              &ignored) != STATUS_OK;
    tell_end(db, DB_UNDONE_WITHIN, 0);
    db->is_within = false;
}

enum status db_commit(struct db *db, struct err *err)
{
    if (db->has_parts)
        return commit_within(db, err);
    CHECK(db->in_transaction);
    int64_t began_us = db->watcher.ended != NULL ? clock_mono_us() : 0;
    if (db->driver->commit(db, err) != STATUS_OK) {
        tell_end(db, DB_FAILED, began_us);
        return err_wrap(err, "commit");
    }
    db->in_transaction = false;
    tell_end(db, DB_KEPT, began_us);
    return STATUS_OK;
}

void db_end(struct db *db)
{
    if (db->has_parts)
        end_within(db);
    if (!db->in_transaction || db->has_parts)
        return;
    db->driver->rollback(db);
    db->in_transaction = false;
    tell_end(db, DB_UNDONE, 0);
}

enum status db_together_commit(struct db *db, struct err *err)
{
    CHECK(db->has_parts);
    CHECK(!db->is_within);
    db->has_parts = false;
    enum status status = db->is_spoilt ? refuse_spoilt(err) : db_commit(db, err);
    db->is_spoilt = false;
    db_end(db);
    return status;
}

void db_together_spoil(struct db *db)
{
    CHECK(db->has_parts);
    db->is_spoilt = true;
}

bool db_together_undo(struct db *db)
{
    CHECK(db->has_parts);
    CHECK(!db->is_within);
    db->has_parts = false;
    db->is_spoilt = false;
    db_end(db);
    return !db->has_kept;
}

bool db_can_go_on(const struct db *db)
{
    return !db->is_spoilt;
}

bool db_in_transaction(const struct db *db)
{
    return db->has_parts ? db->is_within : db->in_transaction;
}

static void bind_values(struct db_stmt *stmt, const char *format, va_list args)
{
    const struct db_driver *driver = stmt->driver;
    for (int index = 1; *format != '\0'; format++, index++) {
        switch (*format) {
        case 'i':
            driver->bind_int(stmt, index, va_arg(args, int64_t));
            break;
        case 'x':
        case 'z': {
            int64_t value = va_arg(args, int64_t);
            if (*format == 'z' ? value == 0 : value < 0)
                driver->bind_null(stmt, index, *format);
            else
                driver->bind_int(stmt, index, value);
            break;
        }
        case 't': {
            const char *text = va_arg(args, const char *);
            if (text == NULL)
                driver->bind_null(stmt, index, *format);
            else
                driver->bind_text(stmt, index, text);
            break;
        }
        case 'b': {
            const void *bytes = va_arg(args, const void *);
            size_t size = va_arg(args, size_t);
            if (bytes == NULL)
                driver->bind_null(stmt, index, *format);
            else
                driver->bind_blob(stmt, index, bytes, size);
            break;
        }
        case 'I': {
            const int64_t *items = va_arg(args, const int64_t *);
            driver->bind_ints(stmt, index, items, va_arg(args, size_t));
            break;
        }
        default:
            CHECK(*format == 'n');
            driver->bind_null(stmt, index, *format);
        }
    }
}

static enum status start(struct db *db, struct db_stmt **out, const char *sql, const char *format,
                         va_list args, struct err *err)
{
    if (db->driver->prepare(db, sql, out, err) != STATUS_OK)
        return err->code;
    bind_values(*out, format, args);
    return STATUS_OK;
}

enum status db_query(struct db *db, struct db_stmt **out, struct err *err, const char *sql,
                     const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum status status = start(db, out, sql, format, args, err);
    va_end(args);
    return status;
}

enum status db_query_ahead(struct db *db, struct db_stmt **out, struct err *err, const char *sql,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum status status = start(db, out, sql, format, args, err);
    va_end(args);
    if (status == STATUS_OK && db->driver->send_ahead != NULL)
        return db->driver->send_ahead(*out, err);
    return status;
}

enum status db_do(struct db *db, struct err *err, const char *sql, const char *format, ...)
{
    struct db_stmt *stmt = NULL;
    va_list args;
    va_start(args, format);
    enum status status = start(db, &stmt, sql, format, args, err);
    va_end(args);
    for (bool row = true; status == STATUS_OK && row;)
        status = db_step(stmt, &row, err);
    return status;
}

enum status db_later(struct db *db, struct err *err, const char *sql, const char *format, ...)
{
    struct db_stmt *stmt = NULL;
    va_list args;
    va_start(args, format);
    enum status status = start(db, &stmt, sql, format, args, err);
    va_end(args);
    if (status == STATUS_OK && db->driver->later != NULL)
        return db->driver->later(stmt, err);
    for (bool row = true; status == STATUS_OK && row;)
        status = db_step(stmt, &row, err);
    return status;
}

int64_t db_changes(const struct db *db)
{
    return db->changes;
}

enum status db_step(struct db_stmt *stmt, bool *out_row, struct err *err)
{
    return stmt->driver->step(stmt, out_row, err);
}

void db_reset(struct db_stmt *stmt)
{
    stmt->driver->reset(stmt);
}

int64_t db_int(struct db_stmt *stmt, int column)
{
    return stmt->driver->column_int(stmt, column);
}

bool db_is_null(struct db_stmt *stmt, int column)
{
    return stmt->driver->column_is_null(stmt, column);
}

const char *db_text(struct db_stmt *stmt, int column)
{
    return stmt->driver->column_text(stmt, column);
}

const void *db_blob(struct db_stmt *stmt, int column, size_t *out_size)
{
    return stmt->driver->column_blob(stmt, column, out_size);
}

enum status db_get_int(struct db *db, int64_t otherwise, int64_t *out, struct err *err,
                       const char *sql, const char *format, ...)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    va_list args;
    va_start(args, format);
    enum status status = start(db, &stmt, sql, format, args, err);
    va_end(args);
    if (status != STATUS_OK || db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    *out = row ? db_int(stmt, 0) : otherwise;
    if (row)
        db_reset(stmt);
    return STATUS_OK;
}

enum status db_script(struct db *db, const char *sql, struct err *err)
{
    return db->driver->script(db, sql, err);
}

enum status db_has_table(struct db *db, const char *name, bool *out, struct err *err)
{
    return db->driver->has_table(db, name, out, err);
}

const char *const *db_migrations(const struct db *db)
{
    return db->driver->migrations;
}

enum status db_backup(struct db *db, const char *path, struct err *err)
{
    return db->driver->backup(db, path, err);
}

enum status db_verify(struct db *db, struct err *err)
{
    return db->driver->verify(db, err);
}
