#pragma once
/*
 * argv: the words of a command, put together from literal texts and templates.
 */
#include "tasks/task_plan.h"

struct argv {
    const char **items; /* in the arena of the request; closed by NULL */
    size_t count;
    size_t capacity;
};

/* Room for `capacity` words. */
void argv_init(struct argv *argv, const struct plan_request *request, size_t capacity);
/* One word as it is; borrowed, so it must live as long as the plan. */
void argv_add(struct argv *argv, const char *word);
/* Every text of a list, rendered. */
NODISCARD enum status argv_add_list(struct argv *argv, const struct plan_request *request,
                                    const char *field, const json_t *list, struct err *err);
