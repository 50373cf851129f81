/*
 * pg_statement: statements by the address of their text, values in and out.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/postgres/pg_priv.h"

static struct pg_stmt *stmt_of(struct db_stmt *stmt)
{
    return (struct pg_stmt *)stmt;
}

enum { VALUES_MAX_BYTES = 1 << 30 };

static struct pg_stmt *stmt_new(struct pg_db *db, const char *sql)
{
    struct pg_stmt *stmt = mem_zalloc(1, sizeof *stmt);
    stmt->base.driver = &POSTGRES_DRIVER;
    stmt->owner = db;
    stmt->sql = sql;
    strbuf_init(&stmt->bytes, VALUES_MAX_BYTES);
    return stmt;
}

struct pg_stmt *pg_slot(struct pg_db *db, const char *sql)
{
    size_t i = (size_t)((uintptr_t)sql * 0x9e3779b97f4a7c15u >> 40) % PG_STATEMENTS_MAX;
    for (size_t tries = 0; tries < PG_STATEMENTS_MAX; tries++, i = (i + 1) % PG_STATEMENTS_MAX) {
        if (db->slots[i] == NULL)
            db->slots[i] = stmt_new(db, sql);
        if (db->slots[i]->sql == sql)
            return db->slots[i];
    }
    UNREACHABLE("room for every statement of the program");
}

void pg_statements_forget(struct pg_db *db)
{
    for (size_t i = 0; i < PG_STATEMENTS_MAX; i++)
        if (db->slots[i] != NULL)
            db->slots[i]->prepared = PG_NOT_PREPARED;
}

void pg_statements_free(struct pg_db *db)
{
    for (size_t i = 0; i < PG_STATEMENTS_MAX; i++) {
        if (db->slots[i] == NULL)
            continue;
        PQclear(db->slots[i]->result);
        strbuf_fini(&db->slots[i]->bytes);
        free(db->slots[i]);
    }
}

void pg_reset(struct db_stmt *base)
{
    struct pg_stmt *stmt = stmt_of(base);
    PQclear(stmt->result);
    stmt->result = NULL;
    stmt->has_run = false;
    stmt->is_sent = false;
}

enum status pg_prepare(struct db *base, const char *sql, struct db_stmt **out, struct err *err)
{
    struct pg_db *db = pg_of(base);
    /*
     * In a transaction the server sees to it. Outside one not by a setting of the session: behind a
     * pooler that would stay for others.
     */
    if (db->mode == DB_READ_ONLY && !base->in_transaction && !str_starts_with(sql, "SELECT"))
        return err_set(err, STATUS_DENIED, "this connection is for reading only");
    if ((base->in_transaction ? pg_report(db, err) : pg_ensure(db, err)) != STATUS_OK)
        return err->code;
    struct pg_stmt *stmt = pg_slot(db, sql);
    pg_reset(&stmt->base);
    strbuf_clear(&stmt->bytes);
    stmt->params_count = 0;
    *out = &stmt->base;
    return STATUS_OK;
}

/* --- values in ------------------------------------------------------------------------------- */

static struct pg_param *param_at(struct pg_stmt *stmt, int index, enum pg_type type)
{
    CHECK(index >= 1);
    CHECK(index <= PG_PARAMS_MAX);
    stmt->params_count = MAX(stmt->params_count, index);
    struct pg_param *param = &stmt->params[index - 1];
    *param = (struct pg_param){.type = type, .offset = stmt->bytes.length};
    return param;
}

static void bind_bytes(struct db_stmt *base, int index, enum pg_type type, const void *bytes,
                       size_t size)
{
    struct pg_stmt *stmt = stmt_of(base);
    struct pg_param *param = param_at(stmt, index, type);
    strbuf_add_bytes(&stmt->bytes, bytes, size);
    param->size = size;
}

void pg_bind_int(struct db_stmt *base, int index, int64_t value)
{
    uint64_t bits = htobe64((uint64_t)value);
    bind_bytes(base, index, PG_INT8, &bits, sizeof bits);
}

void pg_bind_text(struct db_stmt *base, int index, const char *text)
{
    bind_bytes(base, index, PG_TEXT, text, strlen(text));
}

void pg_bind_blob(struct db_stmt *base, int index, const void *bytes, size_t size)
{
    bind_bytes(base, index, PG_BYTEA, bytes, size);
}

void pg_bind_null(struct db_stmt *base, int index, char letter)
{
    enum pg_type type = letter == 't'   ? PG_TEXT
                        : letter == 'b' ? PG_BYTEA
                        : letter == 'n' ? PG_UNKNOWN
                                        : PG_INT8;
    param_at(stmt_of(base), index, type)->is_null = true;
}

void pg_bind_ints(struct db_stmt *base, int index, const int64_t *items, size_t count)
{
    struct pg_stmt *stmt = stmt_of(base);
    struct pg_param *param = param_at(stmt, index, PG_INT8_ARRAY);
    pg_array_begin(&stmt->bytes, PG_INT8, count, false);
    for (size_t i = 0; i < count; i++)
        pg_array_add_int(&stmt->bytes, items[i]);
    param->size = stmt->bytes.length - param->offset;
}

/* --- running --------------------------------------------------------------------------------- */

static enum status send(struct pg_stmt *stmt, enum pg_answer answer, struct err *err)
{
    Oid types[PG_PARAMS_MAX];
    const char *values[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
    if (stmt->bytes.overflow)
        return err_set(err, STATUS_LIMIT, "the values of a statement are too large");
    for (int i = 0; i < stmt->params_count; i++) {
        const struct pg_param *param = &stmt->params[i];
        types[i] = param->type;
        values[i] = param->is_null ? NULL : stmt->bytes.text + param->offset;
        lengths[i] = (int)param->size;
    }
    struct pg_pending pending = {.answer = answer, .stmt = stmt, .expected = DB_ANY_CHANGES};
    return pg_send(
        stmt->owner, &pending,
        &(struct pg_values){
            .count = stmt->params_count, .types = types, .values = values, .lengths = lengths},
        err);
}

static enum status send_and_await(struct pg_stmt *stmt, struct err *err)
{
    struct pg_db *db = stmt->owner;
    /* Alone, a statement is its own transaction: what changes rows may do so unheard. */
    db->at_stake = !db->base.in_transaction && !str_starts_with(stmt->sql, "SELECT");
    if (send(stmt, PG_ANSWER_ROWS, err) != STATUS_OK)
        return err->code;
    return pg_flush(db, err);
}

static enum status run(struct pg_stmt *stmt, struct err *err)
{
    struct pg_db *db = stmt->owner;
    bool had_names = !db->without_names;
    enum status status = stmt->is_sent ? pg_flush(db, err) : send_and_await(stmt, err);
    bool found_pooler = status != STATUS_OK && had_names && db->without_names;
    if (found_pooler && !db->base.in_transaction && db->conn != NULL)
        status = send_and_await(stmt, err); /* nothing has happened, and only this is to repeat */
    db->at_stake = false;
    if (status != STATUS_OK)
        return status;
    CHECK(stmt->result != NULL);
    stmt->has_run = true;
    stmt->row = -1;
    return STATUS_OK;
}

enum status pg_step(struct db_stmt *base, bool *out_row, struct err *err)
{
    struct pg_stmt *stmt = stmt_of(base);
    if (!stmt->has_run && run(stmt, err) != STATUS_OK)
        return err->code;
    stmt->row++;
    *out_row = stmt->row < PQntuples(stmt->result);
    if (*out_row)
        return STATUS_OK;
    int64_t changes = 0;
    if (!str_starts_with(PQcmdStatus(stmt->result), "SELECT") &&
        str_parse_i64(PQcmdTuples(stmt->result), 0, INT64_MAX, &changes))
        stmt->owner->base.changes = changes;
    pg_reset(base);
    return STATUS_OK;
}

enum status pg_later(struct db_stmt *base, struct err *err)
{
    struct pg_stmt *stmt = stmt_of(base);
    if (stmt->owner->base.in_transaction)
        return send(stmt, PG_ANSWER_COUNT, err);
    for (bool row = true; row;)
        if (pg_step(base, &row, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status pg_send_ahead(struct db_stmt *base, struct err *err)
{
    struct pg_stmt *stmt = stmt_of(base);
    if (!stmt->owner->base.in_transaction)
        return STATUS_OK;
    stmt->is_sent = true;
    return send(stmt, PG_ANSWER_ROWS, err);
}

/* --- values out ------------------------------------------------------------------------------ */

static const char *value_at(struct pg_stmt *stmt, int column, int *out_size)
{
    CHECK(stmt->result != NULL);
    CHECK(column < PQnfields(stmt->result));
    *out_size = PQgetlength(stmt->result, stmt->row, column);
    return PQgetvalue(stmt->result, stmt->row, column);
}

bool pg_column_is_null(struct db_stmt *base, int column)
{
    struct pg_stmt *stmt = stmt_of(base);
    return PQgetisnull(stmt->result, stmt->row, column) != 0;
}

int64_t pg_column_int(struct db_stmt *base, int column)
{
    if (pg_column_is_null(base, column))
        return 0;
    int size = 0;
    const char *value = value_at(stmt_of(base), column, &size);
    /* Integers and booleans; a sum of BIGINTs is none: cast it. */
    CHECK(size == 1 || size == 2 || size == 4 || size == 8);
    int64_t number = size == 1 ? 0 : (signed char)value[0];
    for (int i = size == 1 ? 0 : 1; i < size; i++)
        number = (int64_t)((uint64_t)number << 8 | (unsigned char)value[i]);
    return number;
}

const char *pg_column_text(struct db_stmt *base, int column)
{
    int size = 0;
    return pg_column_is_null(base, column) ? NULL : value_at(stmt_of(base), column, &size);
}

const void *pg_column_blob(struct db_stmt *base, int column, size_t *out_size)
{
    *out_size = 0;
    if (pg_column_is_null(base, column))
        return NULL;
    int size = 0;
    const char *value = value_at(stmt_of(base), column, &size);
    *out_size = (size_t)size;
    return value;
}
