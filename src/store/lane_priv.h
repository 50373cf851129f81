#pragma once
/*
 * lane_priv: lanes as claims see them. A lane is a queue together with the labels that a host must
 * have; hosts claim lane by lane, so one that cannot be served never stands before another.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "store/store_priv.h"

/* The lane of each node of a DAG version, kept for as long as the store is open. */
NODISCARD enum status store_lanes_of(struct store *store, int64_t version, const struct dag *dag,
                                     const int64_t **out, struct err *err);
/* Make the queues and lanes that a DAG names. Inside a write transaction. */
NODISCARD enum status lanes_ensure(struct store *store, const struct dag *dag, struct err *err);

struct lane {
    int64_t id;
    int64_t queue;
    const char *queue_name;
    int64_t room; /* how many more may be claimed; INT64_MAX: no bound */
};

/*
 * The lanes a host with these labels and queues may claim from now, the most urgent queue first;
 * paused queues are left out. A queue with a bound is locked until the transaction ends, so that
 * its count stays true; one that another host has locked is left out too.
 */
NODISCARD enum status lanes_open(struct store *store, const char *labels, const char *queues,
                                 struct arena *arena, struct lane **out, size_t *out_count,
                                 struct err *err);
/* More room, or less, in the queue of this lane. */
void lanes_add_room(struct lane *lanes, size_t count, int64_t lane, int64_t change);
/* NULL when the lane is not open to this host. */
struct lane *lanes_find(struct lane *lanes, size_t count, int64_t id);

struct queue_facts {
    int64_t id;
    int64_t lane; /* without labels */
    int64_t soft_pending;
    int64_t hard_pending;
};

/* STATUS_NOT_FOUND says how to make it. */
NODISCARD enum status queue_find(struct store *store, const char *name, struct queue_facts *out,
                                 struct err *err);
