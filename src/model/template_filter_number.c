/*
 * template_filter_number: numbers, truth and JSON.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

/* A decimal number with spaces around it and underscores in it, as Python reads it. */
static bool clean_number(const char *text, char *out, size_t size)
{
    size_t length = 0;
    text += strspn(text, " \t\n\r\f\v");
    size_t end = strlen(text);
    while (end > 0 && strchr(" \t\n\r\f\v", text[end - 1]) != NULL)
        end--;
    for (size_t i = 0; i < end; i++) {
        if (text[i] == '_' && i > 0 && i + 1 < end && text[i - 1] != '_')
            continue;
        if (length + 1 == size)
            return false;
        out[length++] = text[i];
    }
    out[length] = '\0';
    return length > 0;
}

static bool text_to_real(const char *text, double *out)
{
    char digits[400];
    if (!clean_number(text, digits, sizeof digits))
        return false;
    if (strspn(digits, "+-.0123456789eE") != strlen(digits))
        return false; /* neither hexadecimal nor nan nor inf */
    char *end = NULL;
    double number = strtod(digits, &end);
    if (*end != '\0' || !isfinite(number))
        return false;
    *out = number;
    return true;
}

static bool text_to_integer(const char *text, int base, int64_t *out)
{
    char digits[80];
    if (!clean_number(text, digits, sizeof digits))
        return false;
    errno = 0;
    char *end = NULL;
    long long number = strtoll(digits, &end, base);
    if (errno != 0 || end == digits || *end != '\0')
        return false;
    *out = number;
    return true;
}

static bool real_to_integer(double number, int64_t *out)
{
    if (!(number > -9.2e18 && number < 9.2e18))
        return false;
    *out = (int64_t)number;
    return true;
}

json_t *filter_int(struct call *call)
{
    int64_t base = 0;
    int64_t whole = 0;
    double real = 0;
    if (!call_integer(call, 1, 10, &base))
        return NULL;
    if (base < 2 || base > 36)
        return eval_fail(call->eval, STATUS_INVALID, "'int' needs a base of 2 to 36");
    const json_t *self = call->self;
    if (value_to_integer(self, &whole))
        return json_integer(whole);
    if (json_is_real(self) && real_to_integer(json_real_value(self), &whole))
        return json_integer(whole);
    if (json_is_string(self)) {
        const char *text = json_string_value(self);
        if (text_to_integer(text, (int)base, &whole) ||
            (text_to_real(text, &real) && real_to_integer(real, &whole)))
            return json_integer(whole);
    }
    return call->args[0] != NULL ? json_incref(call->args[0]) : json_integer(0);
}

json_t *filter_float(struct call *call)
{
    double real = 0;
    if (value_is_number(call->self))
        return json_real(value_to_real(call->self));
    if (json_is_string(call->self) && text_to_real(json_string_value(call->self), &real))
        return json_real(real);
    return call->args[0] != NULL ? json_incref(call->args[0]) : json_real(0.0);
}

json_t *filter_abs(struct call *call)
{
    if (!value_is_number(call->self))
        return call_wrong_self(call, "a number");
    if (value_to_real(call->self) < 0)
        return op_minus(call->eval, call->self);
    int64_t whole = 0;
    return value_to_integer(call->self, &whole) ? json_integer(whole) : json_incref(call->self);
}

/* To `precision` digits after the point, halves to the even neighbour as printf does. */
static double round_half_even(double number, int precision)
{
    if (precision >= 0) {
        char text[400];
        int length = snprintf(text, sizeof text, "%.*f", precision, number);
        CHECK(length > 0 && (size_t)length < sizeof text);
        return strtod(text, NULL);
    }
    double unit = pow(10, -precision);
    return nearbyint(number / unit) * unit;
}

json_t *filter_round(struct call *call)
{
    int64_t precision = 0;
    const char *method = NULL;
    if (!call_integer(call, 0, 0, &precision) || !call_text(call, 1, "common", &method))
        return NULL;
    if (!value_is_number(call->self))
        return call_wrong_self(call, "a number");
    if (precision < -15 || precision > 15)
        return eval_fail(call->eval, STATUS_INVALID, "'round' needs a precision of -15 to 15");
    bool up = strcmp(method, "ceil") == 0;
    bool down = strcmp(method, "floor") == 0;
    if (!up && !down && strcmp(method, "common") != 0)
        return eval_fail(call->eval, STATUS_INVALID,
                         "'round' knows the methods common, ceil and floor");
    double number = value_to_real(call->self);
    if (up || down) {
        double unit = pow(10, (double)precision);
        return eval_real(call->eval, (up ? ceil(number * unit) : floor(number * unit)) / unit);
    }
    int64_t whole = 0;
    if (!value_to_integer(call->self, &whole))
        return eval_real(call->eval, round_half_even(number, (int)precision));
    if (precision >= 0)
        return json_integer(whole);
    return real_to_integer(round_half_even(number, (int)precision), &whole)
               ? json_integer(whole)
               : eval_fail(call->eval, STATUS_INVALID, "the number is too large to round");
}

json_t *filter_bool(struct call *call)
{
    static const char *const YES[] = {"true", "yes", "on", "1", "t", "y"};
    if (!json_is_string(call->self))
        return json_boolean(template_truth(call->self));
    for (size_t i = 0; i < ARRAY_LEN(YES); i++)
        if (strcasecmp(json_string_value(call->self), YES[i]) == 0)
            return json_true();
    return json_false();
}

json_t *filter_tojson(struct call *call)
{
    int64_t indent = 0;
    if (!call_integer(call, 0, 0, &indent))
        return NULL;
    if (indent < 0 || indent > 16)
        return eval_fail(call->eval, STATUS_INVALID, "'tojson' needs an indent of 0 to 16");
    struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    value_add_json(&text, call->self, (unsigned)indent);
    return eval_take_text(call->eval, &text);
}

json_t *filter_fromjson(struct call *call)
{
    if (!json_is_string(call->self))
        return call_wrong_self(call, "a text");
    size_t length = json_string_length(call->self);
    if (!eval_charge(call->eval, 1 + length / 16))
        return NULL;
    json_t *value = NULL;
    struct err err = {0};
    if (json_parse(json_string_value(call->self), length, &value, &err) != STATUS_OK) {
        /* The text may be a secret, and a piece of it is not hidden afterwards. */
        const char *quoted = strstr(err.text, " near '");
        int shown = quoted != NULL ? (int)(quoted - err.text) : (int)strlen(err.text);
        return eval_fail(call->eval, err.code, "'fromjson': %.*s", shown, err.text);
    }
    return eval_container(call->eval, value);
}
