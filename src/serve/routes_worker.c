/*
 * Workers that reach the store through HTTP. The table is fenced off from the formatter because it
 * is read by column.
 */
#include "base/check.h"
#include "serve/answer.h"
#include "serve/ask.h"
#include "serve/dispatch.h"
#include "serve/lounge.h"
#include "serve/pass.h"
#include "serve/routes.h"
#include "service/service.h"

enum { WAIT_MOST_S = 60 };

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : 0;
}

static int64_t wait_ms_of(const json_t *request)
{
    double seconds = number_of(request, "wait");
    if (!(seconds > 0))
        return 0;
    return (int64_t)((seconds < WAIT_MOST_S ? seconds : WAIT_MOST_S) * 1000.0);
}

static enum status answer_claim(struct route_call *call, struct http_response *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    CLEANUP(json_decrefp) json_t *response = NULL;
    if (ask_by_name(call, &request, err) != STATUS_OK ||
        operation_call(call->operations, call->route->operation, request, &response, err) !=
            STATUS_OK)
        return err->code;
    int64_t wait_ms = wait_ms_of(request);
    bool is_nothing = json_array_size(json_object_get(response, "jobs")) == 0;
    if (!is_nothing || wait_ms == 0 || call->world->lounge == NULL) {
        answer_json(out, 200, TAKE(response));
        return STATUS_OK;
    }
    const struct lounge_guest_request guest = {
        .pass = pass_new(call->world, call->request, &call->visitor->principal),
        .claim = request,
        .nothing = response,
        .wait_ms = wait_ms,
        .beat_ms = (int64_t)(number_of(response, "heartbeat") * 1000.0),
    };
    out->status = 200;
    out->content_type = "application/json";
    lounge_wait(call->world->lounge, &guest, &out->stream);
    return STATUS_OK;
}

/* clang-format off */
static const struct route ROWS[] = {
    {HTTP_POST, "/api/v1/x/claim", ROUTE_WORKER, .operation = "worker.claim", .handle = answer_claim},
    {HTTP_POST, "/api/v1/x/heartbeat", ROUTE_WORKER, .operation = "worker.heartbeat"},
    {HTTP_POST, "/api/v1/x/leave", ROUTE_WORKER, .operation = "worker.leave"},
    {HTTP_POST, "/api/v1/x/jobs/{job}/log", ROUTE_WORKER, .operation = "worker.log"},
    {HTTP_POST, "/api/v1/x/jobs/{job}/complete", ROUTE_WORKER, .operation = "worker.complete"},
    {HTTP_POST, "/api/v1/x/jobs/{job}/fail", ROUTE_WORKER, .operation = "worker.fail"},
    {HTTP_POST, "/api/v1/x/jobs/{job}/release", ROUTE_WORKER, .operation = "worker.release"},
};
/* clang-format on */

const struct route_table ROUTES_WORKER = {ROWS, ARRAY_LEN(ROWS), NULL};
