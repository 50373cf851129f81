#include "serve/airflow_task.h"

#include <string.h>

#include "base/check.h"
#include "base/json_row.h"
#include "base/json_write.h"
#include "base/percent.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "serve/airflow_run.h"
#include "service/json_build.h"

/* There every task is of a pool; this is the one of those that are of none here. */
#define NO_POOL "default_pool"

/* --- shapes ---------------------------------------------------------------------------------- */

static const char *string_of(struct json_row *task, const char *key)
{
    const struct json_cell *cell = json_row_find(task, key);
    const char *text = cell != NULL ? json_cell_string(cell) : NULL;
    return text != NULL ? text : "";
}

static int64_t number_of(struct json_row *task, const char *key, int64_t otherwise)
{
    const struct json_cell *cell = json_row_find(task, key);
    return cell != NULL ? json_cell_number(cell, otherwise) : otherwise;
}

static void add_step(struct strbuf *url, const char *step, const char *name)
{
    strbuf_add(url, step);
    percent_add(url, name, strlen(name));
}

static void put_log_url(struct json_row *task)
{
    struct json_cell *cell = json_row_at(task, "log_url");
    int64_t index = number_of(task, "map_index", -1);
    int64_t attempt = number_of(task, "try_number", 0);
    json_cell_text(cell, NULL);
    if (attempt == 0)
        return;
    CLEANUP(strbuf_fini) struct strbuf url;
    strbuf_init(&url, JSON_ROW_TEXT_MAX / 2);
    add_step(&url, "/api/v1/dags/", string_of(task, "dag_id"));
    add_step(&url, "/dagRuns/", string_of(task, "dag_run_id"));
    add_step(&url, "/taskInstances/", string_of(task, "task_id"));
    strbuf_add(&url, "/logs/");
    json_write_integer(&url, attempt);
    if (index >= 0)
        strbuf_addf(&url, "?map_index=%lld", (long long)index);
    char *room = json_row_room(task, url.length + 1);
    if (room == NULL || url.overflow)
        return;
    memcpy(room, url.text, url.length + 1);
    json_cell_text(cell, room);
}

static void put_texts(struct json_row *task)
{
    static const struct {
        const char *key;
        const char *otherwise;
    } TEXTS[] = {{"hostname", ""}, {"unixname", ""}, {"pool", NO_POOL}};
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        struct json_cell *cell = json_row_at(task, TEXTS[i].key);
        if (json_cell_string(cell) == NULL)
            json_cell_text(cell, TEXTS[i].otherwise);
    }
}

static void put_copy(struct json_row *task, const char *key, const char *other)
{
    struct json_cell *cell = json_row_at(task, key);
    const struct json_cell *found = json_row_find(task, other);
    if (found != NULL)
        json_cell_copy(cell, found);
}

void airflow_task_shape(struct json_row *task)
{
    static const char *const NULL_IF_ABSENT[] = {"note", "pid", "claimed_by", "external"};
    struct json_cell *state = json_row_at(task, "state");
    json_cell_text(state, airflow_task_state(json_cell_string(state)));
    put_copy(task, "execution_date", "logical_date");
    put_copy(task, "task_display_name", "task_id");
    put_copy(task, "rendered_map_index", "label");
    json_cell_json(json_row_at(task, "rendered_fields"), "{}");
    json_cell_text(json_row_at(task, "executor"), NULL);
    json_cell_text(json_row_at(task, "executor_config"), "{}");
    for (size_t i = 0; i < ARRAY_LEN(NULL_IF_ABSENT); i++)
        (void)json_row_at(task, NULL_IF_ABSENT[i]);
    put_texts(task);
    put_log_url(task);
}

json_t *airflow_task_shaped(json_t *taken)
{
    struct json_row row;
    json_row_read(&row, taken);
    airflow_task_shape(&row);
    json_t *shaped = json_row_object(&row);
    json_decref(taken);
    return shaped;
}

void airflow_tasks_shape(json_t *answer)
{
    json_t *tasks = json_object_get(answer, "task_instances");
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        json_t *shaped = airflow_task_shaped(json_incref(json_array_get(tasks, i)));
        CHECK(json_array_set_new(tasks, i, shaped) == 0);
    }
}

json_t *airflow_task_ids(const json_t *instances)
{
    json_t *ids = json_build_array();
    for (size_t i = 0; i < json_array_size(instances); i++) {
        const json_t *task = json_array_get(instances, i);
        if (json_get_int(task, "map_index", -1) < 0)
            json_build_append(ids, json_incref(json_object_get(task, "task_id")));
    }
    return ids;
}

json_t *airflow_task_reference(const json_t *task)
{
    json_t *reference = json_build_object();
    json_put_string(reference, "dag_id", json_get_string(task, "dag_id", ""));
    json_put_string(reference, "dag_run_id", json_get_string(task, "dag_run_id", ""));
    json_put_string(reference, "task_id", json_get_string(task, "task_id", ""));
    json_put_string(reference, "execution_date", json_get_string(task, "logical_date", NULL));
    json_put_string(reference, "logical_date", json_get_string(task, "logical_date", NULL));
    json_put_int(reference, "map_index", json_get_int(task, "map_index", -1));
    return reference;
}

/* --- lists ----------------------------------------------------------------------------------- */

static void put_pools(const json_t *query, json_t *request)
{
    const json_t *pools = json_object_get(query, "pool");
    if (!json_is_array(pools))
        return;
    json_t *ours = json_build_array();
    for (size_t i = 0; i < json_array_size(pools); i++) {
        json_t *pool = json_array_get(pools, i);
        json_build_append(ours, json_incref(pool));
        if (str_equal(json_string_value(pool), NO_POOL))
            json_build_append(ours, json_string(""));
    }
    json_put(request, "pools", ours);
}

static void put_filters(const json_t *query, json_t *request)
{
    static const struct airflow_word SAME[] = {
        {"queue", "queues"},        {"dag_ids", "dags"},
        {"dag_run_ids", "runs"},    {"task_ids", "tasks"},
        {"cursor", "cursor"},       {"duration_gte", "duration_from"},
        {"map_index", "map_index"}, {"duration_lte", "duration_to"}};
    const json_t *states = json_object_get(query, "state");
    airflow_copy_words(query, SAME, ARRAY_LEN(SAME), request);
    put_pools(query, request);
    airflow_put_ranges(query, request);
    if (json_array_size(states) == 0)
        return;
    json_t *ours = json_build_array();
    for (size_t i = 0; i < json_array_size(states); i++) {
        const char *state = json_string_value(json_array_get(states, i));
        airflow_add_task_states(ours, state != NULL ? state : "none");
    }
    json_put(request, "states", ours);
}

/* All runs of a DAG, all DAGs, or one of each. */
static enum status put_place(const struct route_call *call, json_t *request, struct err *err)
{
    const char *run_id = route_param(call, "dag_run_id");
    if (airflow_put_dag(call, true, request, err) != STATUS_OK)
        return err->code;
    if (airflow_is_all(run_id))
        return STATUS_OK;
    if (json_object_get(request, "dag") != NULL)
        return airflow_put_run(call, request, err);
    json_t *runs = json_build_array();
    json_build_append(runs, json_string(run_id));
    json_put(request, "runs", runs);
    return STATUS_OK;
}

enum status airflow_ask_tasks(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_query(call, &query, err) != STATUS_OK ||
        put_place(call, request, err) != STATUS_OK ||
        airflow_page(query, request, err) != STATUS_OK)
        return err->code;
    put_filters(query, request);
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_mapped(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    if (airflow_ask_tasks(call, &request, err) != STATUS_OK)
        return err->code;
    json_t *tasks = json_build_array();
    json_build_append(tasks, json_string(route_param(call, "task_id")));
    json_put(request, "tasks", tasks);
    json_put_bool(request, "mapped", true);
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_tasks_form(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *form = NULL;
    if (airflow_form(call, request, &form, err) != STATUS_OK)
        return err->code;
    put_filters(form, request);
    *out = TAKE(request);
    return STATUS_OK;
}

/* No instances: there may be no such task at all. */
enum status airflow_answer_mapped(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *whole = NULL;
    json_t *request = NULL;
    bool names_one = !str_equal(route_param(call, "dag_id"), "~") &&
                     !str_equal(route_param(call, "dag_run_id"), "~");
    if (json_array_size(json_object_get(answer, "task_instances")) == 0 && names_one &&
        (airflow_ask_task(call, &request, err) != STATUS_OK ||
         airflow_call(call, "task.instance", request, &whole, err) != STATUS_OK))
        return err->code;
    airflow_tasks_shape(answer);
    *out = TAKE(answer);
    return STATUS_OK;
}

enum status airflow_answer_tries(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err)
{
    static const char *const KEYS[] = {"try_number", NULL};
    CLEANUP(json_decrefp) json_t *answer = taken;
    CLEANUP(json_decrefp) json_t *query = NULL;
    airflow_tasks_shape(answer);
    if (airflow_query(call, &query, err) != STATUS_OK)
        return err->code;
    return airflow_slice(query, "task_instances",
                         json_incref(json_object_get(answer, "task_instances")), KEYS, out, err);
}

enum status airflow_answer_try(const struct route_call *call, json_t *taken, json_t **out,
                               struct err *err)
{
    CLEANUP(json_decrefp) json_t *answer = taken;
    const json_t *tries = json_object_get(answer, "task_instances");
    int64_t number = 0;
    if (str_parse_i64(route_param(call, "task_try_number"), 1, INT32_MAX, &number))
        for (size_t i = 0; i < json_array_size(tries); i++) {
            json_t *one = json_array_get(tries, i);
            if (json_get_int(one, "try_number", 0) != number)
                continue;
            *out = airflow_task_shaped(json_incref(one));
            return STATUS_OK;
        }
    return err_set(err, STATUS_NOT_FOUND, "task '%.100s' had no try '%.60s'",
                   route_param(call, "task_id"), route_param(call, "task_try_number"));
}

/* --- one task -------------------------------------------------------------------------------- */

enum status airflow_ask_task(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    if (airflow_put_run(call, request, err) != STATUS_OK ||
        airflow_put_task(call, request, err) != STATUS_OK)
        return err->code;
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_task(const struct route_call *call, json_t *taken, json_t **out,
                                struct err *err)
{
    (void)call;
    (void)err;
    *out = airflow_task_shaped(taken);
    return STATUS_OK;
}

enum status airflow_ask_task_note(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_ask_task(call, &request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "note", json_get_string(body, "note", ""));
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_ask_task_state(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *request = NULL;
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK ||
        airflow_ask_task(call, &request, err) != STATUS_OK)
        return err->code;
    json_put_string(request, "state", json_get_string(body, "new_state", ""));
    json_put_bool(request, "dry_run", json_get_bool(body, "dry_run", true));
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_reference(const struct route_call *call, json_t *taken, json_t **out,
                                     struct err *err)
{
    (void)call;
    (void)err;
    *out = airflow_task_reference(taken);
    json_decref(taken);
    return STATUS_OK;
}

static void add_conditions(const json_t *conditions, json_t *dependencies)
{
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *condition = json_array_get(conditions, i);
        json_t *dependency = json_build_object();
        json_put_string(dependency, "name", json_get_string(condition, "code", ""));
        json_put_string(dependency, "reason", json_get_string(condition, "because", ""));
        json_build_append(dependencies, dependency);
    }
}

enum status airflow_answer_dependencies(const struct route_call *call, json_t *taken, json_t **out,
                                        struct err *err)
{
    (void)call;
    (void)err;
    CLEANUP(json_decrefp) json_t *explanation = taken;
    const json_t *tasks = json_object_get(explanation, "tasks");
    json_t *dependencies = json_build_array();
    add_conditions(json_object_get(explanation, "conditions"), dependencies);
    for (size_t i = 0; i < json_array_size(tasks); i++)
        add_conditions(json_object_get(json_array_get(tasks, i), "conditions"), dependencies);
    *out = json_build_object();
    json_put(*out, "dependencies", dependencies);
    return STATUS_OK;
}

enum status airflow_answer_links(const struct route_call *call, json_t *taken, json_t **out,
                                 struct err *err)
{
    (void)call;
    (void)err;
    json_decref(taken);
    *out = json_build_list("extra_links", json_build_array());
    return STATUS_OK;
}
