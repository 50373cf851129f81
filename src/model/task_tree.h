#pragma once
/*
 * task_tree: the tasks of a DAG as a tree that people read from top to bottom. Pure.
 *
 * A task stands below one of the tasks it needs, the one farthest from the roots (of several the
 * last), so that every line of the tree is an edge of the DAG. Roots, and tasks of `finally`
 * without needs, stand at the margin.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/dag.h"

struct task_place {
    uint32_t node;
    uint32_t depth; /* 0: at the margin */
};

/* One place per task, in the order of lines; in the arena. */
const struct task_place *task_tree(const struct dag *dag, struct arena *arena);
