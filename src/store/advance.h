#pragma once
/*
 * advance: the one hot transaction. Outcomes go in; verdicts, retries, released
 * dependants and run verdicts follow, and new work for the caller's free capacity
 * comes out, in a single commit.
 *
 * An outcome is accepted only from the claim that holds the attempt (attempt number and
 * nonce); a late or repeated one is answered as not accepted and changes nothing.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "model/attempt.h"
#include "model/run_state.h"
#include "model/sensor.h"
#include "model/task_state.h"
#include "store/store.h"

struct outcome_value {
    const char *key;
    const char *json; /* NULL: spilled, to be found through its task and key */
    int64_t bytes;
};

enum outcome_kind {
    OUTCOME_END,    /* the attempt is over */
    OUTCOME_EXPAND, /* a mapped task knows its instances */
    OUTCOME_RETURN, /* handed back: could not be started here; counts for nothing */
    OUTCOME_LOST,   /* ended because its host lost its lease: counted as a lost owner */
    OUTCOME_DEFER,  /* it waits for something outside, without a slot */
    OUTCOME_MET,    /* of a task that waits, not one that runs: what it waited for is there */
};

struct outcome {
    int64_t task;
    int64_t run; /* 0: a job */
    int64_t attempt;
    struct nonce nonce;
    enum outcome_kind kind;
    struct attempt_end end;
    const char *detail;  /* text for people, or NULL */
    const char *log_end; /* of one that failed, for who is told of it: whole lines; or NULL */
    const char *label;
    int64_t started_at_us;
    int64_t ended_at_us;
    int64_t log_bytes;
    int64_t cpu_ms;
    int64_t rss_kb;
    const struct outcome_value *values;
    size_t values_count;
    bool is_choice; /* of a branch or short circuit: `chosen` are the nodes to go on with */
    const uint32_t *chosen;
    size_t chosen_count;
    int64_t instances;           /* OUTCOME_EXPAND: at least 1 */
    const char *const *datasets; /* URIs that a success updates */
    size_t datasets_count;
    const struct wait_plan *wait; /* OUTCOME_DEFER */
};

/* What a claimed job brings along; everything else it needs is its task's row. */
struct claimed_job {
    const char *queue;
    const char *handler;
    const char *payload; /* JSON */
    const char *namespace_;
    int64_t timeout_ms;
    bool finish_on_lost_lease;
};

struct claim {
    int64_t task;
    int64_t run; /* 0: a job */
    int64_t node;
    int64_t map_index;
    int64_t expander; /* instance: id of the mapped task's row; else 0 */
    int64_t generation;
    int64_t attempt;
    int64_t looks; /* how many of the attempts before were none to people */
    struct nonce nonce;
    const struct claimed_job *job; /* of a job; else NULL */
};

/* A task whose state changed, for those who watch. */
struct task_change {
    int64_t task;
    int64_t run;
    int64_t node;
    int64_t map_index;
    enum task_state state;
    int64_t attempt;
    int64_t looks; /* as in struct claim */
    enum reason reason;
    int64_t exit_code;
    int64_t started_at_us;
    int64_t ended_at_us;
    int64_t instances; /* of an expanded task */
    const char *detail;
    const char *label;
};

struct run_change {
    int64_t run;
    enum run_state state;
};

struct advance_request {
    int64_t host;
    int64_t scope;         /* whose work may be claimed */
    int64_t process_slots; /* how much may be claimed */
    int64_t inline_slots;
    int64_t usable_slots; /* processes that it runs at most; 0: as many as its row says */
    const char *labels;   /* of the host: sorted, separated by blanks; NULL: none */
    const char *queues;   /* it serves: the same; NULL or "": all */
    bool is_woken;        /* there is something new to claim: it may be where the last was */
    int64_t clock_us;     /* now, by the clock that the outcomes' instants are of; 0: the store's */
    bool jobs_only;       /* no tasks of runs; process_slots then bounds both classes together */
    const struct outcome *outcomes;
    size_t outcomes_count;
};

struct advance_result {
    bool *accepted; /* one per outcome */
    struct claim *claims;
    size_t claims_count;
    struct task_change *changes;
    size_t changes_count;
    struct run_change *runs; /* runs that ended; the scope's own run also if others ended it */
    size_t runs_count;
    bool has_news;       /* a DAG waits for what happened: the scheduler should look */
    bool told;           /* messages wait to be sent */
    int64_t next_due_us; /* when to look again: a retry is due, others are in the way; 0: never */
};

/*
 * Results are allocated in `arena`. On failure nothing changed and nothing was claimed, except that
 * after STATUS_UNKNOWN it may have: the same outcomes may be given again, and store_held tells
 * what was claimed.
 */
NODISCARD enum status store_advance(struct store *store, const struct advance_request *request,
                                    struct arena *arena, struct advance_result *out,
                                    struct err *err);

/* Everything `host` holds, as claims; after a restart, or when an answer was lost. */
NODISCARD enum status store_held(struct store *store, int64_t host, struct arena *arena,
                                 struct claim **out_claims, size_t *out_count, struct err *err);
/* What of all that somebody asked to stop; for their owner. */
struct stop_wish {
    int64_t run;     /* 0: a job */
    int64_t task;    /* 0: the whole run, finally tasks excepted */
    int64_t attempt; /* of the task: another one is not meant */
};
NODISCARD enum status store_stop_wishes(struct store *store, int64_t host, struct arena *arena,
                                        struct stop_wish **out, size_t *out_count, struct err *err);
