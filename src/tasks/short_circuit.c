/*
 * short_circuit: go on with everything, or with nothing.
 */
#include "model/template.h"
#include "tasks/kinds.h"

enum status short_circuit_plan(const struct plan_request *request, struct task_plan *out,
                               struct err *err)
{
    out->end = (struct attempt_end){.reason = REASON_RESULT, .result = TASK_SUCCESS};
    out->is_choice = true;
    const json_t *settings = request->task->settings;
    bool goes_on = template_truth(settings);
    if (json_is_string(settings)) {
        CLEANUP(json_decrefp) json_t *value = NULL;
        if (request->renderer->value(request->renderer->context, "short_circuit",
                                     json_string_value(settings), &value, err) != STATUS_OK)
            return err->code;
        goes_on = template_truth(value);
    }
    if (goes_on) {
        out->chosen = request->task->dependants.items;
        out->chosen_count = request->task->dependants.count;
    }
    return STATUS_OK;
}
