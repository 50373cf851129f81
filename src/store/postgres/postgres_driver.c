/*
 * postgres_driver: db.h on a PostgreSQL server, 13 or newer. See pg_priv.h for its parts.
 */
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/pg_priv.h"

enum { PATIENCE_MS = 10000 };

extern const char *const POSTGRES_MIGRATIONS[];

static void driver_close(struct db *base)
{
    struct pg_db *db = pg_of(base);
    pg_drop(db);
    pg_statements_free(db);
    for (size_t i = 0; i < PG_CHANNELS_MAX; i++)
        free(db->channels[i]);
    free(db->pending);
    free(db->url);
    free(db);
}

static enum status driver_open(const char *url, enum db_mode mode, struct db **out, struct err *err)
{
    struct pg_db *db = mem_zalloc(1, sizeof *db);
    db->base.driver = &POSTGRES_DRIVER;
    db->url = mem_strdup(url);
    db->mode = mode;
    db->patience_ms = PATIENCE_MS;
    if (pg_connect(db, err) != STATUS_OK) {
        driver_close(&db->base);
        return err->code;
    }
    *out = &db->base;
    return STATUS_OK;
}

static void driver_set_patience(struct db *base, int64_t timeout_ms)
{
    pg_of(base)->patience_ms = timeout_ms;
}

static void driver_rest(struct db *base, int64_t idle_ms)
{
    struct pg_db *db = pg_of(base);
    if (db->conn != NULL && clock_mono_us() - db->used_mono_us >= idle_ms * 1000)
        pg_drop(db);
}

/* --- the clock ------------------------------------------------------------------------------- */

static int64_t driver_now_us(struct db *base)
{
    struct pg_db *db = pg_of(base);
    if (base->in_transaction && db->writes && !db->has_instant)
        pg_await(db); /* a failure is kept, and told by the next call */
    if (base->in_transaction && db->writes && db->has_instant)
        return db->began_at_us;
    return clock_mono_us() + db->clock_offset_us;
}

/* --- transactions ---------------------------------------------------------------------------- */

static const char BEGIN_WRITE[] = "BEGIN ISOLATION LEVEL READ COMMITTED";
static const char BEGIN_READ[] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
static const char COMMIT[] = "COMMIT";
static const char ROLLBACK[] = "ROLLBACK";

static enum status driver_begin(struct db *base, bool write, struct err *err)
{
    struct pg_db *db = pg_of(base);
    if (pg_ensure(db, err) != STATUS_OK)
        return err->code;
    db->writes = write;
    db->has_instant = false;
    if (pg_send_plain(db, write ? BEGIN_WRITE : BEGIN_READ, PG_ANSWER_COUNT, err) != STATUS_OK)
        return err->code;
    return pg_send_plain(db, db->without_names ? PG_CLOCK_LOCAL : PG_CLOCK, PG_ANSWER_CLOCK, err);
}

static enum status driver_commit(struct db *base, struct err *err)
{
    struct pg_db *db = pg_of(base);
    if (pg_flush(db, err) != STATUS_OK)
        return err->code;
    db->at_stake = db->writes;
    enum status status = pg_send_plain(db, COMMIT, PG_ANSWER_COMMIT, err);
    if (status == STATUS_OK)
        status = pg_flush(db, err);
    db->at_stake = false;
    return status;
}

static void driver_rollback(struct db *base)
{
    struct pg_db *db = pg_of(base);
    bool failed = db->failure.code != STATUS_OK;
    struct err ignored = {0}; /* a connection that cannot even do this is dropped */
    db->failure = (struct err){0};
    pg_sync(db);
    if (db->conn != NULL &&
        pg_send_plain(db, ROLLBACK, PG_ANSWER_ROLLBACK, &ignored) == STATUS_OK) {
        pg_sync(db);
        /* Nobody waits for the end of reading. */
        if (failed || db->writes)
            pg_await(db);
        else
            pg_push(db);
    }
    if (db->drop_at_end)
        pg_drop(db);
    db->failure = (struct err){0};
}

/* A connection that is lost, or of no use, took the transaction along. */
static void driver_forgive(struct db *base)
{
    struct pg_db *db = pg_of(base);
    pg_await(db);
    if (db->conn != NULL && !db->drop_at_end)
        db->failure = (struct err){0};
}

/* --- the database as a whole ----------------------------------------------------------------- */

static enum status driver_script(struct db *base, const char *sql, struct err *err)
{
    struct pg_db *db = pg_of(base);
    if (!base->in_transaction && pg_ensure(db, err) != STATUS_OK)
        return err->code;
    return pg_run_simple(db, sql, NULL, err);
}

/* Not by to_regclass: a backend remembers that a table was missing while another makes it. */
static const char HAS_TABLE[] =
    "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
    " ON n.oid = c.relnamespace WHERE c.relname = $1 AND n.nspname = ANY (current_schemas(false))";

static enum status driver_has_table(struct db *base, const char *name, bool *out, struct err *err)
{
    int64_t found = 0;
    if (db_get_int(base, 0, &found, err, HAS_TABLE, "t", name) != STATUS_OK)
        return err->code;
    *out = found != 0;
    return STATUS_OK;
}

/* One at a time per schema; the lock ends with the transaction. */
static enum status driver_lock_schema(struct db *base, struct err *err)
{
    return db_do(base, err,
                 "SELECT pg_advisory_xact_lock(hashtextextended('eider ' ||"
                 " coalesce(current_schema(), ''), 0))",
                 "");
}

static enum status driver_backup(struct db *base, const char *path, struct err *err)
{
    (void)base, (void)path;
    return err_set(err, STATUS_INVALID,
                   "PostgreSQL is backed up by its own tools: use pg_dump, or "
                   "`eider store export`");
}

static enum status driver_verify(struct db *base, struct err *err)
{
    int64_t one = 0;
    return db_get_int(base, 0, &one, err, "SELECT 1", "");
}

const struct db_driver POSTGRES_DRIVER = {
    .scheme = "postgresql:",
    .other_scheme = "postgres:",
    .keeps_scheme = true,
    .dialect = DB_POSTGRES,
    .migrations = POSTGRES_MIGRATIONS,
    .open = driver_open,
    .close = driver_close,
    .set_patience = driver_set_patience,
    .rest = driver_rest,
    .now_us = driver_now_us,
    .begin = driver_begin,
    .commit = driver_commit,
    .rollback = driver_rollback,
    .forgive = driver_forgive,
    .prepare = pg_prepare,
    .bind_int = pg_bind_int,
    .bind_text = pg_bind_text,
    .bind_blob = pg_bind_blob,
    .bind_null = pg_bind_null,
    .bind_ints = pg_bind_ints,
    .step = pg_step,
    .reset = pg_reset,
    .later = pg_later,
    .send_ahead = pg_send_ahead,
    .bulk = pg_bulk,
    .listen = pg_listen,
    .notify = pg_notify,
    .wait = pg_wait,
    .column_int = pg_column_int,
    .column_is_null = pg_column_is_null,
    .column_text = pg_column_text,
    .column_blob = pg_column_blob,
    .script = driver_script,
    .has_table = driver_has_table,
    .lock_schema = driver_lock_schema,
    .backup = driver_backup,
    .verify = driver_verify,
};
