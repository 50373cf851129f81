#include "expect.h"
#include "service/operation.h"
#include "service/principal.h"
#include "service/service.h"

static enum status echo(struct service *service, const json_t *request, json_t **out_response,
                        struct err *err)
{
    (void)service;
    (void)err;
    *out_response = json_pack("{s:O}", "echo", json_object_get(request, "text"));
    return STATUS_OK;
}

static const struct operation_field REQUEST[] = {
    {"text", FIELD_STRING, true, "what to say"},
    {"limit", FIELD_INTEGER, false, "how often"},
    {"since", FIELD_INSTANT, false, "from when"},
    {"tasks", FIELD_STRINGS, false, "which"},
    {"run", FIELD_ID, false, "run number"},
    {"ratio", FIELD_NUMBER, false, ""},
    {"deep", FIELD_BOOLEAN, false, ""},
    {"conf", FIELD_OBJECT, false, ""},
    {"items", FIELD_ARRAY, false, ""},
    {"value", FIELD_ANY, false, ""},
};
static const struct operation_field RESPONSE[] = {{"echo", FIELD_STRING, true, "the text"}};
static const struct operation ROWS[] = {
    {.name = "test.echo",
     .summary = "say it",
     .permission = PERMISSION_VIEWER,
     .request = {REQUEST, ARRAY_LEN(REQUEST)},
     .response = {RESPONSE, ARRAY_LEN(RESPONSE)},
     .handler = echo},
};
static const struct operation_table TABLE = {ROWS, ARRAY_LEN(ROWS), NULL};

Test(operation, requests_are_checked_member_by_member)
{
    static const struct {
        const char *json;
        const char *problem; /* NULL: fine */
    } CASES[] = {
        {"{\"text\":\"a\"}", NULL},
        {"{\"text\":\"a\",\"limit\":null}", NULL},
        {"{\"text\":\"a\",\"limit\":3,\"since\":\"2026-01-02T03:04:05Z\",\"tasks\":[\"x\"],"
         "\"run\":\"12\",\"ratio\":1,\"deep\":true,\"conf\":{},\"items\":[1],\"value\":null}",
         NULL},
        {"{}", "'text' is missing"},
        {"{\"text\":null}", "'text' is missing"},
        {"{\"text\":1}", "'text' must be a string"},
        {"{\"text\":\"a\",\"limt\":1}", "unknown field 'limt', did you mean 'limit'?"},
        {"{\"text\":\"a\",\"zzzzzzzzz\":1}", "unknown field 'zzzzzzzzz'"},
        {"{\"text\":\"a\",\"limit\":1.5}", "'limit' must be an integer"},
        {"{\"text\":\"a\",\"since\":\"soon\"}", "'since' must be a date"},
        {"{\"text\":\"a\",\"tasks\":[1]}", "'tasks' must be a list of strings"},
        {"{\"text\":\"a\",\"run\":\"x1\"}", "'run' must be an id"},
        {"{\"text\":\"a\",\"run\":1}", "'run' must be an id"},
        {"{\"text\":\"a\",\"deep\":0}", "'deep' must be true or false"},
        {"{\"text\":\"a\",\"conf\":[]}", "'conf' must be an object"},
        {"{\"text\":\"a\",\"items\":{}}", "'items' must be a list"},
        {"{\"text\":\"a\",\"ratio\":\"1\"}", "'ratio' must be a number"},
        {"[]", "the request must be an object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        json_t *request = json_loads(CASES[i].json, 0, NULL);
        enum status status = operation_check_request(&ROWS[0], request, &err);
        json_decref(request);
        if (CASES[i].problem == NULL) {
            cr_expect_eq(status, STATUS_OK, "%s: %s", CASES[i].json, err.text);
            continue;
        }
        cr_expect_eq(status, STATUS_INVALID, "%s", CASES[i].json);
        cr_expect_not_null(strstr(err.text, CASES[i].problem), "%s: %s", CASES[i].json, err.text);
        cr_expect_not_null(strstr(err.text, "test.echo"), "%s", err.text);
    }
}

Test(operation, a_call_in_process_checks_and_reaches_the_handler)
{
    struct service service = {.principal = &PRINCIPAL_LOCAL};
    struct operation_local local = {.table = &TABLE, .service = &service};
    struct operation_caller caller = {.context = &local, .call = operation_local_call};
    struct err err = {0};
    json_t *request = json_pack("{s:s}", "text", "hi");
    json_t *response = NULL;

    EXPECT_OK(operation_call(&caller, "test.echo", request, &response, &err), &err);
    EXPECT_STR("hi", json_get_string(response, "echo", ""));
    EXPECT_OK(operation_check_response(&ROWS[0], response, &err), &err);
    EXPECT_STATUS(STATUS_INVALID, operation_check_response(&ROWS[0], request, &err), &err);
    json_decref(response);
    response = NULL;

    EXPECT_STATUS(STATUS_NOT_FOUND, operation_call(&caller, "test.ecko", request, &response, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "did you mean 'test.echo'");
    EXPECT_STATUS(STATUS_INVALID, operation_call(&caller, "test.echo", NULL, &response, &err),
                  &err);
    cr_expect_null(response);
    json_decref(request);
}
