#include "base/check.h"
#include "base/mem.h"
#include "serve/airflow_run_data.h"
#include "service/json_build.h"

enum status airflow_ask_xcoms(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    const char *task_id = route_param(call, "task_id");
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_put_run(call, request, err) != STATUS_OK)
        return err->code;
    if (!airflow_is_all(task_id))
        json_put_string(request, "task", task_id);
    if (json_get_int(query, "map_index", -1) >= 0)
        airflow_copy(query, "map_index", request, "map_index");
    airflow_copy(query, "xcom_key", request, "key");
    *out = TAKE(request);
    return STATUS_OK;
}

static json_t *shape(const struct route_call *call, const json_t *ours)
{
    json_t *entry = json_build_object();
    json_put_string(entry, "key", json_get_string(ours, "key", ""));
    json_put_string(entry, "timestamp", json_get_string(ours, "timestamp", NULL));
    json_put_string(entry, "execution_date", json_get_string(ours, "logical_date", NULL));
    json_put_string(entry, "logical_date", json_get_string(ours, "logical_date", NULL));
    json_put_int(entry, "map_index", json_get_int(ours, "map_index", -1));
    json_put_string(entry, "task_id", json_get_string(ours, "task_id", ""));
    json_put_string(entry, "dag_id", route_param(call, "dag_id"));
    json_put_string(entry, "dag_run_id", route_param(call, "dag_run_id"));
    return entry;
}

enum status airflow_answer_xcoms(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err)
{
    static const char *const KEYS[] = {"key", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *values = json_object_get(answer, "values");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    json_t *entries = json_build_array();
    for (size_t i = 0; i < json_array_size(values); i++)
        json_build_append(entries, shape(call, json_array_get(values, i)));
    return airflow_slice(query, "xcom_entries", entries, KEYS, out, err);
}

enum status airflow_ask_xcom(const struct route_call *call, json_t **out, struct err *err)
{
    if (airflow_ask_xcoms(call, out, err) != STATUS_OK)
        return err->code;
    json_put_string(*out, "key", route_param(call, "xcom_key"));
    return STATUS_OK;
}

/* As a text unless the query says that it is wanted as it is. */
enum status airflow_answer_xcom(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *ours = json_array_get(json_object_get(answer, "values"), 0);
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    if (ours == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no value '%.100s'",
                       route_param(call, "xcom_key"));
    json_t *value = json_object_get(ours, "value");
    bool as_text = json_get_bool(query, "stringify", true) &&
                   !json_get_bool(query, "deserialize", false) && !json_is_string(value);
    json_t *entry = shape(call, ours);
    CLEANUP(mem_freep) char *text = as_text ? json_format(value) : NULL;
    if (as_text)
        json_put_string(entry, "value", text);
    else
        json_put(entry, "value", json_incref(value));
    *out = entry;
    return STATUS_OK;
}
