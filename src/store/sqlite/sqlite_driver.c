/*
 * sqlite_driver: db.h on an embedded SQLite file.
 *
 * WAL with synchronous=FULL: what was acknowledged survives a power cut. SQLite lets
 * one writer in at a time and makes the others poll, which can starve one for
 * seconds, so writers queue at a blocking lock on a file of their own first.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/db_driver.h"

/* Of statements the program has about five hundred, and a server may come to use all of them. */
enum { STATEMENTS_MAX = 2048, BUSY_TIMEOUT_MS = 10000, BACKUP_PAGES = 256 };

extern const char *const SQLITE_MIGRATIONS[];

struct sqlite_stmt {
    struct db_stmt base;
    struct sqlite_db *owner;
    const char *sql; /* key: the address */
    sqlite3_stmt *handle;
};

struct sqlite_db {
    struct db base;
    sqlite3 *handle;
    char *path;
    int writer_lock; /* -1 in read-only mode */
    bool holds_writer_lock;
    struct sqlite_stmt statements[STATEMENTS_MAX];
};

static struct sqlite_db *sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

static enum status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return STATUS_BUSY;
    case SQLITE_FULL:
        return STATUS_FULL;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return STATUS_DENIED;
    case SQLITE_CONSTRAINT:
        return STATUS_CONFLICT;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
        return STATUS_CORRUPT;
    case SQLITE_CANTOPEN:
        return STATUS_NOT_FOUND;
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
        return STATUS_LIMIT;
    default:
        return STATUS_IO;
    }
}

/* A full disk can surface as an I/O error when the shared-memory file cannot grow. */
static bool disk_is_full(sqlite3 *handle)
{
    return sqlite3_system_errno(handle) == ENOSPC;
}

static enum status failure(struct sqlite_db *db, struct err *err)
{
    int code = sqlite3_extended_errcode(db->handle);
    enum status status = disk_is_full(db->handle) ? STATUS_FULL : status_of(code);
    return err_set(err, status, "sqlite '%s': %s", db->path, sqlite3_errmsg(db->handle));
}

/* --- opening --------------------------------------------------------------------------------- */

static void sqlite_driver_close(struct db *base)
{
    struct sqlite_db *db = sqlite_of(base);
    for (size_t i = 0; i < STATEMENTS_MAX; i++)
        sqlite3_finalize(db->statements[i].handle);
    if (db->handle != NULL)
        CHECK(sqlite3_close(db->handle) == SQLITE_OK);
    if (db->writer_lock >= 0)
        (void)close(db->writer_lock);
    free(db->path);
    free(db);
}

static void sqlite_set_patience(struct db *base, int64_t timeout_ms)
{
    (void)sqlite3_busy_timeout(sqlite_of(base)->handle, (int)MIN(timeout_ms, (int64_t)INT32_MAX));
}

static enum status open_writer_lock(struct sqlite_db *db, struct err *err)
{
    CLEANUP(mem_freep) char *path = mem_format("%s.lock", db->path);
    db->writer_lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (db->writer_lock < 0)
        return err_errno(err, errno, "open '%s'", path);
    return STATUS_OK;
}

static enum status take_writer_lock(struct sqlite_db *db, struct err *err)
{
    CHECK(db->writer_lock >= 0);
    while (flock(db->writer_lock, LOCK_EX) != 0)
        if (errno != EINTR)
            return err_errno(err, errno, "lock '%s'", db->path);
    db->holds_writer_lock = true;
    return STATUS_OK;
}

static void leave_writer_lock(struct sqlite_db *db)
{
    if (!db->holds_writer_lock)
        return;
    (void)flock(db->writer_lock, LOCK_UN);
    db->holds_writer_lock = false;
}

static bool is_wal(struct sqlite_db *db)
{
    sqlite3_stmt *stmt = NULL;
    bool is_so =
        sqlite3_prepare_v2(db->handle, "PRAGMA journal_mode", -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW &&
        strcmp((const char *)sqlite3_column_text(stmt, 0), "wal") == 0;
    (void)sqlite3_finalize(stmt);
    return is_so;
}

static enum status set_up(struct sqlite_db *db, enum db_mode mode, struct err *err)
{
    const char *setup = mode == DB_READ_WRITE
                            ? "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                              "PRAGMA wal_autocheckpoint=2000; PRAGMA cache_size=-8000;"
                              "PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF"
                            : "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF";
    /* SQLite does not wait for others who change the mode of a new file, so we take turns. */
    if (mode == DB_READ_WRITE && !is_wal(db) && take_writer_lock(db, err) != STATUS_OK)
        return err->code;
    int code = sqlite3_exec(db->handle, setup, NULL, NULL, NULL);
    leave_writer_lock(db);
    return code == SQLITE_OK ? STATUS_OK : failure(db, err);
}

/*
 * Passwords' hashes are nobody else's, in whatever folder. SQLite would ask the umask, and gives
 * -wal and -shm the mode of the file. Made without opening it: to close a file drops the locks that
 * others of this process have on it. Of what cannot be made SQLite says why.
 */
static void make_file(const char *path)
{
    (void)mknod(path, S_IFREG | 0600, 0);
}

static enum status open_handle(struct sqlite_db *db, enum db_mode mode, struct err *err)
{
    int flags =
        mode == DB_READ_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    if (mode == DB_READ_WRITE)
        make_file(db->path);
    int code = sqlite3_open_v2(db->path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    CHECK(db->handle != NULL);
    if (code != SQLITE_OK)
        return failure(db, err);
    (void)sqlite3_extended_result_codes(db->handle, 1);
    (void)sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    return set_up(db, mode, err);
}

static enum status sqlite_driver_open(const char *location, enum db_mode mode, struct db **out,
                                      struct err *err)
{
    struct sqlite_db *db = mem_zalloc(1, sizeof *db);
    db->base.driver = &SQLITE_DRIVER;
    db->path = mem_strdup(location);
    db->writer_lock = -1;
    if ((mode == DB_READ_WRITE && open_writer_lock(db, err) != STATUS_OK) ||
        open_handle(db, mode, err) != STATUS_OK) {
        sqlite_driver_close(&db->base);
        return err->code;
    }
    *out = &db->base;
    return STATUS_OK;
}

static int64_t sqlite_now_us(struct db *db)
{
    (void)db;
    return clock_wall_us();
}

/* --- transactions ---------------------------------------------------------------------------- */

static enum status sqlite_begin(struct db *base, bool write, struct err *err)
{
    struct sqlite_db *db = sqlite_of(base);
    if (write && take_writer_lock(db, err) != STATUS_OK)
        return err->code;
    if (db_do(base, err, write ? "BEGIN IMMEDIATE" : "BEGIN", "") != STATUS_OK) {
        leave_writer_lock(db);
        return err->code == STATUS_BUSY
                   ? err_set(err, STATUS_BUSY,
                             "the store '%s' is locked by another program; try again when it "
                             "has finished",
                             db->path)
                   : err->code;
    }
    return STATUS_OK;
}

static enum status sqlite_commit(struct db *base, struct err *err)
{
    if (db_do(base, err, "COMMIT", "") != STATUS_OK)
        return err->code;
    leave_writer_lock(sqlite_of(base));
    return STATUS_OK;
}

static void sqlite_rollback(struct db *base)
{
    struct sqlite_db *db = sqlite_of(base);
    /* A statement left before its last row would keep the rollback from taking effect. */
    for (size_t i = 0; i < STATEMENTS_MAX; i++)
        if (db->statements[i].handle != NULL)
            (void)sqlite3_reset(db->statements[i].handle);
    if (sqlite3_get_autocommit(db->handle) == 0)
        (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    leave_writer_lock(db);
}

/* --- statements ------------------------------------------------------------------------------ */

/* $N means parameter N everywhere; SQLite would number $N by first appearance, ?N it takes. */
static char *with_numbered_parameters(const char *sql)
{
    char *copy = mem_strdup(sql);
    for (char *c = copy; *c != '\0'; c++)
        if (*c == '$')
            *c = '?';
    return copy;
}

static struct sqlite_stmt *slot_for(struct sqlite_db *db, const char *sql)
{
    size_t i = (size_t)((uintptr_t)sql * 0x9e3779b97f4a7c15u >> 40) % STATEMENTS_MAX;
    for (size_t tries = 0; tries < STATEMENTS_MAX; tries++, i = (i + 1) % STATEMENTS_MAX)
        if (db->statements[i].sql == sql || db->statements[i].sql == NULL)
            return &db->statements[i];
    UNREACHABLE("room for every statement of the program");
}

static enum status sqlite_prepare(struct db *base, const char *sql, struct db_stmt **out,
                                  struct err *err)
{
    struct sqlite_db *db = sqlite_of(base);
    struct sqlite_stmt *slot = slot_for(db, sql);
    if (slot->handle == NULL) {
        CLEANUP(mem_freep) char *text = with_numbered_parameters(sql);
        if (sqlite3_prepare_v3(db->handle, text, -1, SQLITE_PREPARE_PERSISTENT, &slot->handle,
                               NULL) != SQLITE_OK)
            return failure(db, err);
        slot->base.driver = &SQLITE_DRIVER;
        slot->owner = db;
        slot->sql = sql;
    }
    *out = &slot->base;
    return STATUS_OK;
}

static sqlite3_stmt *handle_of(struct db_stmt *stmt)
{
    return ((struct sqlite_stmt *)stmt)->handle;
}

static void sqlite_bind_int(struct db_stmt *stmt, int index, int64_t value)
{
    CHECK(sqlite3_bind_int64(handle_of(stmt), index, value) == SQLITE_OK);
}

static void sqlite_bind_text(struct db_stmt *stmt, int index, const char *text)
{
    CHECK(sqlite3_bind_text(handle_of(stmt), index, text, -1, SQLITE_TRANSIENT) == SQLITE_OK);
}

static void sqlite_bind_blob(struct db_stmt *stmt, int index, const void *bytes, size_t size)
{
    CHECK(sqlite3_bind_blob64(handle_of(stmt), index, bytes, size, SQLITE_TRANSIENT) == SQLITE_OK);
}

static void sqlite_bind_ints(struct db_stmt *stmt, int index, const int64_t *items, size_t count)
{
    (void)stmt, (void)index, (void)items, (void)count;
    UNREACHABLE("arrays are for PostgreSQL");
}

static void sqlite_bind_null(struct db_stmt *stmt, int index, char letter)
{
    (void)letter;
    CHECK(sqlite3_bind_null(handle_of(stmt), index) == SQLITE_OK);
}

static enum status sqlite_step(struct db_stmt *base, bool *out_row, struct err *err)
{
    struct sqlite_stmt *stmt = (struct sqlite_stmt *)base;
    switch (sqlite3_step(stmt->handle)) {
    case SQLITE_ROW:
        *out_row = true;
        return STATUS_OK;
    case SQLITE_DONE:
        *out_row = false;
        stmt->owner->base.changes = sqlite3_changes64(stmt->owner->handle);
        (void)sqlite3_reset(stmt->handle);
        return STATUS_OK;
    default: {
        enum status status = failure(stmt->owner, err);
        (void)sqlite3_reset(stmt->handle);
        return status;
    }
    }
}

static void sqlite_reset(struct db_stmt *stmt)
{
    (void)sqlite3_reset(handle_of(stmt));
}

static int64_t sqlite_column_int(struct db_stmt *stmt, int column)
{
    return sqlite3_column_int64(handle_of(stmt), column);
}

static bool sqlite_column_is_null(struct db_stmt *stmt, int column)
{
    return sqlite3_column_type(handle_of(stmt), column) == SQLITE_NULL;
}

static const char *sqlite_column_text(struct db_stmt *stmt, int column)
{
    return (const char *)sqlite3_column_text(handle_of(stmt), column);
}

static const void *sqlite_column_blob(struct db_stmt *stmt, int column, size_t *out_size)
{
    const void *bytes = sqlite3_column_blob(handle_of(stmt), column);
    *out_size = (size_t)sqlite3_column_bytes(handle_of(stmt), column);
    return bytes;
}

/* --- the file as a whole --------------------------------------------------------------------- */

static enum status sqlite_script(struct db *base, const char *sql, struct err *err)
{
    struct sqlite_db *db = sqlite_of(base);
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        return failure(db, err);
    return STATUS_OK;
}

static enum status sqlite_has_table(struct db *base, const char *name, bool *out, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(base, 0, &count, err,
                   "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1", "t",
                   name) != STATUS_OK)
        return err->code;
    *out = count > 0;
    return STATUS_OK;
}

static enum status copy_pages(struct sqlite_db *db, sqlite3 *target, const char *path,
                              struct err *err)
{
    sqlite3_backup *backup = sqlite3_backup_init(target, "main", db->handle, "main");
    if (backup == NULL)
        return err_set(err, STATUS_IO, "backup to '%s': %s", path, sqlite3_errmsg(target));
    int code = SQLITE_OK;
    while (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED)
        code = sqlite3_backup_step(backup, BACKUP_PAGES);
    int finished = sqlite3_backup_finish(backup);
    if (code != SQLITE_DONE || finished != SQLITE_OK)
        return err_set(err, disk_is_full(target) ? STATUS_FULL : status_of(code),
                       "backup to '%s': %s", path, sqlite3_errmsg(target));
    /* A backup is one file that nothing else belongs to. */
    if (sqlite3_exec(target, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) != SQLITE_OK)
        return err_set(err, STATUS_IO, "backup to '%s': %s", path, sqlite3_errmsg(target));
    return STATUS_OK;
}

static enum status sqlite_backup(struct db *base, const char *path, struct err *err)
{
    int reserved = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (reserved < 0)
        return err_errno(err, errno, "create '%s'", path);
    (void)close(reserved);
    sqlite3 *target = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = err_set(err, STATUS_IO, "open '%s': %s", path, sqlite3_errmsg(target));
    else
        status = copy_pages(sqlite_of(base), target, path, err);
    (void)sqlite3_close(target);
    if (status != STATUS_OK)
        (void)unlink(path);
    return status;
}

static enum status sqlite_verify(struct db *base, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(base, &stmt, err, "PRAGMA integrity_check(1)", "") != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    const char *answer = row ? db_text(stmt, 0) : "no answer";
    enum status status = STATUS_OK;
    if (strcmp(answer, "ok") != 0)
        status = err_set(err, STATUS_CORRUPT, "the store's file is damaged: %s", answer);
    db_reset(stmt);
    return status;
}

const struct db_driver SQLITE_DRIVER = {
    .scheme = "sqlite:",
    .dialect = DB_SQLITE,
    .migrations = SQLITE_MIGRATIONS,
    .open = sqlite_driver_open,
    .close = sqlite_driver_close,
    .set_patience = sqlite_set_patience,
    .now_us = sqlite_now_us,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .prepare = sqlite_prepare,
    .bind_int = sqlite_bind_int,
    .bind_text = sqlite_bind_text,
    .bind_blob = sqlite_bind_blob,
    .bind_null = sqlite_bind_null,
    .bind_ints = sqlite_bind_ints,
    .step = sqlite_step,
    .reset = sqlite_reset,
    .column_int = sqlite_column_int,
    .column_is_null = sqlite_column_is_null,
    .column_text = sqlite_column_text,
    .column_blob = sqlite_column_blob,
    .script = sqlite_script,
    .has_table = sqlite_has_table,
    .backup = sqlite_backup,
    .verify = sqlite_verify,
};
