/*
 * template_is: the tests after `is`.
 */
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "model/template_filter_priv.h"

enum test_kind {
    IS_BOOLEAN,
    IS_DEFINED,
    IS_DIVISIBLEBY,
    IS_COMPARED,
    IS_EVEN,
    IS_FALSE,
    IS_FLOAT,
    IS_INTEGER,
    IS_ITERABLE,
    IS_LOWER,
    IS_MAPPING,
    IS_NONE,
    IS_NUMBER,
    IS_ODD,
    IS_STRING,
    IS_TRUE,
    IS_UNDEFINED,
    IS_UPPER,
};

struct test {
    const char *name;
    enum test_kind kind;
    unsigned args;
    enum op op; /* IS_COMPARED */
};

static const struct test TESTS[] = {
    {"boolean", IS_BOOLEAN, 0, OP_NONE},
    {"defined", IS_DEFINED, 0, OP_NONE},
    {"divisibleby", IS_DIVISIBLEBY, 1, OP_NONE},
    {"eq", IS_COMPARED, 1, OP_EQUAL},
    {"equalto", IS_COMPARED, 1, OP_EQUAL},
    {"even", IS_EVEN, 0, OP_NONE},
    {"false", IS_FALSE, 0, OP_NONE},
    {"float", IS_FLOAT, 0, OP_NONE},
    {"ge", IS_COMPARED, 1, OP_GREATER_EQUAL},
    {"greaterthan", IS_COMPARED, 1, OP_GREATER},
    {"gt", IS_COMPARED, 1, OP_GREATER},
    {"in", IS_COMPARED, 1, OP_IN},
    {"integer", IS_INTEGER, 0, OP_NONE},
    {"iterable", IS_ITERABLE, 0, OP_NONE},
    {"le", IS_COMPARED, 1, OP_LESS_EQUAL},
    {"lessthan", IS_COMPARED, 1, OP_LESS},
    {"lower", IS_LOWER, 0, OP_NONE},
    {"lt", IS_COMPARED, 1, OP_LESS},
    {"mapping", IS_MAPPING, 0, OP_NONE},
    {"ne", IS_COMPARED, 1, OP_NOT_EQUAL},
    {"none", IS_NONE, 0, OP_NONE},
    {"number", IS_NUMBER, 0, OP_NONE},
    {"odd", IS_ODD, 0, OP_NONE},
    {"sequence", IS_ITERABLE, 0, OP_NONE},
    {"string", IS_STRING, 0, OP_NONE},
    {"true", IS_TRUE, 0, OP_NONE},
    {"undefined", IS_UNDEFINED, 0, OP_NONE},
    {"upper", IS_UPPER, 0, OP_NONE},
};

const struct test *test_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(TESTS); i++)
        if (strcmp(TESTS[i].name, name) == 0)
            return &TESTS[i];
    return NULL;
}

static const char *test_name(const void *context, size_t i)
{
    (void)context;
    return TESTS[i].name;
}

const char *test_nearest(const char *name)
{
    return str_nearest(name, ARRAY_LEN(TESTS), test_name, NULL);
}

bool test_takes_undefined(const struct test *test)
{
    return test->kind == IS_DEFINED || test->kind == IS_UNDEFINED;
}

unsigned test_args(const struct test *test)
{
    return test->args;
}

/* As str.isupper: letters of one case and at least one of them. */
static bool has_case(const json_t *value, bool upper)
{
    bool any = false;
    for (const char *p = json_is_string(value) ? json_string_value(value) : ""; *p != '\0'; p++) {
        bool is_upper = *p >= 'A' && *p <= 'Z';
        bool is_lower = *p >= 'a' && *p <= 'z';
        if (upper ? is_lower : is_upper)
            return false;
        any = any || is_upper || is_lower;
    }
    return any;
}

/* Whether `value` divided by `by` leaves `rest`. */
static bool leaves(struct eval *eval, json_t *value, json_t *by, int64_t rest, bool *out)
{
    CLEANUP(json_decrefp)
    json_t *got = value_is_number(value) && value_is_number(by)
                      ? op_binary(eval, OP_MODULO, value, by)
                      : eval_fail(eval, STATUS_INVALID, "this test needs a number, not %s",
                                  value_type_name(value_is_number(value) ? by : value));
    if (got == NULL)
        return false;
    CLEANUP(json_decrefp) json_t *wanted = json_integer(rest);
    *out = op_equal(eval, got, wanted);
    return true;
}

static bool type_matches(enum test_kind kind, const json_t *value)
{
    switch (kind) {
    case IS_BOOLEAN:
        return json_is_boolean(value);
    case IS_DEFINED:
        return value != NULL;
    case IS_UNDEFINED:
        return value == NULL;
    case IS_FALSE:
        return json_is_false(value);
    case IS_TRUE:
        return json_is_true(value);
    case IS_FLOAT:
        return json_is_real(value);
    case IS_INTEGER:
        return json_is_integer(value);
    case IS_ITERABLE:
        return json_is_string(value) || json_is_array(value) || json_is_object(value);
    case IS_LOWER:
        return has_case(value, false);
    case IS_UPPER:
        return has_case(value, true);
    case IS_MAPPING:
        return json_is_object(value);
    case IS_NONE:
        return json_is_null(value);
    case IS_NUMBER:
        return value_is_number(value);
    case IS_STRING:
        return json_is_string(value);
    case IS_COMPARED:
    case IS_DIVISIBLEBY:
    case IS_EVEN:
    case IS_ODD:
        break;
    }
    check_failed(__FILE__, __LINE__, "a test of the type alone");
}

bool test_run(struct eval *eval, const struct test *test, json_t *value, json_t *arg, bool *out)
{
    CHECK((arg != NULL) == (test->args > 0));
    if (test->kind == IS_COMPARED)
        return op_compare(eval, test->op, value, arg, out);
    if (test->kind == IS_DIVISIBLEBY)
        return leaves(eval, value, arg, 0, out);
    if (test->kind == IS_EVEN || test->kind == IS_ODD) {
        CLEANUP(json_decrefp) json_t *two = json_integer(2);
        return leaves(eval, value, two, test->kind == IS_ODD, out);
    }
    *out = type_matches(test->kind, value);
    return true;
}
