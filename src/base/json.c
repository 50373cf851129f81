#include "base/json.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/json_write.h"
#include "base/str.h"
#include "base/strbuf.h"

/* jansson limits nesting at 2048; ours is tighter and checked before it recurses. */
static bool too_deep(const char *text, size_t length)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > JSON_DEPTH_MAX)
                return true;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

/* What is JSON, but more than we keep, is told in our words: the library's name its own flags. */
static const char *why_not(const json_error_t *where)
{
    enum json_error_code code = json_error_code(where);
    if (code == json_error_numeric_overflow)
        return "numbers beyond 64 bits are not supported";
    if (code == json_error_null_character || code == json_error_null_byte_in_key)
        return "NUL characters (\\u0000) are not supported";
    return where->text;
}

enum status json_parse(const char *text, size_t length, json_t **out, struct err *err)
{
    if (too_deep(text, length))
        return err_set(err, STATUS_LIMIT, "JSON is nested deeper than %d", JSON_DEPTH_MAX);
    /* jansson takes a NUL byte for the end and would not look at what follows. */
    if (memchr(text, 0, length) != NULL)
        return err_set(err, STATUS_INVALID, "JSON contains a NUL byte");
    json_error_t where;
    json_t *value = json_loadb(text, length, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where);
    if (value == NULL)
        return err_set(err, STATUS_INVALID, "JSON, line %d, column %d: %s", where.line,
                       where.column, why_not(&where));
    *out = value;
    return STATUS_OK;
}

/* --- output ---------------------------------------------------------------------------------- */

static char *format(const json_t *value, enum json_style style)
{
    struct strbuf out;
    strbuf_init(&out, SIZE_MAX / 4);
    json_write(&out, value, style);
    return strbuf_take(&out);
}

char *json_format(const json_t *value)
{
    return format(value, JSON_SORTED);
}

char *json_format_pretty(const json_t *value)
{
    return format(value, JSON_PRETTY);
}

/* Length of the valid UTF-8 sequence at `p`, or 0. */
static size_t utf8_sequence(const unsigned char *p, size_t left)
{
    if (p[0] == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : p[0] >= 0xC2 ? 2 : 0;
    if (length == 0 || length > left || p[0] > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool surrogate = p[0] == 0xED && p[1] > 0x9F;
    bool beyond = p[0] == 0xF4 && p[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

/* Only ASCII, and no NUL byte; looked at eight bytes at a time, as nearly everything is. */
static bool is_plain(const char *bytes, size_t length)
{
    const uint64_t ones = UINT64_MAX / 255;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof word);
        if (((word | (word - ones)) & ones << 7) != 0)
            return false;
    }
    while (i < length && bytes[i] > 0)
        i++;
    return i == length;
}

json_t *json_text(const char *bytes, size_t length)
{
    json_t *value = is_plain(bytes, length)            ? json_stringn_nocheck(bytes, length)
                    : memchr(bytes, 0, length) == NULL ? json_stringn(bytes, length)
                                                       : NULL;
    if (value != NULL)
        return value;
    struct strbuf mended;
    strbuf_init(&mended, length * 3 + 1);
    for (size_t i = 0; i < length;) {
        size_t sequence = utf8_sequence((const unsigned char *)bytes + i, length - i);
        if (sequence == 0)
            strbuf_add(&mended, "\xEF\xBF\xBD");
        else
            strbuf_add_bytes(&mended, bytes + i, sequence);
        i += MAX(sequence, (size_t)1);
    }
    value = json_stringn(mended.text, mended.length);
    strbuf_fini(&mended);
    CHECK(value != NULL);
    return value;
}

const char *json_get_string(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *member = json_object_get(object, key);
    return json_is_string(member) ? json_string_value(member) : otherwise;
}

int64_t json_get_int(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *member = json_object_get(object, key);
    return json_is_integer(member) ? json_integer_value(member) : otherwise;
}

bool json_get_bool(const json_t *object, const char *key, bool otherwise)
{
    const json_t *member = json_object_get(object, key);
    return json_is_boolean(member) ? json_boolean_value(member) : otherwise;
}

void json_put(json_t *object, const char *key, json_t *taken)
{
    CHECK(taken != NULL);
    CHECK((is_plain(key, strlen(key)) ? json_object_set_new_nocheck(object, key, taken)
                                      : json_object_set_new(object, key, taken)) == 0);
}

void json_put_string(json_t *object, const char *key, const char *text)
{
    json_put(object, key, text != NULL ? json_text(text, strlen(text)) : json_null());
}

void json_put_int(json_t *object, const char *key, int64_t value)
{
    json_put(object, key, json_integer(value));
}

void json_put_bool(json_t *object, const char *key, bool value)
{
    json_put(object, key, json_boolean(value));
}

void json_put_id(json_t *object, const char *key, int64_t id)
{
    char text[INTEGER_TEXT_MAX];
    const char *digits = str_from_i64(id, text);
    json_put(object, key, json_stringn_nocheck(digits, strlen(digits)));
}

void json_put_instant(json_t *object, const char *key, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    json_put(object, key,
             at_us == 0 ? json_null() : json_string_nocheck(instant_format(at_us, text)));
}
