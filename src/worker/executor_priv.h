#pragma once
/*
 * executor_priv: the parts of the executor, and what they share.
 *
 *   launch     from a claim to something that runs
 *   delivery   outcomes to the store, claims back
 *   handover   what is not ours any more, and what is to be given away
 *   waiting    tasks that wait for something outside
 *   executor   the whole, and the keeper's side
 */
#include "base/idmap.h"
#include "worker/backlog.h"
#include "worker/backoff.h"
#include "worker/executor.h"
#include "worker/lookout.h"
#include "worker/outcome_journal.h"

/* Outcomes on their way, with the memory they point into. */
struct batch {
    struct store_call call; /* first: done() gets it back */
    struct executor *owner;
    struct arena *arena;
    struct outcome *outcomes;
    size_t count;
    size_t capacity;
    int64_t *ended; /* tasks whose end the keeper tells until somebody has it */
    size_t ended_count;
    size_t ended_capacity;
    size_t journalled;               /* the first so many are on the disk */
    struct outcome_journal *journal; /* NULL: none */
    struct advance_request request;
    struct advance_result result;
    uint64_t number; /* of one that stands by */
    uint64_t after;  /* the one that stood by when this was made; 0: none */
    bool asks_held;  /* ask what the store thinks we hold, before anything else */
    struct claim *held;
    size_t held_count;
    enum status status;
    struct err err;
    int tries;
};

struct journal_call;

struct cancel_call {
    struct store_call call;
    struct cancel_call *next; /* of those on their way */
    struct executor *owner;
    struct cancel_request request;
    struct err err;
    enum status status;
};

struct executor {
    struct loop *loop;
    struct executor_events events;
    struct executor_options options;
    struct idmap *runs;
    struct idmap *attempts;  /* what runs, by task */
    struct backlog backlog;  /* claimed, waits for a slot */
    struct backlog deferred; /* claimed, waits for the store to answer */
    struct batch *pending;   /* collects outcomes */
    struct batch *in_flight; /* with the store thread */
    int64_t sent_us;         /* when that went, by the steady clock */
    struct batch *standing;  /* claims as soon as there is something to claim */
    uint64_t standings;      /* how many there were */
    uint64_t last_ran;       /* which of them ran last; of the store's thread */
    struct store_call recall;
    bool is_recalling;
    struct cancel_call *cancels;
    struct loop_timer *due;   /* the next retry of a task */
    struct loop_timer *again; /* the next try of a call that failed */
    struct loop_timer *calm;  /* capacity that was given up comes back */
    struct lookout *lookout;  /* looks at what tasks wait for */
    struct backoff backoff;
    struct outcome_journal *journal; /* used in the store's thread; NULL: none */
    struct journal_call *loading;    /* before it began */
    struct idmap *cancelled;         /* runs that must not start tasks any more: which is STOPS_* */
    struct stop_wish *wishes;        /* tasks that are to stop, as they were told of last */
    size_t wishes_count;
    bool wants_advance; /* something changed since the last call was sent */
    bool scheduled;     /* advance() will be called before the loop waits */
    bool is_paused;     /* until `again` */
    bool began;
    bool is_told; /* the keeper has told what it runs; without one that stays, at once */
    size_t adopted;
    bool failed;
    bool is_closed;      /* claims nothing more */
    bool asks_held;      /* with the next call */
    bool is_first_look;  /* what the store says we hold and nobody knows of may have run */
    int64_t slots;       /* of the options, fewer while the machine is short of something */
    bool *slots_used;    /* one per slot of the options */
    int64_t deadline_us; /* of the lease, by the steady clock; 0: none */
    int64_t pace_us;     /* how long processes take, smoothed; 0: none has ended yet */
    struct executor_counts counts;
};

/* --- executor -------------------------------------------------------------------------------- */

/* Nothing more can happen here. */
void executor_fail(struct executor *executor, const struct err *err);
bool executor_is_daemon(const struct executor *executor);
/* Whose slots' folders carry its number; a daemon has its scratch folder for itself. */
int64_t executor_slot_host(const struct executor *executor);
/* Whether the store may be there again later. */
bool executor_is_trouble(enum status status);
/* In `cancelled`: finally tasks must not start either. */
extern char EXECUTOR_STOPS_ALL[];

/* --- launch ---------------------------------------------------------------------------------- */

void launch_claim(struct executor *executor, const struct claim *claim);
void launch_claims(struct executor *executor, const struct claim *claims, size_t count);
/* What waits, as far as there is room. */
void launch_backlog(struct executor *executor);
/* What could not be prepared since the store did not answer. */
void launch_deferred(struct executor *executor);
void launch_free_slot(struct executor *executor, const struct attempt *attempt);
/* An outcome with nothing in it but how it ended. */
struct outcome launch_outcome(const struct claim *claim, enum outcome_kind kind,
                              enum reason reason);
/* What it writes is wanted in the store. */
void launch_follow_log(const struct executor *executor, const struct attempt *attempt);
/* Of one that sleeps: before its time when it was stopped, or found what it looks for. */
void launch_end_sleep(struct executor *executor, struct attempt *attempt);

/* --- delivery -------------------------------------------------------------------------------- */

NODISCARD struct batch *batch_new(struct executor *owner);
void batch_free(struct batch *batch);
/* `taken` (or NULL) holds what the outcome points to. */
void delivery_add(struct executor *executor, const struct outcome *outcome, struct arena *taken);
/* The end of a process that was added: the keeper may forget it when the store has it. */
void delivery_add_ended(struct executor *executor, int64_t task);
/* First what an earlier program could not deliver; only after that anything else. */
void delivery_begin(struct executor *executor);
void delivery_fini(struct executor *executor);
/* Once per turn of the loop, when its callbacks have delivered all they have. */
void delivery_soon(struct executor *executor);
/* Nothing must be claimed that is not asked for from here on; what is on its way may come. */
void delivery_recall(struct executor *executor);
/* After a failure that a later try may mend. */
void delivery_pause(struct executor *executor);
/* For `again`. */
void delivery_resume(void *context);

/* --- handover -------------------------------------------------------------------------------- */

/* Compare what the store said we hold with what there is, and put it right. */
void handover_reconcile(struct executor *executor, const struct batch *answer);
/* Ask it to end, whether it is a process or sleeps. */
void handover_stop(struct executor *executor, struct attempt *attempt, enum keeper_stop how);
/* Somebody wants this very attempt to stop. */
bool handover_is_wished(const struct executor *executor, const struct claim *claim);
/* End it gently, once. */
void handover_stop_wished(struct executor *executor, struct attempt *attempt);

/* --- waiting --------------------------------------------------------------------------------- */

NODISCARD struct lookout *waiting_lookout(struct executor *executor);
void waiting_begin(struct executor *executor);
/* Those of the outcomes that the store accepted as the beginning of a wait. */
void waiting_note(struct executor *executor, const struct batch *answer);
/* An attempt keeps its slot and looks. */
void waiting_hold(struct executor *executor, struct attempt *attempt);
/* How such an attempt ended. */
struct attempt_end waiting_end(const struct attempt *attempt);
