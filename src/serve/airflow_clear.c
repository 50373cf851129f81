/*
 * Tasks of several runs at once: cleared, or given a state by hand.
 */
#include "base/check.h"
#include "base/str.h"
#include "serve/airflow_run.h"
#include "serve/airflow_task.h"
#include "serve/answer.h"
#include "service/json_build.h"

enum { RUNS_MAX = 1000 };

/* What a body means: which runs, which tasks, and what is collected on the way. */
struct sweep {
    const struct route_call *call;
    const json_t *body;
    bool dry_run;
    json_t *names;      /* of tasks; NULL: all */
    json_t *references; /* of what was or would be changed */
    bool is_one_run;    /* which was named: what is wrong with it is told */
};

/* --- which runs ------------------------------------------------------------------------------ */

static json_t *list_request(const struct sweep *sweep)
{
    json_t *request = json_build_object();
    json_put_string(request, "dag", route_param(sweep->call, "dag_id"));
    json_put_bool(request, "brief", true);
    json_put_string(request, "order_by", "logical_date");
    json_put_int(request, "limit", RUNS_MAX + 1);
    return request;
}

static enum status add_runs(const struct sweep *sweep, json_t *taken_request, json_t *runs,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = NULL;
    if (airflow_call(sweep->call, "run.list", taken_request, &found, err) != STATUS_OK)
        return err->code;
    const json_t *list = json_object_get(found, "dag_runs");
    if (json_array_size(list) + json_array_size(runs) > RUNS_MAX)
        return err_set(err, STATUS_LIMIT,
                       "more than %d runs are meant: narrow them down with start_date and end_date",
                       RUNS_MAX);
    CHECK(json_array_extend(runs, (json_t *)(uintptr_t)list) == 0);
    return STATUS_OK;
}

static enum status find_named(const struct sweep *sweep, const char *run_id, json_t *runs,
                              struct err *err)
{
    json_t *request = json_build_object();
    json_t *run = NULL;
    const char *dag_id = route_param(sweep->call, "dag_id");
    json_put_bool(request, "brief", true);
    json_put_string(request, "run", arena_format(sweep->call->arena, "%s/%s", dag_id, run_id));
    if (airflow_call(sweep->call, "run.show", request, &run, err) != STATUS_OK)
        return err->code;
    json_build_append(runs, run);
    return STATUS_OK;
}

static enum status find_dated(const struct sweep *sweep, const char *date, json_t *runs,
                              struct err *err)
{
    json_t *request = list_request(sweep);
    json_put_string(request, "logical_from", date);
    json_put_string(request, "logical_to", date);
    if (add_runs(sweep, request, runs, err) != STATUS_OK)
        return err->code;
    if (json_array_size(runs) == 0)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%.100s' has no run for %.60s",
                       route_param(sweep->call, "dag_id"), date);
    return STATUS_OK;
}

/* Runs before or after the one that is there already, by date. */
static enum status add_neighbours(const struct sweep *sweep, const char *bound, json_t *runs,
                                  struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = json_build_array();
    const json_t *first = json_array_get(runs, 0);
    const char *own = json_get_string(first, "dag_run_id", "");
    json_t *request = list_request(sweep);
    json_put_string(request, bound, json_get_string(first, "logical_date", NULL));
    if (add_runs(sweep, request, found, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(found); i++)
        if (!str_equal(json_get_string(json_array_get(found, i), "dag_run_id", ""), own))
            json_build_append(runs, json_incref(json_array_get(found, i)));
    return STATUS_OK;
}

static enum status find_runs(struct sweep *sweep, json_t *runs, struct err *err)
{
    const json_t *body = sweep->body;
    const char *run_id = json_get_string(body, "dag_run_id", NULL);
    const char *date = json_get_string(body, "execution_date", NULL);
    sweep->is_one_run = run_id != NULL || date != NULL;
    if (!sweep->is_one_run) {
        json_t *request = list_request(sweep);
        airflow_copy(body, "start_date", request, "logical_from");
        airflow_copy(body, "end_date", request, "logical_to");
        return add_runs(sweep, request, runs, err);
    }
    enum status status =
        run_id != NULL ? find_named(sweep, run_id, runs, err) : find_dated(sweep, date, runs, err);
    if (status == STATUS_OK && json_get_bool(body, "include_past", false))
        status = add_neighbours(sweep, "logical_to", runs, err);
    if (status == STATUS_OK && json_get_bool(body, "include_future", false))
        status = add_neighbours(sweep, "logical_from", runs, err);
    return status;
}

/* --- which tasks ----------------------------------------------------------------------------- */

static enum status tasks_of_run(const struct sweep *sweep, const json_t *run, const char *state,
                                json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = NULL;
    json_t *request = json_build_object();
    json_put(request, "run", json_incref(json_object_get(run, "number")));
    json_put_string(request, "state", state);
    if (airflow_call(sweep->call, "run.tasks", request, &found, err) != STATUS_OK)
        return err->code;
    *out = airflow_task_ids(json_object_get(found, "task_instances"));
    return STATUS_OK;
}

/* The tasks that are asked for, of those that run where only those are meant. */
static enum status choose_tasks(const struct sweep *sweep, const json_t *run, json_t **out,
                                struct err *err)
{
    bool only_running = json_get_bool(sweep->body, "only_running", false);
    CLEANUP(json_decrefp) json_t *all = NULL;
    if (!only_running && sweep->names != NULL) {
        *out = json_incref(sweep->names);
        return STATUS_OK;
    }
    if (tasks_of_run(sweep, run, only_running ? "running" : NULL, &all, err) != STATUS_OK)
        return err->code;
    if (sweep->names == NULL) {
        *out = TAKE(all);
        return STATUS_OK;
    }
    *out = json_build_array();
    for (size_t i = 0; i < json_array_size(all); i++)
        if (airflow_has_text(sweep->names, json_string_value(json_array_get(all, i))))
            json_build_append(*out, json_incref(json_array_get(all, i)));
    return STATUS_OK;
}

static void add_references(const struct sweep *sweep, const json_t *tasks)
{
    for (size_t i = 0; i < json_array_size(tasks); i++)
        json_build_append(sweep->references, airflow_task_reference(json_array_get(tasks, i)));
}

static enum status each_run(struct sweep *sweep,
                            enum status (*change)(struct sweep *sweep, const json_t *run,
                                                  struct err *err),
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *runs = json_build_array();
    if (find_runs(sweep, runs, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        struct err problem = {0};
        enum status status = change(sweep, json_array_get(runs, i), &problem);
        /* Another version may not have had such a task. */
        if (status == STATUS_OK || (status == STATUS_NOT_FOUND && !sweep->is_one_run))
            continue;
        *err = problem;
        return status;
    }
    return STATUS_OK;
}

static void answer_references(const struct sweep *sweep, struct http_response *out)
{
    answer_json(out, 200, json_build_list("task_instances", json_incref(sweep->references)));
}

/* --- clearTaskInstances ---------------------------------------------------------------------- */

static enum status clear_run(struct sweep *sweep, const json_t *run, struct err *err)
{
    CLEANUP(json_decrefp) json_t *names = NULL;
    CLEANUP(json_decrefp) json_t *cleared = NULL;
    if (choose_tasks(sweep, run, &names, err) != STATUS_OK)
        return err->code;
    if (json_array_size(names) == 0)
        return STATUS_OK;
    json_t *request = json_build_object();
    json_put(request, "run", json_incref(json_object_get(run, "number")));
    json_put(request, "tasks", TAKE(names));
    json_put_bool(request, "failed",
                  json_get_bool(sweep->body, "only_failed", true) &&
                      !json_get_bool(sweep->body, "only_running", false));
    json_put_bool(request, "upstream", json_get_bool(sweep->body, "include_upstream", false));
    json_put_bool(request, "downstream", json_get_bool(sweep->body, "include_downstream", false));
    json_put_bool(request, "dry_run", sweep->dry_run);
    if (airflow_call(sweep->call, "task.clear", request, &cleared, err) != STATUS_OK)
        return err->code;
    add_references(sweep, json_object_get(cleared, "task_instances"));
    return STATUS_OK;
}

enum status airflow_handle_clear(struct route_call *call, struct http_response *out,
                                 struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *dag = json_build_object();
    CLEANUP(json_decrefp) json_t *references = json_build_array();
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_dag(call, false, dag, err) != STATUS_OK)
        return err->code;
    json_t *names = json_object_get(body, "task_ids");
    struct sweep sweep = {
        .call = call,
        .body = body,
        .dry_run = json_get_bool(body, "dry_run", true),
        .names = json_array_size(names) > 0 ? names : NULL,
        .references = references,
    };
    if (each_run(&sweep, clear_run, err) != STATUS_OK)
        return err->code;
    answer_references(&sweep, out);
    return STATUS_OK;
}

/* --- updateTaskInstancesState ---------------------------------------------------------------- */

static bool has_task(const json_t *tasks, const char *task_id)
{
    for (size_t i = 0; i < json_array_size(tasks); i++)
        if (str_equal(json_get_string(json_array_get(tasks, i), "task_id", ""), task_id))
            return true;
    return false;
}

/* Tasks that the list of names leads to along a member of tasks, appended to it. */
static void follow(const json_t *tasks, const char *member, json_t *names)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        for (size_t at = 0; at < json_array_size(tasks); at++) {
            const json_t *task = json_array_get(tasks, at);
            const json_t *others = json_object_get(task, member);
            if (!str_equal(json_get_string(task, "task_id", ""),
                           json_string_value(json_array_get(names, i))))
                continue;
            for (size_t k = 0; k < json_array_size(others); k++)
                if (!airflow_has_text(names, json_string_value(json_array_get(others, k))))
                    json_build_append(names, json_incref(json_array_get(others, k)));
        }
}

json_t *airflow_children_first(const json_t *tasks, const json_t *names)
{
    json_t *ordered = json_build_array();
    for (size_t i = 0; i < json_array_size(names); i++)
        if (!has_task(tasks, json_string_value(json_array_get(names, i))))
            json_build_append(ordered, json_incref(json_array_get(names, i)));
    for (size_t i = json_array_size(tasks); i > 0; i--) {
        json_t *id = json_object_get(json_array_get(tasks, i - 1), "task_id");
        if (airflow_has_text(names, json_string_value(id)))
            json_build_append(ordered, json_incref(id));
    }
    return ordered;
}

static enum status name_tasks(const struct route_call *call, const json_t *body, json_t **out,
                              struct err *err)
{
    CLEANUP(json_decrefp) json_t *found = NULL;
    CLEANUP(json_decrefp) json_t *up = json_build_array();
    CLEANUP(json_decrefp) json_t *names = json_build_array();
    json_t *request = json_build_object();
    if (airflow_put_dag(call, false, request, err) != STATUS_OK) {
        json_decref(request);
        return err->code;
    }
    if (airflow_call(call, "task.list", request, &found, err) != STATUS_OK)
        return err->code;
    const json_t *tasks = json_object_get(found, "tasks");
    const char *task_id = json_get_string(body, "task_id", "");
    if (!has_task(tasks, task_id))
        return err_set(err, STATUS_NOT_FOUND, "DAG '%.100s' has no task '%.100s'",
                       route_param(call, "dag_id"), task_id);
    json_build_append(names, json_string(task_id));
    json_build_append(up, json_string(task_id));
    if (json_get_bool(body, "include_downstream", false))
        follow(tasks, "dependants", names);
    if (json_get_bool(body, "include_upstream", false))
        follow(tasks, "needs", up);
    CHECK(json_array_extend(names, up) == 0);
    *out = airflow_children_first(tasks, names);
    return STATUS_OK;
}

static enum status mark_run(struct sweep *sweep, const json_t *run, struct err *err)
{
    for (size_t i = 0; i < json_array_size(sweep->names); i++) {
        CLEANUP(json_decrefp) json_t *task = NULL;
        json_t *request = json_build_object();
        json_put(request, "run", json_incref(json_object_get(run, "number")));
        json_put(request, "task", json_incref(json_array_get(sweep->names, i)));
        json_put_string(request, "state", json_get_string(sweep->body, "new_state", ""));
        json_put_bool(request, "dry_run", sweep->dry_run);
        if (airflow_call(sweep->call, "task.mark", request, &task, err) != STATUS_OK)
            return err->code;
        json_build_append(sweep->references, airflow_task_reference(task));
    }
    return STATUS_OK;
}

enum status airflow_handle_states(struct route_call *call, struct http_response *out,
                                  struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    CLEANUP(json_decrefp) json_t *names = NULL;
    CLEANUP(json_decrefp) json_t *references = json_build_array();
    if (airflow_body(call, &body, err) != STATUS_OK)
        return err->code;
    if (json_get_string(body, "dag_run_id", NULL) == NULL &&
        json_get_string(body, "execution_date", NULL) == NULL)
        return err_set(err, STATUS_INVALID, "name the run: dag_run_id, or its execution_date");
    if (name_tasks(call, body, &names, err) != STATUS_OK)
        return err->code;
    struct sweep sweep = {
        .call = call,
        .body = body,
        .dry_run = json_get_bool(body, "dry_run", true),
        .names = names,
        .references = references,
    };
    if (each_run(&sweep, mark_run, err) != STATUS_OK)
        return err->code;
    answer_references(&sweep, out);
    return STATUS_OK;
}
