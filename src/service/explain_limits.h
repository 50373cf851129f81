#pragma once
/*
 * explain_limits: the pools and limits that have no room for a task that could run else.
 */
#include "service/explain.h"
#include "service/explain_around.h"

struct explain_limits_request {
    struct store *store;
    struct arena *arena;
    const struct explain_around *around;
    const struct dag *dag;
    const struct task_row *task; /* scheduled or queued, or with instances to come */
};

/* Fills `pools`, first the one that it stands in front of. Texts are in the arena. */
NODISCARD enum status explain_limits_load(const struct explain_limits_request *request,
                                          struct explain_subject *out, struct err *err);
