#include "serve/ask.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "service/operations.h"

static json_t *list_of(const char *text)
{
    json_t *list = json_array();
    CHECK(list != NULL);
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (length > 0)
            CHECK(json_array_append_new(list, json_text(text, length)) == 0);
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return list;
}

static enum status mistyped(const struct operation_field *field, const char *text, struct err *err)
{
    return err_set(err, STATUS_INVALID, "'%s' must be %s, not '%.60s'", field->name,
                   field_type_text(field->type), text);
}

static enum status number_of(const struct operation_field *field, const char *text, json_t **out,
                             struct err *err)
{
    int64_t number = 0;
    if (!str_parse_i64(text, INT64_MIN, INT64_MAX, &number))
        return mistyped(field, text, err);
    *out = json_integer(number);
    return STATUS_OK;
}

static enum status decimal_of(const struct operation_field *field, const char *text, json_t **out,
                              struct err *err)
{
    struct err problem = {0};
    CLEANUP(json_decrefp) json_t *value = NULL;
    if (json_parse(text, strlen(text), &value, &problem) != STATUS_OK || !json_is_number(value))
        return mistyped(field, text, err);
    *out = TAKE(value);
    return STATUS_OK;
}

static enum status json_of(const struct operation_field *field, const char *text, json_t **out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *value = NULL;
    if (json_parse(text, strlen(text), &value, err) != STATUS_OK)
        return err_wrap(err, "'%s'", field->name);
    /* In a query what is not meant is left out. */
    if (json_is_null(value) && field->type != FIELD_ANY)
        return mistyped(field, text, err);
    *out = TAKE(value);
    return STATUS_OK;
}

enum status ask_value(const struct operation_field *field, const char *text, json_t **out,
                      struct err *err)
{
    switch (field->type) {
    case FIELD_INTEGER:
        return number_of(field, text, out, err);
    case FIELD_BOOLEAN:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return mistyped(field, text, err);
        *out = json_boolean(strcmp(text, "true") == 0);
        return STATUS_OK;
    case FIELD_STRINGS:
    case FIELD_PATHS:
        *out = list_of(text);
        return STATUS_OK;
    case FIELD_NUMBER:
        return decimal_of(field, text, out, err);
    case FIELD_OBJECT:
    case FIELD_ARRAY:
    case FIELD_ANY:
        return json_of(field, text, out, err);
    case FIELD_STRING:
    case FIELD_PATH:
    case FIELD_INSTANT:
    case FIELD_ID:
        *out = json_text(text, strlen(text));
        return STATUS_OK;
    case FIELD_TYPE_COUNT:
        break;
    }
    UNREACHABLE("a known field type");
}

static const struct operation_field *find(const struct operation_schema *schema, const char *name,
                                          size_t length)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strncmp(schema->fields[i].name, name, length) == 0 &&
            schema->fields[i].name[length] == '\0')
            return &schema->fields[i];
    return NULL;
}

static enum status put(json_t *request, const struct operation_field *field, const char *text,
                       struct err *err)
{
    json_t *value = NULL;
    if (ask_value(field, text, &value, err) != STATUS_OK)
        return err->code;
    json_put(request, field->name, value);
    return STATUS_OK;
}

static const char *field_name_at(const void *context, size_t i)
{
    return ((const struct operation_schema *)context)->fields[i].name;
}

static enum status take_query(const struct operation_schema *schema, const struct http_pairs *query,
                              json_t *request, struct err *err)
{
    for (size_t i = 0; i < query->count; i++) {
        const char *name = query->items[i].name;
        const struct operation_field *field = find(schema, name, strlen(name));
        const char *near =
            field == NULL ? str_nearest(name, schema->count, field_name_at, schema) : NULL;
        if (field == NULL)
            return err_set(err, STATUS_INVALID, "unknown query parameter '%.60s'%s%s%s", name,
                           near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                           near != NULL ? "'?" : "");
        if (json_object_get(request, name) != NULL)
            return err_set(err, STATUS_INVALID, "'%.60s' is given twice", name);
        if (put(request, field, query->items[i].value, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status take_body(const json_t *body, json_t *request, struct err *err)
{
    if (body == NULL)
        return STATUS_OK;
    if (!json_is_object(body))
        return err_set(err, STATUS_INVALID, "the body must be a JSON object");
    CHECK(json_object_update(request, (json_t *)(uintptr_t)body) == 0);
    return STATUS_OK;
}

/* The path says what is meant; a body that says something else is a mistake, not a wish. */
static enum status take_path(const struct route_call *call, const struct operation_schema *schema,
                             json_t *request, struct err *err)
{
    size_t index = 0;
    for (const char *at = call->route->pattern; *at == '/'; index++) {
        size_t length = strcspn(++at, "/");
        const struct operation_field *field =
            length > 2 && at[0] == '{' ? find(schema, at + 1, length - 2) : NULL;
        at += length;
        if (field == NULL)
            continue;
        const char *said = json_get_string(request, field->name, NULL);
        if (said != NULL && strcmp(said, call->path.segments[index]) != 0)
            return err_set(err, STATUS_INVALID, "'%s' is '%.60s' in the path and '%.60s' beside it",
                           field->name, call->path.segments[index], said);
        if (put(request, field, call->path.segments[index], err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

enum status ask_by_schema(const struct route_call *call, const struct operation_schema *schema,
                          json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_object();
    CHECK(request != NULL);
    if (take_query(schema, &call->request->query, request, err) != STATUS_OK ||
        take_body(call->body, request, err) != STATUS_OK ||
        take_path(call, schema, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status ask_by_name(const struct route_call *call, json_t **out, struct err *err)
{
    const struct operation *operation = operation_find(&OPERATIONS, call->route->operation);
    CHECK(operation != NULL);
    return ask_by_schema(call, &operation->request, out, err);
}
