#pragma once
/*
 * dag_write: the canonical form of a DAG.
 *
 * The same meaning gives the same value: defaults are merged, groups flattened, references
 * written as full ids, and what equals the default is left out. dag_read reads it back
 * to an equal DAG, but for the places of templates.
 */
#include "base/attrs.h"
#include "base/json.h"
#include "base/sha256.h"
#include "model/dag.h"

/* New reference; format it with json_format, which sorts. */
NODISCARD json_t *dag_write(const struct dag *dag);

/* Hash of the canonical text: equal exactly when the meaning is. Returns `out`. */
const char *dag_hash(const struct dag *dag, char out[SHA256_HEX_MAX]);
