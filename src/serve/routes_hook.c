/*
 * Calls of webhooks. The table is fenced off from the formatter because it is read by column.
 */
#include "base/check.h"
#include "serve/answer.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "service/hook_call.h"

static enum status refuse(struct http_response *out, const struct hook_answer *answer,
                          struct err *err)
{
    if (err->code == STATUS_DENIED)
        problem_put(out, 401, err->text);
    else if (err->code == STATUS_LIMIT && answer->wait_s > 0)
        problem_wait(out, answer->wait_s, err->text);
    else if (err->code == STATUS_LIMIT)
        problem_put(out, 413, err->text);
    else
        return err->code;
    return STATUS_OK;
}

static enum status answer_hook(struct route_call *call, struct http_response *out, struct err *err)
{
    const struct http_request *request = call->request;
    const struct hook_call wanted = {
        .dag_id = route_param(call, "dag"),
        .timestamp = http_header(request, "X-Eider-Timestamp"),
        .signature = http_header(request, "X-Eider-Signature"),
        .hub_signature = http_header(request, "X-Hub-Signature-256"),
        .body = request->body,
        .body_bytes = request->body_length,
    };
    struct hook_answer answer;
    if (hook_call(call->service, call->arena, &wanted, &answer, err) != STATUS_OK)
        return refuse(out, &answer, err);
    json_t *made = json_object();
    CHECK(made != NULL);
    json_put_string(made, "dag_id", answer.dag_id);
    json_put_string(made, "dag_run_id", answer.run_id);
    json_put_id(made, "number", answer.run);
    answer_json(out, 202, made);
    return STATUS_OK;
}

/* clang-format off */
static const struct operation_field MADE[] = {
    {"dag_id", FIELD_STRING, true, "the DAG"},
    {"dag_run_id", FIELD_STRING, true, "the run that was made"},
    {"number", FIELD_ID, true, "its number"},
};
static const struct operation_schema MADE_RESPONSE = {MADE, ARRAY_LEN(MADE)};

static const struct route ROWS[] = {
    {HTTP_POST, "/hooks/{dag}", ROUTE_PUBLIC, .handle = answer_hook, .status = 202,
        .response = &MADE_RESPONSE,
        .others = {400, 401, 404, 409, 413, 422, 429, 503, 504, 507},
        .summary = "start a DAG by a call that is signed with the token of its webhook"},
};
/* clang-format on */

const struct route_table ROUTES_HOOK = {ROWS, ARRAY_LEN(ROWS), NULL};
