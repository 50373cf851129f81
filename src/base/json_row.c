#include "base/json_row.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "base/str.h"

struct json_cell *json_row_find_as(struct json_row *row, const char *key, size_t length)
{
    for (size_t i = 0; i < row->count; i++) {
        struct json_cell *cell = &row->cells[i];
        if (cell->key_length == length && (cell->key == key || memcmp(cell->key, key, length) == 0))
            return cell;
    }
    return NULL;
}

void json_cell_copy(struct json_cell *cell, const struct json_cell *other)
{
    struct json_cell copy = *other;
    copy.key = cell->key;
    copy.key_length = cell->key_length;
    *cell = copy;
}

const char *json_cell_string(const struct json_cell *cell)
{
    if (cell->kind == JSON_CELL_TEXT)
        return cell->text.bytes;
    return cell->kind == JSON_CELL_VALUE ? json_string_value(cell->value) : NULL;
}

int64_t json_cell_number(const struct json_cell *cell, int64_t otherwise)
{
    if (cell->kind == JSON_CELL_INTEGER)
        return cell->integer;
    bool is_one = cell->kind == JSON_CELL_VALUE && json_is_integer(cell->value);
    return is_one ? json_integer_value(cell->value) : otherwise;
}

void json_row_bool(struct json_row *row, const char *key, bool value)
{
    json_cell_value(json_row_add(row, key), json_boolean(value)); /* which live for ever */
}

char *json_row_room(struct json_row *row, size_t size)
{
    if (size > sizeof row->texts - row->used)
        return NULL;
    char *room = row->texts + row->used;
    row->used += size;
    return room;
}

void json_row_id(struct json_row *row, const char *key, int64_t id)
{
    struct json_cell *cell = json_row_add(row, key);
    char *room = json_row_room(row, INTEGER_TEXT_MAX);
    CHECK(room != NULL);
    json_cell_text(cell, str_from_i64(id, room));
}

void json_row_instant(struct json_row *row, const char *key, int64_t at_us)
{
    struct json_cell *cell = json_row_add(row, key);
    if (at_us == 0)
        return;
    char *room = json_row_room(row, INSTANT_TEXT_MAX);
    CHECK(room != NULL);
    json_cell_text(cell, instant_format(at_us, room));
}

static json_t *parsed(const struct json_cell *cell)
{
    struct err err = {0};
    json_t *value = NULL;
    CHECK(json_parse(cell->text.bytes, cell->text.length, &value, &err) == STATUS_OK);
    return value;
}

static json_t *value_of(const struct json_cell *cell)
{
    switch (cell->kind) {
    case JSON_CELL_TEXT:
        return json_text(cell->text.bytes, cell->text.length);
    case JSON_CELL_INTEGER:
        return json_integer(cell->integer);
    case JSON_CELL_REAL:
        return json_real(cell->real);
    case JSON_CELL_VALUE:
        return json_incref((json_t *)(uintptr_t)cell->value); /* counting is no change */
    case JSON_CELL_JSON:
        return parsed(cell);
    case JSON_CELL_NULL:
        break;
    }
    return json_null();
}

void json_row_put(const struct json_row *row, json_t *object)
{
    for (size_t i = 0; i < row->count; i++)
        json_put(object, row->cells[i].key, value_of(&row->cells[i]));
}

json_t *json_row_object(const struct json_row *row)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    json_row_put(row, object);
    return object;
}

void json_row_read(struct json_row *row, const json_t *object)
{
    const char *key;
    json_t *value;
    json_row_begin(row);
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
        json_cell_value(json_row_add(row, key), value);
}

static void write_cell(struct strbuf *out, const struct json_cell *cell)
{
    switch (cell->kind) {
    case JSON_CELL_TEXT:
        json_write_text(out, cell->text.bytes, cell->text.length);
        return;
    case JSON_CELL_INTEGER:
        json_write_integer(out, cell->integer);
        return;
    case JSON_CELL_REAL:
        json_write_real(out, cell->real);
        return;
    case JSON_CELL_VALUE:
        json_write(out, cell->value, JSON_AS_SET);
        return;
    case JSON_CELL_JSON:
        strbuf_add_bytes(out, cell->text.bytes, cell->text.length);
        return;
    case JSON_CELL_NULL:
        strbuf_add_bytes(out, "null", 4);
        return;
    }
}

void json_row_write(struct strbuf *out, const struct json_row *row)
{
    strbuf_add_char(out, '{');
    for (size_t i = 0; i < row->count; i++) {
        const struct json_cell *cell = &row->cells[i];
        if (i > 0)
            strbuf_add_char(out, ',');
        json_write_text(out, cell->key, cell->key_length);
        strbuf_add_char(out, ':');
        write_cell(out, cell);
    }
    strbuf_add_char(out, '}');
}
