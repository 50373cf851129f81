/*
 * What the server says of itself. The table is fenced off from the formatter because it is read by
 * column.
 */
#include "base/check.h"
#include "base/log.h"
#include "serve/answer.h"
#include "serve/dispatch.h"
#include "serve/openapi.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "service/observer.h"

static enum status answer_alive(struct route_call *call, struct http_response *out, struct err *err)
{
    (void)call;
    (void)err;
    answer_text(out, 200, "text/plain; charset=utf-8", "ok\n");
    return STATUS_OK;
}

/* Neither names nor reasons for who is not known: whether it works is no secret, how it does is. */
static enum status answer_health(struct route_call *call, struct http_response *out,
                                 struct err *err)
{
    (void)err;
    json_t *health = observer_health(call->service);
    if (!call->visitor->is_known)
        CHECK(json_object_del(health, "checks") == 0);
    answer_json(out, 200, health);
    return STATUS_OK;
}

static enum status answer_ready(struct route_call *call, struct http_response *out, struct err *err)
{
    (void)err;
    struct err why = {0};
    bool is_ready = observer_is_ready(call->service, &why);
    if (!is_ready)
        log_info("not ready", LOG_STR("why", why.text));
    answer_text(out, is_ready ? 200 : 503, "text/plain; charset=utf-8",
                is_ready ? "ready\n" : "not ready\n");
    return STATUS_OK;
}

/* Names of DAGs are for who may see all of them, or is at the machine. */
static enum status answer_metrics(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    bool may_see = call->visitor->is_known &&
                   principal_role(&call->visitor->principal, NULL) >= PERMISSION_VIEWER;
    if (!may_see && !http_is_local(call->request)) {
        problem_put(out, call->visitor->is_known ? 403 : 401,
                    "metrics need the role viewer in all namespaces, or a request from this "
                    "machine itself to 127.0.0.1 or localhost; `eider tokens add` makes a token");
        return STATUS_OK;
    }
    out->status = 200;
    out->content_type = METRIC_TEXT_TYPE;
    return observer_text(call->service, &out->body, err);
}

static enum status answer_version(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    (void)call;
    (void)err;
    json_t *version = json_object();
    CHECK(version != NULL);
    json_put_string(version, "version", EIDER_VERSION);
    json_put(version, "git_version", json_null());
    answer_json(out, 200, version);
    return STATUS_OK;
}

static enum status answer_openapi(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    (void)call;
    (void)err;
    struct route_table *table = routes_new();
    answer_json(out, 200, openapi_document(table));
    routes_free(table);
    return STATUS_OK;
}

/* clang-format off */
#define PLAIN "text/plain"

static const struct operation_field HEALTH[] = {
    {"metadatabase", FIELD_OBJECT, true, "its status"},
    {"scheduler", FIELD_OBJECT, true, "its status, and when it was last heard of"},
};
static const struct operation_field VERSION[] = {
    {"version", FIELD_STRING, true, "of the program"},
    {"git_version", FIELD_STRING, false, "not told"},
};
static const struct operation_field OPENAPI[] = {
    {"openapi", FIELD_STRING, true, "version of this form"},
    {"info", FIELD_OBJECT, true, "name and version of the program"},
    {"paths", FIELD_OBJECT, true, "what there is"},
};
static const struct operation_schema HEALTH_RESPONSE = {HEALTH, ARRAY_LEN(HEALTH)};
static const struct operation_schema VERSION_RESPONSE = {VERSION, ARRAY_LEN(VERSION)};
static const struct operation_schema OPENAPI_RESPONSE = {OPENAPI, ARRAY_LEN(OPENAPI)};

static const struct route ROWS[] = {
    {HTTP_GET, "/healthz", ROUTE_PUBLIC, .handle = answer_alive, .is_quick = true, .media = PLAIN,
        .summary = "whether the program answers"},
    {HTTP_GET, "/readyz", ROUTE_PUBLIC, .handle = answer_ready, .media = PLAIN, .others = {503},
        .summary = "whether requests should come here: 200, or 503"},
    {HTTP_GET, "/metrics", ROUTE_PUBLIC, .handle = answer_metrics, .media = PLAIN,
        .others = {401, 403, 503},
        .summary = "everything that is measured, in the text format of Prometheus"},
    {HTTP_GET, "/api/v1/health", ROUTE_PUBLIC, .handle = answer_health,
        .response = &HEALTH_RESPONSE,
        .summary = "whether work moves"},
    {HTTP_GET, "/api/v1/x/ping", ROUTE_SIGNED_IN, .handle = answer_alive, .media = PLAIN,
        .summary = "whether the program answers, and knows who asks"},
    {HTTP_GET, "/api/v1/version", ROUTE_PUBLIC, .handle = answer_version, .is_quick = true,
        .response = &VERSION_RESPONSE,
        .summary = "the program's version"},
    {HTTP_GET, "/api/v1/openapi.json", ROUTE_PUBLIC, .handle = answer_openapi,
        .response = &OPENAPI_RESPONSE,
        .summary = "this description"},
};
/* clang-format on */

const struct route_table ROUTES_SERVER = {ROWS, ARRAY_LEN(ROWS), NULL};
