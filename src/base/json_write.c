#include "base/json_write.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

struct writer {
    struct strbuf *out;
    enum json_style style;
    size_t depth;
};

/* --- numbers --------------------------------------------------------------------------------- */

enum { REAL_TEXT_MAX = 40, REAL_DIGITS_MIN = 15, REAL_DIGITS_MAX = 17 };

/* "1e+05" becomes "1e5"; what looks like an integer becomes a real again: "1.0". */
static void tidy_real(char text[static REAL_TEXT_MAX])
{
    char *exponent = strchr(text, 'e');
    if (exponent == NULL) {
        if (strchr(text, '.') == NULL)
            memcpy(text + strlen(text), ".0", 3);
        return;
    }
    char *digits = exponent + 1;
    char *target = digits + (*digits == '-');
    digits += *digits == '-' || *digits == '+';
    digits += strspn(digits, "0");
    memmove(target, digits, strlen(digits) + 1);
}

void json_write_integer(struct strbuf *out, int64_t value)
{
    char text[INTEGER_TEXT_MAX];
    strbuf_add(out, str_from_i64(value, text));
}

/*
 * Seconds with microseconds are what most reals here are. They have at most 15 digits, so that the
 * text reads back as the same number, and it is the one that the long way would find.
 */
static bool write_seconds(struct strbuf *out, double value)
{
    if (signbit(value) || value >= 1e9 || (value > 0 && value < 1e-4))
        return false;
    int64_t micros = llround(value * 1e6);
    if ((double)micros / 1e6 != value)
        return false;
    char fraction[7]; /* the point and six digits */
    size_t length = sizeof fraction;
    for (int64_t i = 6, left = micros % 1000000; i > 0; i--, left /= 10)
        fraction[i] = (char)('0' + left % 10);
    fraction[0] = '.';
    while (length > 2 && fraction[length - 1] == '0')
        length--;
    json_write_integer(out, micros / 1000000);
    strbuf_add_bytes(out, fraction, length);
    return true;
}

void json_write_real(struct strbuf *out, double value)
{
    char text[REAL_TEXT_MAX];
    if (write_seconds(out, value))
        return;
    /* 15 digits are always exact, except for numbers so small that they have fewer. */
    int least = fabs(value) < DBL_MIN ? 1 : REAL_DIGITS_MIN;
    for (int digits = least; digits <= REAL_DIGITS_MAX; digits++) {
        CHECK(snprintf(text, sizeof text, "%.*g", digits, value) < REAL_TEXT_MAX - 3);
        if (strtod(text, NULL) == value)
            break;
    }
    tidy_real(text);
    strbuf_add(out, text);
}

/* --- strings --------------------------------------------------------------------------------- */

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

/*
 * Copies bytes up to the first that has to be escaped, or has a bit of `odd` in a word of eight;
 * eight at a time. Returns how many.
 */
static inline size_t copy_plain(char *to, const char *text, size_t length, uint64_t odd)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, text + i, sizeof word);
        uint64_t quote = word ^ (ones * '"');
        uint64_t slash = word ^ (ones * '\\');
        /* The high bit of a byte that is below 0x20, or 0 after the exclusive or. */
        uint64_t found =
            ((word - ones * 0x20) & ~word) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
        if (((found & ones << 7) | (word & odd)) != 0)
            break;
        memcpy(to + i, &word, sizeof word);
    }
    for (; i < length && is_plain((unsigned char)text[i]) && ((unsigned char)text[i] & odd) == 0;
         i++)
        to[i] = text[i];
    return i;
}

static void write_escape(struct strbuf *out, unsigned char c)
{
    static const char SHORT[0x60] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
    };
    if (SHORT[c] != 0)
        strbuf_add_bytes(out, (char[]){'\\', SHORT[c]}, 2);
    else
        strbuf_addf(out, "\\u%04X", c);
}

/* Piece by piece, as far as it fits under the cap. */
static void write_pieces(struct strbuf *out, const char *text, size_t length)
{
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < length; i++)
        if (is_plain((unsigned char)text[i]))
            strbuf_add_char(out, text[i]);
        else
            write_escape(out, (unsigned char)text[i]);
    strbuf_add_char(out, '"');
}

static void write_string(struct strbuf *out, const char *text, size_t length)
{
    char *room = strbuf_room(out, length + 2);
    if (room == NULL || copy_plain(room + 1, text, length, 0) < length) {
        write_pieces(out, text, length);
        return;
    }
    room[0] = '"';
    room[length + 1] = '"';
    strbuf_extend(out, length + 2);
}

void json_write_text(struct strbuf *out, const char *bytes, size_t length)
{
    const uint64_t not_ascii = UINT64_MAX / 255 << 7;
    char *room = strbuf_room(out, length + 2);
    if (room != NULL && copy_plain(room + 1, bytes, length, not_ascii) == length) {
        room[0] = '"';
        room[length + 1] = '"';
        strbuf_extend(out, length + 2);
        return;
    }
    json_t *mended = json_text(bytes, length);
    write_string(out, json_string_value(mended), json_string_length(mended));
    json_decref(mended);
}

/* --- containers ------------------------------------------------------------------------------ */

static void write_value(struct writer *writer, const json_t *value);

static void new_line(struct writer *writer)
{
    if (writer->style != JSON_PRETTY)
        return;
    strbuf_add_char(writer->out, '\n');
    strbuf_add_repeat(writer->out, ' ', 2 * writer->depth);
}

static void open_container(struct writer *writer, char bracket)
{
    strbuf_add_char(writer->out, bracket);
    writer->depth++;
    new_line(writer);
}

static void close_container(struct writer *writer, char bracket)
{
    writer->depth--;
    new_line(writer);
    strbuf_add_char(writer->out, bracket);
}

static void next_item(struct writer *writer)
{
    strbuf_add_char(writer->out, ',');
    new_line(writer);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_array(struct writer *writer, const json_t *array)
{
    size_t count = json_array_size(array);
    if (count == 0) {
        strbuf_add(writer->out, "[]");
        return;
    }
    open_container(writer, '[');
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            next_item(writer);
        write_value(writer, json_array_get(array, i));
    }
    close_container(writer, ']');
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_member(struct writer *writer, const char *key, size_t length, const json_t *value)
{
    write_string(writer->out, key, length);
    if (writer->style == JSON_PRETTY)
        strbuf_add(writer->out, ": ");
    else
        strbuf_add_char(writer->out, ':');
    write_value(writer, value);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_as_set(struct writer *writer, json_t *object)
{
    bool is_first = true;
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        if (!is_first)
            next_item(writer);
        is_first = false;
        write_member(writer, json_object_iter_key(at), json_object_iter_key_len(at),
                     json_object_iter_value(at));
    }
}

static int compare_members(const void *one, const void *other)
{
    void *const *a = one;
    void *const *b = other;
    return strcmp(json_object_iter_key(*a), json_object_iter_key(*b));
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_sorted(struct writer *writer, json_t *object)
{
    size_t count = 0;
    CLEANUP(mem_freep) void **members = mem_zalloc(json_object_size(object), sizeof *members);
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at))
        members[count++] = at;
    qsort(members, count, sizeof *members, compare_members);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            next_item(writer);
        write_member(writer, json_object_iter_key(members[i]), json_object_iter_key_len(members[i]),
                     json_object_iter_value(members[i]));
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_object(struct writer *writer, const json_t *object)
{
    /* jansson walks only through what may be changed. */
    json_t *walked = (json_t *)(uintptr_t)object;
    if (json_object_size(object) == 0) {
        strbuf_add(writer->out, "{}");
        return;
    }
    open_container(writer, '{');
    if (writer->style == JSON_SORTED)
        write_sorted(writer, walked);
    else
        write_as_set(writer, walked);
    close_container(writer, '}');
}

/* NOLINTNEXTLINE(misc-no-recursion) -- as deep as the value, which is bounded */
static void write_value(struct writer *writer, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        write_object(writer, value);
        return;
    case JSON_ARRAY:
        write_array(writer, value);
        return;
    case JSON_STRING:
        write_string(writer->out, json_string_value(value), json_string_length(value));
        return;
    case JSON_INTEGER:
        json_write_integer(writer->out, json_integer_value(value));
        return;
    case JSON_REAL:
        json_write_real(writer->out, json_real_value(value));
        return;
    case JSON_TRUE:
        strbuf_add(writer->out, "true");
        return;
    case JSON_FALSE:
        strbuf_add(writer->out, "false");
        return;
    case JSON_NULL:
        strbuf_add(writer->out, "null");
        return;
    }
}

void json_write(struct strbuf *out, const json_t *value, enum json_style style)
{
    struct writer writer = {.out = out, .style = style};
    write_value(&writer, value);
}
