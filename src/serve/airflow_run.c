#include "serve/airflow_run.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "service/json_build.h"

static const char *run_type_of(const char *kind)
{
    return strcmp(kind, "dataset") == 0 || strcmp(kind, "event") == 0 ? "dataset_triggered" : kind;
}

void airflow_run_shape(json_t *run)
{
    json_put(run, "execution_date", json_incref(json_object_get(run, "logical_date")));
    json_put_string(run, "run_type", run_type_of(json_get_string(run, "run_type", "manual")));
    if (str_equal(json_get_string(run, "state", ""), "cancelled"))
        json_put_string(run, "state", "failed");
    json_put(run, "last_scheduling_decision", json_null());
}

/* --- lists ----------------------------------------------------------------------------------- */

void airflow_put_ranges(const json_t *query, json_t *request)
{
    static const struct airflow_word KEYS[] = {
        {"execution_date", "logical"}, {"logical_date", "logical"}, {"start_date", "start"},
        {"end_date", "end"},           {"updated_at", "updated"},
    };
    char theirs[40];
    char ours[40];
    for (size_t i = 0; i < ARRAY_LEN(KEYS); i++) {
        (void)snprintf(theirs, sizeof theirs, "%s_gte", KEYS[i].theirs);
        (void)snprintf(ours, sizeof ours, "%s_from", KEYS[i].ours);
        airflow_copy(query, theirs, request, ours);
        (void)snprintf(theirs, sizeof theirs, "%s_lte", KEYS[i].theirs);
        (void)snprintf(ours, sizeof ours, "%s_to", KEYS[i].ours);
        airflow_copy(query, theirs, request, ours);
    }
}

static void put_states(const json_t *states, json_t *request)
{
    json_t *ours = json_build_array();
    for (size_t i = 0; i < json_array_size(states); i++)
        airflow_add_run_states(ours, json_string_value(json_array_get(states, i)));
    json_put(request, "states", ours);
}

/* From a query, or the form of a list: states, dates, DAGs, order. */
static enum status put_filters(const json_t *query, json_t *request, struct err *err)
{
    static const struct airflow_word ORDERS[] = {
        {"id", "id"},
        {"execution_date", "logical_date"},
        {"logical_date", "logical_date"},
        {"start_date", "start_date"},
        {"end_date", "end_date"},
    };
    json_t *states = json_object_get(query, "state");
    if (states == NULL)
        states = json_object_get(query, "states");
    if (json_array_size(states) > 0)
        put_states(states, request);
    airflow_put_ranges(query, request);
    airflow_copy(query, "dag_ids", request, "dags");
    airflow_copy(query, "cursor", request, "cursor");
    json_put_bool(request, "brief", true);
    return airflow_put_order(query, ORDERS, ARRAY_LEN(ORDERS), request, err);
}

enum status airflow_ask_runs(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK ||
        airflow_put_dag(call, true, request, err) != STATUS_OK ||
        airflow_page(query, request, err) != STATUS_OK ||
        put_filters(query, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_runs_form(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *form = NULL;
    if (airflow_form(call, request, &form, err) != STATUS_OK ||
        put_filters(form, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_runs(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    const json_t *runs = json_object_get(answer, "dag_runs");
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        airflow_run_shape(json_array_get(runs, i));
        airflow_choose(query, json_array_get(runs, i));
    }
    *out = TAKE(answer);
    return STATUS_OK;
}

/* --- one run --------------------------------------------------------------------------------- */

enum status airflow_ask_run(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    json_put_bool(request, "brief", true);
    if (airflow_put_run(call, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_run_plain(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_put_run(call, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_run(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *run = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    airflow_run_shape(run);
    airflow_choose(query, run);
    *out = TAKE(run);
    return STATUS_OK;
}

enum status airflow_ask_trigger(const struct route_call *call, json_t **out, struct err *err)
{
    static const struct airflow_word SAME[] = {
        {"execution_date", "logical_date"},
        {"logical_date", "logical_date"},
        {"data_interval_start", "data_interval_start"},
        {"data_interval_end", "data_interval_end"},
        {"dag_run_id", "run_id"},
        {"conf", "conf"},
        {"note", "note"},
    };
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_dag(call, false, request, err) != STATUS_OK)
        return err->code;
    const char *logical = json_get_string(body, "logical_date", NULL);
    const char *execution = json_get_string(body, "execution_date", NULL);
    if (logical != NULL && execution != NULL && !str_equal(logical, execution))
        return err_set(err, STATUS_INVALID,
                       "'logical_date' and 'execution_date' mean the same, but differ");
    airflow_copy_words(body, SAME, ARRAY_LEN(SAME), request);
    json_put_bool(request, "brief", true);
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_run_note(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_put_run(call, request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "note", json_get_string(body, "note", ""));
    *out = TAKE(request);
    return STATUS_OK;
}

/* --- what a run was made of ------------------------------------------------------------------ */

enum status airflow_answer_upstream(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    (void)call;
    (void)err;
    CLEANUP(json_decrefp) json_t *run = taken;
    const json_t *causes = json_object_get(run, "caused_by");
    json_t *events = json_build_array();
    for (size_t i = 0; i < json_array_size(causes); i++) {
        const json_t *cause = json_array_get(causes, i);
        if (!str_equal(json_get_string(cause, "kind", ""), "dataset"))
            continue;
        json_t *event = json_build_object();
        json_put_string(event, "dataset_uri", json_get_string(cause, "name", ""));
        json_put(event, "timestamp", json_incref(json_object_get(cause, "at")));
        json_put_string(event, "source_dag_id", json_get_string(cause, "dag_id", NULL));
        json_put_string(event, "source_run_id", json_get_string(cause, "dag_run_id", NULL));
        json_put_string(event, "source_task_id", json_get_string(cause, "task_id", NULL));
        json_put_int(event, "source_map_index", json_get_int(cause, "map_index", -1));
        json_t *extra = json_object_get(cause, "extra");
        json_put(event, "extra", extra != NULL ? json_incref(extra) : json_build_object());
        json_put(event, "created_dagruns", json_build_array());
        json_build_append(events, event);
    }
    *out = json_build_list("dataset_events", events);
    return STATUS_OK;
}
