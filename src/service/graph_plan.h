#pragma once
/*
 * graph_plan: a DAG laid out on a plane, in pixels, for whoever draws it: boxes of tasks and
 * groups, corners of the lines between them. Pure.
 *
 * Ownership  Arrays belong to the plan; the DAG is borrowed.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "model/dag.h"
#include "model/layout_route.h"

struct graph_group {
    const char *name;  /* in full; not the DAG's text, but the plan's */
    const char *above; /* the group that it is in, or NULL */
    struct layout_box box;
};

struct graph_plan {
    const struct dag *dag;
    struct layout *layout;
    struct layout_routes *routes;
    struct layout_edge *edges; /* along `needs`, by the tasks that need */
    size_t edges_count;
    struct graph_group *groups; /* by name */
    size_t groups_count;
    struct arena *arena;
};

/* STATUS_LIMIT: it is larger than what is laid out. */
NODISCARD enum status graph_plan_new(const struct dag *dag, struct graph_plan **out,
                                     struct err *err);
void graph_plan_free(struct graph_plan *plan); /* NULL is allowed */

static inline void graph_plan_freep(struct graph_plan **plan)
{
    graph_plan_free(*plan);
}
