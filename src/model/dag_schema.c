#include "model/dag_schema.h"

#include <string.h>

#include "base/check.h"
#include "model/dag_fields.h"
#include "model/kind.h"

static json_t *new_object(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

static json_t *new_list(size_t count, const char *const *names)
{
    json_t *list = json_array();
    CHECK(list != NULL);
    for (size_t i = 0; i < count; i++)
        CHECK(json_array_append_new(list, json_string(names[i])) == 0);
    return list;
}

static json_t *ref(const char *name)
{
    json_t *object = new_object();
    CHECK(json_object_set_new(object, "$ref", json_sprintf("#/$defs/%s", name)) == 0);
    return object;
}

static json_t *map_of(const char *name)
{
    json_t *object = new_object();
    json_put_string(object, "type", "object");
    json_put(object, "additionalProperties", ref(name));
    return object;
}

/* --- values ---------------------------------------------------------------------------------- */

/* Types of JSON that a value may have, by words; those of files are taken generously. */
static const char *const TYPES[] = {
    [FIELD_TEXT] = "string number boolean",
    [FIELD_TEMPLATE] = "string number boolean",
    [FIELD_CONDITION] = "string boolean",
    [FIELD_NAME] = "string number",
    [FIELD_FLAG] = "boolean",
    [FIELD_INTEGER] = "integer",
    [FIELD_NUMBER] = "number",
    [FIELD_DURATION] = "string number",
    [FIELD_SIZE] = "string number",
    [FIELD_TEXTS] = "array string number",
    [FIELD_CODES] = "array integer",
    [FIELD_CAUSES] = "array integer string",
    [FIELD_CHOICE] = "string",
    [FIELD_ENV] = "object",
    [FIELD_GROUP] = "object",
    [FIELD_OWN] = "",
    [FIELD_KEPT] = "",
    [FIELD_MISSING] = "",
};
_Static_assert(ARRAY_LEN(TYPES) == FIELD_MISSING + 1, "every kind of value has its types");

static const struct {
    unsigned shape;
    const char *type;
} SHAPES[] = {
    {SHAPE_TEXT, "string"}, {SHAPE_INTEGER, "integer"}, {SHAPE_FLAG, "boolean"},
    {SHAPE_LIST, "array"},  {SHAPE_MAP, "object"},      {SHAPE_NULL, "null"},
};

static json_t *types_of(const struct dag_field *field)
{
    json_t *types = new_list(0, NULL);
    for (const char *word = TYPES[field->type]; word[0] != '\0';) {
        size_t length = strcspn(word, " ");
        CHECK(json_array_append_new(types, json_stringn(word, length)) == 0);
        word += length + (word[length] == ' ' ? 1 : 0);
    }
    for (size_t i = 0; field->type == FIELD_KEPT && i < ARRAY_LEN(SHAPES); i++)
        if (field->shapes & SHAPES[i].shape)
            CHECK(json_array_append_new(types, json_string(SHAPES[i].type)) == 0);
    return types;
}

static json_t *fields_schema(const struct field_table *table, bool is_defaults);

/* What is read by a function of its own and has a shape that is worth telling. */
static json_t *own_schema(const char *key)
{
    static const struct {
        const char *key;
        const char *of;
        bool is_map;
    } ROWS[] = {
        {"tasks", "task", true},
        {"finally", "task", true},
        {"groups", "group", true},
        {"defaults", "defaults", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++)
        if (strcmp(ROWS[i].key, key) == 0)
            return ROWS[i].is_map ? map_of(ROWS[i].of) : ref(ROWS[i].of);
    return new_object();
}

/* Groups of keys hold no groups, so this ends. */
/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *value_schema(const struct dag_field *field)
{
    json_t *schema = field->type == FIELD_OWN     ? own_schema(field->key)
                     : field->type == FIELD_GROUP ? fields_schema(field->members, false)
                                                  : new_object();
    if (field->type != FIELD_GROUP && field->type != FIELD_OWN && field->type != FIELD_MISSING)
        json_put(schema, "type", types_of(field));
    bool is_bounded = field->type == FIELD_INTEGER || field->type == FIELD_NUMBER;
    if (is_bounded && field->least < field->most) {
        json_put_int(schema, "minimum", field->least);
        json_put_int(schema, "maximum", field->most);
    }
    if (field->type == FIELD_CHOICE)
        json_put(schema, "enum", new_list(field->choices->count, field->choices->names));
    json_put_string(schema, "description", field->doc);
    return schema;
}

/* --- objects --------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion) */
static json_t *fields_schema(const struct field_table *table, bool is_defaults)
{
    json_t *schema = new_object();
    json_t *properties = new_object();
    json_put_string(schema, "type", "object");
    json_put(schema, "properties", properties);
    for (size_t i = 0; i < table->count; i++) {
        const struct dag_field *field = &table->fields[i];
        if (is_defaults && field->own_only)
            continue;
        json_put(properties, field->key, value_schema(field));
        if (field->alias != NULL)
            json_put(properties, field->alias, value_schema(field));
    }
    json_put_bool(schema, "additionalProperties", false);
    return schema;
}

/* Exactly one key says what a task does. */
static json_t *task_schema(void)
{
    json_t *schema = fields_schema(&TASK_FIELDS, false);
    json_t *choices = new_list(0, NULL);
    for (enum task_kind kind = 0; kind < KIND_COUNT; kind++) {
        const char *key = task_kind_key(kind);
        json_t *choice = new_object();
        json_put(choice, "required", new_list(1, &key));
        CHECK(json_array_append_new(choices, choice) == 0);
        if (json_object_get(json_object_get(schema, "properties"), key) == NULL)
            json_put(json_object_get(schema, "properties"), key, new_object());
    }
    json_put(schema, "oneOf", choices);
    return schema;
}

json_t *dag_schema(void)
{
    json_t *schema = fields_schema(&DAG_FIELDS, false);
    json_t *defs = new_object();
    json_put_string(schema, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(schema, "title", "A DAG of Eider");
    json_put(defs, "task", task_schema());
    json_put(defs, "defaults", fields_schema(&TASK_FIELDS, true));
    json_put(defs, "group", fields_schema(&GROUP_FIELDS, false));
    json_put(schema, "$defs", defs);
    return schema;
}
