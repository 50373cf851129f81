#pragma once
/*
 * dag_diff: what changed in the meaning of a DAG.
 */
#include "base/attrs.h"
#include "base/json.h"
#include "model/dag.h"

/*
 * A list of {"what": added, removed or changed, "task": id or null for the DAG itself, "keys":
 * which, sorted, of what changed}; the DAG's own keys come first, then tasks by id. A file that
 * tasks name counts as the key "file NAME" of the DAG. A new reference.
 */
NODISCARD json_t *dag_diff(const struct dag *before, const struct dag *after);
