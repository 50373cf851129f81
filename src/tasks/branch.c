/*
 * branch: the first rule whose condition holds says where to go on.
 */
#include "model/template.h"
#include "tasks/kinds.h"

static enum status holds(const struct plan_request *request, const json_t *rule, size_t i,
                         bool *out, struct err *err)
{
    const json_t *condition = json_object_get(rule, "if");
    if (condition == NULL || !json_is_string(condition)) {
        *out = condition == NULL || template_truth(condition);
        return STATUS_OK;
    }
    CLEANUP(json_decrefp) json_t *value = NULL;
    const char *field = arena_format(request->arena, "branch.%zu.if", i);
    if (request->renderer->value(request->renderer->context, field, json_string_value(condition),
                                 &value, err) != STATUS_OK)
        return err->code;
    *out = template_truth(value);
    return STATUS_OK;
}

static enum status choose(const struct plan_request *request, const json_t *rule,
                          struct task_plan *out, struct err *err)
{
    const json_t *ids = json_object_get(rule, json_object_get(rule, "else") ? "else" : "then");
    size_t count = json_array_size(ids);
    uint32_t *chosen = arena_array(request->arena, count + 1, sizeof *chosen);
    for (size_t i = 0; i < count; i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        int64_t node = id != NULL ? dag_find_task(request->dag, id) : -1;
        if (node < 0)
            return err_set(err, STATUS_INVALID, "branch names a task that is not there");
        chosen[i] = (uint32_t)node;
    }
    out->chosen = chosen;
    out->chosen_count = count;
    return STATUS_OK;
}

enum status branch_plan(const struct plan_request *request, struct task_plan *out, struct err *err)
{
    out->end = (struct attempt_end){.reason = REASON_RESULT, .result = TASK_SUCCESS};
    out->is_choice = true;
    const json_t *rules = request->task->settings;
    for (size_t i = 0; i < json_array_size(rules); i++) {
        const json_t *rule = json_array_get(rules, i);
        bool is_met = false;
        if (holds(request, rule, i, &is_met, err) != STATUS_OK)
            return err->code;
        if (is_met)
            return choose(request, rule, out, err);
    }
    return STATUS_OK; /* nothing chosen: every direct dependant is skipped */
}
