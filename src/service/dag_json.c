#include "service/dag_json.h"

#include "service/json_build.h"

/* Seconds, or null where there is no bound. */
static void put_seconds(json_t *object, const char *key, int64_t ms)
{
    json_put(object, key, ms > 0 ? json_real((double)ms / 1000) : json_null());
}

static json_t *texts(const struct string_list *list)
{
    json_t *array = json_build_array();
    for (size_t i = 0; i < list->count; i++)
        json_build_append(array, json_string(list->items[i]));
    return array;
}

static json_t *task_ids(const struct dag *dag, const struct node_list *list)
{
    json_t *array = json_build_array();
    for (size_t i = 0; i < list->count; i++)
        json_build_append(array, json_string(dag->tasks[list->items[i]].id));
    return array;
}

static json_t *params(const struct dag *dag)
{
    json_t *object = json_build_object();
    for (size_t i = 0; i < dag->params_count; i++)
        json_put(object, dag->params[i].name, json_incref(dag->params[i].schema));
    return object;
}

json_t *dag_json(const struct dag *dag)
{
    json_t *object = json_build_object();
    json_t *schedule = json_object_get(dag->rest, "schedule");
    json_put_string(object, "dag_id", dag->id);
    json_put_string(object, "title", dag->title);
    json_put_string(object, "description", dag->description);
    json_put_string(object, "doc", dag->doc);
    json_put_string(object, "owner", dag->owner);
    json_put_string(object, "namespace", dag->namespace_);
    json_put_string(object, "tier", dag->tier);
    json_put(object, "tags", texts(&dag->tags));
    json_put(object, "params", params(dag));
    json_put_int(object, "tasks_total", (int64_t)dag->tasks_count);
    json_put_int(object, "finally_total", (int64_t)dag->finally_count);
    json_put_int(object, "max_active_runs", dag->max_active_runs);
    json_put_int(object, "max_active_tasks", dag->max_active_tasks);
    put_seconds(object, "timeout", dag->timeout_ms);
    json_put_string(object, "verdict", dag->verdict == VERDICT_ALL ? "all" : "leaves");
    json_put(object, "schedule", schedule != NULL ? json_incref(schedule) : json_null());
    return object;
}

static void put_mapping(json_t *object, const struct task_def *task)
{
    json_put_bool(object, "is_mapped", task_def_is_mapped(task));
    if (task->foreach != NULL)
        json_put(object, "foreach", json_incref(task->foreach));
    if (task->matrix != NULL)
        json_put(object, "matrix", json_incref(task->matrix));
    if (!task_def_is_mapped(task))
        return;
    json_put_string(object, "label", task->label);
    json_put_int(object, "max_parallel", task->max_parallel);
    json_put_bool(object, "fail_fast", task->fail_fast);
}

static void put_environment(json_t *object, const struct task_def *task)
{
    json_t *env = json_build_object();
    for (size_t i = 0; i < task->env_count; i++)
        json_put_string(env, task->env[i].name, task->env[i].value);
    json_put(object, "env", env);
    json_put(object, "env_pass", texts(&task->env_pass));
    json_put_string(object, "workdir", task->workdir);
    json_put_string(object, "user", task->user);
}

static void put_retries(json_t *object, const struct task_def *task)
{
    json_put_int(object, "retries", task->retry.retries);
    if (task->retry.retries == 0)
        return;
    put_seconds(object, "retry_delay", task->retry.delay_ms);
    json_put(object, "retry_backoff", json_real(task->retry.backoff));
    put_seconds(object, "max_retry_delay", task->retry.max_delay_ms);
}

json_t *dag_json_task(const struct dag *dag, size_t node)
{
    const struct task_def *task = &dag->tasks[node];
    json_t *object = json_build_object();
    json_put_string(object, "task_id", task->id);
    json_put_string(object, "operator", task_kind_key(task->kind));
    json_put_string(object, "doc", task->doc);
    json_put_string(object, "group",
                    task->group != NULL && task->group[0] != '\0' ? task->group : NULL);
    json_put(object, "needs", task_ids(dag, &task->needs));
    json_put(object, "dependants", task_ids(dag, &task->dependants));
    json_put_string(object, "trigger_rule", trigger_rule_name(task->rule));
    json_put_string(object, "if", task->condition);
    json_put_bool(object, "is_finally", task->is_finally);
    json_put_bool(object, "is_setup", task->is_setup);
    json_put(object, "teardown_of", task_ids(dag, &task->teardown_of));
    json_put_bool(object, "allow_failure", task->allow_failure);
    put_mapping(object, task);
    put_retries(object, task);
    put_seconds(object, "timeout", task->timeout_ms);
    put_seconds(object, "queue_timeout", task->queue_timeout_ms);
    json_put_string(object, "pool", task->pool);
    json_put_int(object, "pool_slots", task->slots);
    json_put_string(object, "queue", task->queue);
    json_put_int(object, "priority_weight", task->priority);
    put_environment(object, task);
    json_put(object, "settings",
             task->settings != NULL ? json_incref(task->settings) : json_null());
    return object;
}
