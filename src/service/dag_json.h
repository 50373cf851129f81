#pragma once
/*
 * dag_json: DAGs and their tasks as JSON, with Airflow's names where it has them.
 */
#include "base/json.h"
#include "model/dag.h"

/* What a DAG says about itself, without its tasks; a new reference. */
NODISCARD json_t *dag_json(const struct dag *dag);

/* One task as it is written; a new reference. */
NODISCARD json_t *dag_json_task(const struct dag *dag, size_t node);
