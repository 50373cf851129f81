#include "base/check.h"
#include "serve/airflow_around.h"
#include "serve/airflow_run.h"
#include "service/json_build.h"

static const char *time_of(const json_t *ours, const char *key)
{
    return json_get_string(ours, key, "1970-01-01T00:00:00Z");
}

/* Of what was never updated no time is told; there it is no member that may be null. */
static void put_time(json_t *to, const char *as, const json_t *ours, const char *key)
{
    airflow_copy(ours, key, to, as);
}

/* --- datasets -------------------------------------------------------------------------------- */

static json_t *consumers(const json_t *ours)
{
    const json_t *waiting = json_object_get(ours, "waiting_dags");
    json_t *list = json_build_array();
    for (size_t i = 0; i < json_array_size(waiting); i++) {
        json_t *item = json_build_object();
        json_put_string(item, "dag_id",
                        json_get_string(json_array_get(waiting, i), "dag_id", NULL));
        put_time(item, "created_at", ours, "created_at");
        put_time(item, "updated_at", ours, "created_at");
        json_build_append(list, item);
    }
    return list;
}

static bool is_listed(const json_t *list, const json_t *event)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (json_equal(json_object_get(item, "dag_id"), json_object_get(event, "source_dag_id")) &&
            json_equal(json_object_get(item, "task_id"), json_object_get(event, "source_task_id")))
            return true;
    }
    return false;
}

/* Tasks that updated it lately. */
static json_t *producers(const json_t *ours)
{
    const json_t *events = json_object_get(ours, "events");
    json_t *list = json_build_array();
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (json_get_string(event, "source_dag_id", NULL) == NULL || is_listed(list, event))
            continue;
        json_t *item = json_build_object();
        json_put_string(item, "dag_id", json_get_string(event, "source_dag_id", NULL));
        json_put_string(item, "task_id", json_get_string(event, "source_task_id", NULL));
        json_put_string(item, "created_at", time_of(event, "timestamp"));
        json_put_string(item, "updated_at", time_of(event, "timestamp"));
        json_build_append(list, item);
    }
    return list;
}

static json_t *shape(const json_t *ours)
{
    json_t *dataset = json_build_object();
    airflow_put_number(dataset, "id", ours, "id");
    json_put_string(dataset, "uri", json_get_string(ours, "uri", ""));
    json_put(dataset, "extra", json_build_object());
    put_time(dataset, "created_at", ours, "created_at");
    put_time(dataset, "updated_at", ours, "created_at");
    put_time(dataset, "updated_at", ours, "last_update");
    json_put(dataset, "consuming_dags", consumers(ours));
    json_put(dataset, "producing_tasks", producers(ours));
    return dataset;
}

enum status airflow_ask_datasets(const struct route_call *call, json_t **out, struct err *err)
{
    static const struct airflow_word ORDERS[] = {{"uri", "uri"}, {"id", "uri"}};
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_list(call, ORDERS, ARRAY_LEN(ORDERS), request, &query, err) != STATUS_OK)
        return err->code;
    airflow_copy(query, "uri_pattern", request, "contains");
    airflow_copy(query, "dag_ids", request, "dags");
    json_put_bool(request, "with_users", true);
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_datasets(const struct route_call *call, json_t *taken, json_t **out,
                                    struct err *err)
{
    (void)call;
    (void)err;
    *out = airflow_shape_page(taken, &(struct airflow_word){"datasets", "assets"}, shape);
    return STATUS_OK;
}

enum status airflow_ask_dataset(const struct route_call *call, json_t **out, struct err *err)
{
    (void)err;
    *out = json_build_object();
    json_put_string(*out, "uri", route_param(call, "uri"));
    return STATUS_OK;
}

enum status airflow_answer_dataset(const struct route_call *call, json_t *taken, json_t **out,
                                   struct err *err)
{
    (void)call;
    (void)err;
    *out = shape(taken);
    json_decref(taken);
    return STATUS_OK;
}

/* What waits for a run of some DAG. */
enum status airflow_answer_queued(const struct route_call *call, json_t *taken, json_t **out,
                                  struct err *err)
{
    (void)call;
    (void)err;
    CLEANUP(json_decrefp) json_t *dataset = taken;
    const json_t *waiting = json_object_get(dataset, "waiting_dags");
    json_t *events = json_build_array();
    for (size_t i = 0; i < json_array_size(waiting); i++) {
        const json_t *dag = json_array_get(waiting, i);
        if (json_get_int(dag, "waiting", 0) == 0)
            continue;
        json_t *event = json_build_object();
        json_put_string(event, "dag_id", json_get_string(dag, "dag_id", ""));
        json_put_string(event, "uri", json_get_string(dataset, "uri", ""));
        json_put_string(event, "created_at", time_of(dataset, "last_update"));
        json_build_append(events, event);
    }
    *out = json_build_list("queued_events", events);
    return STATUS_OK;
}

/* --- events ---------------------------------------------------------------------------------- */

static json_t *created_runs(const json_t *ours)
{
    const json_t *runs = json_object_get(ours, "runs");
    json_t *list = json_build_array();
    for (size_t i = 0; i < json_array_size(runs); i++) {
        json_t *run = json_array_get(runs, i);
        airflow_run_shape(run);
        json_put(run, "run_id", json_incref(json_object_get(run, "dag_run_id")));
        json_build_append(list, json_incref(run));
    }
    return list;
}

static json_t *shape_event(const json_t *ours)
{
    json_t *event = json_build_object();
    json_t *extra = json_object_get(ours, "extra");
    airflow_put_number(event, "id", ours, "id");
    airflow_put_number(event, "dataset_id", ours, "asset");
    json_put_string(event, "dataset_uri", json_get_string(ours, "uri", ""));
    json_put_string(event, "timestamp", time_of(ours, "timestamp"));
    json_put(event, "extra", json_is_object(extra) ? json_incref(extra) : json_build_object());
    json_put_string(event, "source_dag_id", json_get_string(ours, "source_dag_id", NULL));
    json_put_string(event, "source_run_id", json_get_string(ours, "source_run_id", NULL));
    json_put_string(event, "source_task_id", json_get_string(ours, "source_task_id", NULL));
    json_put_int(event, "source_map_index", json_get_int(ours, "source_map_index", -1));
    json_put(event, "created_dagruns", created_runs(ours));
    return event;
}

enum status airflow_ask_dataset_events(const struct route_call *call, json_t **out, struct err *err)
{
    static const struct airflow_word ORDERS[] = {{"timestamp", "id"}, {"id", "id"}};
    static const struct airflow_word SAME[] = {{"source_dag_id", "dag"},
                                               {"source_run_id", "run_id"},
                                               {"source_task_id", "task"},
                                               {"source_map_index", "map_index"}};
    CLEANUP(json_decrefp) json_t *request = json_build_object();
    CLEANUP(json_decrefp) json_t *query = NULL;
    if (airflow_list(call, ORDERS, ARRAY_LEN(ORDERS), request, &query, err) != STATUS_OK)
        return err->code;
    if (json_get_int(query, "dataset_id", -1) >= 0)
        json_put_id(request, "asset", json_get_int(query, "dataset_id", 0));
    airflow_copy_words(query, SAME, ARRAY_LEN(SAME), request);
    *out = TAKE(request);
    return STATUS_OK;
}

enum status airflow_answer_dataset_events(const struct route_call *call, json_t *taken,
                                          json_t **out, struct err *err)
{
    (void)call;
    (void)err;
    *out =
        airflow_shape_page(taken, &(struct airflow_word){"dataset_events", "events"}, shape_event);
    return STATUS_OK;
}

enum status airflow_ask_dataset_emit(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    if (airflow_body(call, &body, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    airflow_copy(body, "dataset_uri", *out, "uri");
    airflow_copy(body, "extra", *out, "extra");
    return STATUS_OK;
}

enum status airflow_answer_dataset_emit(const struct route_call *call, json_t *taken, json_t **out,
                                        struct err *err)
{
    (void)call;
    (void)err;
    CLEANUP(json_decrefp) json_t *asset = taken;
    json_t *event = json_array_get(json_object_get(asset, "events"), 0);
    CHECK(event != NULL);
    json_put(event, "asset", json_incref(json_object_get(asset, "id")));
    json_put(event, "uri", json_incref(json_object_get(asset, "uri")));
    *out = shape_event(event);
    return STATUS_OK;
}
