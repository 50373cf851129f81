/*
 * The tasks of a DAG, its source, and how many runs it has in which state.
 */
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_dag.h"
#include "serve/answer.h"
#include "service/json_build.h"

/* A rule of ours that Airflow does not have is the nearest that it has. */
static const char *rule_of(const json_t *ours)
{
    const char *rule = json_get_string(ours, "trigger_rule", "all_success");
    return strcmp(rule, "all_done_min_one_success") == 0 ? "all_done" : rule;
}

static json_t *class_of(const json_t *ours)
{
    json_t *class = json_build_object();
    json_put_string(class, "class_name", json_get_string(ours, "operator", ""));
    json_put_string(class, "module_path", "eider.tasks");
    return class;
}

static json_t *shape(const json_t *ours)
{
    json_t *task = json_build_object();
    json_put_string(task, "task_id", json_get_string(ours, "task_id", ""));
    json_put_string(task, "task_display_name", json_get_string(ours, "task_id", ""));
    json_put(task, "class_ref", class_of(ours));
    json_put_string(task, "operator_name", json_get_string(ours, "operator", ""));
    json_put_string(task, "doc_md", json_get_string(ours, "doc", NULL));
    json_put(task, "downstream_task_ids", json_incref(json_object_get(ours, "dependants")));
    json_put(task, "upstream_task_ids", json_incref(json_object_get(ours, "needs")));
    json_put_string(task, "trigger_rule", rule_of(ours));
    json_put_bool(task, "is_mapped", json_get_bool(ours, "is_mapped", false));
    json_put_string(task, "owner", "");
    json_put_string(task, "pool", json_get_string(ours, "pool", "default_pool"));
    json_put_int(task, "pool_slots", json_get_int(ours, "pool_slots", 1));
    json_put_string(task, "queue", json_get_string(ours, "queue", NULL));
    json_put_int(task, "priority_weight", json_get_int(ours, "priority_weight", 0));
    json_put_string(task, "weight_rule", "absolute");
    json_put_int(task, "retries", json_get_int(ours, "retries", 0));
    json_put(task, "retry_delay", airflow_duration(json_object_get(ours, "retry_delay")));
    json_put_bool(task, "retry_exponential_backoff",
                  json_number_value(json_object_get(ours, "retry_backoff")) > 1);
    json_put(task, "execution_timeout", airflow_duration(json_object_get(ours, "timeout")));
    json_put_bool(task, "depends_on_past", false);
    json_put_bool(task, "wait_for_downstream", false);
    json_put(task, "extra_links", json_build_array());
    json_put(task, "template_fields", json_build_array());
    json_put(task, "start_date", json_null());
    json_put(task, "end_date", json_null());
    json_put(task, "executor", json_null());
    return task;
}

enum status airflow_answer_dag_tasks(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err)
{
    static const char *const KEYS[] = {"task_id", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *tasks = json_object_get(answer, "tasks");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    /* All of them: this list has no pages. */
    json_put_int(query, "limit", (int64_t)json_array_size(tasks) + 1);
    return airflow_slice(query, "tasks", airflow_shape_all(tasks, shape), KEYS, out, err);
}

enum status airflow_ask_dag_task(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_put_dag(call, false, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "task", route_param(call, "task_id"));
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_dag_task(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    (void)call;
    (void)err;
    *out = shape(taken);
    json_decref(taken);
    return STATUS_OK;
}

/* --- dagSources ------------------------------------------------------------------------------ */

static bool wants_json(const struct http_request *request)
{
    const char *accept = http_header(request, "Accept");
    return accept != NULL && strstr(accept, "json") != NULL;
}

enum status airflow_handle_source(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    CLEANUP(json_decrefp) json_t *source = NULL;
    json_t *request = json_build_object();
    json_put_string(request, "dag", route_param(call, "file_token"));
    if (airflow_call(call, "dag.source", request, &source, err) != STATUS_OK)
        return err->code;
    const char *text = json_get_string(source, "text", "");
    if (!wants_json(call->request)) {
        answer_text(out, 200, "text/plain; charset=utf-8", text);
        return STATUS_OK;
    }
    json_t *answer = json_build_object();
    json_put_string(answer, "content", text);
    answer_json(out, 200, answer);
    return STATUS_OK;
}

/* --- dagStats -------------------------------------------------------------------------------- */

static enum status count_state(const struct route_call *call, const char *dag_id, const char *state,
                               json_t *stats, struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = NULL;
    json_t *request = json_build_object();
    json_t *states = json_build_array();
    airflow_add_run_states(states, state);
    json_put_string(request, "dag", dag_id);
    json_put(request, "states", states);
    json_put_bool(request, "brief", true);
    json_put_bool(request, "with_total", true);
    json_put_int(request, "limit", 0);
    if (airflow_call(call, "run.list", request, &found, err) != STATUS_OK)
        return err->code;
    json_t *item = json_build_object();
    json_put_string(item, "state", state);
    json_put_int(item, "count", json_get_int(found, "total_entries", 0));
    json_build_append(stats, item);
    return STATUS_OK;
}

enum status airflow_handle_stats(struct route_call *call, struct http_response *out,
                                 struct err *err)
{
    static const char *const STATES[] = {"queued", "running", "success", "failed"};
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *dags = json_build_array();
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    const json_t *ids = json_object_get(query, "dag_ids");
    if (json_array_size(ids) > AIRFLOW_PAGE_DEFAULT)
        return err_set(err, STATUS_LIMIT, "name at most %d DAGs", AIRFLOW_PAGE_DEFAULT);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        json_t *item = json_build_object();
        json_t *stats = json_build_array();
        json_build_append(dags, item);
        json_put(item, "dag_id", json_incref(json_array_get(ids, i)));
        json_put(item, "stats", stats);
        for (size_t k = 0; k < ARRAY_LEN(STATES); k++)
            if (count_state(call, json_string_value(json_array_get(ids, i)), STATES[k], stats,
                            err) != STATUS_OK)
                return err->code;
    }
    answer_json(out, 200, json_build_list("dags", TAKE(dags)));
    return STATUS_OK;
}
