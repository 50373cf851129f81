/*
 * One task of a run as it is, and its attempts, oldest first, the current one last.
 */
#include "base/check.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/task_note.h"

enum status op_task_instance(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *object = NULL;
    int64_t index = json_get_int(request, "map_index", -1);
    struct task_note_list notes;
    struct found_run run;
    struct task_row task;
    int64_t node = 0;
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK ||
        lookup_node(run.dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK ||
        lookup_task(&run, arena, node, index, &task, err) != STATUS_OK ||
        store_task_notes(run.store, arena, &run.info, &notes, err) != STATUS_OK)
        return err->code;
    object = task_json(service, &run.info, &run.dag->tasks[node], &task);
    json_put_string(object, "note", task_note_find(&notes, task.id));
    if (task_json_add_host(service, run.store, &task, object, err) != STATUS_OK)
        return err->code;
    *out = TAKE(object);
    return STATUS_OK;
}

/* --- tries ----------------------------------------------------------------------------------- */

struct tries {
    const struct service *service;
    const struct found_run *run;
    const struct task_row *task;
    json_t *list;
};

static enum status add_try(struct tries *tries, const struct task_row *attempt, struct err *err)
{
    json_t *object = task_json(tries->service, &tries->run->info,
                               &tries->run->dag->tasks[tries->task->node], attempt);
    json_build_append(tries->list, object);
    json_put_int(object, "try_number", attempt->attempt);
    return task_json_add_host(tries->service, tries->run->store, attempt, object, err);
}

static enum status add_superseded(void *context, const struct task_row *attempt, struct err *err)
{
    struct tries *tries = context;
    struct task_row row = *attempt;
    row.run = tries->task->run;
    row.node = tries->task->node;
    row.map_index = tries->task->map_index;
    row.label = tries->task->label;
    return add_try(tries, &row, err);
}

enum status op_task_tries(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *list = json_build_array();
    struct found_run run;
    struct task_row task;
    struct tries tries = {.service = service, .run = &run, .task = &task, .list = list};
    int64_t node = 0;
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK ||
        lookup_node(run.dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK ||
        lookup_task(&run, arena, node, json_get_int(request, "map_index", -1), &task, err) !=
            STATUS_OK ||
        store_attempt_each(run.store, task.id, add_superseded, &tries, err) != STATUS_OK)
        return err->code;
    bool is_kept = json_array_size(list) > 0 &&
                   json_get_int(json_array_get(list, json_array_size(list) - 1), "try_number", 0) ==
                       task.attempt;
    if (task.attempt > 0 && !is_kept && add_try(&tries, &task, err) != STATUS_OK)
        return err->code;
    *out = json_build_list("task_instances", TAKE(list));
    return STATUS_OK;
}
