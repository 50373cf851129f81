#pragma once
/*
 * argv: lists of templates as arguments of a program.
 */
#include "tasks/task_plan.h"

/* Every text of `list` rendered, then `last` if there is one, then NULL. */
NODISCARD enum status argv_render(const struct plan_request *request, const char *field,
                                  const json_t *list, const char *last,
                                  const char *const **out_argv, struct err *err);
