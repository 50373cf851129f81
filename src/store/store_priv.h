#pragma once
/*
 * store_priv: what the modules of the store layer share.
 */
#include "base/id.h"
#include "base/idmap.h"
#include "model/event_kind.h"
#include "store/db.h"
#include "store/store.h"

struct dag;

struct store {
    struct db *db;
    int64_t (*now_us)(void);
    struct id_source ids;
    struct idmap *dags; /* version id to struct dag, for as long as the store is open */
    struct idmap *lent; /* the same, owned by somebody else */
};

/* The DAG of a version, read once and kept; borrowed from the store. */
NODISCARD enum status store_dag(struct store *store, int64_t version, const struct dag **out,
                                struct err *err);

/* A run number that nobody else gets. Inside a write transaction. */
NODISCARD enum status store_take_run_id(struct store *store, int64_t *out_id, struct err *err);
/* The first of `count` task ids that only this run gets. Inside a write transaction. */
NODISCARD enum status store_take_task_ids(struct store *store, int64_t run, int64_t count,
                                          int64_t *out_first, struct err *err);

/* An event that is about no run or task; `data` is JSON. Inside a write transaction. */
NODISCARD enum status store_tell(struct store *store, enum event_kind kind, const char *actor,
                                 const char *data, struct err *err);
