#pragma once
/*
 * kinds: the planners, one per kind of task, each in a file of its own.
 */
#include "tasks/task_plan.h"

NODISCARD enum status run_plan(const struct plan_request *request, struct task_plan *out,
                               struct err *err);
NODISCARD enum status script_plan(const struct plan_request *request, struct task_plan *out,
                                  struct err *err);
NODISCARD enum status noop_plan(const struct plan_request *request, struct task_plan *out,
                                struct err *err);
NODISCARD enum status branch_plan(const struct plan_request *request, struct task_plan *out,
                                  struct err *err);
NODISCARD enum status short_circuit_plan(const struct plan_request *request, struct task_plan *out,
                                         struct err *err);
NODISCARD enum status sensor_plan(const struct plan_request *request, struct task_plan *out,
                                  struct err *err);
