/*
 * Notes: what people write about a run, or about a task of it.
 */
#include <string.h>

#include "base/check.h"
#include "model/limits.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/task_note.h"

static enum status read_note(const json_t *request, const char **out, struct err *err)
{
    *out = json_get_string(request, "note", "");
    if (strlen(*out) > LIMIT_NOTE_BYTES)
        return err_set(err, STATUS_LIMIT, "a note has at most %d bytes", LIMIT_NOTE_BYTES);
    return STATUS_OK;
}

enum status op_run_note(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *note = NULL;
    struct found_run run;
    if (read_note(request, &note, err) != STATUS_OK ||
        lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK ||
        store_run_set_note(run.store, run.info.id, note, service->actor, err) != STATUS_OK ||
        store_run_load(run.store, arena, run.info.id, &run.info, err) != STATUS_OK)
        return err->code;
    return run_json_load(service, run.store, &run.info, out, err);
}

enum status op_task_note(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct task_note_request note = {.actor = service->actor};
    struct found_run run;
    struct task_row task;
    int64_t node = 0;
    if (read_note(request, &note.note, err) != STATUS_OK ||
        lookup_run(service, DB_READ_WRITE, arena, request, &run, err) != STATUS_OK ||
        lookup_node(run.dag, json_get_string(request, "task", ""), &node, err) != STATUS_OK ||
        lookup_task(&run, arena, node, json_get_int(request, "map_index", -1), &task, err) !=
            STATUS_OK)
        return err->code;
    note.run = run.info.id;
    note.task = task.id;
    if (store_task_set_note(run.store, &note, err) != STATUS_OK)
        return err->code;
    *out = task_json(service, &run.info, &run.dag->tasks[node], &task);
    json_put_string(*out, "note", note.note[0] != '\0' ? note.note : NULL);
    return STATUS_OK;
}
