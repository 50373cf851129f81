#include "service/trigger_json.h"

#include "service/json_build.h"

enum { CAUSES_MAX = 1000 };

static json_t *refusal_json(const struct trigger_refusal *refusal)
{
    json_t *object = json_build_object();
    json_put_instant(object, "at", refusal->at_us);
    json_put_string(object, "what", refusal->what);
    json_put_string(object, "why", refusal->why);
    return object;
}

enum status trigger_json_put_state(struct store *store, const char *dag_id, json_t *object,
                                   struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct trigger_state state;
    struct err none = {0};
    enum status status = store_trigger_state(store, arena, dag_id, &state, &none);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = none;
        return status;
    }
    json_t *list = json_build_array();
    for (size_t i = 0; i < state.needs_count; i++) {
        const struct trigger_need *need = &state.needs[i];
        json_t *item = json_build_object();
        json_put_string(item, "kind", trigger_kind_name(need->kind));
        json_put_string(item, "name", need->name);
        json_put_int(item, "waiting", need->waiting);
        json_put_instant(item, "last", need->last_us);
        json_put_bool(item, "needed", need->is_needed);
        json_build_append(list, item);
    }
    json_put(object, "waits_for", list);
    json_put_string(object, "missing", state.missing);
    json_put(object, "refused", state.refusal != NULL ? refusal_json(state.refusal) : json_null());
    return STATUS_OK;
}

static json_t *cause_json(const struct cause_info *cause)
{
    json_t *item = json_build_object();
    json_put_string(item, "kind", trigger_kind_name(cause->kind));
    json_put_string(item, "name", cause->name);
    json_put_instant(item, "at", cause->at_us);
    if (cause->kind == TRIGGER_RUN_END)
        json_put_string(item, "state", run_state_name(cause->state));
    if (cause->run != 0) {
        json_put_id(item, "number", cause->run);
        json_put_string(item, "dag_id", cause->dag_id);
        json_put_string(item, "dag_run_id", cause->run_id);
    }
    if (cause->task_id != NULL) {
        json_put_string(item, "task_id", cause->task_id);
        json_put_int(item, "map_index", cause->map_index);
    }
    if (cause->actor != NULL)
        json_put_string(item, "actor", cause->actor);
    if (cause->extra != NULL)
        json_build_put_parsed(item, "extra", cause->extra);
    return item;
}

enum status trigger_json_put_causes(struct store *store, int64_t run, json_t *object,
                                    struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct cause_list causes;
    if (store_run_causes(store, arena, run, CAUSES_MAX, &causes, err) != STATUS_OK)
        return err->code;
    if (causes.count == 0)
        return STATUS_OK;
    json_t *list = json_build_array();
    for (size_t i = 0; i < causes.count; i++)
        json_build_append(list, cause_json(&causes.items[i]));
    json_put(object, "caused_by", list);
    return STATUS_OK;
}
