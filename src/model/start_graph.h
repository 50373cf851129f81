#pragma once
/*
 * start_graph: which DAGs start which others by events. Pure.
 *
 * The nodes are the DAGs, and after them the datasets that they write: whoever writes one that
 * many wait for is not compared with each of them. Where a DAG has to write several datasets at
 * once to start another there is an arrow between the two.
 *
 * Ownership  Everything is in the arena; the names of the DAGs are borrowed.
 * Tests      tests/unit/model/test_trigger_circle.c
 */
#include <stddef.h>

#include "base/arena.h"
#include "model/trigger_circle.h"

/* The arrows that leave node n are ends[first[n]] up to, but not with, ends[first[n + 1]]. */
struct start_graph {
    size_t dags_count; /* nodes below it are DAGs */
    size_t nodes_count;
    const size_t *first;
    const size_t *ends;
};

NODISCARD struct start_graph start_graph_make(const struct circle_dag *dags, size_t count,
                                              struct arena *arena);
