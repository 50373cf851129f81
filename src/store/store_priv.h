#pragma once
/*
 * store_priv: what the modules of the store layer share.
 */
#include "base/id.h"
#include "base/idmap.h"
#include "model/event_kind.h"
#include "store/counted.h"
#include "store/db.h"
#include "store/repeat.h" /* IWYU pragma: export */
#include "store/store.h"

struct dag;
struct lane_cache;
struct own_jobs;

struct store {
    struct db *db;
    int64_t (*now_us)(void);         /* NULL: the database's own clock */
    const struct house_hooks *hooks; /* of all DAGs; NULL: none */
    struct id_source ids;
    struct idmap *dags;     /* version id to struct dag, for as long as the store is open */
    struct idmap *lent;     /* the same, owned by somebody else */
    struct idmap *dag_keys; /* version id to the id of its DAG, which stands for the pointer */
    struct lane_cache *lane_cache;
    struct host_names *host_names; /* NULL: none was asked for */
    struct own_jobs *own_jobs;
    struct counted counted;
    int64_t own_instant_us; /* the last that store_own_instant gave */
    const char *sight;      /* sight.h; NULL: everything */
    char *reason; /* {"reason": ...} of whoever changes something now; NULL: none was given */
};

/* How many rows a statement has that ends in the LIMIT up to which they are counted. */
#define COUNT_OF(rows) "SELECT count(*) FROM (" rows ") counted"

/* What a list shows: rows whose namespace is among those of the parameter, store_sight. */
#define SEEN(param, space)                                                                         \
    "(" param " = '' OR replace(" param ", ' ' || " space " || ' ', '') <> " param ")"

static inline const char *store_sight(const struct store *store)
{
    return store->sight != NULL ? store->sight : "";
}

/*
 * Readers of events must know what went before they came: the highest id that was removed, in
 * `retention`. To be noted before the rows go that the condition is true of. The newest event never
 * goes, so that no id is given twice.
 */
#define EVENTS_REMOVED "events"
#define EVENTS_REMOVED_NOTE(condition)                                                             \
    "INSERT INTO retention (what, run) SELECT '" EVENTS_REMOVED "', max(id) FROM event"            \
    " WHERE " condition " HAVING max(id) IS NOT NULL"                                              \
    " ON CONFLICT (what) DO UPDATE SET run = excluded.run WHERE retention.run < excluded.run"

/* The DAG of a version, read once and kept; borrowed from the store. */
NODISCARD enum status store_dag(struct store *store, int64_t version, const struct dag **out,
                                struct err *err);
/* Read those that are not there yet, in one question where questions take their time. */
NODISCARD enum status store_dags_fetch(struct store *store, const int64_t *versions, size_t count,
                                       struct err *err);

/* Whether store_repeat would. */
bool store_may_repeat(const struct store *store, enum status status);

/*
 * After a failure of something that others may do at the same time, with the same result: on
 * PostgreSQL who came second looks again.
 */
void store_expect_race(const struct store *store, struct err *err);

/* Other ids from here on: somebody else seems to make the same ones. */
void store_renew_maker(struct store *store);

/*
 * Wait for every transaction that takes such ids, and keep others from it. In a write transaction.
 */
NODISCARD enum status store_wait_for_ids(struct store *store, struct err *err);
struct id_block {
    int64_t run;
    int64_t task;
};
/* The first of that many run numbers and task ids that nobody else gets. In a write transaction. */
NODISCARD enum status store_ask_ids(struct store *store, int64_t runs, int64_t tasks,
                                    struct db_stmt **out, struct err *err);
NODISCARD enum status store_read_ids(struct db_stmt *stmt, int64_t runs, int64_t tasks,
                                     struct id_block *out, struct err *err);
/* Both at once. */
NODISCARD enum status store_take_ids(struct store *store, int64_t runs, int64_t tasks,
                                     struct id_block *out, struct err *err);
/* The first of `count` task ids that only this run gets. Inside a write transaction. */
NODISCARD enum status store_take_task_ids(struct store *store, int64_t run, int64_t count,
                                          int64_t *out_first, struct err *err);

/* The data, JSON, with the reason that was given; heap. NULL: they stay as they are. */
NODISCARD char *store_add_reason(const struct store *store, const char *actor, const char *data);
/* An event that is about no run or task; `data` is JSON. Inside a write transaction. */
NODISCARD enum status store_tell(struct store *store, enum event_kind kind, const char *actor,
                                 const char *data, struct err *err);
