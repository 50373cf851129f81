#include "model/params.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "model/pattern.h"

static const char *const TYPE_NAMES[] = {
    [PARAM_ANY] = "any",       [PARAM_STRING] = "string",   [PARAM_INTEGER] = "integer",
    [PARAM_NUMBER] = "number", [PARAM_BOOLEAN] = "boolean", [PARAM_ARRAY] = "array",
    [PARAM_OBJECT] = "object",
};
_Static_assert(ARRAY_LEN(TYPE_NAMES) == PARAM_TYPE_COUNT, "every type has a name");

const char *param_type_name(enum param_type type)
{
    CHECK(type < PARAM_TYPE_COUNT);
    return TYPE_NAMES[type];
}

bool param_type_parse(const char *name, enum param_type *out)
{
    for (enum param_type type = 0; type < PARAM_TYPE_COUNT; type++) {
        if (strcmp(TYPE_NAMES[type], name) == 0) {
            *out = type;
            return true;
        }
    }
    return false;
}

/* ---- Problems, several in one text ---- */

struct problems {
    struct strbuf text;
    const char *name; /* of the parameter, or NULL */
};

static void problems_init(struct problems *problems, const char *name)
{
    problems->name = name;
    strbuf_init(&problems->text, ERR_TEXT_MAX - 1);
}

static void problems_fini(struct problems *problems)
{
    strbuf_fini(&problems->text);
}

PRINTF(2, 3) static void complain(struct problems *problems, const char *fmt, ...)
{
    strbuf_add(&problems->text, problems->text.length > 0 ? "; " : "");
    if (problems->name != NULL)
        strbuf_addf(&problems->text, "%.100s: ", problems->name);
    va_list args;
    va_start(args, fmt);
    strbuf_addv(&problems->text, fmt, args);
    va_end(args);
}

static enum status problems_status(const struct problems *problems, struct err *err)
{
    if (problems->text.length == 0)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "%s", problems->text.text);
}

/* A value as people should see it in a message: short JSON. */
static const char *shown(const json_t *value, char out[static 48])
{
    CLEANUP(mem_freep) char *json = json_format(value);
    int length = snprintf(out, 48, "%.40s%s", json, strlen(json) > 40 ? ".." : "");
    CHECK(length > 0);
    return out;
}

/* ---- Values ---- */

static bool is_nullable(const json_t *schema)
{
    const json_t *standard = json_object_get(schema, "default");
    if (json_get_bool(schema, "nullable", false) || json_is_null(standard))
        return true;
    const json_t *type = json_object_get(schema, "type");
    for (size_t i = 0; i < json_array_size(type); i++)
        if (str_equal(json_string_value(json_array_get(type, i)), "null"))
            return true;
    return false;
}

enum param_type params_declared_type(const json_t *schema)
{
    enum param_type found = PARAM_ANY;
    const json_t *type = json_object_get(schema, "type");
    if (json_is_string(type) && !param_type_parse(json_string_value(type), &found))
        return PARAM_ANY;
    for (size_t i = 0; i < json_array_size(type); i++) {
        const char *name = json_string_value(json_array_get(type, i));
        if (name != NULL && param_type_parse(name, &found))
            break;
    }
    return found;
}

static bool type_fits(enum param_type type, const json_t *value)
{
    switch (type) {
    case PARAM_ANY:
        return true;
    case PARAM_STRING:
        return json_is_string(value);
    case PARAM_INTEGER:
        return json_is_integer(value);
    case PARAM_NUMBER:
        return json_is_number(value);
    case PARAM_BOOLEAN:
        return json_is_boolean(value);
    case PARAM_ARRAY:
        return json_is_array(value);
    case PARAM_OBJECT:
        return json_is_object(value);
    case PARAM_TYPE_COUNT:
        break;
    }
    check_failed(__FILE__, __LINE__, "a type");
}

/* Whole numbers as such; a double would blur large ones. */
static int number_order(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        json_int_t x = json_integer_value(a);
        json_int_t y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    double x = json_number_value(a);
    double y = json_number_value(b);
    return (x > y) - (x < y);
}

static bool equals(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return number_order(a, b) == 0;
    return json_equal(a, b) != 0;
}

static void check_enum(const json_t *schema, const json_t *value, struct problems *problems)
{
    const json_t *choices = json_object_get(schema, "enum");
    if (!json_is_array(choices))
        return;
    for (size_t i = 0; i < json_array_size(choices); i++)
        if (equals(value, json_array_get(choices, i)))
            return;
    char given[48];
    CLEANUP(mem_freep) char *list = json_format(choices);
    complain(problems, "%s is not one of %.120s", shown(value, given), list);
}

static void check_range(const json_t *schema, const json_t *value, struct problems *problems)
{
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *maximum = json_object_get(schema, "maximum");
    char given[48];
    char bound[48];
    if (json_is_number(minimum) && number_order(value, minimum) < 0)
        complain(problems, "%s is less than the minimum %s", shown(value, given),
                 shown(minimum, bound));
    if (json_is_number(maximum) && number_order(value, maximum) > 0)
        complain(problems, "%s is more than the maximum %s", shown(value, given),
                 shown(maximum, bound));
}

/* Lengths of texts (in characters) and of lists. */
static void check_length(const json_t *schema, const char *least_key, const char *most_key,
                         size_t length, const char *what, struct problems *problems)
{
    int64_t least = json_get_int(schema, least_key, 0);
    int64_t most = json_get_int(schema, most_key, INT64_MAX);
    if ((int64_t)length < least)
        complain(problems, "has %zu %s, at least %" PRId64 " are needed", length, what, least);
    if ((int64_t)length > most)
        complain(problems, "has %zu %s, at most %" PRId64 " are allowed", length, what, most);
}

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

static void check_pattern(const json_t *schema, const json_t *value, struct problems *problems)
{
    const char *expression = json_get_string(schema, "pattern", NULL);
    if (expression == NULL)
        return;
    CLEANUP(pattern_fini) struct pattern pattern = {0};
    struct err err = {0};
    bool found = false;
    char given[48];
    if (pattern_init(&pattern, expression, &err) != STATUS_OK ||
        pattern_find(&pattern, json_string_value(value), NULL, 0, &found, &err) != STATUS_OK)
        complain(problems, "%s", err.text);
    else if (!found)
        complain(problems, "%s does not match the pattern '%.60s'", shown(value, given),
                 expression);
}

static void check_value(const json_t *schema, const json_t *value, struct problems *problems)
{
    if (json_is_null(value) && is_nullable(schema))
        return;
    enum param_type type = params_declared_type(schema);
    if (!type_fits(type, value)) {
        char given[48];
        complain(problems, "expected %s %s, got %s",
                 type == PARAM_INTEGER || type == PARAM_ARRAY || type == PARAM_OBJECT ? "an" : "a",
                 param_type_name(type), shown(value, given));
        return;
    }
    check_enum(schema, value, problems);
    if (json_is_number(value))
        check_range(schema, value, problems);
    if (json_is_array(value))
        check_length(schema, "minItems", "maxItems", json_array_size(value), "items", problems);
    if (json_is_string(value)) {
        check_length(schema, "minLength", "maxLength", characters(json_string_value(value)),
                     "characters", problems);
        check_pattern(schema, value, problems);
    }
}

/* ---- Declarations ---- */

enum key_kind { KEY_ANY, KEY_TEXT, KEY_FLAG, KEY_NUMBER, KEY_COUNT, KEY_LIST, KEY_TYPE };

static const struct {
    const char *name;
    enum key_kind kind;
    unsigned types; /* set of types it makes sense for; 0: all */
} KEYS[] = {
    {"default", KEY_ANY, 0},
    {"description", KEY_TEXT, 0},
    {"doc", KEY_TEXT, 0},
    {"enum", KEY_LIST, 0},
    {"maxItems", KEY_COUNT, 1u << PARAM_ARRAY},
    {"maxLength", KEY_COUNT, 1u << PARAM_STRING},
    {"maximum", KEY_NUMBER, 1u << PARAM_INTEGER | 1u << PARAM_NUMBER},
    {"minItems", KEY_COUNT, 1u << PARAM_ARRAY},
    {"minLength", KEY_COUNT, 1u << PARAM_STRING},
    {"minimum", KEY_NUMBER, 1u << PARAM_INTEGER | 1u << PARAM_NUMBER},
    {"nullable", KEY_FLAG, 0},
    {"pattern", KEY_TEXT, 1u << PARAM_STRING},
    {"secret", KEY_FLAG, 0},
    {"title", KEY_TEXT, 0},
    {"type", KEY_TYPE, 0},
};

static const char *key_name(const void *context, size_t i)
{
    (void)context;
    return KEYS[i].name;
}

static const char *type_name(const void *context, size_t i)
{
    (void)context;
    return TYPE_NAMES[i];
}

static void check_type_name(const json_t *type, struct problems *problems)
{
    enum param_type parsed = PARAM_ANY;
    const char *name = json_string_value(type);
    if (name == NULL) {
        complain(problems, "'type' must be the name of a type");
        return;
    }
    if (param_type_parse(name, &parsed))
        return;
    const char *near = str_nearest(name, ARRAY_LEN(TYPE_NAMES), type_name, NULL);
    if (near != NULL)
        complain(problems, "unknown type '%.60s' (did you mean '%s'?)", name, near);
    else
        complain(problems, "unknown type '%.60s'", name);
}

/* A name, or a list of one name and "null" in either order. */
static void check_type(const json_t *type, struct problems *problems)
{
    if (!json_is_array(type)) {
        check_type_name(type, problems);
        return;
    }
    size_t names = 0;
    for (size_t i = 0; i < json_array_size(type); i++) {
        const json_t *item = json_array_get(type, i);
        if (str_equal(json_string_value(item), "null"))
            continue;
        check_type_name(item, problems);
        names++;
    }
    if (names != 1)
        complain(problems, "'type' must be one type, or one type and \"null\"");
}

/* What a key's value must be, or NULL when it is. */
static const char *wrong_kind(enum key_kind kind, const json_t *value)
{
    switch (kind) {
    case KEY_TEXT:
        return json_is_string(value) ? NULL : "a text";
    case KEY_FLAG:
        return json_is_boolean(value) ? NULL : "true or false";
    case KEY_NUMBER:
        return json_is_number(value) ? NULL : "a number";
    case KEY_COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0
                   ? NULL
                   : "a whole number that is not negative";
    case KEY_LIST:
        return json_array_size(value) > 0 ? NULL : "a list that is not empty";
    case KEY_ANY:
    case KEY_TYPE:
        break;
    }
    return NULL;
}

static void check_key(const json_t *schema, const char *key, const json_t *value,
                      struct problems *problems)
{
    size_t row = 0;
    while (row < ARRAY_LEN(KEYS) && strcmp(KEYS[row].name, key) != 0)
        row++;
    if (row == ARRAY_LEN(KEYS)) {
        const char *near = str_nearest(key, ARRAY_LEN(KEYS), key_name, NULL);
        if (near != NULL)
            complain(problems, "unknown key '%.60s' (did you mean '%s'?)", key, near);
        else
            complain(problems, "unknown key '%.60s'", key);
        return;
    }
    if (KEYS[row].kind == KEY_TYPE) {
        check_type(value, problems);
        return;
    }
    const char *wanted = wrong_kind(KEYS[row].kind, value);
    if (wanted != NULL)
        complain(problems, "'%s' must be %s", key, wanted);
    enum param_type type = params_declared_type(schema);
    if (type != PARAM_ANY && KEYS[row].types != 0 && !(KEYS[row].types >> type & 1u))
        complain(problems, "'%s' means nothing for type %s", key, param_type_name(type));
}

static void check_crossing(const json_t *schema, const char *least, const char *most,
                           struct problems *problems)
{
    const json_t *low = json_object_get(schema, least);
    const json_t *high = json_object_get(schema, most);
    if (json_is_number(low) && json_is_number(high) && number_order(low, high) > 0)
        complain(problems, "'%s' is more than '%s'", least, most);
}

enum status params_check_declaration(const json_t *schema, struct err *err)
{
    if (!json_is_object(schema))
        return err_set(err, STATUS_INVALID, "a parameter is declared by a map");
    CLEANUP(problems_fini) struct problems problems;
    problems_init(&problems, NULL);
    const char *key = NULL;
    json_t *value = NULL;
    json_t *object = (json_t *)(uintptr_t)schema; /* jansson's iteration wants non-const */
    json_object_foreach(object, key, value) check_key(schema, key, value, &problems);
    check_crossing(schema, "minimum", "maximum", &problems);
    check_crossing(schema, "minLength", "maxLength", &problems);
    check_crossing(schema, "minItems", "maxItems", &problems);
    const char *expression = json_get_string(schema, "pattern", NULL);
    CLEANUP(pattern_fini) struct pattern pattern = {0};
    struct err why = {0};
    if (expression != NULL && pattern_init(&pattern, expression, &why) != STATUS_OK)
        complain(&problems, "%s", why.text);
    const json_t *standard = json_object_get(schema, "default");
    if (standard != NULL && problems.text.length == 0) {
        problems.name = "default";
        check_value(schema, standard, &problems);
    }
    return problems_status(&problems, err);
}

/* ---- Runs ---- */

static const char *param_name(const void *context, size_t i)
{
    return ((const struct dag *)context)->params[i].name;
}

static const struct param *find_param(const struct dag *dag, const char *name)
{
    for (size_t i = 0; i < dag->params_count; i++)
        if (strcmp(dag->params[i].name, name) == 0)
            return &dag->params[i];
    return NULL;
}

static void complain_unknown(const struct dag *dag, const char *name, struct problems *problems)
{
    const char *near = str_nearest(name, dag->params_count, param_name, dag);
    problems->name = NULL;
    if (near != NULL)
        complain(problems, "unknown parameter '%.60s' (did you mean '%.60s'?)", name, near);
    else if (dag->params_count == 0)
        complain(problems, "unknown parameter '%.60s': the DAG declares none", name);
    else
        complain(problems, "unknown parameter '%.60s'", name);
}

bool params_is_required(const json_t *schema)
{
    return json_object_get(schema, "default") == NULL && !is_nullable(schema);
}

/* The value of one parameter; a new reference, or NULL after a complaint. */
static json_t *resolve_one(const struct param *param, const json_t *given,
                           struct problems *problems)
{
    json_t *value = json_object_get(given, param->name);
    problems->name = param->name;
    if (value != NULL) {
        check_value(param->schema, value, problems);
        return json_incref(value);
    }
    if (params_is_required(param->schema)) {
        complain(problems, "is required");
        return NULL;
    }
    value = json_object_get(param->schema, "default");
    return value != NULL ? json_incref(value) : json_null();
}

enum status params_resolve(const struct dag *dag, const json_t *given, json_t **out,
                           struct err *err)
{
    if (given != NULL && !json_is_object(given))
        return err_set(err, STATUS_INVALID, "parameters are a map of names to values");
    CLEANUP(problems_fini) struct problems problems;
    problems_init(&problems, NULL);
    const char *key = NULL;
    json_t *value = NULL;
    json_t *object = (json_t *)(uintptr_t)given; /* jansson's iteration wants non-const */
    json_object_foreach(object, key, value)
    {
        if (find_param(dag, key) == NULL)
            complain_unknown(dag, key, &problems);
    }
    CLEANUP(json_decrefp) json_t *params = json_object();
    for (size_t i = 0; i < dag->params_count; i++) {
        json_t *one = resolve_one(&dag->params[i], given, &problems);
        if (one != NULL)
            json_put(params, dag->params[i].name, one);
    }
    if (problems_status(&problems, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) char *text = json_format(params);
    if (strlen(text) > LIMIT_PARAMS_BYTES)
        return err_set(err, STATUS_LIMIT, "the parameters have more than %d bytes",
                       LIMIT_PARAMS_BYTES);
    *out = TAKE(params);
    return STATUS_OK;
}

enum status params_parse_assignment(const struct dag *dag, const char *text, json_t *into,
                                    struct err *err)
{
    const char *equals_at = strchr(text, '=');
    if (equals_at == NULL || equals_at == text)
        return err_set(err, STATUS_INVALID, "expected NAME=VALUE, got '%.60s'", text);
    if (strlen(text) > LIMIT_PARAMS_BYTES)
        return err_set(err, STATUS_LIMIT, "the parameter has more than %d bytes",
                       LIMIT_PARAMS_BYTES);
    CLEANUP(problems_fini) struct problems problems;
    problems_init(&problems, NULL);
    CLEANUP(mem_freep) char *name = mem_strndup(text, (size_t)(equals_at - text));
    const char *given = equals_at + 1;
    const struct param *param = find_param(dag, name);
    if (param == NULL) {
        complain_unknown(dag, name, &problems);
        return problems_status(&problems, err);
    }
    enum param_type type = params_declared_type(param->schema);
    json_t *value = NULL;
    struct err why = {0};
    bool is_json =
        type != PARAM_STRING && json_parse(given, strlen(given), &value, &why) == STATUS_OK;
    if (!is_json && (type == PARAM_STRING || type == PARAM_ANY))
        value = json_text(given, strlen(given));
    if (value == NULL)
        return err_set(err, STATUS_INVALID, "%.100s: expected %s %s, got '%.60s'", name,
                       type == PARAM_INTEGER || type == PARAM_ARRAY || type == PARAM_OBJECT ? "an"
                                                                                            : "a",
                       param_type_name(type), given);
    problems.name = name;
    check_value(param->schema, value, &problems);
    if (problems_status(&problems, err) != STATUS_OK) {
        json_decref(value);
        return err->code;
    }
    json_put(into, name, value);
    return STATUS_OK;
}

enum status params_resolve_typed(const struct dag *dag, const json_t *conf, const json_t *typed,
                                 json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *given = json_object();
    for (size_t i = 0; i < dag->params_count; i++) {
        json_t *value = json_object_get(conf, dag->params[i].name);
        if (value != NULL)
            json_put(given, dag->params[i].name, json_deep_copy(value));
    }
    json_t *texts = (json_t *)(uintptr_t)typed; /* jansson's iterators are not const */
    for (void *at = json_object_iter(texts); at != NULL; at = json_object_iter_next(texts, at)) {
        const char *text = json_string_value(json_object_iter_value(at));
        CLEANUP(mem_freep)
        char *assignment = mem_format("%s=%s", json_object_iter_key(at), text != NULL ? text : "");
        if (params_parse_assignment(dag, assignment, given, err) != STATUS_OK)
            return err->code;
    }
    return params_resolve(dag, given, out, err);
}
