#pragma once
/*
 * scope: what templates of one attempt can see, and the renderer that fills them in.
 *
 * Roots are rows of a table (scope.c): dates, params, values of other tasks, variables,
 * connections, the item of an instance. Values are fetched only when a template asks. Secrets are
 * given to the fields of dag_field_takes_secrets, and noted in vault.seen.
 */
#include "base/arena.h"
#include "store/advance.h"
#include "store/vault_scope.h"
#include "tasks/task_plan.h"
#include "worker/run_context.h"

struct attempt_scope {
    struct arena *arena; /* of the attempt */
    struct run_context *run;
    const struct task_def *task;
    const struct claim *claim;
    const json_t *item; /* NULL: not an instance */
    struct vault_scope vault;
};

/* What people call an attempt: looking again is none. */
static inline int64_t scope_try_number(const struct attempt_scope *scope)
{
    return scope->claim->attempt - scope->claim->looks;
}

/* The renderer for `scope`, which must stay where it is. Errors say where in the DAG file. */
struct renderer scope_renderer(struct attempt_scope *scope);

/* Every text inside `value` rendered; lists and maps are walked. A new reference. */
NODISCARD enum status scope_render_json(struct attempt_scope *scope, const char *field,
                                        const json_t *value, json_t **out, struct err *err);

/* Names of the roots, for documentation and checks. */
size_t scope_root_count(void);
const char *scope_root_name(size_t i);
