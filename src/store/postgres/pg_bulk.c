/*
 * pg_bulk: many rows as arrays, one per column.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "store/postgres/pg_priv.h"

enum { ARRAYS_MAX_BYTES = 1 << 30, NULL_ITEM = -1 };

static void add_int32(struct strbuf *out, int32_t value)
{
    uint32_t bits = htonl((uint32_t)value);
    strbuf_add_bytes(out, &bits, sizeof bits);
}

/* Dimensions, whether there are nulls, the type, then length and lower bound. */
void pg_array_begin(struct strbuf *out, enum pg_type item_type, size_t count, bool has_nulls)
{
    add_int32(out, count > 0 ? 1 : 0);
    add_int32(out, has_nulls);
    add_int32(out, (int32_t)item_type);
    if (count > 0) {
        add_int32(out, (int32_t)count);
        add_int32(out, 1);
    }
}

static void add_item(struct strbuf *out, const void *bytes, size_t size)
{
    add_int32(out, (int32_t)size);
    strbuf_add_bytes(out, bytes, size);
}

void pg_array_add_int(struct strbuf *out, int64_t value)
{
    uint64_t bits = htobe64((uint64_t)value);
    add_item(out, &bits, sizeof bits);
}

struct column_type {
    enum pg_type item;
    enum pg_type array;
};

static struct column_type type_of(char letter)
{
    switch (letter) {
    case 't':
    case 'n':
        return (struct column_type){PG_TEXT, PG_TEXT_ARRAY};
    case 'b':
        return (struct column_type){PG_BYTEA, PG_BYTEA_ARRAY};
    default:
        return (struct column_type){PG_INT8, PG_INT8_ARRAY};
    }
}

static void add_column(struct strbuf *out, const struct db_bulk *bulk, size_t column)
{
    const struct db_cell *first = &bulk->cells[column];
    bool has_nulls = false;
    for (size_t row = 0; row < bulk->rows; row++)
        has_nulls |= first[row * bulk->columns].letter == 'n';
    pg_array_begin(out, type_of(bulk->form->format[column]).item, bulk->rows, has_nulls);
    for (size_t row = 0; row < bulk->rows; row++) {
        const struct db_cell *cell = &first[row * bulk->columns];
        if (cell->letter == 'n')
            add_int32(out, NULL_ITEM);
        else if (cell->letter == 'i')
            pg_array_add_int(out, cell->number);
        else
            add_item(out, cell->bytes, cell->size);
    }
}

enum status pg_bulk(struct db *base, const struct db_bulk *bulk, int64_t expected, struct err *err)
{
    struct pg_db *db = pg_of(base);
    struct db_stmt *stmt = NULL;
    if (pg_prepare(base, bulk->form->many, &stmt, err) != STATUS_OK)
        return err->code;
    CHECK(bulk->columns <= PG_PARAMS_MAX);
    CLEANUP(strbuf_fini) struct strbuf arrays;
    strbuf_init(&arrays, ARRAYS_MAX_BYTES);
    Oid types[PG_PARAMS_MAX];
    int lengths[PG_PARAMS_MAX];
    const char *values[PG_PARAMS_MAX];
    for (size_t i = 0; i < bulk->columns; i++) {
        size_t before = arrays.length;
        add_column(&arrays, bulk, i);
        types[i] = type_of(bulk->form->format[i]).array;
        lengths[i] = (int)(arrays.length - before);
    }
    if (arrays.overflow)
        return err_set(err, STATUS_LIMIT, "too many rows at once");
    const char *at = arrays.text;
    for (size_t i = 0; i < bulk->columns; at += lengths[i], i++)
        values[i] = at;
    struct pg_pending pending = {.answer = PG_ANSWER_COUNT,
                                 .stmt = (struct pg_stmt *)stmt,
                                 .expected = expected,
                                 .what = bulk->form->what};
    db->at_stake = !base->in_transaction;
    enum status status = pg_send(
        db, &pending,
        &(struct pg_values){
            .count = (int)bulk->columns, .types = types, .values = values, .lengths = lengths},
        err);
    return status == STATUS_OK && !base->in_transaction ? pg_flush(db, err) : status;
}
