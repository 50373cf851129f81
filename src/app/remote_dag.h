#pragma once
/*
 * remote_dag: as much of a DAG as a view of its run needs, from what a server tells. Pure.
 */
#include "base/arena.h"
#include "base/json.h"
#include "base/strmap.h"
#include "model/dag.h"

struct remote_dag {
    struct dag dag; /* its tasks have ids and groups, parents first */
    struct arena *arena;
    struct strmap *nodes; /* id of a task to its place */
};

/* From the response of dag.show, which is copied. */
void remote_dag_init(struct remote_dag *remote, const json_t *shown);
void remote_dag_fini(struct remote_dag *remote); /* zero is fine, twice is fine */

/* False: it has no such task. */
NODISCARD bool remote_dag_find(const struct remote_dag *remote, const char *task_id,
                               uint32_t *out_node);
