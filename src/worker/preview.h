#pragma once
/*
 * preview: the templates of a task filled in as a run would, without a run.
 *
 * What only a run has (values of other tasks, the item of an instance) cannot be shown: such a
 * field says so in its place. Secrets are shown as "***", and no key is needed for that.
 */
#include "base/json.h"
#include "model/dag.h"
#include "store/vault.h"

struct preview_request {
    const struct dag *dag;
    const char *path;     /* of the DAG file, or "" */
    const json_t *params; /* resolved */
    const json_t *conf;
    int64_t logical_at_us;
    int64_t node;
    const char *space;   /* namespace */
    struct vault *vault; /* secrets of it are not shown; NULL: none */
};

/* [{"field", "value"} or {"field", "error"}, ..]; a new reference. */
NODISCARD json_t *preview_fields(const struct preview_request *request);
