#pragma once
/*
 * overview: questions over many rows that lists and status views ask. Nothing is changed.
 */
#include <stdbool.h>

#include "base/arena.h"
#include "model/task_state.h"
#include "store/host.h"
#include "store/run_store.h"
#include "store/store.h"

/* How many tasks of a run are in each state; an expanded task counts as its instances. */
struct tally {
    int64_t states[TASK_STATE_COUNT];
    int64_t total;
};

NODISCARD enum status store_tally(struct store *store, const struct run_info *run,
                                  struct tally *out, struct err *err);

/* Ids of tasks that some host holds, those of the oldest run first; at most `limit`. */
NODISCARD enum status store_held_list(struct store *store, struct arena *arena, int64_t limit,
                                      int64_t **out_tasks, size_t *out_count, struct err *err);

/* One host, texts in `arena`. STATUS_NOT_FOUND when there is none. */
NODISCARD enum status store_host_load(struct store *store, struct arena *arena, int64_t id,
                                      struct host_info *out, struct err *err);

struct queue_place {
    bool is_ready;  /* it is claimable at all */
    int64_t ahead;  /* claimable tasks that come first */
    int64_t behind; /* and those that come after it */
};

/* Where a task stands among the claimable ones of its scope, class and lane. */
NODISCARD enum status store_queue_place(struct store *store, int64_t run, int64_t task,
                                        struct queue_place *out, struct err *err);

/* Of a task that a limit of its run holds: how many are held there and come first. */
NODISCARD enum status store_gate_ahead(struct store *store, int64_t run, int64_t task, int64_t *out,
                                       struct err *err);
/* What a host runs of queues that have a share. */
NODISCARD enum status store_host_sharing(struct store *store, int64_t host, int64_t *out,
                                         struct err *err);

/* Tasks and jobs that are claimable and that nobody has claimed. */
NODISCARD enum status store_ready_count(struct store *store, int64_t *out, struct err *err);
