#include "serve/openapi_answers.h"

#include <string.h>

#include "base/attrs.h"
#include "base/check.h"
#include "serve/keyed.h"
#include "serve/problem.h"

#define JSON_TYPE "application/json"

static json_t *new_object(void)
{
    json_t *object = json_object();
    CHECK(object != NULL);
    return object;
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

/* --- what follows from a row ----------------------------------------------------------------- */

static bool always(const struct route *route)
{
    (void)route;
    return true;
}

static bool has_names(const struct route *route)
{
    return strchr(route->pattern, '{') != NULL;
}

static bool takes_input(const struct route *route)
{
    return has_names(route) || route->operation != NULL || route->query != NULL ||
           route->body != NULL;
}

static bool changes(const struct route *route)
{
    return http_method_changes(route->method);
}

static bool has_body(const struct route *route)
{
    return changes(route) && route->method != HTTP_DELETE;
}

static bool never(const struct route *route)
{
    (void)route;
    return false;
}

/* Rules are for routes that ask who comes; what anybody reaches names its own. */
static const struct {
    int status;
    bool (*applies)(const struct route *route);
    const char *when;
    const char *header; /* NULL: none comes along */
} PROBLEMS[] = {
    {400, takes_input, "something of the request is wrong: `detail` says what", NULL},
    {401, always, "it is not known who asks", "WWW-Authenticate"},
    {403, always, "who asks may not do this", NULL},
    {404, takes_input, "there is no such thing, or it is not to be seen", NULL},
    {409, takes_input, "it is not in a state for this, or is there already", NULL},
    {413, has_body, "the body is too large", NULL},
    {415, has_body, "the body is not JSON, or is compressed", NULL},
    {416, never, "it has no bytes there", "Content-Range"},
    {422, takes_input, "it breaks a limit, or the DAG is wrong", NULL},
    {429, always, "too often: `Retry-After` says when to come again", "Retry-After"},
    {503, always, "the store, or what was asked for, cannot be reached just now", "Retry-After"},
    {504, takes_input, "it took too long", NULL},
    {507, changes, "the disk is full", NULL},
};

static const char *name_of(int status, char out[static 8])
{
    (void)snprintf(out, 8, "%d", status);
    return out;
}

/* --- the document ---------------------------------------------------------------------------- */

static bool is_named(const struct route *route, int status)
{
    for (size_t i = 0; i < ROUTE_OTHERS_MAX; i++)
        if (route->others[i] == status)
            return true;
    return false;
}

/* Each of the types with the schema, if it is JSON. */
static void put_content(const char *media, const json_t *schema, json_t *answer)
{
    json_t *content = member(answer, "content");
    for (const char *at = media + strspn(media, " "); *at != '\0'; at += strspn(at, " ")) {
        char type[64] = "";
        size_t length = strcspn(at, " ");
        CHECK(length < sizeof type);
        (void)snprintf(type, sizeof type, "%.*s", (int)length, at);
        at += length;
        json_t *entry = member(content, type);
        if (strcmp(type, JSON_TYPE) != 0)
            json_put_string(member(entry, "schema"), "type", "string");
        else if (schema != NULL)
            json_put(entry, "schema", json_deep_copy(schema));
    }
}

static void put_header(const char *name, json_t *answer)
{
    json_put_string(member(member(member(answer, "headers"), name), "schema"), "type", "string");
}

static void put_success(const struct route *route, int status, const json_t *schema,
                        json_t *responses)
{
    char name[8];
    json_t *answer = member(responses, name_of(status, name));
    json_put_string(answer, "description", status >= 400 ? "not now" : "success");
    if (keyed_covers(route)) {
        put_header(KEYED_REPLAYED_HEADER, answer);
        json_put_string(member(member(answer, "headers"), KEYED_REPLAYED_HEADER), "description",
                        "true: it was done and answered before");
    }
    if (status == 303)
        put_header("Location", answer);
    else if (route->media != NULL)
        put_content(route->media, schema, answer);
    else if (status != 204)
        put_content(JSON_TYPE, schema, answer);
}

/* A status that fails and has the route's own type, as 503 of whether it is ready. */
static bool is_own(const struct route *route, int status)
{
    return status < 400 || (route->access == ROUTE_PUBLIC && route->media != NULL && status >= 500);
}

json_t *openapi_answers(const struct route *route, json_t *taken_schema)
{
    json_t *responses = new_object();
    put_success(route, route->status != 0 ? route->status : 200, taken_schema, responses);
    for (size_t i = 0; i < ROUTE_OTHERS_MAX && route->others[i] != 0; i++)
        if (is_own(route, route->others[i]))
            put_success(route, route->others[i], taken_schema, responses);
    for (size_t i = 0; i < ARRAY_LEN(PROBLEMS); i++) {
        char name[8];
        char reference[64];
        int status = PROBLEMS[i].status;
        bool by_rule = route->access != ROUTE_PUBLIC && PROBLEMS[i].applies(route);
        if (!by_rule && (!is_named(route, status) || is_own(route, status)))
            continue;
        (void)snprintf(reference, sizeof reference, "#/components/responses/%d", status);
        json_put_string(member(responses, name_of(status, name)), "$ref", reference);
    }
    json_decref(taken_schema);
    return responses;
}

void openapi_add_problems(json_t *components)
{
    json_t *responses = member(components, "responses");
    for (size_t i = 0; i < ARRAY_LEN(PROBLEMS); i++) {
        char name[8];
        json_t *answer = member(responses, name_of(PROBLEMS[i].status, name));
        json_put_string(answer, "description", PROBLEMS[i].when);
        json_t *media = member(member(answer, "content"), "application/problem+json");
        json_put_string(member(media, "schema"), "$ref", "#/components/schemas/Problem");
        if (PROBLEMS[i].header != NULL)
            put_header(PROBLEMS[i].header, answer);
    }
}
