#pragma once
/*
 * watch_priv: deadlines and messages that follow from a change, written in its transaction.
 *
 * To be called only for runs whose DAG is watched (dag->watch is not NULL); others pay nothing.
 */
#include "model/alert.h"
#include "model/watch.h"
#include "store/run_store.h"
#include "store/work.h"

/* What messages tell of a run and its hot row does not have. */
struct run_about {
    const char *run_id;
    const char *note;
    int64_t logical_at_us;
    const char *params; /* JSON */
    const char *conf;
};

/* Deadlines that count from the schedule of a run that comes into being. */
NODISCARD enum status watch_new_run(struct work *work, const struct run_row *run,
                                    const struct run_request *request, struct err *err);
/* A row that is about to be saved: its start, its end, its retry. */
NODISCARD enum status watch_task(struct work *work, struct run_row *run,
                                 const struct task_row *task, struct err *err);
NODISCARD enum status watch_run(struct work *work, struct run_row *run, struct err *err);

/* Which deadline of its run or task a miss is about. */
struct miss_key {
    enum sla_kind kind;
    int64_t generation;
};

/* One thing to tell; `task` is NULL for the run. */
struct message {
    enum hook_event kind;
    const struct miss_key *miss; /* of HOOK_SLA_MISS, else NULL */
    bool closes_only;            /* nobody is told of it, but incidents about it are over */
    const struct task_row *task;
    const char *state;
    const char *reason;
    const char *error;
    const json_t *failed; /* of a run that failed: see alert.h */
    int64_t failed_total;
    int64_t follows;    /* the notice whose incident it closes; 0: none */
    const char *run_id; /* of that notice; NULL: of the run */
};

/*
 * The tasks for which a run failed: the first ones as a list of alert_failed_task, a new reference,
 * how many there are, and in the work's arena what the first one said (NULL: nothing).
 */
struct failures {
    json_t *list;
    int64_t total;
    const char *first_error;
};
NODISCARD enum status watch_failures(struct work *work, const struct run_row *run,
                                     struct failures *out, struct err *err);

/*
 * Leave a message for every hook that wants it, and when it is over for every incident that was
 * opened about the same task and logical date, by this run or another; *out_count of them.
 */
NODISCARD enum status watch_tell(struct work *work, struct run_row *run,
                                 const struct message *message, int64_t *out_count,
                                 struct err *err);
