#pragma once
/*
 * json_row: an object of JSON whose members are put one behind the other, for lists of many alike.
 *
 * Where a json_t takes two pieces of memory per member and a hash for each look at it, this is an
 * array that fits into the processor's nearest cache and is used for one row after the other.
 *
 * Ownership  Keys are literals. Texts and values are borrowed until the row is written, made a
 *            json_t or begun anew; json_row_room has room for those that live nowhere else.
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/strbuf.h"

enum { JSON_ROW_MEMBERS_MAX = 96, JSON_ROW_TEXT_MAX = 8192 };

enum json_cell_kind {
    JSON_CELL_NULL,
    JSON_CELL_TEXT, /* any bytes, as for json_text */
    JSON_CELL_INTEGER,
    JSON_CELL_REAL,
    JSON_CELL_VALUE,
    JSON_CELL_JSON, /* a text that is JSON already */
};

struct json_cell {
    const char *key;
    size_t key_length;
    enum json_cell_kind kind;
    union {
        struct {
            const char *bytes;
            size_t length;
        } text;
        int64_t integer;
        double real;
        const json_t *value;
    };
};

struct json_row {
    size_t count;
    size_t used; /* of the texts */
    struct json_cell cells[JSON_ROW_MEMBERS_MAX];
    char texts[JSON_ROW_TEXT_MAX];
};

static inline void json_row_begin(struct json_row *row)
{
    row->count = 0;
    row->used = 0;
}

/* A new member, null so far. The row must not have one of that name; json_row_at asks first. */
static inline struct json_cell *json_row_add(struct json_row *row, const char *key)
{
    CHECK(row->count < JSON_ROW_MEMBERS_MAX);
    struct json_cell *cell = &row->cells[row->count++];
    cell->key = key;
    cell->key_length = strlen(key);
    cell->kind = JSON_CELL_NULL;
    return cell;
}

struct json_cell *json_row_find_as(struct json_row *row, const char *key, size_t length);

/* NULL: there is none. */
static inline struct json_cell *json_row_find(struct json_row *row, const char *key)
{
    return json_row_find_as(row, key, strlen(key)); /* which is known where the key is */
}

/* The member of that name, added where there is none. */
static inline struct json_cell *json_row_at(struct json_row *row, const char *key)
{
    struct json_cell *cell = json_row_find(row, key);
    return cell != NULL ? cell : json_row_add(row, key);
}

/* --- what a member is ------------------------------------------------------------------------ */

static inline void json_cell_text(struct json_cell *cell, const char *text) /* NULL: null */
{
    cell->kind = text != NULL ? JSON_CELL_TEXT : JSON_CELL_NULL;
    cell->text.bytes = text;
    cell->text.length = text != NULL ? strlen(text) : 0;
}

static inline void json_cell_integer(struct json_cell *cell, int64_t integer)
{
    cell->kind = JSON_CELL_INTEGER;
    cell->integer = integer;
}

static inline void json_cell_real(struct json_cell *cell, double real)
{
    cell->kind = JSON_CELL_REAL;
    cell->real = real;
}

static inline void json_cell_json(struct json_cell *cell, const char *json)
{
    json_cell_text(cell, json);
    cell->kind = JSON_CELL_JSON;
}

static inline void json_cell_value(struct json_cell *cell, const json_t *value)
{
    cell->kind = JSON_CELL_VALUE;
    cell->value = value;
}

/* What another member is; its key stays. */
void json_cell_copy(struct json_cell *cell, const struct json_cell *other);
/* The text, of a value too; NULL: it is none. */
const char *json_cell_string(const struct json_cell *cell);
/* The integer, of a value too. */
int64_t json_cell_number(const struct json_cell *cell, int64_t otherwise);

/* --- members as they mostly are -------------------------------------------------------------- */

static inline void json_row_text(struct json_row *row, const char *key, const char *text)
{
    json_cell_text(json_row_add(row, key), text);
}

static inline void json_row_integer(struct json_row *row, const char *key, int64_t integer)
{
    json_cell_integer(json_row_add(row, key), integer);
}

void json_row_bool(struct json_row *row, const char *key, bool value);
/* 64-bit ids are strings in JSON. */
void json_row_id(struct json_row *row, const char *key, int64_t id);
/* RFC 3339, or null for 0. */
void json_row_instant(struct json_row *row, const char *key, int64_t at_us);

/* So many bytes that live as long as the row is not begun anew; NULL: there are no more. */
NODISCARD char *json_row_room(struct json_row *row, size_t size);

/* --- what becomes of it ---------------------------------------------------------------------- */

/* Put its members into an object. */
void json_row_put(const struct json_row *row, json_t *object);
/* An object of its own; a new reference. */
NODISCARD json_t *json_row_object(const struct json_row *row);
/* The members of an object, which has to live on. Keys are its own. */
void json_row_read(struct json_row *row, const json_t *object);
/* As json_write writes the object. */
void json_row_write(struct strbuf *out, const struct json_row *row);
