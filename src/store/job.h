#pragma once
/*
 * job: plain jobs, tasks without a DAG.
 *
 * A job names a queue and a handler and carries a JSON payload. It is claimed, run, retried and
 * recovered like a task, by the policy in its own row. Its states are those of tasks; people read
 * pending, delayed, claimed, completed, failed, cancelled (job_status_name).
 */
#include "base/arena.h"
#include "base/str.h"
#include "model/attempt.h"
#include "model/task_state.h"
#include "store/store.h"

struct job_request {
    const char *queue;
    const char *handler;    /* a name of the config's `handlers`, a built-in one, or "$ COMMAND" */
    const char *payload;    /* JSON; NULL: null */
    const char *namespace_; /* NULL: "default" */
    const char *dedupe;     /* NULL: none */
    int64_t priority;
    int64_t run_after_us; /* 0: at once; by the store's clock */
    int64_t delay_ms;     /* the same, counted from now; only one of the two */
    int64_t retries;
    int64_t retry_delay_ms; /* -1: the usual growing delay */
    int64_t timeout_ms;     /* 0: none */
    bool finish_on_lost_lease;
    const char *actor;
};

/* Whether it says itself what is run, instead of naming what hosts have. */
static inline bool job_handler_is_command(const char *handler)
{
    return str_starts_with(handler, "$ ");
}

/* The value of an outcome that becomes the job's result. */
#define JOB_RESULT_KEY "result"

struct job_created {
    int64_t id;
    bool existed; /* by its dedupe key; nothing was made */
};

/*
 * All or none, in one commit; waiting hosts hear of it.
 *
 *   STATUS_NOT_FOUND  there is no such queue
 *   STATUS_LIMIT      the queue refuses more, or the payload is too large
 *   STATUS_CONFLICT   the dedupe key is taken by a job with another handler or payload
 *   STATUS_INVALID    the payload is not JSON
 *   STATUS_UNKNOWN    the answer was lost and could not be read back
 * *out_warning (may be NULL) is set when a queue is beyond its soft bound.
 */
NODISCARD enum status store_jobs_enqueue(struct store *store, const struct job_request *requests,
                                         size_t count, struct job_created *out, bool *out_warning,
                                         struct err *err);

struct job_info {
    int64_t id;
    const char *queue;
    const char *handler;
    const char *payload;
    const char *dedupe;
    const char *namespace_;
    const char *actor;
    int64_t priority;
    int64_t retries;
    int64_t retry_delay_ms;
    int64_t timeout_ms;
    bool finish_on_lost_lease;
    enum task_state state;
    int64_t generation;
    int64_t attempt;
    int64_t failures;
    int64_t losses;
    int64_t host;
    enum reason reason;
    int64_t exit_code; /* -1: none */
    const char *detail;
    int64_t created_at_us;
    int64_t run_after_us;
    int64_t started_at_us;
    int64_t ended_at_us;
    const char *result;
    const char *error;
    int64_t updated_at_us; /* the last thing that happened to it */
    bool cancel_asked;     /* while it runs: its owner is to end the attempt */
    bool is_dead;          /* lies among the dead letters */
};

const char *job_status_name(enum task_state state);
/* False when no job is ever called so. */
NODISCARD bool job_status_is_known(const char *name);
/* The i-th name, each once; NULL after the last. */
const char *job_status_at(size_t i);

struct job_filter {
    const char *queue;  /* NULL: any */
    const char *status; /* a job_status_name; NULL: any */
    int64_t before;     /* only ids below; 0: no bound */
    int64_t limit;
};

/* Newest first; texts are borrowed during the call. */
NODISCARD enum status store_job_each(struct store *store, const struct job_filter *filter,
                                     enum status (*each)(void *context, const struct job_info *info,
                                                         struct err *err),
                                     void *context, struct err *err);
/* How many there are by queue and status, at most `most`. */
NODISCARD enum status store_job_count(struct store *store, const struct job_filter *filter,
                                      int64_t most, int64_t *out, struct err *err);
NODISCARD enum status store_job_load(struct store *store, struct arena *arena, int64_t id,
                                     struct job_info *out, struct err *err);

/*
 * Cancel: one that waits does not run; of one that runs, its owner ends the attempt.
 * STATUS_CONFLICT: it is over.
 */
NODISCARD enum status store_job_cancel(struct store *store, int64_t id, const char *actor,
                                       struct err *err);
/* Run one that is over again, or one that waits now: a new generation, budgets restart. */
NODISCARD enum status store_job_retry(struct store *store, int64_t id, const char *actor,
                                      struct err *err);
/* Another time for one that waits. STATUS_CONFLICT: it runs or is over. */
NODISCARD enum status store_job_reschedule(struct store *store, int64_t id, int64_t run_after_us,
                                           const char *actor, struct err *err);

struct job_purge {
    struct job_filter filter; /* `before` and `limit` included */
    int64_t ended_before_us;
    bool dry_run;
    const char *actor;
    void (*each)(void *context, int64_t job); /* told of every one that is gone; or NULL */
    void *context;
};

/* Remove jobs that are over, except those among the dead letters; how many went. */
NODISCARD enum status store_job_purge(struct store *store, const struct job_purge *purge,
                                      int64_t *out_count, struct err *err);
