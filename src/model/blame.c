#include "model/blame.h"

static bool is_bad(enum task_state state)
{
    return state == TASK_FAILED || state == TASK_UPSTREAM_FAILED;
}

bool blame_counts(const struct dag *dag, size_t node, enum task_state state)
{
    const struct task_def *def = &dag->tasks[node];
    if (!is_bad(state) || def->allow_failure)
        return false;
    return dag->verdict == VERDICT_ALL || def->is_finally || def->dependants.count == 0;
}

/* The run failed because of it, or because of something that did not run because of it. */
static bool leads_to_failure(const struct dag *dag, const enum task_state *states,
                             const bool *leads, size_t node)
{
    const struct node_list *next = &dag->tasks[node].dependants;
    if (!is_bad(states[node]))
        return false;
    bool does = blame_counts(dag, node, states[node]);
    for (size_t i = 0; !does && i < next->count; i++)
        does = states[next->items[i]] == TASK_UPSTREAM_FAILED && leads[next->items[i]];
    return does;
}

static bool has_bad_parent(const struct dag *dag, const enum task_state *states, size_t node)
{
    const struct node_list *needs = &dag->tasks[node].needs;
    bool has = false;
    for (size_t i = 0; !has && i < needs->count; i++)
        has = is_bad(states[needs->items[i]]);
    return has;
}

void blame_find(const struct dag *dag, const enum task_state *states, bool *out_blamed)
{
    for (size_t i = dag->tasks_count; i-- > 0;)
        out_blamed[dag->order[i]] = leads_to_failure(dag, states, out_blamed, dag->order[i]);
    for (size_t node = 0; node < dag->tasks_count; node++)
        if (states[node] == TASK_UPSTREAM_FAILED && has_bad_parent(dag, states, node))
            out_blamed[node] = false;
}
