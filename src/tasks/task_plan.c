#include "tasks/task_plan.h"

#include "base/check.h"
#include "tasks/kinds.h"

static enum status (*const PLANNERS[KIND_COUNT])(const struct plan_request *request,
                                                 struct task_plan *out, struct err *err) = {
    [KIND_RUN] = run_plan,
    [KIND_SCRIPT] = script_plan,
    [KIND_NOOP] = noop_plan,
    [KIND_BRANCH] = branch_plan,
    [KIND_SHORT_CIRCUIT] = short_circuit_plan,
    [KIND_SENSOR] = sensor_plan,
};

bool task_plan_knows(enum task_kind kind)
{
    CHECK(kind < KIND_COUNT);
    return PLANNERS[kind] != NULL;
}

enum status task_plan_make(const struct plan_request *request, struct task_plan *out,
                           struct err *err)
{
    if (!task_plan_knows(request->task->kind))
        return err_set(err, STATUS_INVALID, "kind '%s' cannot be run by this version",
                       task_kind_key(request->task->kind));
    struct task_plan plan = {0};
    if (PLANNERS[request->task->kind](request, &plan, err) != STATUS_OK)
        return err->code;
    *out = plan;
    return STATUS_OK;
}
