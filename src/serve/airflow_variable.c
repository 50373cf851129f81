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
    json_put_string(variable, "namespace", json_get_string(ours, "namespace", NULL));
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
    return airflow_ask_named(call, "variable_key", out, err);
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

static void put_value(const json_t *body, json_t *request)
{
    airflow_copy(body, "value", request, "value");
    airflow_copy(body, "description", request, "doc");
}

enum status airflow_ask_variable_post(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, NULL, body, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "name", json_get_string(body, "key", ""));
    put_value(body, request);
    *out = TAKE(request);
    return STATUS_OK;
}

/* What another namespace lends is changed there. */
static enum status load_before(const struct route_call *call, const json_t *request, json_t **out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *before = NULL;
    if (operation_call(call->operations, "variable.show", request, &before, err) != STATUS_OK)
        return err->code;
    const char *asked = json_get_string(request, "namespace", "");
    const char *space = json_get_string(before, "namespace", asked);
    if (!str_equal(space, asked))
        return err_set(err, STATUS_NOT_FOUND, "there is no variable '%.100s' in namespace '%.60s'",
                       json_get_string(request, "name", ""), asked);
    *out = TAKE(before);
    return STATUS_OK;
}

enum status airflow_handle_variable_patch(struct route_call *call, struct http_response *out,
                                          struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *before = NULL;
    CLEANUP(json_decrefp) json_t *after = NULL;
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    const char *name = route_param(call, "variable_key");
    json_put_string(request, "name", name);
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_space(call, query, body, request, err) != STATUS_OK ||
        airflow_mask(query, body, err) != STATUS_OK ||
        load_before(call, request, &before, err) != STATUS_OK)
        return err->code;
    if (!str_equal(json_get_string(body, "key", name), name))
        return err_set(err, STATUS_INVALID, "a variable keeps its name: make another one instead");
    if (json_object_get(body, "value") == NULL)
        airflow_copy(before, "value", body, "value");
    put_value(body, request);
    if (airflow_call(call, "variable.set", TAKE(request), &after, err) != STATUS_OK)
        return err->code;
    answer_json(out, 200, shape(after));
    return STATUS_OK;
}
