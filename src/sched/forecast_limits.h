#pragma once
/*
 * forecast_limits: pools, limits and queue policies in a forecast: taken over from the real store,
 * and who waits for them.
 */
#include "base/idmap.h"
#include "model/dag.h"
#include "sched/forecast.h"
#include "store/advance.h"

struct forecast_policies {
    struct store *real;
    struct store *scratch;
    struct arena *arena;
};

/* Pools, limits of DAGs and namespaces, and queues with their bounds and pauses. */
NODISCARD enum status forecast_policies_copy(const struct forecast_policies *policies,
                                             struct err *err);

/* Pools as they are used while the clock runs. */
struct forecast_pools {
    struct store *scratch;
    struct forecast_pool *items;
    size_t count;
    int64_t *used;         /* slots of each, now */
    int64_t *waited_in_us; /* the last hour in which somebody waited for it; -1: none */
    struct idmap *holders; /* claims that hold slots: task to struct pool_hold */
    struct arena *arena;
};

NODISCARD enum status forecast_pools_open(struct forecast_pools *pools, struct store *scratch,
                                          struct arena *arena, struct err *err);
void forecast_pools_fini(struct forecast_pools *pools); /* one that was never opened is fine */

/* A task begins, or its attempt is over; those without a pool do not count. */
void forecast_pools_start(struct forecast_pools *pools, const struct dag *dag,
                          const struct task_def *def, const struct claim *claim);
void forecast_pools_end(struct forecast_pools *pools, const struct claim *claim);
/* Who waits now, in the hour that began then. */
NODISCARD enum status forecast_pools_look(struct forecast_pools *pools, int64_t hour_us,
                                          struct err *err);
/* Those that were used or waited for. */
void forecast_pools_report(const struct forecast_pools *pools, struct forecast *out);
