#include "store/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/db.h"
#include "store/outcome_json.h"

enum { JOURNAL_SCHEMA = 1 };

struct journal {
    struct db *db;
};

/* --- opening --------------------------------------------------------------------------------- */

/* `unread_by`: the newest format that a program knew which could not read the row. */
static const char TABLES[] = "CREATE TABLE IF NOT EXISTS journal ("
                             " id     INTEGER PRIMARY KEY CHECK (id = 1),"
                             " schema INTEGER NOT NULL);"
                             "CREATE TABLE IF NOT EXISTS outcome ("
                             " seq       INTEGER PRIMARY KEY AUTOINCREMENT,"
                             " task      INTEGER NOT NULL,"
                             " attempt   INTEGER NOT NULL,"
                             " nonce     BLOB    NOT NULL,"
                             " format    INTEGER NOT NULL,"
                             " json      TEXT    NOT NULL,"
                             " unread_by INTEGER,"
                             " UNIQUE (task, attempt, nonce))";
static const char SCHEMA_PUT[] =
    "INSERT INTO journal (id, schema) VALUES (1, $1) ON CONFLICT (id) DO NOTHING";
static const char SCHEMA_GET[] = "SELECT schema FROM journal WHERE id = 1";
static const char TRY_AGAIN[] = "UPDATE outcome SET unread_by = NULL WHERE unread_by < $1";

static enum status prepare(struct db *base, struct err *err)
{
    CLEANUP(db_endp) struct db *db = base;
    int64_t schema = 0;
    if (db_verify(db, err) != STATUS_OK || db_begin(db, err) != STATUS_OK ||
        db_script(db, TABLES, err) != STATUS_OK ||
        db_do(db, err, SCHEMA_PUT, "i", (int64_t)JOURNAL_SCHEMA) != STATUS_OK ||
        db_get_int(db, 0, &schema, err, SCHEMA_GET, "") != STATUS_OK)
        return err->code;
    if (schema > JOURNAL_SCHEMA)
        return err_set(err, STATUS_CONFLICT,
                       "it has schema %lld and this program knows %d: use a newer eider",
                       (long long)schema, JOURNAL_SCHEMA);
    if (db_do(db, err, TRY_AGAIN, "i", (int64_t)OUTCOME_FORMAT) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status open_file(const char *path, struct journal **out, struct err *err)
{
    CLEANUP(mem_freep) char *url = mem_format("sqlite:%s", path);
    CLEANUP(journal_closep) struct journal *journal = mem_zalloc(1, sizeof *journal);
    if (db_open(url, DB_READ_WRITE, &journal->db, err) != STATUS_OK ||
        prepare(journal->db, err) != STATUS_OK)
        return err->code;
    *out = TAKE(journal);
    return STATUS_OK;
}

/* SQLite's log may hold the newest rows: it moves along, so that nothing is lost for good. */
static enum status put_aside(const char *path, const char *kept, struct err *err)
{
    static const char *const SUFFIXES[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        CLEANUP(mem_freep) char *from = mem_format("%s%s", path, SUFFIXES[i]);
        CLEANUP(mem_freep) char *to = mem_format("%s%s", kept, SUFFIXES[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            return err_errno(err, errno, "keep '%s' as '%s'", from, to);
    }
    return STATUS_OK;
}

enum status journal_open(const char *path, struct journal **out, char **out_kept_as,
                         struct err *err)
{
    char stamp[INSTANT_TEXT_MAX];
    CLEANUP(mem_freep) char *kept = NULL;
    enum status status = open_file(path, out, err);
    if (status == STATUS_CORRUPT) {
        kept = mem_format("%s.damaged-%s", path, instant_format(clock_wall_us(), stamp));
        if (put_aside(path, kept, err) != STATUS_OK)
            return err_wrap(err, "the journal '%s' is damaged", path);
        status = open_file(path, out, err);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "open the journal '%s'", path);
    *out_kept_as = TAKE(kept);
    return STATUS_OK;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL)
        return;
    db_close(journal->db);
    free(journal);
}

/* --- adding and removing --------------------------------------------------------------------- */

static const char ADD[] = "INSERT INTO outcome (task, attempt, nonce, format, json)"
                          " VALUES ($1, $2, $3, $4, $5)"
                          " ON CONFLICT (task, attempt, nonce) DO NOTHING";
static const char REMOVE[] = "DELETE FROM outcome WHERE task = $1 AND attempt = $2 AND nonce = $3";

static enum status add_one(struct db *db, const struct outcome *outcome, struct err *err)
{
    CLEANUP(mem_freep) char *json = outcome_format(outcome);
    return db_do(db, err, ADD, "iibit", outcome->task, outcome->attempt, outcome->nonce.bytes,
                 sizeof outcome->nonce.bytes, (int64_t)OUTCOME_FORMAT, json);
}

static enum status remove_one(struct db *db, const struct outcome *outcome, struct err *err)
{
    return db_do(db, err, REMOVE, "iib", outcome->task, outcome->attempt, outcome->nonce.bytes,
                 sizeof outcome->nonce.bytes);
}

static enum status for_all(struct journal *journal, const struct outcome *outcomes, size_t count,
                           enum status (*change)(struct db *db, const struct outcome *outcome,
                                                 struct err *err),
                           struct err *err)
{
    CLEANUP(db_endp) struct db *db = journal->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (change(db, &outcomes[i], err) != STATUS_OK)
            return err->code;
    return db_commit(db, err);
}

enum status journal_add(struct journal *journal, const struct outcome *outcomes, size_t count,
                        struct err *err)
{
    if (for_all(journal, outcomes, count, add_one, err) != STATUS_OK)
        return err_wrap(err, "keep outcomes in the journal");
    return STATUS_OK;
}

enum status journal_remove(struct journal *journal, const struct outcome *outcomes, size_t count,
                           struct err *err)
{
    if (for_all(journal, outcomes, count, remove_one, err) != STATUS_OK)
        return err_wrap(err, "remove outcomes from the journal");
    return STATUS_OK;
}

/* --- loading --------------------------------------------------------------------------------- */

static const char OLDEST[] = "SELECT seq, task, attempt, nonce, format, json FROM outcome"
                             " WHERE unread_by IS NULL ORDER BY seq LIMIT $1";
static const char SET_ASIDE[] = "UPDATE outcome SET unread_by = $2 WHERE seq = $1";

static enum status read_row(struct db_stmt *stmt, struct arena *arena, struct outcome *out,
                            struct err *err)
{
    size_t size = 0;
    const void *nonce = db_blob(stmt, 3, &size);
    const char *json = db_text(stmt, 5);
    struct outcome outcome = {.task = db_int(stmt, 1), .attempt = db_int(stmt, 2)};
    if (db_int(stmt, 4) > OUTCOME_FORMAT)
        return err_set(err, STATUS_CORRUPT,
                       "written by a newer program, in format %lld; this one knows %d",
                       (long long)db_int(stmt, 4), OUTCOME_FORMAT);
    if (size != sizeof outcome.nonce.bytes || json == NULL)
        return err_set(err, STATUS_CORRUPT, "its nonce or its text is damaged");
    memcpy(outcome.nonce.bytes, nonce, size);
    if (outcome_parse(json, arena, &outcome, err) != STATUS_OK)
        return err->code;
    *out = outcome;
    return STATUS_OK;
}

struct unread {
    int64_t *rows;
    size_t count;
};

static enum status mark_unread(struct db *base, const struct unread *unread, struct err *err)
{
    CLEANUP(db_endp) struct db *db = base;
    if (unread->count == 0)
        return STATUS_OK;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < unread->count; i++)
        if (db_do(db, err, SET_ASIDE, "ii", unread->rows[i], (int64_t)OUTCOME_FORMAT) != STATUS_OK)
            return err->code;
    return db_commit(db, err);
}

enum status journal_load(struct journal *journal, struct arena *arena, size_t max,
                         struct journal_batch *out, struct err *err)
{
    struct journal_batch batch = {.outcomes = arena_array(arena, max + 1, sizeof *batch.outcomes)};
    struct unread unread = {.rows = arena_array(arena, max + 1, sizeof *unread.rows)};
    struct db_stmt *stmt = NULL;
    enum status status = db_query(journal->db, &stmt, err, OLDEST, "i", (int64_t)max);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        struct err why = {0};
        if (read_row(stmt, arena, &batch.outcomes[batch.count], &why) == STATUS_OK) {
            batch.count++;
            continue;
        }
        if (unread.count == 0)
            batch.why =
                arena_format(arena, "outcome of task %lld, attempt %lld: %s",
                             (long long)db_int(stmt, 1), (long long)db_int(stmt, 2), why.text);
        unread.rows[unread.count++] = db_int(stmt, 0);
    }
    if (status != STATUS_OK || mark_unread(journal->db, &unread, err) != STATUS_OK)
        return err_wrap(err, "read the journal");
    batch.set_aside = unread.count;
    *out = batch;
    return STATUS_OK;
}

static const char COUNT_WAITING[] = "SELECT count(*) FROM outcome WHERE unread_by IS NULL";
static const char COUNT_ASIDE[] = "SELECT count(*) FROM outcome WHERE unread_by IS NOT NULL";

enum status journal_count(struct journal *journal, struct journal_size *out, struct err *err)
{
    struct journal_size size = {0};
    if (db_get_int(journal->db, 0, &size.waiting, err, COUNT_WAITING, "") != STATUS_OK ||
        db_get_int(journal->db, 0, &size.set_aside, err, COUNT_ASIDE, "") != STATUS_OK)
        return err_wrap(err, "count the journal");
    *out = size;
    return STATUS_OK;
}
