#pragma once
/*
 * duration_stats: how long the tasks of a DAG took lately, for estimates.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "store/store.h"

struct task_stats {
    int64_t takes_us;  /* median of the last successes; -1: there was none */
    int64_t instances; /* of a mapped task, at its last expansion; 0: not known */
};

/* Of the last runs of this version, one per node, in `arena`. */
NODISCARD enum status store_duration_stats(struct store *store, struct arena *arena,
                                           int64_t version, const struct dag *dag,
                                           struct task_stats **out, struct err *err);
