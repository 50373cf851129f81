#include "spec/yaml_scalar.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { NUMBER_BYTES_MAX = 400 }; /* longer than any number that fits a double */

static bool is_one_of(const char *text, const char *a, const char *b, const char *c)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0 || strcmp(text, c) == 0;
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* sign? (0 | [1-9][0-9]*) */
static bool is_integer(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t count = digits(text);
    return count > 0 && text[count] == '\0' && (count == 1 || text[0] != '0');
}

/* sign? digits? (. digits?)? (e sign? digits)?, with a digit before the exponent */
static bool is_float(const char *text)
{
    text += *text == '-' || *text == '+';
    size_t whole = digits(text);
    if (whole > 1 && text[0] == '0')
        return false;
    text += whole;
    size_t part = 0;
    if (*text == '.') {
        part = digits(text + 1);
        text += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        text += *text == '-' || *text == '+';
        size_t exponent = digits(text);
        if (exponent == 0)
            return false;
        text += exponent;
    }
    return *text == '\0';
}

json_t *yaml_scalar_value(const char *text, size_t length)
{
    if (length == 0 || is_one_of(text, "null", "Null", "NULL") || strcmp(text, "~") == 0)
        return json_null();
    if (is_one_of(text, "true", "True", "TRUE"))
        return json_true();
    if (is_one_of(text, "false", "False", "FALSE"))
        return json_false();
    if (length <= NUMBER_BYTES_MAX && is_integer(text)) {
        int64_t number = 0;
        if (!str_parse_i64(text + (*text == '+'), INT64_MIN, INT64_MAX, &number))
            return NULL;
        return json_integer(number);
    }
    if (length <= NUMBER_BYTES_MAX && is_float(text)) {
        double number = strtod(text, NULL);
        if (isfinite(number))
            return json_real(number);
    }
    return json_stringn_nocheck(text, length);
}
