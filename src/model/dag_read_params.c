/*
 * dag_read_params: the declarations of a DAG's params.
 *
 * `region: eu` is short for `region: {default: eu}`. A declaration uses the words of JSON schema.
 */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/dag_read_priv.h"

static const char *const TYPES[] = {
    [PARAM_ANY] = "any",       [PARAM_STRING] = "string",   [PARAM_INTEGER] = "integer",
    [PARAM_NUMBER] = "number", [PARAM_BOOLEAN] = "boolean", [PARAM_ARRAY] = "array",
    [PARAM_OBJECT] = "object",
};
_Static_assert(ARRAY_LEN(TYPES) == PARAM_TYPE_COUNT, "every type has a name");

/* clang-format off */
static const struct dag_field SCHEMA_ROWS[] = {
    {.key = "type", .type = FIELD_OWN},
    {.key = "default", .type = FIELD_OWN},
    {.key = "description", .type = FIELD_KEPT, .shapes = SHAPE_TEXT},
    {.key = "doc", .type = FIELD_KEPT, .shapes = SHAPE_TEXT},
    {.key = "title", .type = FIELD_KEPT, .shapes = SHAPE_TEXT},
    {.key = "enum", .type = FIELD_KEPT, .shapes = SHAPE_LIST},
    {.key = "minimum", .type = FIELD_NUMBER},
    {.key = "maximum", .type = FIELD_NUMBER},
    {.key = "minLength", .type = FIELD_KEPT, .shapes = SHAPE_INTEGER},
    {.key = "maxLength", .type = FIELD_KEPT, .shapes = SHAPE_INTEGER},
    {.key = "minItems", .type = FIELD_KEPT, .shapes = SHAPE_INTEGER},
    {.key = "maxItems", .type = FIELD_KEPT, .shapes = SHAPE_INTEGER},
    {.key = "pattern", .type = FIELD_KEPT, .shapes = SHAPE_TEXT},
    {.key = "format", .type = FIELD_KEPT, .shapes = SHAPE_TEXT},
    {.key = "items", .type = FIELD_KEPT, .shapes = SHAPE_MAP},
    {.key = "required", .type = FIELD_KEPT, .shapes = SHAPE_FLAG},
    {.key = "secret", .type = FIELD_KEPT, .shapes = SHAPE_FLAG},
};
/* clang-format on */
static const struct field_table SCHEMA_FIELDS = {"param", ARRAY_LEN(SCHEMA_ROWS), SCHEMA_ROWS};

static bool has_type(const json_t *value, enum param_type type)
{
    switch (type) {
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
    case PARAM_ANY:
    case PARAM_TYPE_COUNT:
        break;
    }
    return true;
}

static void check_schema_key(struct reader *r, const char *key, struct spot spot,
                             const json_t *value)
{
    const struct dag_field *field = dag_field_find(&SCHEMA_FIELDS, key);
    char words[FIELD_WORDS_MAX];
    if (field == NULL) {
        reader_unknown_key(r, &SCHEMA_FIELDS, spot, key, false);
    } else if (field->type == FIELD_NUMBER && !json_is_number(value)) {
        reader_mismatch(r, spot, key, "a number", value);
    } else if (field->type == FIELD_KEPT && (reader_shape(value) & field->shapes) == 0) {
        reader_mismatch(r, spot, key, dag_field_expects(field, words), value);
    } else if (strcmp(key, "enum") == 0 && json_array_size(value) == 0) {
        reader_problem(r, spot, "'enum': list at least one value");
    }
}

static enum param_type read_type(struct reader *r, struct spot spot, const json_t *value)
{
    const char *name = json_string_value(value);
    for (enum param_type type = 0; name != NULL && type < PARAM_TYPE_COUNT; type++)
        if (strcmp(TYPES[type], name) == 0)
            return type;
    reader_mismatch(r, spot, "type", "one of string, integer, number, boolean, array, object, any",
                    value);
    return PARAM_ANY;
}

static bool is_listed(const json_t *list, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value))
            return true;
    return false;
}

/* A default that the declaration itself forbids would fail every run. */
static void check_default(struct reader *r, const struct param *param, struct spot spot,
                          const json_t *value)
{
    const json_t *least = json_object_get(param->schema, "minimum");
    const json_t *most = json_object_get(param->schema, "maximum");
    const json_t *listed = json_object_get(param->schema, "enum");
    double number = json_number_value(value);
    if (json_is_null(value))
        return;
    if (!has_type(value, param->type))
        reader_mismatch(r, spot, "default", TYPES[param->type], value);
    else if (json_is_array(listed) && !is_listed(listed, value))
        reader_problem(r, spot, "'default': not one of the values in 'enum'");
    else if (json_is_number(value) &&
             ((json_is_number(least) && number < json_number_value(least)) ||
              (json_is_number(most) && number > json_number_value(most))))
        reader_problem(r, spot, "'default': %g is outside of 'minimum' and 'maximum'", number);
}

static void read_schema(struct reader *r, struct param *param, const json_t *schema)
{
    struct spot at = {schema, 0};
    struct spot default_spot = {NULL, 0};
    for (READER_EACH(schema, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const json_t *value = json_object_iter_value(iter);
        check_schema_key(r, key, at, value);
        if (strcmp(key, "type") == 0)
            param->type = read_type(r, at, value);
        else if (strcmp(key, "default") == 0)
            default_spot = at;
    }
    const char *doc = json_get_string(schema, "description", json_get_string(schema, "doc", NULL));
    param->doc = doc != NULL ? arena_strdup(r->dag->arena, doc) : NULL;
    if (default_spot.container != NULL)
        check_default(r, param, default_spot, json_object_get(schema, "default"));
}

void reader_params(struct reader *r, struct spot spot, const json_t *value)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "params", "a map from name to declaration", value);
        return;
    }
    struct dag *dag = r->dag;
    dag->params = arena_array(dag->arena, json_object_size(value) + 1, sizeof *dag->params);
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *name = json_object_iter_key(iter);
        const json_t *declared = json_object_iter_value(iter);
        if (!dag_name_is_valid(name)) {
            reader_problem_at_key(r, at, "'%.60s' is not the name of a param: " DAG_NAME_RULE,
                                  name);
            continue;
        }
        struct param *param = &dag->params[dag->params_count++];
        param->name = arena_strdup(dag->arena, name);
        if (json_is_object(declared)) {
            param->schema = json_incref(reader_mutable(declared));
            read_schema(r, param, declared);
        } else {
            param->schema = json_object();
            json_put(param->schema, "default", json_incref(reader_mutable(declared)));
        }
    }
}
