#include "serve/openapi.h"

#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/limits.h"
#include "serve/keyed.h"
#include "serve/openapi_answers.h"
#include "serve/routes.h"
#include "service/operations.h"

static json_t *new_object(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
}

static json_t *new_array(void)
{
    json_t *array = json_array();
    CHECK(array != NULL);
    return array;
}

static void append(json_t *array, json_t *taken)
{
    CHECK(json_array_append_new(array, taken) == 0);
}

/* The member, made when it is missing; borrowed. */
static json_t *member(json_t *object, const char *key)
{
    json_t *found = json_object_get(object, key);
    if (found == NULL) {
        found = new_object();
        json_put(object, key, found);
    }
    return found;
}

/* --- schemas --------------------------------------------------------------------------------- */

static const struct {
    const char *type; /* NULL: any */
    const char *format;
    const char *pattern;
} TYPES[] = {
    [FIELD_ANY] = {NULL, NULL, NULL},
    [FIELD_STRING] = {"string", NULL, NULL},
    [FIELD_INTEGER] = {"integer", "int64", NULL},
    [FIELD_NUMBER] = {"number", NULL, NULL},
    [FIELD_BOOLEAN] = {"boolean", NULL, NULL},
    [FIELD_OBJECT] = {"object", NULL, NULL},
    [FIELD_ARRAY] = {"array", NULL, NULL},
    [FIELD_STRINGS] = {"array", NULL, NULL},
    [FIELD_INSTANT] = {"string", "date-time", NULL},
    [FIELD_ID] = {"string", NULL, "^[0-9]+$"},
    [FIELD_PATH] = {"string", NULL, NULL},
    [FIELD_PATHS] = {"array", NULL, NULL},
};
_Static_assert(ARRAY_LEN(TYPES) == FIELD_TYPE_COUNT, "every type has a row");

static json_t *type_of(const struct operation_field *field, bool may_be_null)
{
    json_t *schema = new_object();
    if (TYPES[field->type].type != NULL && !may_be_null)
        json_put_string(schema, "type", TYPES[field->type].type);
    if (TYPES[field->type].type != NULL && may_be_null) {
        json_t *types = new_array();
        append(types, json_string(TYPES[field->type].type));
        append(types, json_string("null"));
        json_put(schema, "type", types);
    }
    if (TYPES[field->type].format != NULL)
        json_put_string(schema, "format", TYPES[field->type].format);
    if (TYPES[field->type].pattern != NULL)
        json_put_string(schema, "pattern", TYPES[field->type].pattern);
    if (field->type == FIELD_STRINGS || field->type == FIELD_PATHS)
        json_put_string(member(schema, "items"), "type", "string");
    if (field->type == FIELD_ARRAY)
        (void)member(schema, "items");
    return schema;
}

static bool is_in_path(const struct route *route, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strchr(route->pattern, '{'); at != NULL; at = strchr(at + 1, '{'))
        if (strncmp(at + 1, name, length) == 0 && at[length + 1] == '}')
            return true;
    return false;
}

/* Files of the server are for those who are on it; the program sends their text along. */
static bool leads_to_file(const struct route *route, const char *name)
{
    bool is_rest = !str_starts_with(route->pattern, OPERATIONS_PATH);
    return is_rest && (str_equal(name, "file") || str_equal(name, "path"));
}

/* Whether the member is to be sent: what the path says is not said again. */
static bool is_sent(const struct route *route, const struct operation_field *field)
{
    return route == NULL || (!is_in_path(route, field->name) && !leads_to_file(route, field->name));
}

/* Of a request its `route`; of an answer, which may have more members than are named, NULL. */
static json_t *schema_of(const struct operation_schema *schema, const struct route *route)
{
    json_t *object = new_object();
    json_t *required = new_array();
    json_put_string(object, "type", "object");
    json_t *properties = member(object, "properties");
    for (size_t i = 0; i < schema->count; i++) {
        const struct operation_field *field = &schema->fields[i];
        if (!is_sent(route, field))
            continue;
        json_t *type = type_of(field, !field->required);
        json_put_string(type, "description", field->doc);
        json_put(properties, field->name, type);
        if (field->required)
            append(required, json_string(field->name));
    }
    json_put(object, "required", required);
    if (route != NULL)
        json_put_bool(object, "additionalProperties", route->takes_more);
    return object;
}

/*
 * Whose clients know objects send back what they were shown: outside our own paths members of the
 * answer are taken in a body too (airflow_body).
 */
static void add_shown(const struct route *route, json_t *schema)
{
    json_t *properties = json_object_get(schema, "properties");
    if (route->body == NULL || route->response == NULL ||
        str_starts_with(route->pattern, "/api/v1/x/"))
        return;
    for (size_t i = 0; i < route->response->count; i++) {
        const struct operation_field *field = &route->response->fields[i];
        if (json_object_get(properties, field->name) != NULL)
            continue;
        json_t *shown = type_of(field, true);
        json_put_string(shown, "description",
                        is_in_path(route, field->name) ? "as in the path, if at all"
                                                       : "taken, and counts for nothing");
        json_put_bool(shown, "x-ignored", true);
        json_put(properties, field->name, shown);
    }
}

static json_t *content_of(json_t *taken_schema, const char *media)
{
    json_t *content = new_object();
    json_put(member(content, media), "schema", taken_schema);
    return content;
}

/* --- parameters ------------------------------------------------------------------------------ */

/* By the operation's member of that name; what a shaper reads is a text. */
static json_t *type_in_path(const struct operation_schema *schema, const char *name)
{
    static const struct operation_field TEXT = {NULL, FIELD_STRING, true, NULL};
    for (size_t i = 0; i < schema->count; i++)
        if (str_equal(schema->fields[i].name, name))
            return type_of(&schema->fields[i], false);
    return type_of(&TEXT, false);
}

static void add_path_parameters(const struct route *route, const struct operation_schema *schema,
                                json_t *parameters)
{
    for (const char *at = strchr(route->pattern, '{'); at != NULL; at = strchr(at + 1, '{')) {
        json_t *parameter = new_object();
        json_put(parameter, "name", json_text(at + 1, strcspn(at + 1, "}")));
        json_put_string(parameter, "in", "path");
        json_put_bool(parameter, "required", true);
        json_put(parameter, "schema", type_in_path(schema, json_get_string(parameter, "name", "")));
        append(parameters, parameter);
    }
}

/* Lists are written with commas between texts, what has no other form as JSON. */
static void put_type(const struct operation_field *field, json_t *parameter)
{
    bool is_json =
        field->type == FIELD_ANY || field->type == FIELD_OBJECT || field->type == FIELD_ARRAY;
    if (is_json) {
        json_put(parameter, "content", content_of(type_of(field, false), "application/json"));
        return;
    }
    json_put(parameter, "schema", type_of(field, false));
    if (field->type == FIELD_STRINGS || field->type == FIELD_PATHS)
        json_put_bool(parameter, "explode", false);
}

static void add_query_parameters(const struct route *route, const struct operation_schema *schema,
                                 json_t *parameters)
{
    for (size_t i = 0; i < schema->count; i++) {
        const struct operation_field *field = &schema->fields[i];
        if (!is_sent(route, field))
            continue;
        json_t *parameter = new_object();
        json_put_string(parameter, "name", field->name);
        json_put_string(parameter, "in", "query");
        json_put_bool(parameter, "required", field->required);
        json_put_string(parameter, "description", field->doc);
        put_type(field, parameter);
        append(parameters, parameter);
    }
}

static void add_header_parameter(json_t *parameters)
{
    json_t *parameter = new_object();
    json_put_string(parameter, "name", KEYED_HEADER);
    json_put_string(parameter, "in", "header");
    json_put_bool(parameter, "required", false);
    json_put_string(parameter, "description",
                    "the same request with the same key is done once, and answered alike");
    json_t *schema = member(parameter, "schema");
    json_put_string(schema, "type", "string");
    json_put_string(schema, "pattern", "^[!-~]+$");
    json_put_int(schema, "minLength", 1);
    json_put_int(schema, "maxLength", LIMIT_REQUEST_KEY_BYTES);
    append(parameters, parameter);
}

static const struct operation_schema NOTHING = {NULL, 0};

static void describe_request(const struct route *route, const struct operation *operation,
                             json_t *entry)
{
    bool has_body = http_method_changes(route->method) && route->method != HTTP_DELETE;
    const struct operation_schema *own = operation != NULL ? &operation->request : &NOTHING;
    const struct operation_schema *query = route->query;
    const struct operation_schema *body = route->body;
    if (query == NULL)
        query = has_body || route->ask != NULL ? &NOTHING : own;
    if (body == NULL)
        body = has_body && route->ask == NULL ? own : &NOTHING;
    json_t *parameters = new_array();
    add_path_parameters(route, own, parameters);
    add_query_parameters(route, query, parameters);
    if (keyed_covers(route))
        add_header_parameter(parameters);
    json_put(entry, "parameters", parameters);
    if (!has_body || body->count == 0)
        return;
    json_t *sent = member(entry, "requestBody");
    json_t *schema = schema_of(body, route);
    add_shown(route, schema);
    json_put_bool(sent, "required", json_array_size(json_object_get(schema, "required")) > 0);
    json_put(sent, "content", content_of(schema, "application/json"));
}

/* --- routes ---------------------------------------------------------------------------------- */

/* The list of objects says what they are like. */
static void describe_items(const struct operation_schema *schema, const struct route *route,
                           json_t *described)
{
    for (size_t i = 0; i < schema->count; i++) {
        json_t *list =
            json_object_get(json_object_get(described, "properties"), schema->fields[i].name);
        if (route->items == NULL || schema->fields[i].type != FIELD_ARRAY)
            continue;
        json_put(list, "items", schema_of(route->items, NULL));
        return;
    }
}

static void describe_answers(const struct route *route, const struct operation *operation,
                             json_t *entry)
{
    const struct operation_schema *schema = route->response;
    json_t *described = NULL;
    if (schema == NULL && operation != NULL && route->answer == NULL)
        schema = &operation->response;
    if (schema != NULL) {
        described = schema_of(schema, NULL);
        describe_items(schema, route, described);
    }
    json_put(entry, "responses", openapi_answers(route, described));
}

/* "get_api_v1_dags_dag_id": unique, and a name in every language. */
static void put_id(const struct route *route, json_t *entry)
{
    CLEANUP(strbuf_fini) struct strbuf id;
    strbuf_init(&id, 256);
    for (const char *at = http_method_name(route->method); *at != '\0'; at++)
        strbuf_add_char(&id, (char)tolower((unsigned char)*at));
    for (const char *at = route->pattern; *at != '\0'; at++) {
        if (isalnum((unsigned char)*at))
            strbuf_add_char(&id, *at);
        else if (id.text[id.length - 1] != '_')
            strbuf_add_char(&id, '_');
    }
    json_put_string(entry, "operationId", id.text);
}

static json_t *describe(const struct route *route)
{
    const struct operation *operation =
        route->operation != NULL ? operation_find(&OPERATIONS, route->operation) : NULL;
    json_t *entry = new_object();
    put_id(route, entry);
    json_put_string(entry, "summary",
                    route->summary != NULL ? route->summary
                    : operation != NULL    ? operation->summary
                                           : NULL);
    if (route->access == ROUTE_PERMISSION)
        json_put_string(
            entry, "x-permission",
            permission_name(operation != NULL ? operation->permission : route->permission));
    if (route->access == ROUTE_WORKER)
        json_put_string(entry, "x-permission", "worker");
    if (operation != NULL) {
        json_put_string(entry, "x-operation", operation->name);
        json_put_string(entry, "x-scope", operation_scope_name(operation->scope));
    }
    if (route->access == ROUTE_PUBLIC)
        json_put(entry, "security", new_array());
    describe_request(route, operation, entry);
    describe_answers(route, operation, entry);
    return entry;
}

static void add_route(json_t *paths, const struct route *route)
{
    char method[8] = "";
    const char *name = http_method_name(route->method);
    for (size_t i = 0; name[i] != '\0'; i++)
        method[i] = (char)tolower((unsigned char)name[i]);
    json_put(member(paths, route->pattern), method, describe(route));
}

static void add_components(json_t *document)
{
    static const struct operation_field PROBLEM[] = {
        {"type", FIELD_STRING, true, "about:blank"},
        {"title", FIELD_STRING, true, "the status in words"},
        {"status", FIELD_INTEGER, true, "the status"},
        {"detail", FIELD_STRING, true, "what is wrong, and what to do"},
        {"code", FIELD_STRING, true, "a word for it: not_found, conflict, bad_dag, busy, ..."},
    };
    static const struct operation_schema SCHEMA = {PROBLEM, ARRAY_LEN(PROBLEM)};
    json_t *components = member(document, "components");
    json_put(member(components, "schemas"), "Problem", schema_of(&SCHEMA, NULL));
    openapi_add_problems(components);
    json_t *bearer = member(member(components, "securitySchemes"), "token");
    json_put_string(bearer, "type", "http");
    json_put_string(bearer, "scheme", "bearer");
    json_t *basic = member(member(components, "securitySchemes"), "password");
    json_put_string(basic, "type", "http");
    json_put_string(basic, "scheme", "basic");
    json_t *session = member(member(components, "securitySchemes"), "session");
    json_put_string(session, "type", "apiKey");
    json_put_string(session, "in", "cookie");
    json_put_string(session, "name", "eider_session");
    json_t *security = new_array();
    static const char *const SCHEMES[] = {"token", "password", "session"};
    for (size_t i = 0; i < ARRAY_LEN(SCHEMES); i++) {
        json_t *scheme = new_object();
        json_put(scheme, SCHEMES[i], new_array());
        append(security, scheme);
    }
    json_put(document, "security", security);
}

json_t *openapi_document(const struct route_table *table)
{
    json_t *document = new_object();
    json_put_string(document, "openapi", "3.1.0");
    json_t *info = member(document, "info");
    json_put_string(info, "title", "Eider");
    json_put_string(info, "version", EIDER_VERSION);
    json_t *paths = member(document, "paths");
    for (; table != NULL; table = table->more)
        for (size_t i = 0; i < table->count; i++)
            if (!table->rows[i].is_ui)
                add_route(paths, &table->rows[i]);
    add_components(document);
    return document;
}
