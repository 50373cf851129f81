/*
 * Requests: whatever comes in becomes an answer, and a refusal is a problem that says what is
 * wrong.
 *
 * The first line is a method and a path with its query, the rest is the body. Operations are not
 * done: what is looked at is how a request becomes theirs.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "fuzz.h"
#include "serve/dispatch.h"
#include "serve/routes.h"
#include "service/operations.h"

static const struct grant GRANTS[] = {{"*", PERMISSION_ADMIN}};

static enum status admit(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    (void)context;
    (void)service;
    (void)request;
    (void)arena;
    (void)err;
    *out = (struct dispatch_visitor){.principal = {.name = "x", .grants = GRANTS, .count = 1},
                                     .is_known = true};
    return STATUS_OK;
}

static enum status refuse(void *context, const char *name, const json_t *request, json_t **out,
                          struct err *err)
{
    (void)context;
    (void)out;
    const struct operation *operation = operation_find(&OPERATIONS, name);
    CHECK(operation != NULL);
    if (operation_check_request(operation, request, err) != STATUS_OK)
        return err->code;
    return err_set(err, STATUS_NOT_FOUND, "nothing is here");
}

/* The query taken apart, as the library does it. False: it is refused before it gets here. */
static bool split_query(struct arena *arena, char *text, struct http_pairs *out)
{
    out->items = arena_array(arena, strlen(text) + 1, sizeof *out->items);
    for (char *next = text; next != NULL && *next != '\0';) {
        char *pair = strsep(&next, "&");
        char *value = strchr(pair, '=');
        if (value != NULL)
            *value++ = '\0';
        const char *name = url_decode_query(arena, pair);
        const char *decoded = url_decode_query(arena, value != NULL ? value : "");
        if (name == NULL || decoded == NULL)
            return false;
        out->items[out->count++] = (struct http_pair){.name = name, .value = decoded};
    }
    return true;
}

static bool read_request(struct arena *arena, const uint8_t *data, size_t size,
                         struct http_request *out)
{
    char *text = arena_strndup(arena, (const char *)data, size);
    char *body = text;
    char *line = strsep(&body, "\n");
    char *path = line;
    const char *method = strsep(&path, " ");
    if (path == NULL)
        return false;
    out->method = http_method_parse(method);
    char *query = path;
    out->path = strsep(&query, "?");
    out->body = body != NULL ? body : "";
    out->body_length = strlen(out->body);
    return query == NULL || split_query(arena, query, &out->query);
}

/* Those that do everything by themselves need a store. */
static bool is_looked_at(const struct router *router, struct arena *arena,
                         const struct http_request *request)
{
    struct url_path path;
    if (!url_split(arena, request->path, &path))
        return true;
    struct router_match match = router_find(router, request->method, &path);
    return match.route == NULL || match.route->handle == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_table *routes = NULL;
    static struct router *router = NULL; /* both for as long as the program runs */
    static struct http_pair json = {"Content-Type", "application/json"};
    if (router == NULL) {
        routes = routes_new();
        router = router_new(routes);
    }
    CHECK(routes->count > 0);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct http_request request = {.headers = {&json, 1}, .peer = "127.0.0.1"};
    struct http_response response;
    struct service service = {.actor = "x"};
    struct serve_world world = {.router = router, .admit = admit};
    struct desk desk = {.world = &world, .service = &service, .operations = {.call = refuse}};
    if (!read_request(arena, data, size, &request) || !is_looked_at(router, arena, &request))
        return 0;
    http_response_init(&response);
    dispatch(&desk, &request, &response);
    CHECK(response.status >= 400);
    CHECK(response.status < 500);
    CHECK(strstr(response.body.text, "\"detail\"") != NULL);
    http_response_fini(&response);
    return 0;
}
