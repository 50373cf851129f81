#pragma once
/*
 * control: what people do to runs and tasks. Every change is an event with its actor.
 */
#include "store/rows.h"
#include "store/store.h"

struct cancel_request {
    int64_t run;
    enum cancel_cause cause;
    bool finally_too;    /* nobody is left to run the finally tasks */
    int64_t replaced_by; /* the run that takes its place (overlap: replace); 0: none */
    const char *actor;
};

/*
 * Ask a run to stop: what has not started is cancelled here, what runs is ended by its owner,
 * who sees cancel_asked. STATUS_CONFLICT: the run is over already.
 */
NODISCARD enum status store_run_cancel(struct store *store, const struct cancel_request *request,
                                       struct err *err);

/*
 * Runs of any host that took longer than their DAG allows and were not asked to stop yet, at most
 * `most`. *out_next_us: when the first of those that go now will be; 0: never. Who runs one in the
 * foreground watches its time by itself.
 */
NODISCARD enum status store_runs_overdue(struct store *store, int64_t *out_ids, size_t most,
                                         size_t *out_count, int64_t *out_next_us, struct err *err);

struct clear_request {
    int64_t run;
    const bool *nodes;  /* one per node: clear it; NULL: whatever did not succeed */
    int64_t map_index;  /* only this instance of the chosen nodes; -1: all that did not succeed */
    bool only_failed;   /* of the chosen nodes those that did not succeed */
    bool whole;         /* chosen mapped tasks are expanded again */
    bool stops_running; /* ask what runs of them to stop first; else it is a conflict */
    bool dry_run;
    const char *asked; /* JSON: how whoever asks chose the nodes, for the trail; NULL: nothing */
    const char *actor;
};

struct clear_result {
    bool *cleared; /* one per node, in the arena given */
    bool *stops;   /* the same: something of it runs, and is cleared when it has stopped */
    int64_t count; /* rows that will run again, or be decided again */
};

/*
 * Let tasks run again: the chosen ones and everything downstream that started begin a new
 * generation; setups and teardowns of theirs too, and finally tasks after them. With stops_running,
 * what runs of all those is asked to stop, and is cleared in the transaction that records its end,
 * whoever does that and however it ended; unless its run is stopped meanwhile.
 *
 *   STATUS_CONFLICT   one of them runs, or the run is being stopped
 *   STATUS_NOT_FOUND  there is no such instance
 */
NODISCARD enum status store_clear(struct store *store, const struct clear_request *request,
                                  struct arena *arena, struct clear_result *out, struct err *err);

struct mark_request {
    int64_t run;
    int64_t node;
    int64_t map_index;     /* -1: the task itself */
    enum task_state state; /* success, failed or skipped */
    const char *actor;
};

/*
 * Give a task a verdict by hand; what its old verdict decided is decided again, and finally tasks
 * run again after that. A run that was stopped stays stopped. STATUS_CONFLICT: it runs.
 */
NODISCARD enum status store_mark(struct store *store, const struct mark_request *request,
                                 struct err *err);

/*
 * Take back what dead hosts held of a run (0: of all runs): each such attempt is kept as lost,
 * the task is claimable again, or fails when it lost too many owners.
 */
NODISCARD enum status store_recover(struct store *store, int64_t run,
                                    bool (*is_alive)(void *context, int64_t host), void *context,
                                    int64_t *out_lost, struct err *err);
