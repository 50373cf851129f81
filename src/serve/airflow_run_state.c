/*
 * What Airflow's clients do to a whole run: set its state, clear it.
 */
#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_run.h"
#include "serve/airflow_task.h"
#include "serve/answer.h"
#include "service/json_build.h"

static enum status load_run(const struct route_call *call, json_t **out, struct err *err)
{
    json_t *request = NULL;
    if (airflow_ask_run(call, &request, err) != STATUS_OK)
        return err->code;
    return airflow_call(call, "run.show", request, out, err);
}

/* Stop it, unless it is over: then its tasks that went well are not asked to change their mind. */
static enum status fail_run(const struct route_call *call, const json_t *run, struct err *err)
{
    const char *state = json_get_string(run, "state", "");
    json_t *request = NULL;
    CLEANUP(json_decrefp) json_t *ignored = NULL;
    if (str_equal(state, "failed") || str_equal(state, "cancelled"))
        return STATUS_OK;
    if (str_equal(state, "success"))
        return err_set(err, STATUS_CONFLICT,
                       "the run succeeded: mark one of its tasks failed to make it fail");
    if (airflow_ask_run_plain(call, &request, err) != STATUS_OK)
        return err->code;
    return airflow_call(call, "run.cancel", request, &ignored, err);
}

static enum status resume_run(const struct route_call *call, struct err *err)
{
    json_t *request = NULL;
    CLEANUP(json_decrefp) json_t *ignored = NULL;
    if (airflow_ask_run_plain(call, &request, err) != STATUS_OK)
        return err->code;
    return airflow_call(call, "run.retry", request, &ignored, err);
}

/* Tasks of the run that did not succeed, children first. */
static enum status find_unsuccessful(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *tasks = NULL;
    CLEANUP(json_decrefp) json_t *order = NULL;
    CLEANUP(json_decrefp) json_t *names = json_build_array();
    json_t *request = NULL;
    json_t *dag = json_build_object();
    json_put_string(dag, "dag", route_param(call, "dag_id"));
    if (airflow_call(call, "task.list", dag, &order, err) != STATUS_OK ||
        airflow_ask_run_plain(call, &request, err) != STATUS_OK ||
        airflow_call(call, "run.tasks", request, &tasks, err) != STATUS_OK)
        return err->code;
    const json_t *list = json_object_get(tasks, "task_instances");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *task = json_array_get(list, i);
        const char *state = json_get_string(task, "state", "");
        if (!str_equal(state, "success") && !str_equal(state, "removed") &&
            json_get_int(task, "map_index", -1) < 0)
            json_build_append(names, json_incref(json_object_get(task, "task_id")));
    }
    *out = airflow_children_first(json_object_get(order, "tasks"), names);
    return STATUS_OK;
}

static enum status mark_all(const struct route_call *call, struct err *err)
{
    CLEANUP(json_decrefp) json_t *names = NULL;
    if (find_unsuccessful(call, &names, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(names); i++) {
        CLEANUP(json_decrefp) json_t *ignored = NULL;
        json_t *request = NULL;
        if (airflow_ask_run_plain(call, &request, err) != STATUS_OK)
            return err->code;
        json_put(request, "task", json_incref(json_array_get(names, i)));
        json_put_string(request, "state", "success");
        if (airflow_call(call, "task.mark", request, &ignored, err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status set_state(const struct route_call *call, const char *state, const json_t *run,
                             struct err *err)
{
    if (str_equal(state, "failed"))
        return fail_run(call, run, err);
    if (str_equal(state, "queued"))
        return resume_run(call, err);
    if (str_equal(state, "success"))
        return mark_all(call, err);
    return err_set(err, STATUS_INVALID,
                   "'%.60s' is no state to set: write success, failed or queued", state);
}

enum status airflow_handle_run_state(struct route_call *call, struct http_response *out,
                                     struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *before = NULL;
    json_t *after = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK || load_run(call, &before, err) != STATUS_OK)
        return err->code;
    const char *state = json_get_string(body, "state", "");
    if (set_state(call, state, before, err) != STATUS_OK ||
        load_run(call, &after, err) != STATUS_OK)
        return err->code;
    airflow_run_shape(after);
    /* What runs is stopped first; the answer says what becomes of the run. */
    if (str_equal(state, "failed"))
        json_put_string(after, "state", "failed");
    answer_json(out, 200, after);
    return STATUS_OK;
}

/* --- clear ----------------------------------------------------------------------------------- */

static enum status all_tasks(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *tasks = NULL;
    json_t *request = NULL;
    if (airflow_ask_run_plain(call, &request, err) != STATUS_OK ||
        airflow_call(call, "run.tasks", request, &tasks, err) != STATUS_OK)
        return err->code;
    *out = airflow_task_ids(json_object_get(tasks, "task_instances"));
    return STATUS_OK;
}

enum status airflow_handle_run_clear(struct route_call *call, struct http_response *out,
                                     struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *names = NULL;
    CLEANUP(json_decrefp) json_t *cleared = NULL;
    json_t *request = NULL;
    json_t *run = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK || all_tasks(call, &names, err) != STATUS_OK)
        return err->code;
    bool dry_run = json_get_bool(body, "dry_run", true);
    if (airflow_ask_run_plain(call, &request, err) != STATUS_OK)
        return err->code;
    json_put(request, "tasks", TAKE(names));
    json_put_bool(request, "dry_run", dry_run);
    if (airflow_call(call, "task.clear", request, &cleared, err) != STATUS_OK)
        return err->code;
    if (dry_run) {
        airflow_tasks_shape(cleared);
        answer_json(out, 200, TAKE(cleared));
        return STATUS_OK;
    }
    if (load_run(call, &run, err) != STATUS_OK)
        return err->code;
    airflow_run_shape(run);
    answer_json(out, 200, run);
    return STATUS_OK;
}
