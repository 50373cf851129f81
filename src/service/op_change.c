/*
 * What people do to runs and tasks.
 *
 * Before each change the run is cleared of owners that died, so that nobody has to wait for a
 * process that is gone.
 */
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "blob/blob.h"
#include "model/dag_graph.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/rehearsal.h"
#include "service/run_json.h"
#include "store/control.h"
#include "store/host.h"
#include "store/task_cancel.h"

static bool ask_presence(void *context, int64_t host)
{
    return service_host_is_alive(context, host);
}

static enum status recover(struct service *service, const struct found_run *run, struct err *err)
{
    int64_t lost = 0;
    if (service->recover != NULL)
        return service->recover(service->recover_context, run->store, err);
    return store_recover(run->store, run->info.id, ask_presence, service, &lost, err);
}

/* The run as it is after a change. */
static enum status answer_run(struct service *service, struct found_run *run, struct arena *arena,
                              json_t **out, struct err *err)
{
    if (store_run_load(run->store, arena, run->info.id, &run->info, err) != STATUS_OK)
        return err->code;
    return run_json_load(service, run->store, &run->info, out, err);
}

/* --- run.cancel ------------------------------------------------------------------------------ */

static enum status cancel_run(struct service *service, const struct found_run *run, bool kill,
                              struct err *err)
{
    struct cancel_request cancel = {
        .run = run->info.id,
        .cause = CANCEL_ASKED,
        /* Of a run that daemons work off they do the rest. */
        .finally_too =
            kill || (run->info.scope != 0 && !service_run_is_held(service, run->info.id)),
        .actor = service->actor,
    };
    return store_run_cancel(run->store, &cancel, err);
}

struct stop_listing {
    const struct task_cancel_request *cancel;
    json_t *stops;
};

/* Of a mapped task its instances stand for it, once there are some. */
static enum status list_stopped(void *context, const struct run_row *run,
                                const struct task_row *task, struct err *err)
{
    (void)err;
    const struct stop_listing *listing = context;
    int64_t wanted = listing->cancel->map_index;
    if (task->node != listing->cancel->node || task_state_is_final(task->state) ||
        task->wish == WISH_STOP || (wanted >= 0 && task->map_index != wanted) ||
        (task->map_index < 0 && task->instance_base != 0))
        return STATUS_OK;
    const char *id = run->dag->tasks[task->node].id;
    const char *state = task_state_name(task->state);
    CLEANUP(mem_freep)
    char *text = task->map_index < 0
                     ? mem_format("%s (%s)", id, state)
                     : mem_format("%s[%lld] (%s)", id, (long long)task->map_index, state);
    json_build_append(listing->stops, json_string(text));
    return STATUS_OK;
}

/* *out: what of it was not over, heap. */
static enum status cancel_task(struct service *service, const struct found_run *run,
                               const json_t *request, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *stops = json_build_array();
    struct task_cancel_request cancel = {
        .run = run->info.id,
        .map_index = json_get_int(request, "map_index", -1),
        .actor = service->actor,
    };
    if (lookup_node(run->dag, json_get_string(request, "task", ""), &cancel.node, err) != STATUS_OK)
        return err->code;
    struct stop_listing listing = {.cancel = &cancel, .stops = stops};
    if (store_task_each(run->store, run->info.id, list_stopped, &listing, err) != STATUS_OK ||
        store_task_cancel(run->store, &cancel, err) != STATUS_OK)
        return err->code;
    *out = TAKE(stops);
    return STATUS_OK;
}

static enum status cancel(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *stops = NULL;
    struct found_run run;
    bool one_task = json_get_string(request, "task", NULL) != NULL;
    bool kill = json_get_bool(request, "kill", false);
    if (!one_task && json_get_int(request, "map_index", -1) >= 0)
        return err_set(err, STATUS_INVALID, "'map_index' is of a task: name the task, too");
    if (one_task && kill)
        return err_set(err, STATUS_INVALID,
                       "'kill' is of a whole run: name no task, or leave it out");
    if (lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK)
        return err->code;
    if (run_state_is_final(run.info.state))
        return err_set(err, STATUS_CONFLICT, "run %lld is over already: %s", (long long)run.info.id,
                       run_state_name(run.info.state));
    if (recover(service, &run, err) != STATUS_OK)
        return err->code;
    if ((one_task ? cancel_task(service, &run, request, &stops, err)
                  : cancel_run(service, &run, kill, err)) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (answer_run(service, &run, arena, out, err) != STATUS_OK)
        return err->code;
    if (one_task)
        json_put(*out, "stops", TAKE(stops));
    return STATUS_OK;
}

enum status op_run_cancel(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    return rehearsal_call(service, request, cancel, out, err);
}

/* --- run.delete ------------------------------------------------------------------------------ */

enum status op_run_delete(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    struct found_run run;
    struct blob *blob = NULL;
    bool dry_run = json_get_bool(request, "dry_run", false);
    if (lookup_run(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, arena, request, &run, err) !=
            STATUS_OK ||
        run_json_load(service, run.store, &run.info, &object, err) != STATUS_OK)
        return err->code;
    if (!run_state_is_final(run.info.state))
        return err_set(err, STATUS_CONFLICT, "run %lld is not over; stop it first",
                       (long long)run.info.id);
    json_put_bool(object, "deleted", !dry_run);
    if (!dry_run && (store_run_delete(run.store, run.info.id, service->actor, err) != STATUS_OK ||
                     service_blob_if_any(service, &blob, err) != STATUS_OK))
        return err->code;
    if (blob != NULL && blob_delete_all(blob, &run.info.id, 1, err) != STATUS_OK)
        return err_wrap(err, "the run is deleted, its logs are not");
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- task.clear, run.retry ------------------------------------------------------------------- */

static enum status choose_nodes(const struct found_run *run, const json_t *request,
                                struct arena *arena, const bool **out, struct err *err)
{
    const json_t *names = json_object_get(request, "tasks");
    size_t count = run->dag->tasks_count;
    bool *nodes = arena_array(arena, count + 1, sizeof *nodes);
    bool *needed = arena_array(arena, count + 1, sizeof *needed);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int64_t node = 0;
        if (lookup_node(run->dag, name, &node, err) != STATUS_OK)
            return err->code;
        nodes[node] = needed[node] = true;
    }
    if (json_get_bool(request, "downstream", false))
        dag_add_downstream(run->dag, nodes);
    if (json_get_bool(request, "upstream", false))
        dag_add_upstream(run->dag, needed);
    for (size_t node = 0; node < count; node++)
        nodes[node] |= needed[node];
    *out = nodes;
    return STATUS_OK;
}

struct cleared_listing {
    const struct service *service;
    const struct found_run *run;
    const bool *cleared;
    const bool *stops;
    int64_t map_index;    /* only this instance of the chosen tasks; -1: all */
    const bool *chosen;   /* or NULL */
    bool with_unfinished; /* what a retry goes on with, too */
    json_t *tasks;
};

static enum status list_cleared(void *context, const struct run_row *run,
                                const struct task_row *task, struct err *err)
{
    (void)err;
    struct cleared_listing *listing = context;
    bool is_instance = task->map_index >= 0;
    bool is_unfinished = listing->with_unfinished && !task_state_is_final(task->state);
    /* Of a task that keeps its instances only those that run again are shown. */
    bool is_meant =
        listing->cleared[task->node] &&
        (!is_instance || listing->map_index < 0 || task->map_index == listing->map_index ||
         listing->chosen == NULL || !listing->chosen[task->node]) &&
        (!is_instance || task->state != TASK_SUCCESS);
    if (!is_meant && !is_unfinished)
        return STATUS_OK;
    json_t *object =
        task_json(listing->service, &listing->run->info, &run->dag->tasks[task->node], task);
    json_put_bool(object, "stops_first",
                  is_meant && listing->stops[task->node] && task->state == TASK_RUNNING);
    json_build_append(listing->tasks, object);
    return STATUS_OK;
}

struct clearing {
    bool is_retry;
    bool dry_run;
    bool whole;
    bool only_failed;
    int64_t map_index;
};

/* What was asked for, for the trail; heap. */
static char *asked_text(const json_t *request, const struct clearing *clearing)
{
    static const char *const WIDER[] = {"upstream", "downstream"};
    CLEANUP(json_decrefp) json_t *data = json_build_object();
    json_t *asked = json_build_object();
    json_t *names = json_object_get(request, "tasks");
    json_put(data, "asked", asked);
    json_put(asked, "tasks", names != NULL ? json_incref(names) : json_build_array());
    if (clearing->map_index >= 0)
        json_put_int(asked, "map_index", clearing->map_index);
    if (clearing->only_failed)
        json_put_bool(asked, "failed", true);
    for (size_t i = 0; i < ARRAY_LEN(WIDER); i++)
        if (json_get_bool(request, WIDER[i], false))
            json_put_bool(asked, WIDER[i], true);
    return json_format(data);
}

static enum status clear_tasks(struct service *service, const json_t *request,
                               const struct clearing *clearing, json_t **out, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *tasks = json_build_array();
    const json_t *names = json_object_get(request, "tasks");
    const bool *nodes = NULL;
    struct found_run run;
    struct clear_result result;
    if (lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK ||
        (json_array_size(names) > 0 &&
         choose_nodes(&run, request, arena, &nodes, err) != STATUS_OK) ||
        (!clearing->dry_run && recover(service, &run, err) != STATUS_OK))
        return err->code;
    CLEANUP(mem_freep) char *asked = asked_text(request, clearing);
    struct clear_request clear = {
        .run = run.info.id,
        .asked = asked,
        .nodes = nodes,
        .map_index = clearing->map_index,
        .whole = clearing->whole,
        .only_failed = clearing->only_failed,
        .stops_running = true,
        .dry_run = clearing->dry_run,
        .actor = service->actor,
    };
    if (store_clear(run.store, &clear, arena, &result, err) != STATUS_OK)
        return err->code;
    if (!clearing->dry_run)
        service_wake(service);
    struct cleared_listing listing = {
        .service = service,
        .run = &run,
        .cleared = result.cleared,
        .stops = result.stops,
        .map_index = clearing->map_index,
        .chosen = nodes,
        .with_unfinished = clearing->is_retry && nodes == NULL,
        .tasks = tasks,
    };
    if (store_task_each(run.store, run.info.id, list_cleared, &listing, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_int(*out, "total_entries", (int64_t)json_array_size(tasks));
    json_put(*out, "task_instances", TAKE(tasks));
    json_put_bool(*out, "dry_run", clearing->dry_run);
    return STATUS_OK;
}

enum status op_task_clear(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    struct clearing clearing = {
        .dry_run = json_get_bool(request, "dry_run", false),
        .only_failed = json_get_bool(request, "failed", false),
        .map_index = json_get_int(request, "map_index", -1),
    };
    if (json_array_size(json_object_get(request, "tasks")) == 0)
        return err_set(err, STATUS_INVALID, "'tasks' is empty: name the tasks to clear");
    /* A task cleared as a whole works out its instances anew. */
    clearing.whole = clearing.map_index < 0 && !clearing.only_failed;
    return clear_tasks(service, request, &clearing, out, err);
}

enum status op_run_retry(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    struct clearing clearing = {
        .is_retry = true,
        .dry_run = json_get_bool(request, "dry_run", false),
        .map_index = -1,
    };
    return clear_tasks(service, request, &clearing, out, err);
}

/* --- task.mark ------------------------------------------------------------------------------- */

static enum status read_mark(const json_t *request, enum task_state *out, struct err *err)
{
    static const enum task_state ALLOWED[] = {TASK_SUCCESS, TASK_FAILED, TASK_SKIPPED};
    const char *name = json_get_string(request, "state", "");
    for (size_t i = 0; i < ARRAY_LEN(ALLOWED); i++) {
        if (str_equal(name, task_state_name(ALLOWED[i]))) {
            *out = ALLOWED[i];
            return STATUS_OK;
        }
    }
    return err_set(err, STATUS_INVALID,
                   "'%.60s' is no state to set; write success, failed or skipped", name);
}

static enum status mark_task(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct found_run run;
    struct task_row task;
    struct mark_request mark = {
        .map_index = json_get_int(request, "map_index", -1),
        .actor = service->actor,
    };
    if (read_mark(request, &mark.state, err) != STATUS_OK ||
        lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK ||
        lookup_node(run.dag, json_get_string(request, "task", ""), &mark.node, err) != STATUS_OK ||
        lookup_task(&run, arena, mark.node, mark.map_index, &task, err) != STATUS_OK ||
        recover(service, &run, err) != STATUS_OK)
        return err->code;
    mark.run = run.info.id;
    if (store_mark(run.store, &mark, err) != STATUS_OK)
        return err->code;
    service_wake(service);
    if (lookup_task(&run, arena, mark.node, mark.map_index, &task, err) != STATUS_OK)
        return err->code;
    *out = task_json(service, &run.info, &run.dag->tasks[mark.node], &task);
    return STATUS_OK;
}

enum status op_task_mark(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    return rehearsal_call(service, request, mark_task, out, err);
}
