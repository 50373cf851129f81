/*
 * pg_pipeline: what was sent and not answered yet.
 *
 * Every statement leaves an entry in the queue of answers. Answers arrive in the same order; the
 * first failure is kept, everything behind it up to the next sync is answered with "aborted".
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/postgres/pg_errors.h"
#include "store/postgres/pg_priv.h"

/* --- failures -------------------------------------------------------------------------------- */

void pg_keep_failure(struct pg_db *db, enum status status, const char *fmt, ...)
{
    if (db->failure.code != STATUS_OK)
        return;
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)err_set(&db->failure, status, "%s: %s", db->where, text);
}

const char *pg_words(const PGconn *conn, char out[static PG_WORDS_MAX])
{
    const char *words = PQerrorMessage(conn);
    size_t length = MIN(strcspn(words, "\n"), (size_t)PG_WORDS_MAX - 1);
    memcpy(out, words, length);
    out[length] = '\0';
    return out;
}

/* The connection is of no more use. */
static void lose(struct pg_db *db, const char *what)
{
    char words[PG_WORDS_MAX];
    pg_words(db->conn, words);
    pg_keep_failure(db, db->at_stake ? STATUS_UNKNOWN : STATUS_BUSY, "%s%s%s", what,
                    words[0] != '\0' ? ": " : "", words);
    pg_drop(db);
}

enum status pg_report(struct pg_db *db, struct err *err)
{
    if (db->failure.code == STATUS_OK)
        return STATUS_OK;
    *err = db->failure;
    if (!db->base.in_transaction)
        db->failure = (struct err){0};
    return err->code;
}

static const char *field(const PGresult *result, int code)
{
    const char *text = PQresultErrorField(result, code);
    return text != NULL ? text : "";
}

/* relation "task" already exists: the name between the quotes. */
static void keep_foreign_table(struct pg_db *db, const char *message)
{
    const char *name = strchr(message, '"');
    size_t length = name != NULL ? strcspn(name + 1, "\"") : 0;
    pg_keep_failure(db, STATUS_CONFLICT,
                    "the database has a table '%.*s' that is not Eider's; give Eider a database "
                    "of its own",
                    (int)MIN(length, (size_t)100), name != NULL ? name + 1 : "");
}

static void keep_read_only(struct pg_db *db)
{
    bool own_doing = db->mode == DB_READ_ONLY || (db->base.in_transaction && !db->writes);
    if (own_doing) {
        pg_keep_failure(db, STATUS_DENIED, "this connection may only read");
        return;
    }
    db->drop_at_end = true;
    pg_keep_failure(db, STATUS_BUSY, "the server is read-only");
}

static void keep_error(struct pg_db *db, const PGresult *result)
{
    const char *state = field(result, PG_DIAG_SQLSTATE);
    const char *message = field(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (state[0] == '\0') {
        /* libpq's own: the connection broke, which the next look at it tells. */
        return;
    }
    if (strcmp(state, "26000") == 0 || strcmp(state, "42P05") == 0)
        db->without_names = true;
    if (strcmp(state, "25006") == 0) {
        keep_read_only(db);
    } else if (strcmp(state, "42P07") == 0) {
        keep_foreign_table(db, message);
    } else {
        const struct pg_error *error = pg_error_of_state(state);
        bool lost = db->at_stake && strcmp(severity, "ERROR") != 0;
        pg_keep_failure(db, lost ? STATUS_UNKNOWN : error->status, "%s (%s)%s%s", message, state,
                        error->advice != NULL ? "; " : "",
                        error->advice != NULL ? error->advice : "");
    }
}

/* --- sending --------------------------------------------------------------------------------- */

static void push_pending(struct pg_db *db, const struct pg_pending *pending)
{
    if (db->answered == db->pending_count)
        db->answered = db->pending_count = 0;
    db->pending =
        mem_grow(db->pending, &db->pending_capacity, db->pending_count, sizeof *db->pending);
    db->pending[db->pending_count++] = *pending;
    db->unsynced = pending->answer != PG_ANSWER_SYNC;
}

/* Types only become better known: null alone tells none. True when the server knows them. */
static bool adopt_types(struct pg_stmt *stmt, const struct pg_values *values)
{
    bool same = true;
    CHECK(values->count <= PG_PARAMS_MAX);
    for (int i = 0; i < values->count; i++) {
        if (values->types[i] == PG_UNKNOWN || values->types[i] == stmt->types[i])
            continue;
        stmt->types[i] = values->types[i];
        same = false;
    }
    return same;
}

enum { NAME_MAX_BYTES = 40 };

static const char *name_of(const struct pg_stmt *stmt, char out[static NAME_MAX_BYTES])
{
    (void)snprintf(out, NAME_MAX_BYTES, "eider_%016llx_%u",
                   (unsigned long long)stmt->owner->session, stmt->number);
    return out;
}

static bool send_prepare(struct pg_db *db, struct pg_stmt *stmt, int count)
{
    char name[NAME_MAX_BYTES];
    stmt->number = ++db->statements;
    if (PQsendPrepare(db->conn, name_of(stmt, name), stmt->sql, count, stmt->types) == 0)
        return false;
    stmt->prepared = PG_PREPARE_SENT;
    push_pending(db, &(struct pg_pending){.answer = PG_ANSWER_PREPARE, .stmt = stmt});
    return true;
}

static const int BINARY[] = {[0 ... PG_PARAMS_MAX - 1] = 1};

static bool send_query(struct pg_db *db, struct pg_stmt *stmt, const struct pg_values *values)
{
    if (!adopt_types(stmt, values))
        stmt->prepared = PG_NOT_PREPARED;
    if (db->without_names)
        return PQsendQueryParams(db->conn, stmt->sql, values->count, stmt->types, values->values,
                                 values->lengths, BINARY, 1) != 0;
    if (stmt->prepared == PG_NOT_PREPARED && !send_prepare(db, stmt, values->count))
        return false;
    char name[NAME_MAX_BYTES];
    return PQsendQueryPrepared(db->conn, name_of(stmt, name), values->count, values->values,
                               values->lengths, BINARY, 1) != 0;
}

enum status pg_send(struct pg_db *db, const struct pg_pending *pending,
                    const struct pg_values *values, struct err *err)
{
    if (pg_report(db, err) != STATUS_OK)
        return err->code;
    CHECK(db->conn != NULL);
    if (!send_query(db, pending->stmt, values)) {
        lose(db, "cannot send");
        return pg_report(db, err);
    }
    push_pending(db, pending);
    return STATUS_OK;
}

enum status pg_send_plain(struct pg_db *db, const char *sql, enum pg_answer answer, struct err *err)
{
    struct pg_pending pending = {
        .answer = answer, .stmt = pg_slot(db, sql), .expected = DB_ANY_CHANGES};
    return pg_send(db, &pending, &(struct pg_values){0}, err);
}

void pg_sync(struct pg_db *db)
{
    if (db->conn == NULL || !db->unsynced)
        return;
    db->sent_mono_us = clock_mono_us();
    if (PQpipelineSync(db->conn) == 0)
        lose(db, "cannot send");
    else
        push_pending(db, &(struct pg_pending){.answer = PG_ANSWER_SYNC});
}

void pg_push(struct pg_db *db)
{
    if (db->conn != NULL && PQflush(db->conn) < 0)
        lose(db, "cannot send");
}

/* --- answers --------------------------------------------------------------------------------- */

static void take_clock(struct pg_db *db, const PGresult *result)
{
    uint64_t bits = 0;
    CHECK(PQgetlength(result, 0, 0) == sizeof bits);
    memcpy(&bits, PQgetvalue(result, 0, 0), sizeof bits);
    db->began_at_us = (int64_t)be64toh(bits);
    db->has_instant = true;
    /* Somewhere between the question and its answer: half of that is the largest error. */
    db->clock_offset_us = db->began_at_us - (db->sent_mono_us + clock_mono_us()) / 2;
}

static void judge_count(struct pg_db *db, const struct pg_pending *pending, PGresult *result)
{
    int64_t count = 0;
    if (pending->expected != DB_ANY_CHANGES &&
        (!str_parse_i64(PQcmdTuples(result), 0, INT64_MAX, &count) || count != pending->expected))
        pg_keep_failure(db, STATUS_BUSY, "a %s was changed meanwhile", pending->what);
}

/* Takes over `result`. */
static void take_success(struct pg_db *db, const struct pg_pending *pending, PGresult *result)
{
    switch (pending->answer) {
    case PG_ANSWER_PREPARE:
        pending->stmt->prepared = PG_PREPARED;
        break;
    case PG_ANSWER_ROWS:
        PQclear(pending->stmt->result);
        pending->stmt->result = TAKE(result);
        break;
    case PG_ANSWER_COUNT:
        judge_count(db, pending, result);
        break;
    case PG_ANSWER_CLOCK:
        take_clock(db, result);
        break;
    case PG_ANSWER_COMMIT:
        /* The server answers with the tag of what it did. */
        if (strcmp(PQcmdStatus(result), "COMMIT") != 0)
            pg_keep_failure(db, STATUS_BUSY, "the transaction was undone");
        break;
    case PG_ANSWER_ROLLBACK:
    case PG_ANSWER_SYNC:
        break;
    }
    PQclear(result);
}

static void take_result(struct pg_db *db, PGresult *result)
{
    const struct pg_pending *pending = &db->pending[db->answered];
    switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
    case PGRES_COMMAND_OK:
        take_success(db, pending, result);
        return;
    case PGRES_PIPELINE_SYNC:
        CHECK(pending->answer == PG_ANSWER_SYNC);
        db->answered++;
        break;
    case PGRES_EMPTY_QUERY:
    case PGRES_COPY_OUT:
    case PGRES_COPY_IN:
    case PGRES_COPY_BOTH:
    case PGRES_SINGLE_TUPLE:
    case PGRES_BAD_RESPONSE:
    case PGRES_NONFATAL_ERROR:
    case PGRES_FATAL_ERROR:
    case PGRES_PIPELINE_ABORTED:
        if (pending->answer == PG_ANSWER_PREPARE)
            pending->stmt->prepared = PG_NOT_PREPARED;
        if (pending->answer != PG_ANSWER_ROLLBACK)
            keep_error(db, result);
        break;
    }
    PQclear(result);
}

void pg_collect(struct pg_db *db)
{
    while (db->conn != NULL && db->answered < db->pending_count && PQisBusy(db->conn) == 0) {
        PGresult *result = PQgetResult(db->conn);
        if (result != NULL)
            take_result(db, result);
        else if (PQstatus(db->conn) == CONNECTION_OK)
            db->answered++; /* a statement's answers end with NULL */
        if (PQstatus(db->conn) != CONNECTION_OK)
            lose(db, "connection lost");
    }
}

static void await_socket(struct pg_db *db, int64_t deadline_us)
{
    int unsent = PQflush(db->conn);
    int64_t left_ms = (deadline_us - clock_mono_us() + 999) / 1000;
    struct pollfd fd = {.fd = PQsocket(db->conn),
                        .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
    if (unsent < 0) {
        lose(db, "cannot send");
    } else if (left_ms <= 0) {
        lose(db, "no answer in time");
    } else {
        int ready = poll(&fd, 1, (int)MIN(left_ms, (int64_t)60000));
        CHECK(ready >= 0 || errno == EINTR);
        if (ready > 0 && PQconsumeInput(db->conn) == 0)
            lose(db, "connection lost");
    }
}

static int64_t deadline_of(const struct pg_db *db)
{
    return clock_mono_us() + db->patience_ms * 1000;
}

void pg_await(struct pg_db *db)
{
    pg_sync(db);
    int64_t deadline_us = deadline_of(db);
    pg_collect(db);
    while (db->conn != NULL && db->answered < db->pending_count) {
        await_socket(db, deadline_us);
        pg_collect(db);
    }
}

enum status pg_flush(struct pg_db *db, struct err *err)
{
    pg_await(db);
    return pg_report(db, err);
}

/* --- outside the pipeline -------------------------------------------------------------------- */

static void collect_simple(struct pg_db *db, PGresult **last)
{
    int64_t deadline_us = deadline_of(db);
    for (;;) {
        while (db->conn != NULL && PQisBusy(db->conn) != 0)
            await_socket(db, deadline_us);
        PGresult *result = db->conn != NULL ? PQgetResult(db->conn) : NULL;
        if (result == NULL)
            return;
        PQclear(*last);
        *last = result;
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
            keep_error(db, result);
        if (PQstatus(db->conn) != CONNECTION_OK)
            lose(db, "connection lost");
    }
}

enum status pg_run_simple(struct pg_db *db, const char *sql, PGresult **out, struct err *err)
{
    if (pg_flush(db, err) != STATUS_OK)
        return err->code;
    PGresult *last = NULL;
    CHECK(PQexitPipelineMode(db->conn) == 1);
    if (PQsendQuery(db->conn, sql) == 0)
        lose(db, "cannot send");
    else
        collect_simple(db, &last);
    if (db->conn != NULL)
        CHECK(PQenterPipelineMode(db->conn) == 1);
    enum status status = pg_report(db, err);
    if (status == STATUS_OK && out != NULL)
        *out = TAKE(last);
    PQclear(last);
    return status;
}
