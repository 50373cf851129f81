#pragma once
/*
 * dag_schema: JSON Schema of a DAG file, from the tables that files are read by. Pure.
 *
 * For editors: it knows keys, kinds of values, bounds and choices. What holds between keys is left
 * to `eider validate`.
 */
#include "base/attrs.h"
#include "base/json.h"

/* A new reference. */
NODISCARD json_t *dag_schema(void);
