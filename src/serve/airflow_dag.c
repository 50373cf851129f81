#include "serve/airflow_dag.h"

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "serve/answer.h"
#include "service/json_build.h"

/* --- shapes ---------------------------------------------------------------------------------- */

static json_t *names(const json_t *tags)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < json_array_size(tags); i++) {
        json_t *tag = json_build_object();
        json_put(tag, "name", json_incref(json_array_get(tags, i)));
        json_build_append(list, tag);
    }
    return list;
}

static json_t *interval(const json_t *schedule)
{
    if (!json_is_string(schedule))
        return json_null();
    json_t *cron = json_build_object();
    json_put_string(cron, "__type", "CronExpression");
    json_put_string(cron, "value", json_string_value(schedule));
    return cron;
}

static json_t *owners(const json_t *dag)
{
    json_t *list = json_build_array();
    const char *owner = json_get_string(dag, "owner", NULL);
    if (owner != NULL)
        json_build_append(list, json_string(owner));
    return list;
}

static void put_nulls(json_t *object, const char *words)
{
    json_t *keys = json_build_words(words);
    for (size_t i = 0; i < json_array_size(keys); i++)
        json_put(object, json_string_value(json_array_get(keys, i)), json_null());
    json_decref(keys);
}

static void put_text_of(json_t *object, const char *key, const json_t *value)
{
    CLEANUP(mem_freep)
    char *text =
        value != NULL && !json_is_null(value) && !json_is_string(value) ? json_format(value) : NULL;
    json_put_string(object, key, json_is_string(value) ? json_string_value(value) : text);
}

/* A DAG is named by its id, not by the place of its file, so that is its token. */
static json_t *shape(const json_t *ours)
{
    json_t *dag = json_build_object();
    const json_t *schedule = json_object_get(ours, "schedule");
    const char *id = json_get_string(ours, "dag_id", "");
    json_put_string(dag, "dag_id", id);
    json_put_string(dag, "dag_display_name", json_get_string(ours, "title", id));
    json_put_string(dag, "description", json_get_string(ours, "description", NULL));
    json_put_string(dag, "fileloc", json_get_string(ours, "file", ""));
    json_put_string(dag, "file_token", id);
    json_put(dag, "owners", owners(ours));
    json_put(dag, "tags", names(json_object_get(ours, "tags")));
    json_put(dag, "schedule_interval", interval(schedule));
    put_text_of(dag, "timetable_description", schedule);
    json_put_bool(dag, "is_paused", json_get_bool(ours, "is_paused", false));
    json_put_bool(dag, "is_active", json_get_bool(ours, "is_active", true));
    json_put_bool(dag, "is_subdag", false);
    json_put_bool(dag, "has_import_errors", json_get_bool(ours, "has_import_errors", false));
    json_put_int(dag, "max_active_runs", json_get_int(ours, "max_active_runs", 0));
    json_put_int(dag, "max_active_tasks", json_get_int(ours, "max_active_tasks", 0));
    json_put_bool(dag, "has_task_concurrency_limits",
                  json_get_int(ours, "max_active_tasks", 0) > 0);
    json_put_string(dag, "next_dagrun", json_get_string(ours, "next_run", NULL));
    json_put_string(dag, "next_dagrun_create_after", json_get_string(ours, "next_run", NULL));
    json_put_string(dag, "default_view", "grid");
    put_nulls(dag, "last_parsed_time last_expired last_pickled pickle_id root_dag_id scheduler_lock"
                   " next_dagrun_data_interval_start next_dagrun_data_interval_end"
                   " max_consecutive_failed_dag_runs");
    json_put_string(dag, "namespace", json_get_string(ours, "namespace", NULL));
    airflow_copy(ours, "dag_version", dag, "dag_version");
    return dag;
}

static json_t *details(const json_t *ours)
{
    json_t *dag = shape(ours);
    json_t *params = json_object_get(ours, "params");
    json_put(dag, "params", params != NULL ? json_incref(params) : json_build_object());
    json_put(dag, "dag_run_timeout", airflow_duration(json_object_get(ours, "timeout")));
    json_put_string(dag, "doc_md", json_get_string(ours, "doc", NULL));
    json_put_int(dag, "concurrency", json_get_int(ours, "max_active_tasks", 0));
    json_put_string(dag, "timezone", "UTC");
    json_put_string(dag, "orientation", "LR");
    json_put_bool(dag, "render_template_as_native_obj", false);
    json_put(dag, "template_search_path", json_build_array());
    put_nulls(dag, "catchup start_date end_date last_parsed is_paused_upon_creation"
                   " dataset_expression");
    return dag;
}

/* --- DAGs ------------------------------------------------------------------------------------ */

static enum status list_request(const json_t *query, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_page(query, request, err) != STATUS_OK)
        return err->code;
    (void)json_object_del(request, "with_total");
    json_put_bool(request, "brief", true);
    json_put_bool(request, "all", !json_get_bool(query, "only_active", true));
    airflow_copy(query, "tags", request, "tags");
    airflow_copy(query, "paused", request, "paused");
    airflow_copy(query, "dag_id_pattern", request, "pattern");
    airflow_copy(query, "order_by", request, "order_by");
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_dags(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    return list_request(query, out, err);
}

static json_t *shape_all(const json_t *query, const json_t *answer)
{
    const json_t *dags = json_object_get(answer, "dags");
    json_t *shown = json_build_array();
    for (size_t i = 0; i < json_array_size(dags); i++) {
        json_t *dag = shape(json_array_get(dags, i));
        airflow_choose(query, dag);
        json_build_append(shown, dag);
    }
    return shown;
}

enum status airflow_answer_dags(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put(*out, "dags", shape_all(query, answer));
    json_put_int(*out, "total_entries", json_get_int(answer, "total_entries", 0));
    return STATUS_OK;
}

enum status airflow_ask_dag(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_put_dag(call, false, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

static enum status answer_one(const struct route_call *call, json_t *taken,
                              json_t *(*form)(const json_t *ours), json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *ours = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    *out = form(ours);
    airflow_choose(query, *out);
    return STATUS_OK;
}

enum status airflow_answer_dag(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err)
{
    return answer_one(call, taken, shape, out, err);
}

enum status airflow_answer_details(const struct route_call *call, json_t *taken, json_t **out,
                                   struct err *err)
{
    return answer_one(call, taken, details, out, err);
}

/* --- DAGs without a file --------------------------------------------------------------------- */

/* The body is the DAG; a path names it, too. */
enum status airflow_ask_dag_post(const struct route_call *call, json_t **out, struct err *err)
{
    bool is_named = call->route->method == HTTP_PUT;
    if (!json_is_object(call->body))
        return err_set(err, STATUS_INVALID, "the body must be the DAG, a JSON object");
    CLEANUP(json_decrefp) json_t *definition = json_copy(call->body);
    CHECK(definition != NULL);
    airflow_copy(definition, "dag_id", definition, "dag");
    (void)json_object_del(definition, "dag_id");
    if (is_named) {
        const char *id = route_param(call, "dag_id");
        if (!str_equal(json_get_string(definition, "dag", id), id))
            return err_set(err, STATUS_INVALID, "the path names '%.60s' and the body '%.60s'", id,
                           json_get_string(definition, "dag", ""));
        json_put_string(definition, "dag", id);
    }
    *out = json_build_object();
    json_put(*out, "definition", TAKE(definition));
    json_put_bool(*out, "replace", is_named);
    return STATUS_OK;
}

/* --- pausing --------------------------------------------------------------------------------- */

static enum status read_patch(const struct route_call *call, json_t **out_query, bool *out_paused,
                              struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_query(call, out_query, err) != STATUS_OK ||
        airflow_body(call, &body, err) != STATUS_OK ||
        airflow_mask(*out_query, body, err) != STATUS_OK)
        return err->code;
    if (!json_is_boolean(json_object_get(body, "is_paused")))
        return err_set(err, STATUS_INVALID, "of a DAG only 'is_paused' can be set");
    *out_paused = json_get_bool(body, "is_paused", false);
    return STATUS_OK;
}

static enum status pause_all(const struct route_call *call, json_t *taken_ids, bool is_paused,
                             struct err *err)
{
    CLEANUP(json_decrefp) json_t *ignored = NULL;
    json_t *request = json_build_object();
    json_put(request, "dags", taken_ids);
    return airflow_call(call, is_paused ? "dag.pause" : "dag.unpause", request, &ignored, err);
}

enum status airflow_handle_dag_patch(struct route_call *call, struct http_response *out,
                                     struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *dag = NULL;
    json_t *request = NULL;
    bool is_paused = false;
    if (read_patch(call, &query, &is_paused, err) != STATUS_OK ||
        airflow_ask_dag(call, &request, err) != STATUS_OK)
        return err->code;
    json_t *ids = json_build_array();
    json_build_append(ids, json_string(route_param(call, "dag_id")));
    if (pause_all(call, ids, is_paused, err) != STATUS_OK) {
        json_decref(request);
        return err->code;
    }
    if (airflow_call(call, "dag.show", request, &dag, err) != STATUS_OK)
        return err->code;
    answer_json(out, 200, shape(dag));
    return STATUS_OK;
}

/* All that match, as one page after the other would show them. */
enum status airflow_handle_dags_patch(struct route_call *call, struct http_response *out,
                                      struct err *err)
{
    CLEANUP(json_decrefp) json_t *query = NULL;
    CLEANUP(json_decrefp) json_t *found = NULL;
    json_t *request = NULL;
    bool is_paused = false;
    if (read_patch(call, &query, &is_paused, err) != STATUS_OK)
        return err->code;
    if (json_get_string(query, "dag_id_pattern", NULL) == NULL)
        return err_set(err, STATUS_INVALID, "say which DAGs with dag_id_pattern; ~ means all");
    if (airflow_is_all(json_get_string(query, "dag_id_pattern", "")))
        (void)json_object_del(query, "dag_id_pattern");
    if (list_request(query, &request, err) != STATUS_OK ||
        airflow_call(call, "dag.list", request, &found, err) != STATUS_OK)
        return err->code;
    const json_t *dags = json_object_get(found, "dags");
    json_t *ids = json_build_array();
    for (size_t i = 0; i < json_array_size(dags); i++) {
        json_t *dag = json_array_get(dags, i);
        json_build_append(ids, json_incref(json_object_get(dag, "dag_id")));
        json_put_bool(dag, "is_paused", is_paused);
    }
    if (json_array_size(ids) > 0) {
        if (pause_all(call, ids, is_paused, err) != STATUS_OK)
            return err->code;
    } else {
        json_decref(ids);
    }
    json_t *answer = json_build_object();
    json_put(answer, "dags", shape_all(query, found));
    json_put_int(answer, "total_entries", json_get_int(found, "total_entries", 0));
    answer_json(out, 200, answer);
    return STATUS_OK;
}
