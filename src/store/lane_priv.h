#pragma once
/*
 * lane_priv: lanes as claims see them. A lane is a queue together with the labels that a host must
 * have; hosts claim lane by lane, so one that cannot be served never stands before another.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "store/rows.h"
#include "store/store_priv.h"

/* The lane of each node of a DAG version, kept for as long as the store is open. */
NODISCARD enum status store_lanes_of(struct store *store, int64_t version, const struct dag *dag,
                                     const int64_t **out, struct err *err);
/*
 * The same of one run: all its nodes in one queue, if it has one. The queue must exist; labels of
 * tasks count as ever. Inside a write transaction when it does.
 */
NODISCARD enum status store_lanes_of_run(struct store *store, const struct run_row *run,
                                         const int64_t **out, struct err *err);
/* Make the queues and lanes that a DAG names. Inside a write transaction. */
NODISCARD enum status lanes_ensure(struct store *store, const struct dag *dag, struct err *err);

struct lane {
    int64_t id;
    int64_t queue;
    const char *queue_name;
    bool is_served; /* by the host that asks */
    bool is_bounded;
    bool is_wanted; /* set by who looked, for lanes_bind */
    bool is_bound;  /* its queue was wanted, and is ours until the transaction ends */
    bool has_ready[CLASS_COUNT];
    bool has_job_first[CLASS_COUNT];
    int64_t room;  /* how many more may be claimed; none before its queue is bound */
    int64_t freed; /* places of its queue that this transaction left and did not take again */
};

struct lanes {
    struct lane *items; /* the most urgent queue first; paused ones are left out */
    size_t count;
    int64_t next_due_us; /* the first retry, or 0 */
    bool has_expansions; /* a mapped task with instances to come */
};

struct lane_question {
    int64_t scope;
    const char *labels; /* of the host */
    const char *queues; /* it serves */
};

/* All lanes, and in which there is something to claim. */
NODISCARD enum status lanes_look(struct store *store, const struct lane_question *question,
                                 struct arena *arena, struct lanes *out, struct err *err);
/*
 * Find the room in wanted lanes of queues with a bound. Such a queue is locked until the
 * transaction ends, so that its count stays true; one that another host has locked has no room.
 */
NODISCARD enum status lanes_bind(struct store *store, struct lanes *lanes, struct err *err);
/* More room, or less, in the queue of this lane. */
void lanes_add_room(struct lanes *lanes, int64_t id, int64_t change);
/* Something waits for a place that this transaction left. */
bool lanes_have_freed(const struct lanes *lanes);
/* NULL when its queue is paused. */
struct lane *lanes_find(struct lanes *lanes, int64_t id);

struct queue_facts {
    int64_t id;
    int64_t lane; /* without labels */
    int64_t soft_pending;
    int64_t hard_pending;
};

/* STATUS_NOT_FOUND says how to make it. */
NODISCARD enum status queue_find(struct store *store, const char *name, struct queue_facts *out,
                                 struct err *err);
