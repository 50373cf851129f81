/*
 * Requests through the whole server but the sockets, with operations and rights made for the test.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "serve/dispatch.h"
#include "serve/problem.h"

static const struct grant GRANTS[] = {{"*", PERMISSION_VIEWER}, {"sales", PERMISSION_EDITOR}};

struct scene {
    struct dispatch_visitor visitor; /* who comes */
    enum status admits;
};

static enum status admit(void *context, struct service *service, const struct http_request *request,
                         struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    (void)service;
    (void)request;
    (void)arena;
    const struct scene *scene = context;
    *out = scene->visitor;
    return scene->admits == STATUS_OK ? STATUS_OK : err_set(err, scene->admits, "a bad token");
}

/* Gives back what was asked, and by whom. */
static enum status call(void *context, const char *name, const json_t *request, json_t **out,
                        struct err *err)
{
    (void)err;
    struct service *service = context;
    *out = json_deep_copy(request);
    json_put_string(*out, "operation", name);
    json_put_string(*out, "actor", service->actor);
    json_put_bool(*out, "has_principal", service->principal != NULL);
    return STATUS_OK;
}

static const struct route ROWS[] = {
    {.method = HTTP_GET,
     .pattern = "/runs/{run}",
     .access = ROUTE_PERMISSION,
     .operation = "run.show"},
    {.method = HTTP_GET, .pattern = "/runs", .access = ROUTE_PERMISSION, .operation = "run.list"},
    {.method = HTTP_POST,
     .pattern = "/runs/{run}/note",
     .access = ROUTE_PERMISSION,
     .operation = "run.note"},
    {.method = HTTP_POST,
     .pattern = "/admin",
     .access = ROUTE_PERMISSION,
     .operation = "store.check"},
    {.method = HTTP_POST, .pattern = "/closed", .operation = "run.note"},
    {.method = HTTP_GET, .pattern = "/me", .access = ROUTE_SIGNED_IN, .operation = "run.list"},
    {.method = HTTP_GET, .pattern = "/open", .access = ROUTE_PUBLIC, .operation = "run.list"},
};
static const struct route_table TABLE = {ROWS, ARRAY_LEN(ROWS), NULL};

static struct scene KNOWN = {
    .visitor = {.principal = {"anna", GRANTS, ARRAY_LEN(GRANTS)}, .is_known = true}};
static struct scene STRANGER;

struct asked {
    enum http_method method;
    const char *path;
    const char *query_name, *query_value;
    const char *body;
    const char *content_type;
};

#define ASKED(...)        ((struct asked){__VA_ARGS__})
#define GET(text, ...)    ASKED(.method = HTTP_GET, .path = (text), ##__VA_ARGS__)
#define POST(text, ...)   ASKED(.method = HTTP_POST, .path = (text), ##__VA_ARGS__)
#define DELETE(text, ...) ASKED(.method = HTTP_DELETE, .path = (text), ##__VA_ARGS__)
#define QUERY(name, text) .query_name = (name), .query_value = (text)

static struct http_response ask(struct scene *scene, struct asked asked)
{
    struct router *router = router_new(&TABLE);
    struct service service = {.actor = "nobody"};
    struct serve_world world = {.router = router, .admit = admit, .context = scene};
    struct desk desk = {
        .world = &world,
        .service = &service,
        .operations = {.context = &service, .call = call},
    };
    struct http_pair header = {"content-TYPE", asked.content_type != NULL ? asked.content_type
                                                                          : "application/json"};
    struct http_pair query = {asked.query_name, asked.query_value};
    struct http_request request = {
        .method = asked.method,
        .path = asked.path,
        .headers = {&header, 1},
        .query = {&query, asked.query_name != NULL},
        .body = asked.body,
        .body_length = asked.body != NULL ? strlen(asked.body) : 0,
        .peer = "127.0.0.1",
    };
    struct http_response response;
    http_response_init(&response);
    dispatch(&desk, &request, &response);
    cr_expect_null(service.principal);
    router_free(router);
    return response;
}

static void expect_status(struct scene *scene, struct asked asked, int status)
{
    struct http_response response = ask(scene, asked);
    cr_expect_eq(response.status, status, "%s: %d, not %d: %s", asked.path, response.status, status,
                 response.body.text);
    if (status >= 400) {
        struct err err = {0};
        json_t *problem = NULL;
        cr_expect_str_eq(response.content_type, "application/problem+json");
        cr_assert_eq(json_parse(response.body.text, response.body.length, &problem, &err),
                     STATUS_OK);
        cr_expect_eq(json_get_int(problem, "status", 0), status);
        cr_expect(json_is_string(json_object_get(problem, "title")));
        cr_expect(json_is_string(json_object_get(problem, "detail")));
        json_decref(problem);
    }
    http_response_fini(&response);
}

Test(dispatch, members_come_from_path_query_and_body)
{
    struct http_response response =
        ask(&KNOWN, POST("/runs/etl%2F7/note", .body = "{\"note\": \"x\"}"));
    cr_expect_eq(response.status, 200);
    cr_expect_str_eq(response.body.text,
                     "{\"note\":\"x\",\"run\":\"etl/7\",\"operation\":\"run.note\","
                     "\"actor\":\"anna\",\"has_principal\":true}");
    http_response_fini(&response);
    response = ask(&KNOWN, GET("/runs", QUERY("limit", "7")));
    cr_expect_not_null(strstr(response.body.text, "\"limit\":7"));
    http_response_fini(&response);
}

Test(dispatch, what_is_wrong_has_the_right_status)
{
    expect_status(&KNOWN, GET("/nowhere"), 404);
    expect_status(&KNOWN, GET("/runs/"), 404);
    expect_status(&KNOWN, GET("/runs/%2e%2e"), 404);
    expect_status(&KNOWN, DELETE("/runs"), 405);
    expect_status(&KNOWN, GET("/runs", QUERY("limit", "many")), 400);
    expect_status(&KNOWN, GET("/runs", QUERY("limti", "7")), 400);
    expect_status(&KNOWN, POST("/runs/7/note", .body = "{"), 400);
    expect_status(&KNOWN, POST("/runs/7/note", .body = "[]"), 400);
    expect_status(&KNOWN, POST("/runs/7/note", .body = "{\"run\": \"8\"}"), 400);
    expect_status(&KNOWN, POST("/runs/7/note", .body = "{}", .content_type = "text/xml"), 415);
}

Test(dispatch, a_problem_replaces_what_was_there)
{
    struct http_response response;
    http_response_init(&response);
    http_response_add_header(&response, "Content-Disposition", "attachment");
    strbuf_add(&response.body, "half of it");
    problem_put(&response, 404, "the rest is gone");
    cr_expect_eq(response.headers_count, 0);
    cr_expect_eq(response.body.text[0], '{');
    http_response_fini(&response);
}

Test(dispatch, a_wrong_method_names_the_right_ones)
{
    struct http_response response = ask(&KNOWN, DELETE("/runs"));
    cr_assert_eq(response.headers_count, 1);
    cr_expect_str_eq(response.headers[0].name, "Allow");
    cr_expect_str_eq(response.headers[0].value, "GET, HEAD");
    http_response_fini(&response);
}

Test(dispatch, strangers_get_only_what_is_public)
{
    expect_status(&STRANGER, GET("/runs"), 401);
    expect_status(&STRANGER, GET("/me"), 401);
    expect_status(&STRANGER, POST("/closed"), 403);
    expect_status(&STRANGER, GET("/open"), 200);
}

Test(dispatch, rights_are_needed)
{
    expect_status(&KNOWN, GET("/me"), 200);
    expect_status(&KNOWN, POST("/closed"), 403);
    expect_status(&KNOWN, POST("/admin"), 403);
    struct scene nothing = {.visitor = {.principal = {.name = "bob"}, .is_known = true}};
    expect_status(&nothing, GET("/runs"), 403);
    expect_status(&nothing, GET("/me"), 200);
}

Test(dispatch, a_session_needs_a_second_proof_to_change_something)
{
    struct scene browser = KNOWN;
    browser.visitor.by_cookie = true;
    expect_status(&browser, GET("/runs"), 200);
    expect_status(&browser, POST("/runs/7/note", .body = "{}"), 403);
    browser.visitor.has_proof = true;
    expect_status(&browser, POST("/runs/7/note", .body = "{}"), 200);
}

Test(dispatch, wrong_credentials_are_told_from_a_store_that_is_away)
{
    struct scene forged = {.admits = STATUS_DENIED};
    struct scene away = {.admits = STATUS_UNREACHABLE};
    expect_status(&forged, GET("/runs"), 401);
    expect_status(&away, GET("/runs"), 503);
}
