#pragma once
/*
 * task_env: the environment of a task's process, complete and clean.
 *
 * PATH, HOME, USER, LANG and TZ from outside, EIDER_* of the attempt, the task's own `env`
 * and what `env_pass` names. Nothing else: no store URL, no keys. A task that brings EIDER_API or
 * EIDER_TOKEN of its own gets neither from us, so that no token goes to another's server.
 */
#include "worker/scope.h"
#include "worker/task_api.h"

struct env_options {
    const char *outputs_dir;
    const char *(*get)(const char *name); /* the environment outside; NULL result: not set */
    const struct task_api *api;           /* NULL: none */
};

/* "NAME=value" texts closed by NULL, in the arena of the scope. */
NODISCARD enum status task_env_make(struct attempt_scope *scope, const struct env_options *options,
                                    const char *const **out, struct err *err);

/* What a task that speaks the process protocol is told on descriptor 3, in the arena. */
const char *task_env_request(struct attempt_scope *scope, const char *outputs_dir);
