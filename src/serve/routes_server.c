/*
 * What the server says of itself. The table is fenced off from the formatter because it is read by
 * column.
 */
#include "base/check.h"
#include "serve/answer.h"
#include "serve/openapi.h"
#include "serve/routes.h"

static enum status answer_alive(struct route_call *call, struct http_response *out, struct err *err)
{
    (void)call;
    (void)err;
    answer_text(out, 200, "text/plain; charset=utf-8", "ok\n");
    return STATUS_OK;
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
static const struct route ROWS[] = {
    {HTTP_GET, "/healthz", ROUTE_PUBLIC, .handle = answer_alive, .is_quick = true,
        .summary = "whether the program answers"},
    {HTTP_GET, "/api/v1/x/ping", ROUTE_SIGNED_IN, .handle = answer_alive,
        .summary = "whether the program answers, and knows who asks"},
    {HTTP_GET, "/api/v1/version", ROUTE_PUBLIC, .handle = answer_version, .is_quick = true,
        .summary = "the program's version"},
    {HTTP_GET, "/api/v1/openapi.json", ROUTE_PUBLIC, .handle = answer_openapi,
        .summary = "this description"},
};
/* clang-format on */

const struct route_table ROUTES_SERVER = {ROWS, ARRAY_LEN(ROWS), NULL};
