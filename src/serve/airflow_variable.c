#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/airflow_vault.h"
#include "serve/answer.h"
#include "service/json_build.h"

/* Values are texts there; from a file they may be anything. */
static json_t *shape(const json_t *ours)
{
    json_t *variable = json_build_object();
    const json_t *value = json_object_get(ours, "value");
    CLEANUP(mem_freep) char *text = value != NULL ? json_format(value) : NULL;
    json_put_string(variable, "key", json_get_string(ours, "name", ""));
    json_put_string(variable, "value", json_is_string(value) ? json_string_value(value) : text);
    json_put_string(variable, "description", json_get_string(ours, "doc", NULL));
    json_put_string(variable, "source", json_get_string(ours, "source", NULL));
    return variable;
}

enum status airflow_answer_variables(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err)
{
    static const char *const KEYS[] = {"key", "value", "description", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *variables = json_object_get(answer, "variables");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    json_t *shown = json_build_array();
    for (size_t i = 0; i < json_array_size(variables); i++) {
        const json_t *variable = json_array_get(variables, i);
        if (!json_get_bool(variable, "hidden", false))
            json_build_append(shown, shape(variable));
    }
    return airflow_slice(query, "variables", shown, KEYS, out, err);
}

enum status airflow_ask_variable(const struct route_call *call, json_t **out, struct err *err)
{
    (void)err;
    *out = json_build_object();
    json_put_string(*out, "name", route_param(call, "variable_key"));
    return STATUS_OK;
}

enum status airflow_answer_variable(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    (void)call;
    (void)err;
    *out = shape(taken);
    json_decref(taken);
    return STATUS_OK;
}

static json_t *set_request(const json_t *body, const char *name)
{
    json_t *request = json_build_object();
    json_put_string(request, "name", name);
    airflow_copy(body, "value", request, "value");
    airflow_copy(body, "description", request, "doc");
    return request;
}

enum status airflow_ask_variable_post(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK)
        return err->code;
    *out = set_request(body, json_get_string(body, "key", ""));
    return STATUS_OK;
}

enum status airflow_handle_variable_patch(struct route_call *call, struct http_response *out,
                                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *before = NULL;
    CLEANUP(json_decrefp) json_t *after = NULL;
    json_t *request = NULL;
    const char *name = route_param(call, "variable_key");
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_body(call, &body, err) != STATUS_OK ||
        airflow_mask(query, body, err) != STATUS_OK ||
        airflow_ask_variable(call, &request, err) != STATUS_OK ||
        airflow_call(call, "variable.show", request, &before, err) != STATUS_OK)
        return err->code;
    if (!str_equal(json_get_string(body, "key", name), name))
        return err_set(err, STATUS_INVALID, "a variable keeps its name: make another one instead");
    if (json_object_get(body, "value") == NULL)
        airflow_copy(before, "value", body, "value");
    if (airflow_call(call, "variable.set", set_request(body, name), &after, err) != STATUS_OK)
        return err->code;
    answer_json(out, 200, shape(after));
    return STATUS_OK;
}
