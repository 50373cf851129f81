#pragma once
/*
 * queue: the lanes that work waits in.
 *
 * A queue has a priority: hosts empty higher ones first. It may have a bound on what runs at once
 * on all hosts together, be paused, and refuse producers when too much waits. `default` is
 * always there; others are made by store_queue_set, or by the first DAG that names them.
 *
 * A queue may have a share (max_share). On each host, what runs of all queues with a share together
 * is fewer than so many percent of its slots before another task of this queue starts there. So
 * queues without a share always have the rest of every host for themselves.
 */
#include "base/arena.h"
#include "store/store.h"

struct queue_info {
    int64_t id;
    const char *name;
    int64_t priority;
    int64_t max_running;  /* 0: no bound */
    int64_t max_share;    /* percent of each host's slots; 0: no bound */
    int64_t soft_pending; /* 0: never */
    int64_t hard_pending;
    bool paused;
    /* What is in it now. */
    int64_t pending; /* claimable */
    int64_t delayed; /* jobs that wait for their time, retries included */
    int64_t running;
    int64_t oldest_us; /* since when its oldest claimable task waits; 0: none does */
    /* Of hosts with a lease; those without one are known by their locks, not to the store. */
    int64_t served_at_us;  /* when one that serves it renewed last; 0: none does */
    int64_t serving_hosts; /* living ones that serve it */
};

enum {
    QUEUE_READY_MS = 60000, /* NOT_READY when no host was there for so long */
    QUEUE_LATE_MS = 15000,  /* Late when something claimable waits for longer */
};

/* Whether a host that serves `queues` (see host.h) would take work of this queue. */
bool queue_is_among(const char *queues, const char *name);

/* By priority, then name. Texts are in the arena. */
NODISCARD enum status store_queue_list(struct store *store, struct arena *arena,
                                       struct queue_info **out, size_t *out_count, struct err *err);
/* STATUS_NOT_FOUND names the nearest queue there is. */
NODISCARD enum status store_queue_load(struct store *store, struct arena *arena, const char *name,
                                       struct queue_info *out, struct err *err);

/* What to change; members that are NULL stay as they are. */
struct queue_change {
    const char *name;
    const int64_t *priority;
    const int64_t *max_running;
    const int64_t *max_share;
    const int64_t *soft_pending;
    const int64_t *hard_pending;
    const bool *paused;
    const char *actor;
};

/*
 * Makes the queue when it is not there and `may_create`; else STATUS_NOT_FOUND. STATUS_INVALID: the
 * name cannot be one, or a number is out of bounds.
 */
NODISCARD enum status store_queue_set(struct store *store, const struct queue_change *change,
                                      bool may_create, struct err *err);
/* STATUS_CONFLICT: something waits or runs in it, or it is `default`. */
NODISCARD enum status store_queue_delete(struct store *store, const char *name, const char *actor,
                                         struct err *err);
