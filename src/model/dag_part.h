#pragma once
/*
 * dag_part: a part of a DAG for whoever draws it: what stands around one task, and groups as one
 * node each. The part is a DAG of its own, so that it is laid out like any other. Pure.
 *
 * A group stays open where one node would hide an order: when something outside of it comes between
 * its tasks, or when only some of them are finally tasks.
 *
 * Ownership  Everything is in the arena; texts and settings are borrowed from the whole DAG.
 * Tests      tests/unit/model/test_dag_part.c
 */
#include "base/attrs.h"
#include "base/err.h"
#include "model/dag.h"

/* The name for all groups that are in no other one. */
#define DAG_PART_EVERY_GROUP "*"

struct dag_part_request {
    int64_t node;              /* only this task and what is around it; below 0: all tasks */
    int64_t up;                /* so many levels of what it needs */
    int64_t down;              /* so many levels of what needs it */
    const char *const *closed; /* full names of groups that become one node */
    size_t closed_count;
};

struct dag_part_node {
    bool is_group;
    uint32_t *members; /* tasks of the whole DAG, ascending; a task has itself */
    size_t members_count;
    size_t hidden_up; /* edges to tasks that are left out */
    size_t hidden_down;
};

struct dag_part {
    struct dag *dag; /* ids of group nodes are names of groups; not for dag_free */
    struct dag_part_node *nodes;
};

/* STATUS_NOT_FOUND: there is no such group. */
NODISCARD enum status dag_part_make(struct arena *arena, const struct dag *whole,
                                    const struct dag_part_request *request, struct dag_part *out,
                                    struct err *err);
