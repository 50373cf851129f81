/*
 * Logs of tasks and jobs: a part as JSON, all of it as text, a range of its bytes, or what comes
 * while it is written. Tables are fenced off from the formatter because they are read by column.
 */
#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "serve/answer.h"
#include "serve/ask.h"
#include "serve/byte_range.h"
#include "serve/dispatch.h"
#include "serve/log_stream.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "serve/sse.h"
#include "service/service.h"

#define TEXT_CONTENT_TYPE "text/plain; charset=utf-8"

/* clang-format off */
#define WISH                                                                                       \
    {"try_number", FIELD_INTEGER, false, "this attempt; the newest by default"},                   \
    {"try", FIELD_INTEGER, false, "the same in short"},                                            \
    {"tail", FIELD_INTEGER, false, "only the last lines"},                                         \
    {"grep", FIELD_STRING, false, "only lines that match this extended regular expression"},       \
    {"cursor", FIELD_STRING, false, "of an answer: what came after it"},                           \
    {"bytes", FIELD_INTEGER, false, "about so many at most in a page; 1 MiB by default"},          \
    {"follow", FIELD_BOOLEAN, false, "text: go on with what is printed while the task runs"},      \
    {"download", FIELD_BOOLEAN, false, "text, as a file to be saved; `Range` picks a part"}

static const struct operation_field TASK_QUERY[] = {
    {"run", FIELD_STRING, true, "number, DAG/RUN_ID, or DAG for its latest run"},
    {"task", FIELD_STRING, true, "id of the task"},
    {"map_index", FIELD_INTEGER, false, "one instance of a mapped task"},
    WISH,
};
static const struct operation_field JOB_QUERY[] = {{"job", FIELD_ID, true, "its id"}, WISH};
/* clang-format on */

static const struct operation_schema TASK_SCHEMA = {TASK_QUERY, ARRAY_LEN(TASK_QUERY)};
static const struct operation_schema JOB_SCHEMA = {JOB_QUERY, ARRAY_LEN(JOB_QUERY)};

/* What the operations do not know is taken out of the request. */
static bool take_flag(json_t *request, const char *name)
{
    bool is_set = json_get_bool(request, name, false);
    (void)json_object_del(request, name);
    return is_set;
}

static enum status ask_log(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    if (ask_by_schema(call, call->route->query, &request, err) != STATUS_OK)
        return err->code;
    json_t *attempt = json_object_get(request, "try");
    if (attempt != NULL && json_object_get(request, "try_number") != NULL)
        return err_set(err, STATUS_INVALID, "'try' is 'try_number' in short: give one of them");
    if (attempt != NULL)
        json_put(request, "try_number", json_incref(attempt));
    (void)json_object_del(request, "try");
    *out = TAKE(request);
    return STATUS_OK;
}

static enum status ask_page(const struct route_call *call, json_t **out, struct err *err)
{
    if (ask_log(call, out, err) != STATUS_OK)
        return err->code;
    (void)take_flag(*out, "follow");
    (void)take_flag(*out, "download");
    return STATUS_OK;
}

static bool wants_text(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept");
    return accept != NULL && strncasecmp(accept, "text/plain", 10) == 0;
}

/* --- parts ----------------------------------------------------------------------------------- */

static enum status answer_parts(struct route_call *call, json_t *taken, bool follows,
                                bool as_events, struct http_response *out, struct err *err)
{
    const char *last = http_header(call->request, "Last-Event-ID");
    struct log_stream_parts options = {
        .operation = call->route->operation, .follows = follows, .as_events = as_events};
    if (as_events && last != NULL && last[0] != '\0')
        json_put_string(taken, "cursor", last);
    struct pull_source source = log_stream_parts(&options, taken);
    if (pull_open(call, &source, &out->stream, err) != STATUS_OK)
        return err->code;
    if (as_events)
        sse_answer(out);
    else
        out->content_type = TEXT_CONTENT_TYPE;
    return STATUS_OK;
}

/* --- bytes ----------------------------------------------------------------------------------- */

/* Only what is harmless in a header and in every file system. */
static void add_name_part(struct strbuf *name, const char *text)
{
    for (; *text != '\0'; text++) {
        bool is_plain = isalnum((unsigned char)*text) || *text == '-' || *text == '_' ||
                        (*text == '.' && name->text[name->length - 1] != '.');
        strbuf_add_char(name, is_plain ? *text : '_');
    }
}

static void add_file_name(const json_t *log, struct http_response *out)
{
    CLEANUP(strbuf_fini) struct strbuf value;
    int64_t map_index = json_get_int(log, "map_index", -1);
    strbuf_init(&value, 4096);
    strbuf_add(&value, "attachment; filename=\"eider-");
    if (json_get_string(log, "job", NULL) != NULL) {
        strbuf_addf(&value, "job-%s", json_get_string(log, "job", ""));
    } else {
        add_name_part(&value, json_get_string(log, "dag_id", ""));
        strbuf_add_char(&value, '-');
        add_name_part(&value, json_get_string(log, "dag_run_id", ""));
        strbuf_add_char(&value, '-');
        add_name_part(&value, json_get_string(log, "task_id", ""));
    }
    if (map_index >= 0)
        strbuf_addf(&value, "-%lld", (long long)map_index);
    strbuf_addf(&value, "-try%lld.log\"", (long long)json_get_int(log, "try_number", 1));
    http_response_add_header(out, "Content-Disposition", value.text);
}

static void add_range(const struct byte_range *range, uint64_t size, struct http_response *out)
{
    char value[96];
    http_response_add_header(out, "Accept-Ranges", "bytes");
    if (range->kind == BYTE_RANGE_ALL)
        return;
    if (range->kind == BYTE_RANGE_NONE)
        (void)snprintf(value, sizeof value, "bytes */%llu", (unsigned long long)size);
    else
        (void)snprintf(
            value, sizeof value, "bytes %llu-%llu/%llu", (unsigned long long)range->offset,
            (unsigned long long)(range->offset + range->length - 1), (unsigned long long)size);
    http_response_add_header(out, "Content-Range", value);
}

static enum status open_bytes(const struct route_call *call, struct pull_source source,
                              const struct byte_range *range, struct http_response *out,
                              struct err *err)
{
    if (pull_open(call, &source, &out->stream, err) != STATUS_OK)
        return err->code;
    out->status = range->kind == BYTE_RANGE_PART ? 206 : 200;
    out->content_type = TEXT_CONTENT_TYPE;
    out->stream.has_length = true;
    out->stream.length = range->length;
    return STATUS_OK;
}

static enum status answer_bytes(struct route_call *call, json_t *taken, struct http_response *out,
                                struct err *err)
{
    bool is_job = json_object_get(taken, "job") != NULL;
    const char *operation = is_job ? "job.bytes" : "log.bytes";
    CLEANUP(json_decrefp) json_t *request = taken;
    CLEANUP(json_decrefp) json_t *log = NULL;
    bool is_file = take_flag(request, "download");
    json_put_int(request, "length", 0);
    if (operation_call(call->operations, operation, request, &log, err) != STATUS_OK)
        return err->code;
    uint64_t size = (uint64_t)json_get_int(log, "size", 0);
    struct byte_range range = byte_range_parse(http_header(call->request, "Range"), size);
    if (range.kind == BYTE_RANGE_NONE)
        problem_put(out, 416, "the log has no bytes there; `Content-Range` says how many it has");
    add_range(&range, size, out);
    if (range.kind == BYTE_RANGE_NONE)
        return STATUS_OK;
    if (is_file)
        add_file_name(log, out);
    /* Later pieces are of this attempt, also when another one has begun. */
    if (json_get_int(log, "try_number", 0) > 0)
        json_put_int(request, "try_number", json_get_int(log, "try_number", 0));
    if (range.length > 0)
        return open_bytes(call,
                          log_stream_bytes(operation, TAKE(request), range.offset, range.length),
                          &range, out, err);
    answer_text(out, 200, TEXT_CONTENT_TYPE, "");
    return STATUS_OK;
}

/* --- which ----------------------------------------------------------------------------------- */

static bool is_whole(const json_t *request)
{
    static const char *const PARTIAL[] = {"tail", "grep", "cursor"};
    for (size_t i = 0; i < ARRAY_LEN(PARTIAL); i++)
        if (json_object_get(request, PARTIAL[i]) != NULL)
            return false;
    return true;
}

static enum status answer_log(struct route_call *call, struct http_response *out, struct err *err)
{
    json_t *request = NULL;
    bool as_events = sse_is_wanted(call->request) && call->request->method != HTTP_HEAD;
    if (ask_log(call, &request, err) != STATUS_OK)
        return err->code;
    bool follows = take_flag(request, "follow") || as_events;
    bool is_text =
        wants_text(call->request) || follows || json_get_bool(request, "download", false);
    if (is_text && !follows && is_whole(request)) {
        (void)json_object_del(request, "bytes");
        return answer_bytes(call, request, out, err);
    }
    (void)take_flag(request, "download");
    if (is_text)
        return answer_parts(call, request, follows, as_events, out, err);
    json_decref(request);
    return dispatch_operation(call, out, err);
}

/* clang-format off */
#define LOG_ANSWERS .media = "application/json text/plain text/event-stream", .others = {206, 416}

static const struct route ROWS[] = {
    {HTTP_GET, "/api/v1/x/runs/{run}/tasks/{task}/log", ROUTE_PERMISSION, "log.read",
        .ask = ask_page, .handle = answer_log, .query = &TASK_SCHEMA, LOG_ANSWERS,
        .summary = "what a task printed: a page of it, all as text, or as it comes"},
    {HTTP_GET, "/api/v1/x/jobs/{job}/log", ROUTE_PERMISSION, "job.log",
        .ask = ask_page, .handle = answer_log, .query = &JOB_SCHEMA, LOG_ANSWERS,
        .summary = "what a job printed: a page of it, all as text, or as it comes"},
};
/* clang-format on */

const struct route_table ROUTES_LOG = {ROWS, ARRAY_LEN(ROWS), NULL};
