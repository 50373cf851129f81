/*
 * Events: a page of them, or all that come (`Accept: text/event-stream`). The table is fenced off
 * from the formatter because it is read by column.
 */
#include "base/check.h"
#include "base/str.h"
#include "serve/ask.h"
#include "serve/dispatch.h"
#include "serve/live.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "serve/sse.h"
#include "service/json_build.h"
#include "service/service.h"

/* The number of the run that is asked for; 0: of any. What is not seen is not there. */
static enum status find_run(const struct route_call *call, const json_t *request, int64_t *out,
                            struct err *err)
{
    const char *run = json_get_string(request, "run", NULL);
    CLEANUP(json_decrefp) json_t *named = json_build_object();
    CLEANUP(json_decrefp) json_t *shown = NULL;
    *out = 0;
    if (run == NULL)
        return STATUS_OK;
    json_put_string(named, "run", run);
    if (operation_call(call->operations, "run.show", named, &shown, err) != STATUS_OK)
        return err->code;
    bool has_number = str_parse_i64(json_get_string(shown, "number", ""), 1, INT64_MAX, out);
    CHECK(has_number);
    return STATUS_OK;
}

/* By the operation itself, so that a mistake is told before the stream begins. */
static enum status check(const struct route_call *call, json_t *request, struct err *err)
{
    CLEANUP(json_decrefp) json_t *page = NULL;
    json_put_int(request, "limit", 1);
    return operation_call(call->operations, "event.list", request, &page, err);
}

static enum status listen(struct route_call *call, struct http_response *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    struct live_request wish = {0};
    if (ask_by_name(call, &request, err) != STATUS_OK || check(call, request, err) != STATUS_OK ||
        event_filter_read(request, &wish.filter, err) != STATUS_OK ||
        find_run(call, request, &wish.filter.run, err) != STATUS_OK)
        return err->code;
    /* What a browser sends by itself when it comes back counts more than where it once began. */
    const char *last = http_header(call->request, "Last-Event-ID");
    wish.id = last != NULL && last[0] != '\0' ? last : json_get_string(request, "cursor", NULL);
    wish.filter.principal = call->service->principal;
    wish.wants_starts = json_get_bool(request, "starts", false);
    sse_answer(out);
    live_listen(call->world->live, &wish, &out->stream);
    return STATUS_OK;
}

static enum status answer_events(struct route_call *call, struct http_response *out,
                                 struct err *err)
{
    if (!sse_is_wanted(call->request) || call->request->method == HTTP_HEAD)
        return dispatch_operation(call, out, err);
    if (call->world->live == NULL)
        return err_set(err, STATUS_UNREACHABLE, "this server does not tell of events as they come");
    return listen(call, out, err);
}

/* clang-format off */
static const struct route ROWS[] = {
    {HTTP_GET, "/api/v1/x/events", ROUTE_PERMISSION, "event.list", .handle = answer_events,
        .media = "application/json text/event-stream",
        .summary = "what happened; as it happens with `Accept: text/event-stream`"},
};
/* clang-format on */

const struct route_table ROUTES_LIVE = {ROWS, ARRAY_LEN(ROWS), NULL};
