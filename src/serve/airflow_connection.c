#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/airflow_vault.h"
#include "serve/answer.h"
#include "service/json_build.h"

/* Their name for a part of a connection, and ours. */
static const struct airflow_word PARTS[] = {
    {"conn_type", "type"}, {"host", "host"},     {"port", "port"},
    {"login", "login"},    {"schema", "schema"}, {"password", "password"},
};

static json_t *shape(const json_t *ours, bool is_whole)
{
    json_t *connection = json_build_object();
    const json_t *value = json_object_get(ours, "value");
    const json_t *extra = json_object_get(value, "extra");
    json_put_string(connection, "connection_id", json_get_string(ours, "name", ""));
    json_put_string(connection, "description", json_get_string(ours, "doc", NULL));
    json_put_string(connection, "namespace", json_get_string(ours, "namespace", NULL));
    json_put_string(connection, "source", json_get_string(ours, "source", NULL));
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
        json_t *part = json_object_get(value, PARTS[i].ours);
        if (strcmp(PARTS[i].ours, "password") != 0)
            json_put(connection, PARTS[i].theirs, part != NULL ? json_incref(part) : json_null());
    }
    if (json_get_string(connection, "conn_type", NULL) == NULL)
        json_put_string(connection, "conn_type", "");
    if (!is_whole)
        return connection;
    CLEANUP(mem_freep) char *text = json_object_size(extra) > 0 ? json_format(extra) : NULL;
    json_put_string(connection, "extra", text);
    return connection;
}

enum status airflow_answer_connections(const struct route_call *call, json_t *taken, json_t **out,
                                       struct err *err)
{
    static const char *const KEYS[] = {"connection_id", "conn_type", "description",
                                       "host",          "port",      NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *connections = json_object_get(answer, "connections");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    json_t *shown = json_build_array();
    for (size_t i = 0; i < json_array_size(connections); i++) {
        const json_t *connection = json_array_get(connections, i);
        if (!json_get_bool(connection, "hidden", false))
            json_build_append(shown, shape(connection, false));
    }
    return airflow_slice(query, "connections", shown, KEYS, out, err);
}

enum status airflow_ask_connection(const struct route_call *call, json_t **out, struct err *err)
{
    return airflow_ask_named(call, "connection_id", out, err);
}

enum status airflow_answer_connection(const struct route_call *call, json_t *taken, json_t **out,
                                      struct err *err)
{
    (void)call;
    (void)err;
    *out = shape(taken, true);
    json_decref(taken);
    return STATUS_OK;
}

/* `extra` is a text with JSON in it there. */
static enum status put_extra(const json_t *body, json_t *value, struct err *err)
{
    const char *text = json_get_string(body, "extra", NULL);
    json_t *extra = NULL;
    if (text == NULL || text[0] == '\0')
        return STATUS_OK;
    if (json_parse(text, strlen(text), &extra, err) != STATUS_OK)
        return err_wrap(err, "'extra'");
    json_put(value, "extra", extra);
    if (!json_is_object(extra))
        return err_set(err, STATUS_INVALID, "'extra' must be the text of a JSON object");
    return STATUS_OK;
}

static enum status put_value(const json_t *body, json_t *request, struct err *err)
{
    json_t *value = json_build_object();
    json_put(request, "value", value);
    airflow_copy_words(body, PARTS, ARRAY_LEN(PARTS), value);
    airflow_copy(body, "description", request, "doc");
    return put_extra(body, value, err);
}

enum status airflow_handle_connection_post(struct route_call *call, struct http_response *out,
                                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *after = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, NULL, body, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "name", json_get_string(body, "connection_id", ""));
    if (airflow_must_be_new(call, "connection.show", json_copy(request), "connection", err) !=
            STATUS_OK ||
        put_value(body, request, err) != STATUS_OK ||
        airflow_call(call, "connection.set", TAKE(request), &after, err) != STATUS_OK)
        return err->code;
    answer_json(out, 200, shape(after, true));
    return STATUS_OK;
}

enum status airflow_ask_connection_patch(const struct route_call *call, json_t **out,
                                         struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    const char *name = route_param(call, "connection_id");
    json_put_string(request, "name", name);
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, query, body, request, err) != STATUS_OK ||
        airflow_mask(query, body, err) != STATUS_OK)
        return err->code;
    if (!str_equal(json_get_string(body, "connection_id", name), name))
        return err_set(err, STATUS_INVALID,
                       "a connection keeps its name: make another one instead");
    if (put_value(body, request, err) != STATUS_OK)
        return err->code;
    json_put_bool(request, "merge", true);
    *out = TAKE(request);
    return STATUS_OK;
}

/*
 * Only what is kept is tried: a body that names any host would let the server knock at every door
 * that it can reach.
 */
enum status airflow_handle_connection_test(struct route_call *call, struct http_response *out,
                                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *result = NULL;
    CLEANUP(json_decrefp) json_t *known = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    struct err problem = {0};
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, NULL, body, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "name", json_get_string(body, "connection_id", ""));
    if (operation_call(call->operations, "connection.show", request, &known, err) != STATUS_OK)
        return err_wrap(err, "only a connection that is kept can be tested");
    enum status status = airflow_call(call, "connection.test", TAKE(request), &result, &problem);
    if (status == STATUS_DENIED) {
        *err = problem;
        return status;
    }
    json_t *answer = json_build_object();
    json_put_bool(answer, "status", status == STATUS_OK);
    json_put_string(answer, "message",
                    status == STATUS_OK ? json_get_string(result, "detail", "") : problem.text);
    answer_json(out, 200, answer);
    return STATUS_OK;
}
