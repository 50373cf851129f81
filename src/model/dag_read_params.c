/*
 * dag_read_params: the declarations of a DAG's params.
 *
 * `region: eu` is short for `region: {default: eu}`.
 */
#include "base/arena.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/params.h"

static json_t *read_declaration(struct reader *r, struct spot spot, const char *name,
                                const json_t *declared)
{
    json_t *schema = NULL;
    if (json_is_object(declared)) {
        schema = json_incref(reader_mutable(declared));
    } else {
        schema = json_object();
        json_put(schema, "default", json_incref(reader_mutable(declared)));
    }
    struct err err = {0};
    if (params_check_declaration(schema, &err) != STATUS_OK)
        reader_problem_at_key(r, spot, "param '%s': %s", name, err.text);
    return schema;
}

void reader_params(struct reader *r, struct spot spot, const json_t *value)
{
    if (json_is_null(value))
        return;
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "params", "a map from name to declaration", value);
        return;
    }
    struct dag *dag = r->dag;
    r->params = value;
    dag->params = arena_array(dag->arena, json_object_size(value) + 1, sizeof *dag->params);
    struct spot at = {value, 0};
    for (READER_EACH(value, iter, at)) {
        const char *name = json_object_iter_key(iter);
        if (!dag_name_is_valid(name)) {
            reader_problem_at_key(r, at, "'%.60s' is not the name of a param: " DAG_NAME_RULE,
                                  name);
            continue;
        }
        struct param *param = &dag->params[dag->params_count++];
        param->name = arena_strdup(dag->arena, name);
        param->schema = read_declaration(r, at, name, json_object_iter_value(iter));
        param->type = params_declared_type(param->schema);
        const char *doc = json_get_string(param->schema, "description",
                                          json_get_string(param->schema, "doc", NULL));
        param->doc = doc != NULL ? arena_strdup(dag->arena, doc) : NULL;
    }
}

/* ---- runs that start by themselves ---- */

static bool passes_conf(const struct trigger_rules *after)
{
    for (size_t i = 0; i < after->leaves_count; i++)
        if (after->leaves[i]->passes_conf)
            return true;
    return false;
}

/* What starts runs of the DAG and brings no value for this param; NULL: nothing does. */
static const char *who_brings_none(const struct timetable *timetable,
                                   const struct triggers *triggers, const char *name)
{
    if (timetable != NULL && timetable->schedules_count > 0)
        return "a tick of the schedule";
    if (triggers->datasets.root != NULL && !str_equal(name, "triggering_dataset_events"))
        return "an update of a dataset";
    if (triggers->after.root != NULL && !passes_conf(&triggers->after) &&
        !str_equal(name, "triggering_runs"))
        return "the end of another DAG's run";
    if (triggers->files_count > 0 && !str_equal(name, "file"))
        return "a file";
    return NULL;
}

void reader_check_params_given(struct reader *r, const struct timetable *timetable,
                               const struct triggers *triggers)
{
    struct spot at = {r->params, 0};
    if (r->params == NULL || r->diags->errors > r->errors_before)
        return;
    for (size_t i = 0; i < r->dag->params_count; i++, at.index++) {
        const struct param *param = &r->dag->params[i];
        const char *who = who_brings_none(timetable, triggers, param->name);
        if (params_is_required(param->schema) && who != NULL)
            reader_problem_at(r, DIAG_WARNING, reader_span(r, at, true),
                              "param '%s' has no default, and %s brings no value: no run can start "
                              "by it",
                              param->name, who);
    }
}
