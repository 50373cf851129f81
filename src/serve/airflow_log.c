/*
 * Logs: as text all of it, sent while it is read; as JSON a part with a token for the next one, or
 * all of it at once.
 */
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_run_data.h"
#include "serve/answer.h"
#include "serve/log_stream.h"
#include "service/json_build.h"

enum { WHOLE_MAX = 48 << 20 };

static enum status log_request(const struct route_call *call, const json_t *query, json_t **out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    int64_t attempt = 0;
    if (airflow_put_run(call, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "task", route_param(call, "task_id"));
    /* Without a number it is the newest one. */
    if (strstr(call->route->pattern, "{task_try_number}") != NULL) {
        if (!str_parse_i64(route_param(call, "task_try_number"), 1, INT32_MAX, &attempt))
            return err_set(err, STATUS_NOT_FOUND, "'%.60s' is no number of a try",
                           route_param(call, "task_try_number"));
        json_put_int(request, "try_number", attempt);
    }
    if (json_get_int(query, "map_index", -1) >= 0)
        airflow_copy(query, "map_index", request, "map_index");
    airflow_copy(query, "token", request, "cursor");
    *out = TAKE(request);
    return STATUS_OK;
}

/* Bytes that are no text are shown as text all the same. */
static void add_text(const json_t *part, struct strbuf *out)
{
    const json_t *entries = json_object_get(part, "entries");
    for (size_t i = 0; i < json_array_size(entries); i++)
        strbuf_add(out, json_get_string(json_array_get(entries, i), "text", ""));
}

/* One part, or all that there is just now; *part is the last one read. */
static enum status read_log(const struct route_call *call, const json_t *query, struct strbuf *text,
                            json_t **part, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    bool is_whole = json_get_bool(query, "full_content", false);
    if (log_request(call, query, &request, err) != STATUS_OK)
        return err->code;
    for (;;) {
        json_decref(*part);
        *part = NULL;
        if (operation_call(call->operations, "log.read", request, part, err) != STATUS_OK)
            return err->code;
        add_text(*part, text);
        if (!is_whole || !json_get_bool(*part, "more", false))
            return STATUS_OK;
        if (text->length > WHOLE_MAX || text->overflow)
            return err_set(err, STATUS_LIMIT,
                           "the log is too long for one answer: leave full_content out, and go on "
                           "with each answer's continuation_token");
        airflow_copy(*part, "cursor", request, "cursor");
    }
}

static bool wants_text(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept");
    return accept == NULL || strstr(accept, "json") == NULL;
}

static enum status stream_text(const struct route_call *call, const json_t *query,
                               struct http_response *out, struct err *err)
{
    static const struct log_stream_parts OPTIONS = {.operation = "log.read"};
    json_t *request = NULL;
    if (log_request(call, query, &request, err) != STATUS_OK)
        return err->code;
    struct pull_source source = log_stream_parts(&OPTIONS, request);
    if (pull_open(call, &source, &out->stream, err) != STATUS_OK)
        return err->code;
    out->content_type = "text/plain; charset=utf-8";
    return STATUS_OK;
}

enum status airflow_handle_log(struct route_call *call, struct http_response *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *part = NULL;
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, (size_t)WHOLE_MAX + (4 << 20));
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    if (wants_text(call->request))
        return stream_text(call, query, out, err);
    if (read_log(call, query, &text, &part, err) != STATUS_OK)
        return err->code;
    bool goes_on = json_get_bool(part, "more", false) || json_get_bool(part, "live", false) ||
                   json_get_bool(part, "arriving", false);
    const char *token = goes_on ? json_get_string(part, "cursor", NULL) : NULL;
    json_t *answer = json_build_object();
    json_put(answer, "content", json_text(text.text, text.length));
    if (token != NULL)
        json_put_string(answer, "continuation_token", token);
    answer_json(out, 200, answer);
    return STATUS_OK;
}
