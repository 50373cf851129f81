/*
 * task.running: attempts that hosts hold just now, in the form of events.
 *
 * Nothing of this is stored as an event; whoever tells of starts compares one answer with the next.
 */
#include "base/mem.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/service.h"
#include "store/started.h"
#include "store/version.h"

enum { LIST_DEFAULT = 100, LIST_MAX = 2000 };

struct held {
    struct store *store;
    json_t *tasks;
};

static json_t *describe(const struct started_task *task, const char *task_id)
{
    json_t *object = json_build_object();
    json_t *details = json_build_object();
    json_put_id(object, "task", task->task);
    json_put_instant(object, "at", task->started_at_us);
    json_put_string(object, "kind", "task_started");
    json_put_string(object, "state", task_state_name(TASK_RUNNING));
    json_put_string(object, "namespace", task->space);
    json_put_string(object, "dag_id", task->dag_id);
    json_put_string(object, "dag_run_id", task->run_id);
    json_put_id(object, "number", task->run);
    json_put_string(object, "task_id", task_id);
    json_put_int(object, "map_index", task->map_index);
    json_put_string(object, "label", task->label);
    json_put_int(object, "attempt", task->attempt);
    json_put_int(object, "try_number", task->tries);
    json_put_id(details, "host", task->host);
    json_put(object, "details", details);
    return object;
}

static enum status add_task(void *context, const struct started_task *task, struct err *err)
{
    struct held *held = context;
    const struct dag *dag = NULL;
    if (store_version_dag(held->store, task->version, &dag, err) != STATUS_OK)
        return err->code;
    if ((size_t)task->node < dag->tasks_count)
        json_build_append(held->tasks, describe(task, dag->tasks[task->node].id));
    return STATUS_OK;
}

enum status op_task_running(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    struct held held = {.tasks = tasks};
    int64_t limit = json_get_int(request, "limit", LIST_DEFAULT);
    bool is_more = false;
    if (limit < 1 || limit > LIST_MAX)
        return err_set(err, STATUS_INVALID, "limit is a number from 1 to %d", LIST_MAX);
    if (service_store_if_any(service, &held.store, err) != STATUS_OK)
        return err->code;
    if (held.store != NULL &&
        store_started_each(held.store, limit, add_task, &held, &is_more, err) != STATUS_OK)
        return err->code;
    *out = json_build_list("tasks", TAKE(tasks));
    json_put_bool(*out, "more", is_more);
    return STATUS_OK;
}
