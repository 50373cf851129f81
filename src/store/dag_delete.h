#pragma once
/*
 * dag_delete: a DAG goes, with everything that ever happened to it.
 */
#include "store/store.h"

struct dag_delete_request {
    const char *dag_id;
    const char *actor;
    const char *reason; /* or NULL */
};

enum { DAG_DELETE_RUNS = 100 };

/* What one step removed; their logs are the caller's business. */
struct dag_delete_step {
    int64_t runs[DAG_DELETE_RUNS];
    size_t runs_count;
    bool is_done; /* the DAG itself is gone, too */
};

/*
 * Whether it may be deleted, and how many runs would go with it.
 *
 *   STATUS_CONFLICT  a living host offers it, or runs of it are not over
 */
NODISCARD enum status store_dag_delete_check(struct store *store, const char *dag_id,
                                             int64_t *out_runs, struct err *err);
/* One step of deleting, to be called until it is done. From the first on nothing is started. */
NODISCARD enum status store_dag_delete_step(struct store *store,
                                            const struct dag_delete_request *request,
                                            struct dag_delete_step *out, struct err *err);
