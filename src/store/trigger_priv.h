#pragma once
/*
 * trigger_priv: what a DAG waits for, kept in step with its newest version.
 */
#include "model/dag.h"
#include "model/trigger_expr.h"
#include "store/run_store.h"
#include "store/store_priv.h"
#include "store/trigger_store.h"

/*
 * `dag` is the newest version now, from a file in `folder`: what it waits for replaces what was
 * waited for before. What waits for a run already goes on doing so unless nobody asks for
 * it any more. Inside a write transaction.
 */
NODISCARD enum status trigger_sync(struct store *store, int64_t dag_key, const struct dag *dag,
                                   const char *folder, struct err *err);
/* Whether it waits for anything now, as it is known from elsewhere. In a write transaction. */
NODISCARD enum status trigger_hold(struct store *store, int64_t dag_key, bool held,
                                   struct err *err);
/* The DAG is being deleted: nothing waits for it any more. Inside a write transaction. */
NODISCARD enum status trigger_forget(struct store *store, int64_t dag_key, struct err *err);
/*
 * The DAG was paused or is no longer: no runs are made of events meanwhile, and what happens then
 * is made up for only with a `catchup` that says so. Inside a write transaction.
 */
NODISCARD enum status trigger_set_paused(struct store *store, int64_t dag_key, bool paused,
                                         struct err *err);

/* What a run is made of, kept with it. */
struct trigger_cause {
    enum trigger_kind kind;
    int64_t source;
    const char *name;
    enum run_state state;
    int64_t at_us;
};

struct trigger_run {
    int64_t dag_key;
    const char *kind;   /* "dataset", "event" */
    const json_t *conf; /* object */
    int64_t logical_at_us;
    int64_t interval_start_us;
    int64_t interval_end_us;
    const char *note;
    const char *actor;
    const struct trigger_cause *causes;
    size_t causes_count;
};

/*
 * A run of the DAG's newest version. STATUS_INVALID: its params do not take the conf; nothing was
 * changed then. Inside a write transaction.
 */
NODISCARD enum status trigger_make_run(struct store *store, const struct trigger_run *run,
                                       struct run_created *out, struct err *err);
/*
 * STATUS_LIMIT: the run would be one too many in a chain of runs that started each other, more than
 * `most` within an hour. Causes are updates of datasets or ends of runs, all of one kind.
 */
NODISCARD enum status trigger_check_chain(struct store *store, const struct trigger_cause *causes,
                                          size_t count, int64_t most, struct err *err);
/*
 * Keep that something asked for a run that cannot be. Gives the id of the DAG, for those who log.
 * Inside a write transaction.
 */
NODISCARD enum status trigger_refuse(struct store *store, int64_t dag_key, const char *what,
                                     const char *why, char out_dag_id[static LIMIT_ID_BYTES + 1],
                                     struct err *err);
/* The last one that is kept; *out is NULL when there is none. Texts in the arena. */
NODISCARD enum status trigger_refusal_load(struct store *store, struct arena *arena,
                                           int64_t dag_key, const struct trigger_refusal **out,
                                           struct err *err);
/* Nobody else makes runs of the DAG until the transaction ends; *out_free: and it may be made. */
NODISCARD enum status trigger_lock(struct store *store, int64_t dag_key, bool *out_free,
                                   struct err *err);
/* The newest version. STATUS_NOT_FOUND: the DAG is gone. */
NODISCARD enum status trigger_newest(struct store *store, int64_t dag_key, int64_t *out_version,
                                     const struct dag **out, struct err *err);
/* What the newest version waits for. */
NODISCARD enum status trigger_load(struct store *store, int64_t dag_key, struct triggers **out,
                                   struct err *err);
