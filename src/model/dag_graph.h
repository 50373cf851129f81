#pragma once
/*
 * dag_graph: what follows from the edges of a DAG.
 *
 * Iterative throughout: a chain of LIMIT_TASKS tasks is a normal DAG.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "model/dag.h"

/* Node numbers of one cycle, in the direction of the edges; each once. Heap. */
struct dag_cycle {
    uint32_t *nodes;
    size_t count;
};
void dag_cycle_fini(struct dag_cycle *cycle);

enum { DAG_CYCLES_MAX = 10 };

/*
 * From every task's `needs`, fill `dependants`, and `order`: parents first, main tasks before
 * finally tasks, else by number. Returns the number of cycles found, which are in `out_cycles`;
 * `order` means nothing unless it is 0.
 */
NODISCARD size_t dag_graph_build(struct dag *dag, struct dag_cycle out_cycles[DAG_CYCLES_MAX]);

/* Place of each node in `order`; heap, caller frees. */
NODISCARD uint32_t *dag_graph_positions(const struct dag *dag);

/* Choose what the chosen tasks need as well, or what comes after them; one place per node. */
void dag_add_upstream(const struct dag *dag, bool *chosen);
void dag_add_downstream(const struct dag *dag, bool *chosen);

/* Repeated questions of the form "does a come before b?". */
struct dag_reach;
NODISCARD struct dag_reach *dag_reach_new(const struct dag *dag);
void dag_reach_free(struct dag_reach *reach);
/*
 * Is there a path from `ancestor` to `node`? After a large amount of searching it answers
 * true without looking, so that checks by it stay cheap on any graph.
 */
bool dag_reach_has(struct dag_reach *reach, uint32_t ancestor, uint32_t node);

static inline void dag_reach_freep(struct dag_reach **reach)
{
    dag_reach_free(*reach);
}
