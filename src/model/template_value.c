#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/template_eval_priv.h"

enum { WEIGHT_NODES_MAX = 1 << 20 };

const char *value_type_name(const json_t *value)
{
    static const char *const NAMES[] = {
        [JSON_OBJECT] = "a map",     [JSON_ARRAY] = "a list",  [JSON_STRING] = "a text",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number", [JSON_TRUE] = "a boolean",
        [JSON_FALSE] = "a boolean",  [JSON_NULL] = "none",
    };
    return NAMES[json_typeof(value)];
}

bool template_truth(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return json_object_size(value) > 0;
    case JSON_ARRAY:
        return json_array_size(value) > 0;
    case JSON_STRING:
        return json_string_length(value) > 0;
    case JSON_INTEGER:
        return json_integer_value(value) != 0;
    case JSON_REAL:
        return fpclassify(json_real_value(value)) != FP_ZERO;
    case JSON_TRUE:
        return true;
    case JSON_FALSE:
    case JSON_NULL:
        break;
    }
    return false;
}

bool value_is_number(const json_t *value)
{
    return json_is_number(value) || json_is_boolean(value);
}

bool value_to_integer(const json_t *value, int64_t *out)
{
    if (json_is_integer(value))
        *out = json_integer_value(value);
    else if (json_is_boolean(value))
        *out = json_is_true(value);
    else
        return false;
    return true;
}

double value_to_real(const json_t *value)
{
    int64_t integer = 0;
    if (value_to_integer(value, &integer))
        return (double)integer;
    return json_real_value(value);
}

/* ---- As text ---- */

/* The shortest digits that read back as the same number, with a fraction or an exponent. */
static void add_real(struct strbuf *out, double number)
{
    char text[40];
    for (int precision = 15; precision <= 17; precision++) {
        int length = snprintf(text, sizeof text, "%.*g", precision, number);
        CHECK(length > 0 && (size_t)length < sizeof text);
        double again = strtod(text, NULL);
        if (again <= number && again >= number)
            break;
    }
    double size = fabs(number);
    if (size >= 1e15 && size < 1e16 && strchr(text, 'e') != NULL)
        CHECK(snprintf(text, sizeof text, "%.0f", number) > 0);
    strbuf_add(out, text);
    if (strpbrk(text, ".e") == NULL)
        strbuf_add(out, ".0");
}

static void add_quoted(struct strbuf *out, const char *text, size_t length)
{
    static const char LETTERS[] = {
        ['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r', ['\b'] = 'b', ['\f'] = 'f', ['"'] = '"'};
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\\')
            strbuf_add(out, "\\\\");
        else if (c < sizeof LETTERS && LETTERS[c] != 0)
            strbuf_addf(out, "\\%c", LETTERS[c]);
        else if (c < 0x20)
            strbuf_addf(out, "\\u%04x", (unsigned)c);
        else
            strbuf_add_char(out, (char)c);
    }
    strbuf_add_char(out, '"');
}

static void add_scalar(struct strbuf *out, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        add_quoted(out, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        strbuf_addf(out, "%" PRId64, (int64_t)json_integer_value(value));
        break;
    case JSON_REAL:
        add_real(out, json_real_value(value));
        break;
    case JSON_TRUE:
        strbuf_add(out, "true");
        break;
    case JSON_FALSE:
        strbuf_add(out, "false");
        break;
    case JSON_OBJECT:
    case JSON_ARRAY:
    case JSON_NULL:
        strbuf_add(out, "null");
        break;
    }
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_break(struct strbuf *out, unsigned indent, unsigned depth)
{
    if (indent == 0)
        return;
    strbuf_add_char(out, '\n');
    strbuf_add_repeat(out, ' ', (size_t)indent * depth);
}

static void add_value(struct strbuf *out, const json_t *value, unsigned indent, unsigned depth);

/* NOLINTNEXTLINE(misc-no-recursion) -- values are at most JSON_DEPTH_MAX deep, or cut there */
static void add_object(struct strbuf *out, const json_t *value, unsigned indent, unsigned depth)
{
    size_t count = json_object_size(value);
    CLEANUP(mem_freep) const char **keys = mem_zalloc(count, sizeof *keys);
    size_t i = 0;
    const char *key = NULL;
    json_t *member = NULL;
    /* jansson's iteration wants a pointer to non-const. */
    json_t *object = json_incref((json_t *)(uintptr_t)value);
    json_object_foreach(object, key, member) keys[i++] = key;
    qsort(keys, count, sizeof *keys, compare_keys);
    strbuf_add_char(out, '{');
    for (i = 0; i < count && !out->overflow; i++) {
        strbuf_add(out, i > 0 ? "," : "");
        add_break(out, indent, depth + 1);
        add_quoted(out, keys[i], strlen(keys[i]));
        strbuf_add(out, indent > 0 ? ": " : ":");
        add_value(out, json_object_get(value, keys[i]), indent, depth + 1);
    }
    if (count > 0)
        add_break(out, indent, depth);
    strbuf_add_char(out, '}');
    json_decref(object);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- values are at most JSON_DEPTH_MAX deep, or cut there */
static void add_value(struct strbuf *out, const json_t *value, unsigned indent, unsigned depth)
{
    if (depth > JSON_DEPTH_MAX) {
        out->overflow = true;
    } else if (json_is_object(value)) {
        add_object(out, value, indent, depth);
    } else if (json_is_array(value)) {
        size_t count = json_array_size(value);
        strbuf_add_char(out, '[');
        for (size_t i = 0; i < count && !out->overflow; i++) {
            strbuf_add(out, i > 0 ? "," : "");
            add_break(out, indent, depth + 1);
            add_value(out, json_array_get(value, i), indent, depth + 1);
        }
        if (count > 0)
            add_break(out, indent, depth);
        strbuf_add_char(out, ']');
    } else {
        add_scalar(out, value);
    }
}

void value_add_json(struct strbuf *out, const json_t *value, unsigned indent)
{
    add_value(out, value, indent, 0);
}

void value_add_text(struct strbuf *out, const json_t *value)
{
    if (json_is_string(value))
        strbuf_add_bytes(out, json_string_value(value), json_string_length(value));
    else
        add_value(out, value, 0, 0);
}

/* ---- Made values ---- */

json_t *eval_text(struct eval *eval, const char *bytes, size_t length)
{
    if (length > LIMIT_RENDERED_BYTES)
        return eval_fail(eval, STATUS_LIMIT, "a text of more than %d bytes", LIMIT_RENDERED_BYTES);
    if (!eval_charge(eval, 1 + length / 16))
        return NULL;
    return json_text(bytes, length);
}

json_t *eval_take_text(struct eval *eval, struct strbuf *buf)
{
    json_t *text = buf->overflow ? eval_fail(eval, STATUS_LIMIT, "a text of more than %d bytes",
                                             LIMIT_RENDERED_BYTES)
                                 : eval_text(eval, buf->text, buf->length);
    strbuf_fini(buf);
    return text;
}

json_t *eval_real(struct eval *eval, double number)
{
    if (!isfinite(number))
        return eval_fail(eval, STATUS_INVALID, "the result is not a finite number");
    return json_real(number);
}

/* Count nodes as if nothing were shared, for that is what printing will walk. */
/* NOLINTNEXTLINE(misc-no-recursion) -- stops at JSON_DEPTH_MAX */
static bool weigh(const json_t *value, unsigned depth, size_t *nodes)
{
    if (++*nodes > WEIGHT_NODES_MAX || depth > JSON_DEPTH_MAX)
        return false;
    size_t i = 0;
    json_t *member = NULL;
    if (json_is_array(value)) {
        json_array_foreach(value, i, member) if (!weigh(member, depth + 1, nodes)) return false;
    } else if (json_is_object(value)) {
        const char *key = NULL;
        json_t *object = (json_t *)(uintptr_t)value; /* jansson's iteration wants non-const */
        json_object_foreach(object, key, member) if (!weigh(member, depth + 1, nodes)) return false;
    }
    return true;
}

json_t *eval_container(struct eval *eval, json_t *taken)
{
    size_t nodes = 0;
    bool fits = taken != NULL && weigh(taken, 0, &nodes);
    if (taken == NULL || (fits && eval_charge(eval, nodes)))
        return taken;
    json_decref(taken);
    if (fits)
        return NULL;
    return eval_fail(eval, STATUS_LIMIT, "a list or map that is too large or too deep");
}

/* ---- Access ---- */

size_t utf8_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

size_t utf8_offset(const char *text, size_t length, size_t n)
{
    size_t i = 0;
    for (; i < length && n > 0; n--) {
        i++;
        while (i < length && ((unsigned char)text[i] & 0xC0) == 0x80)
            i++;
    }
    return i;
}

/* A negative index counts from the end. False when there is no such item. */
static bool wrap_index(int64_t index, size_t count, size_t *out)
{
    if (index < 0)
        index += (int64_t)count;
    if (index < 0 || (uint64_t)index >= count)
        return false;
    *out = (size_t)index;
    return true;
}

static const char *object_key(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static json_t *missing_member(struct eval *eval, json_t *object, const char *wanted, bool guarded)
{
    if (guarded)
        return eval_missing(eval, guarded, "no member '%.60s'", wanted);
    const char *keys[64];
    size_t count = 0;
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(object, key, member)
    {
        if (count < ARRAY_LEN(keys))
            keys[count++] = key;
    }
    const char *near = str_nearest(wanted, count, object_key, keys);
    if (near == NULL)
        return eval_missing(eval, guarded, "no member '%.60s'", wanted);
    return eval_missing(eval, guarded, "no member '%.60s' (did you mean '%.60s'?)", wanted, near);
}

/* The parts of an instant, as `logical_date.year`. */
static json_t *instant_part(const char *text, const char *part)
{
    int64_t at_us = 0;
    struct instant_form form;
    if (!instant_parse_form(text, &at_us, &form))
        return NULL;
    struct civil civil = civil_from_instant(at_us + (int64_t)form.offset_s * 1000000);
    const struct {
        const char *name;
        int64_t value;
    } PARTS[] = {
        {"year", civil.year}, {"month", civil.month},   {"day", civil.day},
        {"hour", civil.hour}, {"minute", civil.minute}, {"second", civil.second},
    };
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++)
        if (strcmp(PARTS[i].name, part) == 0)
            return json_integer(PARTS[i].value);
    return NULL;
}

static json_t *access_object(struct eval *eval, json_t *object, const json_t *key, bool guarded)
{
    char number[32];
    const char *name = json_string_value(key);
    if (json_is_integer(key)) {
        CHECK(snprintf(number, sizeof number, "%" PRId64, (int64_t)json_integer_value(key)) > 0);
        name = number;
    }
    if (name == NULL)
        return eval_fail(eval, STATUS_INVALID, "a key of a map is a text, not %s",
                         value_type_name(key));
    json_t *member = json_object_get(object, name);
    return member != NULL ? json_incref(member) : missing_member(eval, object, name, guarded);
}

static json_t *access_text(struct eval *eval, const json_t *value, const json_t *key, bool guarded)
{
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    size_t at = 0;
    if (!json_is_integer(key)) {
        json_t *part = instant_part(text, json_string_value(key));
        return part != NULL ? part
                            : eval_missing(eval, guarded, "a text has no attribute '%.60s'",
                                           json_string_value(key));
    }
    if (!wrap_index(json_integer_value(key), utf8_count(text, length), &at))
        return eval_missing(eval, guarded, "there is no character %" PRId64 " in the text",
                            (int64_t)json_integer_value(key));
    size_t from = utf8_offset(text, length, at);
    size_t to = utf8_offset(text + from, length - from, 1);
    return eval_text(eval, text + from, to);
}

json_t *value_access(struct eval *eval, json_t *value, const json_t *key, bool guarded)
{
    if (json_is_object(value))
        return access_object(eval, value, key, guarded);
    if (!json_is_integer(key) && !json_is_string(key))
        return eval_fail(eval, STATUS_INVALID, "%s cannot be a key or an index",
                         value_type_name(key));
    if (json_is_string(value))
        return access_text(eval, value, key, guarded);
    if (json_is_string(key))
        return eval_missing(eval, guarded, "%s has no attribute '%.60s'", value_type_name(value),
                            json_string_value(key));
    size_t at = 0;
    if (!json_is_array(value))
        return eval_missing(eval, guarded, "%s has no items", value_type_name(value));
    if (!wrap_index(json_integer_value(key), json_array_size(value), &at))
        return eval_missing(eval, guarded, "there is no item %" PRId64 " in a list of %zu",
                            (int64_t)json_integer_value(key), json_array_size(value));
    return json_incref(json_array_get(value, at));
}

json_t *value_items(struct eval *eval, json_t *value)
{
    if (json_is_array(value))
        return json_incref(value);
    if (!json_is_object(value) && !json_is_string(value))
        return eval_fail(eval, STATUS_INVALID, "%s has no items to walk", value_type_name(value));
    json_t *items = json_array();
    if (json_is_object(value)) {
        const char *key = NULL;
        json_t *member = NULL;
        json_object_foreach(value, key, member)
        {
            CHECK(json_array_append_new(items, json_string(key)) == 0);
        }
        return eval_container(eval, items);
    }
    const char *text = json_string_value(value);
    size_t length = json_string_length(value);
    if (length > WEIGHT_NODES_MAX) {
        json_decref(items);
        return eval_fail(eval, STATUS_LIMIT, "the text has too many characters");
    }
    for (size_t i = 0; i < length;) {
        size_t bytes = utf8_offset(text + i, length - i, 1);
        CHECK(json_array_append_new(items, json_text(text + i, bytes)) == 0);
        i += bytes;
    }
    return eval_container(eval, items);
}

/* Bound number `i` within a sequence of `count` items, as Python clips it. */
static bool slice_bound(struct eval *eval, const json_t *bound, int64_t count, int64_t otherwise,
                        int64_t *out)
{
    if (json_is_null(bound)) {
        *out = otherwise;
        return true;
    }
    if (!json_is_integer(bound)) {
        (void)eval_fail(eval, STATUS_INVALID, "a slice needs whole numbers, not %s",
                        value_type_name(bound));
        return false;
    }
    int64_t index = json_integer_value(bound);
    if (index < 0)
        index = index < -count ? 0 : index + count;
    *out = MIN(index, count);
    return true;
}

json_t *value_slice(struct eval *eval, json_t *value, json_t *const bounds[3])
{
    if (!json_is_null(bounds[2]) && json_integer_value(bounds[2]) != 1)
        return eval_fail(eval, STATUS_INVALID, "slices with a step are not supported");
    bool text = json_is_string(value);
    if (!text && !json_is_array(value))
        return eval_fail(eval, STATUS_INVALID, "%s has no items to slice", value_type_name(value));
    const char *bytes = json_string_value(value);
    size_t length = json_string_length(value);
    int64_t count = (int64_t)(text ? utf8_count(bytes, length) : json_array_size(value));
    int64_t from = 0;
    int64_t to = 0;
    if (!slice_bound(eval, bounds[0], count, 0, &from) ||
        !slice_bound(eval, bounds[1], count, count, &to))
        return NULL;
    to = MAX(from, to);
    if (text) {
        size_t start = utf8_offset(bytes, length, (size_t)from);
        size_t end = utf8_offset(bytes, length, (size_t)to);
        return eval_text(eval, bytes + start, end - start);
    }
    json_t *items = json_array();
    for (int64_t i = from; i < to; i++)
        CHECK(json_array_append(items, json_array_get(value, (size_t)i)) == 0);
    return eval_container(eval, items);
}
