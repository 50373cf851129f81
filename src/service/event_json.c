#include "service/event_json.h"

#include "base/str.h"
#include "model/run_state.h"
#include "model/task_state.h"
#include "service/audit_text.h"
#include "service/json_build.h"
#include "store/backfill_store.h"
#include "store/sight.h"
#include "store/version.h"

enum status event_json_task_id(struct store *store, const struct event_row *row, const char **out,
                               struct err *err)
{
    const struct dag *dag = NULL;
    *out = NULL;
    if (row->run == 0 || row->node < 0 || row->version == 0)
        return STATUS_OK;
    if (store_version_dag(store, row->version, &dag, err) != STATUS_OK)
        return err->code;
    if ((size_t)row->node < dag->tasks_count)
        *out = dag->tasks[row->node].id;
    return STATUS_OK;
}

enum status event_json_dag_id(const struct event_names *names, const struct event_row *row,
                              const json_t *data, const char **out, struct err *err)
{
    int64_t backfill = json_get_int(data, "backfill", 0);
    struct backfill_info info;
    struct err problem = {0};
    *out = row->dag_id != NULL ? row->dag_id : json_get_string(data, "dag_id", NULL);
    if (row->kind == EVENT_LIMIT_SET || row->kind == EVENT_LIMIT_DELETED)
        *out = str_equal(json_get_string(data, "kind", ""), "dag")
                   ? json_get_string(data, "name", NULL)
                   : NULL;
    if (*out != NULL || backfill == 0)
        return STATUS_OK;
    enum status status = store_backfill_load(names->store, names->arena, backfill, &info, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = status == STATUS_OK ? info.dag_id : NULL;
    return STATUS_OK;
}

json_t *event_json_data(const struct event_row *row)
{
    json_t *holder = json_build_object();
    json_build_put_parsed(holder, "data", row->data != NULL ? row->data : "{}");
    json_t *data = json_incref(json_object_get(holder, "data"));
    json_decref(holder);
    return data;
}

/* *out is NULL: of no namespace; "": of one that is not known any more. */
static enum status space_of(const struct event_names *names, const struct event_row *row,
                            const json_t *data, const char *dag_id, const char **out,
                            struct err *err)
{
    struct version_info info;
    struct err problem = {0};
    bool is_limit = row->kind == EVENT_LIMIT_SET || row->kind == EVENT_LIMIT_DELETED;
    *out = row->space != NULL ? row->space : json_get_string(data, "namespace", NULL);
    if (is_limit && str_equal(json_get_string(data, "kind", ""), "namespace"))
        *out = json_get_string(data, "name", NULL);
    if (*out != NULL || dag_id == NULL) {
        if (*out == NULL && (row->run != 0 || row->task != 0))
            *out = "";
        return STATUS_OK;
    }
    enum status status = store_version_newest(names->store, names->arena, dag_id, &info, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    *out = status == STATUS_OK ? info.namespace_ : "";
    return STATUS_OK;
}

enum status event_json_is_seen(const struct event_names *names, const struct event_row *row,
                               bool *out, struct err *err)
{
    *out = store_sees_all(names->store) ||
           (row->space != NULL && store_sees(names->store, row->space));
    if (*out || row->space != NULL)
        return STATUS_OK;
    CLEANUP(json_decrefp) json_t *data = event_json_data(row);
    const char *space = NULL;
    const char *dag_id = NULL;
    if (event_json_dag_id(names, row, data, &dag_id, err) != STATUS_OK ||
        space_of(names, row, data, dag_id, &space, err) != STATUS_OK)
        return err->code;
    *out = space != NULL && space[0] != '\0' && store_sees(names->store, space);
    return STATUS_OK;
}

/* --- the whole ------------------------------------------------------------------------------- */

static const char *state_of(const struct event_row *row)
{
    if (row->new_state < 0)
        return NULL;
    if (row->task != 0)
        return row->new_state < TASK_STATE_COUNT ? task_state_name((enum task_state)row->new_state)
                                                 : NULL;
    return row->new_state < RUN_STATE_COUNT ? run_state_name((enum run_state)row->new_state) : NULL;
}

enum status event_json(const struct event_names *names, const struct event_row *row, json_t **out,
                       struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = event_json_data(row);
    const char *task_id = NULL;
    const char *dag_id = NULL;
    const char *space = NULL;
    if (event_json_task_id(names->store, row, &task_id, err) != STATUS_OK ||
        event_json_dag_id(names, row, data, &dag_id, err) != STATUS_OK ||
        space_of(names, row, data, dag_id, &space, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_put_id(object, "id", row->id);
    json_put_instant(object, "at", row->at_us);
    json_put_string(object, "kind", event_kind_name(row->kind));
    json_put_string(object, "object", audit_object_text(names->arena, row, data, dag_id, task_id));
    json_put_string(object, "state", state_of(row));
    json_put_string(object, "actor", row->actor);
    json_put_string(object, "namespace", space);
    json_put_string(object, "dag_id", dag_id);
    json_put_string(object, "dag_run_id", row->run_id);
    if (row->run != 0)
        json_put_id(object, "number", row->run);
    json_put_string(object, "task_id", task_id);
    if (row->task != 0 && row->run != 0)
        json_put_int(object, "map_index", row->map_index);
    if (row->attempt > 0)
        json_put_int(object, "attempt", row->attempt);
    json_put_string(object, "reason",
                    row->task != 0 && row->reason < REASON_COUNT && row->reason != REASON_NONE
                        ? reason_name(row->reason)
                        : NULL);
    json_put(object, "details", TAKE(data));
    *out = object;
    return STATUS_OK;
}
