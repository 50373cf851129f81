#pragma once
/*
 * pool_priv: pools and limits inside a transaction that claims, ends or changes tasks.
 *
 * A task that names a pool runs only while it holds slots of it, which are rows (pool_slot). One
 * that finds none waits in front of the pool (state scheduled, reason pool; rows of pool_wait) and
 * is out of the way of claims. Whoever lets slots go lets in what waits for them, in the same
 * transaction. A limit of a namespace, a DAG or a tier is a pool without slot rows: what runs is
 * counted, and the next claim lets in what waits.
 *
 * To take slots, to wait, and to let in, the row of the pool must be locked until the transaction
 * ends. Claims leave what others have locked; who frees slots waits for the lock, because
 * whoever has it may be about to wait for them. Such a waiter holds locks of runs, so with a pool
 * locked nobody may wait for a run.
 *
 * Private to the store layer.
 */
#include "store/limit.h"
#include "store/pool.h"
#include "store/work.h"

enum pool_kind { POOL_NAMED, POOL_OF_NAMESPACE, POOL_OF_DAG, POOL_OF_TIER, POOL_KIND_COUNT };

/* Where nobody else has one of its own. */
#define POOL_NAMESPACE_OF_ALL "default"

/* The pool that a node names, in its namespace and in the one of all; 0: it names none. */
struct pool_ref {
    int64_t own;
    int64_t shared;
};

/* One for each node of a DAG version, kept as long as the store is open; NULL: no pools. */
NODISCARD enum status store_pools_of(struct store *store, int64_t version, const struct dag *dag,
                                     const struct pool_ref **out, struct err *err);
/* Rows for the pools that a DAG names; they say only that they were named. In a transaction. */
NODISCARD enum status pools_ensure(struct store *store, const struct dag *dag, struct err *err);
/* The row of a pool or limit, made as one that is not there if need be. In a transaction. */
NODISCARD enum status pool_find_or_make(struct store *store, enum pool_kind kind,
                                        const char *namespace_, const char *name, int64_t *out,
                                        struct err *err);

/*
 * Slots that tasks of the set leave, and places of those that wait no more: let in what waits for
 * them. To be called before claims and before saving; what was told of once is not told again.
 */
NODISCARD enum status pools_open_left(struct work *work, struct err *err);
/* Let in what fits into this pool now, whatever happened to it. */
NODISCARD enum status pools_open(struct work *work, int64_t pool, struct err *err);
/* The limits there are; lets in as many as fit, at most `most` each. */
NODISCARD enum status pools_open_limits(struct work *work, int64_t most, struct err *err);

enum pool_answer {
    POOL_TAKEN, /* it may run: slots are its own once this transaction is committed */
    POOL_FULL,  /* pools_hold is next */
    POOL_BUSY,  /* others have the pool just now */
};

/* A task that is about to run. */
NODISCARD enum status pools_take(struct work *work, const struct run_row *run,
                                 const struct task_row *task, enum pool_answer *out,
                                 struct err *err);
/* It waits in front of the pool that the last pools_take found full. */
void pools_hold(struct work *work, const struct run_row *run, struct task_row *task);

/* Pools as their rows say: without instances that have none yet. In the arena. */
struct pool_infos {
    struct pool_info *items;
    size_t count;
};

/* Of this namespace and name; NULL: of any. */
NODISCARD enum status pool_infos_read(struct store *store, struct arena *arena,
                                      const char *namespace_, const char *name,
                                      struct pool_infos *out, struct err *err);

/* The same of limits. */
struct limit_infos {
    struct limit_info *items;
    size_t count;
};

NODISCARD enum status limit_infos_read(struct store *store, struct arena *arena,
                                       struct limit_infos *out, struct err *err);

struct pool_set;
void pool_set_free(struct pool_set *set); /* NULL is allowed */

/* Slots of pools became free in this transaction. */
bool pools_were_left(const struct work *work);
/* Others have a pool or limit that this transaction wanted. */
bool pools_are_busy(const struct work *work);
