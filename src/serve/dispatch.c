#include "serve/dispatch.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/answer.h"
#include "serve/ask.h"
#include "serve/keyed.h"
#include "serve/problem.h"
#include "serve/row_answer.h"
#include "serve/ui.h"
#include "service/operation_many.h"
#include "service/operations.h"

/* --- found ----------------------------------------------------------------------------------- */

static void refuse_method(unsigned allowed, struct http_response *out)
{
    CLEANUP(strbuf_fini) struct strbuf methods;
    strbuf_init(&methods, 256);
    for (size_t i = 0; i < HTTP_METHOD_COUNT; i++)
        if ((allowed & (1U << i)) != 0)
            strbuf_addf(&methods, "%s%s", methods.length > 0 ? ", " : "",
                        http_method_name((enum http_method)i));
    problem_put(out, 405, "this path does not take that method; `Allow` names those it takes");
    http_response_add_header(out, "Allow", methods.text);
}

/* A path of the web UI's own, as a browser asks for it. The slash that people add is ignored. */
static bool is_of_page(const struct route_call *call)
{
    struct url_path path;
    char *text = arena_strdup(call->arena, call->request->path);
    size_t length = strlen(text);
    if (length > 1 && text[length - 1] == '/')
        text[length - 1] = '\0';
    return ui_is_browser(call->request) && url_split(call->arena, text, &path) &&
           !router_begins(call->world->router, &path);
}

/* The route of a call; NULL: *out is the answer already. */
static const struct route *find_route(struct route_call *call, struct http_response *out)
{
    struct router_match match = {0};
    if (url_split(call->arena, call->request->path, &call->path))
        match = router_find(call->world->router, call->request->method, &call->path);
    if (match.allowed == 0 && is_of_page(call))
        match = router_find(call->world->router, call->request->method, &(struct url_path){0});
    if (match.allowed == 0)
        problem_put(out, 404, "there is no such path; /api/v1/openapi.json lists them");
    else if (match.route == NULL)
        refuse_method(match.allowed, out);
    return match.route;
}

/* --- let in ---------------------------------------------------------------------------------- */

static enum permission needed_of(const struct route *route)
{
    if (route->operation == NULL)
        return route->permission;
    const struct operation *operation = operation_find(&OPERATIONS, route->operation);
    CHECK(operation != NULL);
    return operation->permission;
}

static bool refuse(struct http_response *out, int status, const char *detail)
{
    problem_put(out, status, detail);
    return false;
}

/*
 * Decided on the row alone. What a right in some namespaces reaches is decided where the thing that
 * is meant is known: by the operation.
 */
static bool may_enter(const struct route *route, const struct dispatch_visitor *visitor,
                      struct http_response *out)
{
    if (route->access == ROUTE_PUBLIC)
        return true;
    if (route->access == ROUTE_CLOSED)
        return refuse(out, 403, "nobody may do this");
    if (!visitor->is_known)
        return refuse(out, 401,
                      "sign in, or send `Authorization: Bearer TOKEN`; `eider tokens add` "
                      "makes a token");
    if (http_method_changes(route->method) && visitor->by_cookie && !visitor->has_proof)
        return refuse(out, 403,
                      "changes by a session need the header X-CSRF-Token with the token "
                      "that the session was given");
    if (route->access == ROUTE_WORKER && visitor->principal.queues == NULL)
        return refuse(out, 403,
                      "this needs the token of a worker: `eider tokens add NAME --queue "
                      "QUEUE` makes one");
    enum permission needed = needed_of(route);
    if (route->access == ROUTE_PERMISSION &&
        (needed == PERMISSION_NONE || principal_best_role(&visitor->principal) < needed)) {
        CLEANUP(mem_freep)
        char *detail = mem_format("this needs the role %s; %s has %s", permission_name(needed),
                                  visitor->principal.name,
                                  permission_name(principal_best_role(&visitor->principal)));
        return refuse(out, 403, detail);
    }
    return true;
}

static bool let_in(const struct desk *desk, struct route_call *call,
                   struct dispatch_visitor *visitor, struct http_response *out)
{
    struct err err = {0};
    enum status status = desk->world->admit(desk->world->context, desk->service, call->request,
                                            call->arena, visitor, &err);
    /* What anybody may, somebody with a session that is over may as well. */
    bool is_stranger = status == STATUS_DENIED && call->route->access == ROUTE_PUBLIC;
    if (is_stranger)
        *visitor = (struct dispatch_visitor){0};
    if (status == STATUS_OK || is_stranger)
        return may_enter(call->route, visitor, out);
    if (status == STATUS_DENIED)
        return refuse(out, 401, err.text);
    if (status == STATUS_LIMIT) {
        problem_wait(out, visitor->wait_s, err.text);
        return false;
    }
    problem_answer(out, &err);
    return false;
}

/* --- read ------------------------------------------------------------------------------------ */

static bool is_json(const char *content_type)
{
    static const char JSON[] = "application/json";
    if (content_type == NULL || strncasecmp(content_type, JSON, sizeof JSON - 1) != 0)
        return false;
    char next = content_type[sizeof JSON - 1];
    return next == '\0' || next == ';' || next == ' ';
}

static bool read_body(struct route_call *call, json_t **out_body, struct http_response *out)
{
    struct err err = {0};
    const struct http_request *request = call->request;
    if (request->body_length == 0 ||
        (call->route->handle != NULL && call->route->operation == NULL))
        return true;
    if (!is_json(http_header(request, "Content-Type")))
        return refuse(out, 415, "a body must be JSON, sent with `Content-Type: application/json`");
    if (json_parse(request->body, request->body_length, out_body, &err) != STATUS_OK) {
        (void)err_wrap(&err, "cannot read the body");
        return refuse(out, 400, err.text);
    }
    call->body = *out_body;
    return true;
}

/* --- done ------------------------------------------------------------------------------------ */

static enum status ask(const struct route_call *call, json_t **out, struct err *err)
{
    const struct route *route = call->route;
    return (route->ask != NULL ? route->ask : ask_by_name)(call, out, err);
}

/* The operation's response, which is taken, as the answer of the route. */
static enum status shape(const struct route_call *call, json_t *taken, struct http_response *out,
                         struct err *err)
{
    const struct route *route = call->route;
    int status = route->status != 0 ? route->status : 200;
    json_t *body = taken;
    if (route->answer != NULL && route->answer(call, taken, &body, err) != STATUS_OK)
        return err->code;
    if (status == 204)
        json_decref(body);
    else
        answer_json(out, status, body);
    out->status = status;
    return STATUS_OK;
}

static enum status answer_rows(const struct route_call *call, const json_t *request,
                               struct http_response *out, struct err *err)
{
    struct row_answer rows;
    json_t *response = NULL;
    row_answer_init(&rows, call->route, out);
    call->service->row_taker = &rows.taker;
    enum status status =
        operation_call(call->operations, call->route->operation, request, &response, err);
    call->service->row_taker = NULL;
    if (status == STATUS_OK)
        row_answer_end(&rows, 200, response);
    return status;
}

enum status dispatch_operation(const struct route_call *call, struct http_response *out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    json_t *response = NULL;
    if (ask(call, &request, err) != STATUS_OK)
        return err->code;
    if (call->route->row != NULL)
        return answer_rows(call, request, out, err);
    if (operation_call(call->operations, call->route->operation, request, &response, err) !=
        STATUS_OK)
        return err->code;
    return shape(call, response, out, err);
}

static void check_answer(enum status status, const struct err *err, struct http_response *out)
{
    if (status != STATUS_OK)
        problem_answer(out, err);
    else if (out->body.overflow)
        problem_put(out, 500, "the answer is too large: ask for less at once with `limit`");
}

static void serve_call(struct route_call *call, struct http_response *out)
{
    struct err err = {0};
    enum status status = call->route->handle != NULL ? call->route->handle(call, out, &err)
                                                     : dispatch_operation(call, out, &err);
    check_answer(status, &err, out);
}

/* --- visits ---------------------------------------------------------------------------------- */

/* A request from when it came in to its answer. */
struct visit {
    struct route_call call;
    struct dispatch_visitor visitor;
    struct arena *arena;
    json_t *body;    /* or NULL */
    json_t *request; /* of the operation, when it is done with others */
    struct http_response *out;
};

static void visit_fini(struct visit *visit)
{
    json_decref(visit->request);
    json_decref(visit->body);
    arena_free(visit->arena);
}

/* Whether both show the same token, and nothing else. */
static bool is_same_bearer(const struct http_request *one, const struct http_request *other)
{
    const char *shown = http_header(one, "Authorization");
    return shown != NULL && strncmp(shown, "Bearer ", strlen("Bearer ")) == 0 &&
           str_equal(shown, http_header(other, "Authorization")) &&
           http_header(one, "Cookie") == NULL && http_header(other, "Cookie") == NULL &&
           str_equal(one->peer, other->peer);
}

/* Of those that come at once with one token, it is looked at once. */
static bool come_in(const struct desk *desk, struct visit *visit, const struct visit *before)
{
    bool is_known = before != NULL && before->call.visitor != NULL && before->visitor.is_known &&
                    is_same_bearer(visit->call.request, before->call.request);
    if (!is_known)
        return let_in(desk, &visit->call, &visit->visitor, visit->out);
    visit->visitor = before->visitor;
    return may_enter(visit->call.route, &visit->visitor, visit->out);
}

/*
 * False: it has its answer. `before` is the one that began last, or NULL; its texts may be used, so
 * it ends with this one or later. The visit stays where it is.
 */
static bool visit_begin(struct visit *visit, const struct desk *desk, const struct visit *before,
                        const struct http_request *request, struct http_response *out)
{
    *visit = (struct visit){.arena = arena_new(), .out = out};
    visit->call = (struct route_call){
        .request = request,
        .arena = visit->arena,
        .service = desk->service,
        .operations = &desk->operations,
        .world = desk->world,
        .crew = desk->crew,
    };
    visit->call.route = find_route(&visit->call, out);
    if (visit->call.route == NULL || !come_in(desk, visit, before) ||
        !read_body(&visit->call, &visit->body, out))
        return false;
    visit->call.visitor = &visit->visitor;
    return true;
}

static bool has_key(const struct http_request *request)
{
    return http_method_changes(request->method) && http_header(request, KEYED_HEADER) != NULL;
}

static const char *actor_of(const struct visit *visit)
{
    return visit->visitor.is_known ? visit->visitor.principal.name : "somebody";
}

static void visit_serve(struct visit *visit)
{
    struct service *service = visit->call.service;
    const struct http_request *request = visit->call.request;
    service->principal = &visit->visitor.principal;
    service->actor = actor_of(visit);
    service->traceparent = http_header(request, "traceparent");
    if (has_key(request))
        keyed_serve(&visit->call, serve_call, visit->out);
    else
        serve_call(&visit->call, visit->out);
    service->principal = NULL;
    service->traceparent = NULL;
}

void dispatch(const struct desk *desk, const struct http_request *request,
              struct http_response *out)
{
    CLEANUP(visit_fini) struct visit visit;
    if (visit_begin(&visit, desk, NULL, request, out))
        visit_serve(&visit);
}

/* --- many at once ---------------------------------------------------------------------------- */

/* Of these operations requests become one change. */
static bool may_join(const struct visit *visit, const char *operation)
{
    const struct route *route = visit->call.route;
    return route->is_grouped && route->handle == NULL && str_equal(route->operation, operation) &&
           visit->call.operations->many != NULL && !has_key(visit->call.request);
}

/* False: it has its answer. */
static bool join(struct visit *visit, struct operation_item *item)
{
    struct err err = {0};
    if (ask(&visit->call, &visit->request, &err) != STATUS_OK) {
        problem_answer(visit->out, &err);
        return false;
    }
    *item = (struct operation_item){
        .request = visit->request,
        .principal = &visit->visitor.principal,
        .actor = actor_of(visit),
        .traceparent = http_header(visit->call.request, "traceparent"),
    };
    return true;
}

static void answer_item(const struct visit *visit, const struct operation_item *item)
{
    struct err err = item->err;
    enum status status = item->status == STATUS_OK
                             ? shape(&visit->call, item->response, visit->out, &err)
                             : item->status;
    check_answer(status, &err, visit->out);
}

/* Of the operations that have a batch the first that is met; others go one by one. */
static const char *operation_of(const struct visit *visit)
{
    const char *operation = visit->call.route->operation;
    return operation != NULL && operation_batch_find(operation) != NULL ? operation : NULL;
}

void dispatch_all(const struct desk *desk, const struct dispatch_pair *pairs, size_t count)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct visit *visits = arena_array(arena, count, sizeof *visits);
    struct operation_item *items = arena_array(arena, count, sizeof *items);
    size_t *joined = arena_array(arena, count, sizeof *joined);
    size_t joined_count = 0;
    const char *operation = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct visit *before = i > 0 ? &visits[i - 1] : NULL;
        if (!visit_begin(&visits[i], desk, before, pairs[i].request, pairs[i].out))
            continue;
        operation = operation != NULL ? operation : operation_of(&visits[i]);
        if (operation == NULL || !may_join(&visits[i], operation))
            visit_serve(&visits[i]);
        else if (join(&visits[i], &items[joined_count]))
            joined[joined_count++] = i;
    }
    if (joined_count > 0)
        desk->operations.many(desk->operations.context, operation, items, joined_count);
    for (size_t i = 0; i < joined_count; i++)
        answer_item(&visits[joined[i]], &items[i]);
    for (size_t i = 0; i < count; i++)
        visit_fini(&visits[i]);
}

const struct route *dispatch_look(const struct serve_world *world,
                                  const struct http_request *request, struct http_response *out)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct route_call call = {.request = request, .arena = arena, .world = world};
    call.route = find_route(&call, out);
    if (call.route == NULL || !call.route->is_quick || call.route->access != ROUTE_PUBLIC)
        return call.route;
    serve_call(&call, out);
    return NULL;
}
