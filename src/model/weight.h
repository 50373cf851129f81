#pragma once
/*
 * weight: how the priorities of tasks add up along their dependencies (`weight_rule`). Pure.
 *
 * absolute    a task weighs what its own `priority` says
 * downstream  and what every task that comes after it, directly or not, has as its priority
 * upstream    and what every task that comes before it has
 *
 * Each of those counts once, whichever way leads to it, and by its own priority, whatever its own
 * rule is.
 */
#include "base/attrs.h"

struct dag;

enum weight_rule { WEIGHT_ABSOLUTE, WEIGHT_DOWNSTREAM, WEIGHT_UPSTREAM, WEIGHT_RULE_COUNT };

#define WEIGHT_RULE_NAMES                                                                          \
    {                                                                                              \
        [WEIGHT_ABSOLUTE] = "absolute", [WEIGHT_DOWNSTREAM] = "downstream",                        \
        [WEIGHT_UPSTREAM] = "upstream"                                                             \
    }

/*
 * Set the `weight` of every task, within what a priority may be. The edges and the order of the DAG
 * are there. What would take more than WEIGHT_STEPS_MAX steps is summed only as far as that.
 */
void dag_weigh(struct dag *dag);
