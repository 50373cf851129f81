#pragma once
/*
 * pool: slots that tasks share, and who holds and waits for them.
 *
 * A pool belongs to a namespace; those of `default` serve every namespace that has none of that
 * name itself. A task that names a pool (`pool`, `slots`) runs only while it holds its slots there.
 * Pools are made, changed and deleted while tasks run: one that is made smaller lets its running
 * tasks end and takes no other before there is room; one that is deleted keeps new ones waiting
 * until it, or one of that name in `default`, is there again.
 */
#include "base/arena.h"
#include "store/store.h"

struct dag;

struct pool_info {
    const char *namespace_;
    const char *name;
    const char *description;
    int64_t slots;
    int64_t occupied; /* slots; more than it has after it was made smaller */
    int64_t running;  /* tasks that hold them */
    int64_t queued;   /* slots that tasks wait for */
    int64_t waiting;  /* those tasks */
};

/* Those there are, by name, then namespace. Texts are in the arena. */
NODISCARD enum status store_pool_list(struct store *store, struct arena *arena,
                                      struct pool_info **out, size_t *out_count, struct err *err);
/* STATUS_NOT_FOUND names the nearest pool there is. */
NODISCARD enum status store_pool_load(struct store *store, struct arena *arena,
                                      const char *namespace_, const char *name,
                                      struct pool_info *out, struct err *err);

/* What to change; members that are NULL stay as they are. */
struct pool_change {
    const char *namespace_;
    const char *name;
    const int64_t *slots; /* a new pool needs them */
    const char *description;
    const char *actor;
};

/*
 * Makes or changes a pool, and lets in what fits now. STATUS_INVALID: a name cannot be one, or a
 * number is out of bounds.
 */
NODISCARD enum status store_pool_set(struct store *store, const struct pool_change *change,
                                     struct err *err);
/* STATUS_CONFLICT: `default` of `default` is always there. What holds slots runs on. */
NODISCARD enum status store_pool_delete(struct store *store, const char *namespace_,
                                        const char *name, const char *actor, struct err *err);

/* A task that would wait for ever as things are. */
struct pool_doubt {
    const char *task;
    const char *pool;
    int64_t need;
    int64_t slots; /* that it has; -1: there is no such pool */
};

/* One for each pool of the DAG that is not there, and for each task that needs more than all. */
NODISCARD enum status store_pool_doubts(struct store *store, struct arena *arena,
                                        const struct dag *dag, struct pool_doubt **out,
                                        size_t *out_count, struct err *err);
/* In words, with what to do about it; in the arena. */
const char *pool_doubt_text(struct arena *arena, const char *namespace_,
                            const struct pool_doubt *doubt);

/* In front of what a task waits; see also limit.h. */
struct pool_place {
    bool is_waiting;  /* else the rest is not set */
    const char *kind; /* pool, namespace, dag, tier */
    const char *name;
    bool is_there;
    int64_t slots;
    int64_t used;  /* slots held; tasks running */
    int64_t need;  /* slots */
    int64_t ahead; /* tasks before it in the same line */
};

NODISCARD enum status store_pool_place(struct store *store, struct arena *arena, int64_t task,
                                       struct pool_place *out, struct err *err);
