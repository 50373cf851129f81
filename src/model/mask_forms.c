#include "model/mask_forms.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/attrs.h"
#include "base/mem.h"

/* The most bytes that one becomes in any form: \\u00XX. */
enum { GROWTH_MAX = 7 };

static const char LOWER[] = "0123456789abcdef";
static const char UPPER[] = "0123456789ABCDEF";

struct value {
    const char *bytes;
    size_t length;
    char *scratch; /* for the form at hand: GROWTH_MAX times the length, and a little */
    mask_form_fn *each;
    void *context;
};

static void give(const struct value *value, size_t length)
{
    if (length >= MASK_VALUE_MIN)
        value->each(value->context, value->scratch, length);
}

static bool is_alphanumeric(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* --- bytes as digits ------------------------------------------------------------------------- */

/* `before` each byte but the first; 0: nothing. */
static void give_hex(const struct value *value, const char *digits, char before)
{
    char *out = value->scratch;
    for (size_t i = 0; i < value->length; i++) {
        if (before != '\0' && i > 0)
            *out++ = before;
        *out++ = digits[(unsigned char)value->bytes[i] >> 4];
        *out++ = digits[(unsigned char)value->bytes[i] & 15];
    }
    give(value, (size_t)(out - value->scratch));
}

/* With `before` bytes in front of the value; what lies outside of it is zero. */
static unsigned byte_at(const struct value *value, size_t before, size_t index)
{
    return index < before || index >= before + value->length
               ? 0
               : (unsigned char)value->bytes[index - before];
}

/* As it looks with `before` other bytes in front of it, which is all that matters modulo three. */
static void give_base64(const struct value *value, size_t before, const char *last_two)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t bits = 8 * (before + value->length);
    size_t first = (8 * before + 5) / 6;
    size_t whole = bits / 6 - first;     /* digits that hold nothing but the value */
    size_t all = (bits + 5) / 6 - first; /* and one that also holds what follows */
    char *out = value->scratch;
    for (size_t i = first; i < first + all; i++) {
        size_t byte = 6 * i / 8;
        unsigned pair = byte_at(value, before, byte) << 8 | byte_at(value, before, byte + 1);
        unsigned digit = pair >> (10 - 6 * i % 8) & 63;
        *out++ = digit < 62 ? DIGITS[digit] : last_two[digit - 62];
    }
    give(value, whole);
    give(value, all);
    size_t padding = (4 - (first + all) % 4) % 4;
    memset(out, '=', padding);
    give(value, all + padding);
}

static void give_digits(const struct value *value)
{
    for (size_t before = 0; before < 3; before++) {
        give_base64(value, before, "+/");
        give_base64(value, before, "-_");
    }
    if (value->length > MASK_LONG_BYTES)
        return;
    static const char BETWEEN[] = {'\0', ' ', ':', '%'};
    for (size_t i = 0; i < ARRAY_LEN(BETWEEN); i++) {
        give_hex(value, LOWER, BETWEEN[i]);
        give_hex(value, UPPER, BETWEEN[i]);
    }
}

/* --- escaped texts --------------------------------------------------------------------------- */

static void give_percent(const struct value *value)
{
    static const struct {
        const char *kept;
        const char *digits;
        bool plus; /* for a blank */
    } WAYS[] = {
        {"-._~", UPPER, false},      {"-._~", LOWER, false}, {"-._~/", UPPER, false},
        {"-._~!*'()", UPPER, false}, {"-._*", UPPER, true},  {"-._~", UPPER, true},
    };
    for (size_t way = 0; way < ARRAY_LEN(WAYS); way++) {
        char *out = value->scratch;
        for (size_t i = 0; i < value->length; i++) {
            unsigned char c = (unsigned char)value->bytes[i];
            if (is_alphanumeric(c) || (c != '\0' && strchr(WAYS[way].kept, c) != NULL)) {
                *out++ = (char)c;
            } else if (c == ' ' && WAYS[way].plus) {
                *out++ = '+';
            } else {
                *out++ = '%';
                *out++ = WAYS[way].digits[c >> 4];
                *out++ = WAYS[way].digits[c & 15];
            }
        }
        give(value, (size_t)(out - value->scratch));
    }
}

static char *put_unicode(char *out, unsigned unit)
{
    *out++ = '\\';
    *out++ = 'u';
    for (int shift = 12; shift >= 0; shift -= 4)
        *out++ = LOWER[unit >> shift & 15];
    return out;
}

/* How many bytes the UTF-8 character at `at` has, and which it is; 0: it is none. */
static size_t read_character(const char *at, const char *end, unsigned *out)
{
    unsigned char lead = (unsigned char)*at;
    size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || (size_t)(end - at) < size)
        return 0;
    unsigned character = lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | ((unsigned char)at[i] & 0x3f);
    }
    *out = character;
    return size;
}

/* What writers of JSON differ in. */
enum { JSON_ASCII = 1, JSON_SLASH = 2, JSON_HTML = 4 };

static char *put_json(char *out, unsigned char c, unsigned way)
{
    static const char SHORT[] = "\"\\\b\f\n\r\t";
    static const char LETTER[] = "\"\\bfnrt";
    const char *found = c == '\0' ? NULL : strchr(SHORT, c);
    if (found != NULL || (c == '/' && way & JSON_SLASH)) {
        *out++ = '\\';
        *out++ = found != NULL ? LETTER[found - SHORT] : '/';
        return out;
    }
    bool is_markup = c != '\0' && strchr("<>&", c) != NULL;
    if (c < 0x20 || (is_markup && way & JSON_HTML))
        return put_unicode(out, c);
    *out++ = (char)c;
    return out;
}

/* The form at hand, which is `length` bytes of a JSON string, inside another one. */
static void give_json_again(const struct value *value, size_t length)
{
    char *copy = mem_alloc(length + 1);
    memcpy(copy, value->scratch, length);
    char *out = value->scratch;
    for (size_t i = 0; i < length; i++)
        out = put_json(out, (unsigned char)copy[i], 0);
    give(value, (size_t)(out - value->scratch));
    explicit_bzero(copy, length);
    free(copy);
}

static void give_json(const struct value *value)
{
    static const unsigned WAYS[] = {0, JSON_ASCII, JSON_SLASH, JSON_HTML, JSON_ASCII | JSON_SLASH};
    const char *end = value->bytes + value->length;
    for (size_t way = 0; way < ARRAY_LEN(WAYS); way++) {
        char *out = value->scratch;
        for (const char *at = value->bytes; at < end;) {
            unsigned character = 0;
            size_t size = WAYS[way] & JSON_ASCII ? read_character(at, end, &character) : 0;
            if (size == 0) {
                out = put_json(out, (unsigned char)*at++, WAYS[way]);
                continue;
            }
            at += size;
            if (character >= 0x10000) {
                out = put_unicode(out, 0xd800 + ((character - 0x10000) >> 10));
                character = 0xdc00 + ((character - 0x10000) & 0x3ff);
            }
            out = put_unicode(out, character);
        }
        size_t length = (size_t)(out - value->scratch);
        give(value, length);
        give_json_again(value, length);
    }
}

/* By what an entity stands for `c`, with these for quotation marks; NULL: it stands for itself. */
static const char *entity_of(char c, const char *quote, const char *apostrophe)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return quote;
    case '\'':
        return apostrophe;
    default:
        return NULL;
    }
}

static void give_markup(const struct value *value)
{
    static const char *const WAYS[][2] = {
        {NULL, NULL},         {"&quot;", NULL},     {"&quot;", "&#39;"},
        {"&quot;", "&#x27;"}, {"&quot;", "&apos;"},
    };
    for (size_t way = 0; way < ARRAY_LEN(WAYS); way++) {
        char *out = value->scratch;
        for (size_t i = 0; i < value->length; i++) {
            const char *entity = entity_of(value->bytes[i], WAYS[way][0], WAYS[way][1]);
            if (entity != NULL)
                out = stpcpy(out, entity);
            else
                *out++ = value->bytes[i];
        }
        give(value, (size_t)(out - value->scratch));
    }
}

/* Inside '...' and "..." of a shell or of Python, and with a backslash before everything that has a
 * meaning. */
static void give_quoted(const struct value *value)
{
    static const struct {
        const char *special;
        const char *before;
        const char *after;
    } WAYS[] = {
        {"'", "'\\", "'"},
        {"'", "'\"", "\"'"},
        {"'", "\\", ""},
        {"\\", "\\", ""},
        {"'\\", "\\", ""},
        {"\"\\$`", "\\", ""},
        {" \t'\"\\$`!&()*,;<>?[]^{}|#~", "\\", ""},
    };
    for (size_t way = 0; way < ARRAY_LEN(WAYS); way++) {
        char *out = value->scratch;
        for (size_t i = 0; i < value->length; i++) {
            char c = value->bytes[i];
            bool is_special = c != '\0' && strchr(WAYS[way].special, c) != NULL;
            if (is_special)
                out = stpcpy(out, WAYS[way].before);
            *out++ = c;
            if (is_special)
                out = stpcpy(out, WAYS[way].after);
        }
        give(value, (size_t)(out - value->scratch));
    }
}

static void give_texts(const struct value *value)
{
    value->each(value->context, value->bytes, value->length);
    give_json(value);
    if (value->length > MASK_LONG_BYTES)
        return;
    give_percent(value);
    give_quoted(value);
    give_markup(value);
}

/* --- all of them ----------------------------------------------------------------------------- */

static bool is_in(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

static void give_lines(const struct value *whole)
{
    const char *end = whole->bytes + whole->length;
    for (const char *at = whole->bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *from = at;
        const char *to = newline == NULL ? end : newline;
        at = to + 1;
        while (from < to && is_in(*from, " \t"))
            from++;
        while (from < to && is_in(to[-1], " \t\r"))
            to--;
        struct value line = *whole;
        line.bytes = from;
        line.length = (size_t)(to - from);
        if (line.length >= MASK_LINE_MIN)
            give_texts(&line);
    }
}

void mask_forms_each(const char *value, size_t length, mask_form_fn *each, void *context)
{
    while (length > 0 && is_in(value[length - 1], "\r\n"))
        length--;
    if (length < MASK_VALUE_MIN)
        return;
    size_t room = GROWTH_MAX * length + 16;
    char *scratch = mem_alloc(room);
    struct value whole = {value, length, scratch, each, context};
    give_texts(&whole);
    give_digits(&whole);
    if (memchr(value, '\n', length) != NULL)
        give_lines(&whole);
    explicit_bzero(scratch, room);
    free(scratch);
}
