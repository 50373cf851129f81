#include <math.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/template_eval_priv.h"

static const char *const SIGNS[] = {
    [OP_ADD] = "+",         [OP_SUBTRACT] = "-",       [OP_MULTIPLY] = "*",
    [OP_DIVIDE] = "/",      [OP_FLOOR_DIVIDE] = "//",  [OP_MODULO] = "%",
    [OP_POWER] = "**",      [OP_CONCAT] = "~",         [OP_EQUAL] = "==",
    [OP_NOT_EQUAL] = "!=",  [OP_LESS] = "<",           [OP_LESS_EQUAL] = "<=",
    [OP_GREATER] = ">",     [OP_GREATER_EQUAL] = ">=", [OP_IN] = "in",
    [OP_NOT_IN] = "not in",
};

static json_t *fail_overflow(struct eval *eval, enum op op)
{
    return eval_fail(eval, STATUS_INVALID, "the result of %s does not fit into 64 bits", SIGNS[op]);
}

static bool integer_power(int64_t base, int64_t exponent, int64_t *out)
{
    int64_t result = 1;
    while (exponent > 0) {
        if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result))
            return false;
        exponent >>= 1;
        if (exponent > 0 && __builtin_mul_overflow(base, base, &base))
            return false;
    }
    *out = result;
    return true;
}

/* Rounded towards minus infinity, as Python does; INT64_MIN / -1 is the one that overflows. */
static bool floor_divide(int64_t a, int64_t b, int64_t *out)
{
    if (a == INT64_MIN && b == -1)
        return false;
    int64_t quotient = a / b;
    *out = quotient - (a % b != 0 && (a % b < 0) != (b < 0));
    return true;
}

static json_t *integer_binary(struct eval *eval, enum op op, int64_t a, int64_t b)
{
    int64_t result = 0;
    bool fits = true;
    if (op == OP_ADD)
        fits = !__builtin_add_overflow(a, b, &result);
    else if (op == OP_SUBTRACT)
        fits = !__builtin_sub_overflow(a, b, &result);
    else if (op == OP_MULTIPLY)
        fits = !__builtin_mul_overflow(a, b, &result);
    else if (op == OP_FLOOR_DIVIDE)
        fits = floor_divide(a, b, &result);
    else if (op == OP_MODULO)
        result = b == -1 ? 0 : a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0);
    else
        fits = integer_power(a, b, &result);
    return fits ? json_integer(result) : fail_overflow(eval, op);
}

static double real_modulo(double a, double b)
{
    double rest = fmod(a, b);
    if (fpclassify(rest) != FP_ZERO && (rest < 0) != (b < 0))
        rest += b;
    return rest;
}

static json_t *real_binary(struct eval *eval, enum op op, double a, double b)
{
    switch (op) {
    case OP_ADD:
        return eval_real(eval, a + b);
    case OP_SUBTRACT:
        return eval_real(eval, a - b);
    case OP_MULTIPLY:
        return eval_real(eval, a * b);
    case OP_DIVIDE:
        return eval_real(eval, a / b);
    case OP_FLOOR_DIVIDE:
        return eval_real(eval, floor(a / b));
    case OP_MODULO:
        return eval_real(eval, real_modulo(a, b));
    case OP_POWER:
        return eval_real(eval, pow(a, b));
    case OP_NONE:
    case OP_CONCAT:
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
    case OP_IN:
    case OP_NOT_IN:
        break;
    }
    check_failed(__FILE__, __LINE__, "an arithmetic operator");
}

static json_t *number_binary(struct eval *eval, enum op op, const json_t *a, const json_t *b)
{
    bool divides = op == OP_DIVIDE || op == OP_FLOOR_DIVIDE || op == OP_MODULO;
    if (divides && fpclassify(value_to_real(b)) == FP_ZERO)
        return eval_fail(eval, STATUS_INVALID, "division by zero");
    int64_t ia = 0;
    int64_t ib = 0;
    bool whole = value_to_integer(a, &ia) && value_to_integer(b, &ib);
    if (whole && op != OP_DIVIDE && !(op == OP_POWER && ib < 0))
        return integer_binary(eval, op, ia, ib);
    if (op == OP_POWER && fpclassify(value_to_real(a)) == FP_ZERO && value_to_real(b) < 0)
        return eval_fail(eval, STATUS_INVALID, "division by zero");
    return real_binary(eval, op, value_to_real(a), value_to_real(b));
}

static json_t *concat_texts(struct eval *eval, const json_t *a, const json_t *b)
{
    struct strbuf text;
    strbuf_init(&text, LIMIT_RENDERED_BYTES);
    value_add_text(&text, a);
    value_add_text(&text, b);
    return eval_take_text(eval, &text);
}

/* Texts and lists can be repeated. */
static json_t *repeat(struct eval *eval, json_t *value, int64_t times)
{
    size_t length = json_is_string(value) ? json_string_length(value) : json_array_size(value);
    times = MAX(times, (int64_t)0);
    if (length > 0 && times > LIMIT_RENDERED_BYTES / (int64_t)length)
        return eval_fail(eval, STATUS_LIMIT, "repeated too often");
    if (json_is_string(value)) {
        struct strbuf text;
        strbuf_init(&text, LIMIT_RENDERED_BYTES);
        for (int64_t i = 0; i < times && length > 0; i++)
            strbuf_add_bytes(&text, json_string_value(value), length);
        return eval_take_text(eval, &text);
    }
    if (!eval_charge(eval, length * (size_t)times))
        return NULL;
    json_t *list = json_array();
    for (int64_t i = 0; i < times && length > 0; i++)
        CHECK(json_array_extend(list, value) == 0);
    return eval_container(eval, list);
}

json_t *op_binary(struct eval *eval, enum op op, json_t *a, json_t *b)
{
    if (op == OP_CONCAT)
        return concat_texts(eval, a, b);
    if (value_is_number(a) && value_is_number(b))
        return number_binary(eval, op, a, b);
    if (op == OP_ADD && json_is_string(a) && json_is_string(b))
        return concat_texts(eval, a, b);
    if (op == OP_ADD && json_is_array(a) && json_is_array(b)) {
        json_t *list = json_array();
        CHECK(json_array_extend(list, a) == 0);
        CHECK(json_array_extend(list, b) == 0);
        return eval_container(eval, list);
    }
    int64_t times = 0;
    if (op == OP_MULTIPLY && (json_is_string(a) || json_is_array(a)) && value_to_integer(b, &times))
        return repeat(eval, a, times);
    if (op == OP_MULTIPLY && (json_is_string(b) || json_is_array(b)) && value_to_integer(a, &times))
        return repeat(eval, b, times);
    const char *hint = op == OP_ADD && (json_is_string(a) || json_is_string(b))
                           ? "; ~ joins anything as text"
                           : "";
    return eval_fail(eval, STATUS_INVALID, "%s cannot join %s and %s%s", SIGNS[op],
                     value_type_name(a), value_type_name(b), hint);
}

json_t *op_minus(struct eval *eval, json_t *a)
{
    if (!value_is_number(a))
        return eval_fail(eval, STATUS_INVALID, "- needs a number, not %s", value_type_name(a));
    int64_t integer = 0;
    if (!value_to_integer(a, &integer))
        return eval_real(eval, -json_real_value(a));
    if (integer == INT64_MIN)
        return fail_overflow(eval, OP_SUBTRACT);
    return json_integer(-integer);
}

/* Whole numbers are compared as such: a double would blur the large ones. */
static int number_order(const json_t *a, const json_t *b)
{
    int64_t ia = 0;
    int64_t ib = 0;
    if (value_to_integer(a, &ia) && value_to_integer(b, &ib))
        return (ia > ib) - (ia < ib);
    double ra = value_to_real(a);
    double rb = value_to_real(b);
    return (ra > rb) - (ra < rb);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- values are at most JSON_DEPTH_MAX deep */
static bool object_equal(struct eval *eval, const json_t *a, const json_t *b)
{
    if (json_object_size(a) != json_object_size(b))
        return false;
    const char *key = NULL;
    json_t *member = NULL;
    json_t *object = (json_t *)(uintptr_t)a; /* jansson's iteration wants non-const */
    json_object_foreach(object, key, member)
    {
        const json_t *other = json_object_get(b, key);
        if (other == NULL || !op_equal(eval, member, other))
            return false;
    }
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion) -- values are at most JSON_DEPTH_MAX deep */
bool op_equal(struct eval *eval, const json_t *a, const json_t *b)
{
    if (!eval_charge(eval, 1))
        return false;
    if (value_is_number(a) && value_is_number(b))
        return number_order(a, b) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_object(a))
        return object_equal(eval, a, b);
    if (!json_is_array(a))
        return json_equal(a, b) != 0;
    size_t count = json_array_size(a);
    if (count != json_array_size(b))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!op_equal(eval, json_array_get(a, i), json_array_get(b, i)))
            return false;
    return true;
}

static int text_order(const json_t *a, const json_t *b)
{
    int order = strcmp(json_string_value(a), json_string_value(b));
    return (order > 0) - (order < 0);
}

/* NOLINTNEXTLINE(misc-no-recursion) -- values are at most JSON_DEPTH_MAX deep */
bool op_order(struct eval *eval, const json_t *a, const json_t *b, int *out)
{
    if (!eval_charge(eval, 1))
        return false;
    if (value_is_number(a) && value_is_number(b)) {
        *out = number_order(a, b);
        return true;
    }
    if (json_is_string(a) && json_is_string(b)) {
        *out = text_order(a, b);
        return true;
    }
    if (!json_is_array(a) || !json_is_array(b)) {
        (void)eval_fail(eval, STATUS_INVALID, "%s and %s cannot be ordered", value_type_name(a),
                        value_type_name(b));
        return false;
    }
    size_t count = MIN(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < count; i++) {
        if (op_equal(eval, json_array_get(a, i), json_array_get(b, i)))
            continue;
        return op_order(eval, json_array_get(a, i), json_array_get(b, i), out);
    }
    *out = (json_array_size(a) > count) - (json_array_size(b) > count);
    return true;
}

static bool is_in(struct eval *eval, const json_t *a, json_t *b, bool *out)
{
    *out = false;
    if (json_is_string(b) && json_is_string(a)) {
        *out = strstr(json_string_value(b), json_string_value(a)) != NULL;
        return eval_charge(eval, 1 + json_string_length(b) / 16);
    }
    if (json_is_object(b)) {
        *out = json_is_string(a) && json_object_get(b, json_string_value(a)) != NULL;
        return true;
    }
    if (!json_is_array(b)) {
        (void)eval_fail(eval, STATUS_INVALID,
                        "'in' needs a list, a map or a text with a text, not %s",
                        value_type_name(b));
        return false;
    }
    for (size_t i = 0; i < json_array_size(b) && !*out; i++)
        *out = op_equal(eval, a, json_array_get(b, i));
    return eval->status == STATUS_OK;
}

bool op_compare(struct eval *eval, enum op op, json_t *a, json_t *b, bool *out)
{
    if (op == OP_EQUAL || op == OP_NOT_EQUAL) {
        *out = op_equal(eval, a, b) == (op == OP_EQUAL);
        return eval->status == STATUS_OK;
    }
    if (op == OP_IN || op == OP_NOT_IN) {
        if (!is_in(eval, a, b, out))
            return false;
        *out = *out == (op == OP_IN);
        return true;
    }
    int order = 0;
    if (!op_order(eval, a, b, &order))
        return false;
    *out = op == OP_LESS         ? order < 0
           : op == OP_LESS_EQUAL ? order <= 0
           : op == OP_GREATER    ? order > 0
                                 : order >= 0;
    return true;
}
