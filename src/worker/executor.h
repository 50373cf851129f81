#pragma once
/*
 * executor: claims tasks of one scope, runs them, reports their outcomes.
 *
 * At most one finish-and-claim call is with the store thread; outcomes that come in
 * meanwhile go with the next one, so commits are grouped by themselves and a lone
 * outcome waits for nothing. Tasks without a process are done here at once.
 *
 * Ownership  Whoever makes it frees it, after loop_run has returned.
 * Threads    The loop's thread only; callbacks come there.
 */
#include "base/err.h"
#include "os/loop.h"
#include "store/advance.h"
#include "store/control.h"
#include "worker/keeper_client.h"
#include "worker/log_ship.h"
#include "worker/prepare.h"
#include "worker/run_context.h"
#include "worker/store_thread.h"

struct executor;

struct executor_events {
    void *context;
    /* States that were committed. */
    void (*changed)(void *context, const struct task_change *changes, size_t count);
    /* How far a running task says it is; NULL: nobody wants to know. */
    void (*progress)(void *context, const struct claim *claim, const struct keeper_report *report);
    void (*run_ended)(void *context, int64_t run, enum run_state state);
    /* A DAG waits for what just happened; NULL: nobody wants to know. */
    void (*news)(void *context);
    /* Messages wait to be sent; NULL: nobody wants to know. */
    void (*told)(void *context);
    /* A call to the store ended well; NULL: nobody wants to know. */
    void (*delivered)(void *context);
    /* The store or the keeper cannot go on; nothing more will happen. */
    void (*failed)(void *context, const struct err *err);
};

enum executor_mode {
    EXECUTOR_FOREGROUND, /* one run; a store that stays away ends it */
    EXECUTOR_DAEMON,     /* whatever there is, for ever; a store that is away is waited for */
};

struct meters;

struct executor_options {
    enum executor_mode mode;
    struct keeper *keeper; /* started with executor_keeper_events */
    struct store_thread *store_thread;
    struct log_ship *log_ship; /* brings logs to the store; NULL: they stay where they are */
    struct run_source source;
    struct prepare_options prepare;
    int64_t host;
    int64_t scope;
    int64_t slots;            /* processes at once */
    int64_t claim_percent;    /* of the slots that are claimed */
    const char *labels;       /* of the host: sorted, separated by blanks; NULL: none */
    const char *queues;       /* it serves: the same; NULL or "": all */
    const json_t *handlers;   /* of jobs, by name; NULL: none */
    struct meters *meters;    /* that count; NULL: nobody does */
    const char *journal_path; /* outcomes that the store cannot take now; NULL: nowhere */
};

NODISCARD struct executor *executor_new(struct loop *loop, const struct executor_events *events);
void executor_free(struct executor *executor); /* NULL is allowed */

/*
 * What the keeper must report to. The keeper is started before the store is opened, so that it
 * inherits nothing of it; that is why making an executor and starting to claim are two steps.
 */
struct keeper_events executor_keeper_events(struct executor *executor);
/*
 * Start claiming; a daemon waits until the keeper has told what it runs already. Everything named
 * in the options is borrowed.
 */
void executor_begin(struct executor *executor, const struct executor_options *options);

/* Something may have become claimable, or a cancel was asked for elsewhere: look. */
void executor_wake(struct executor *executor);

/*
 * Cancel a run: what has not started does not, what runs is ended, gently or at once. Finally
 * tasks still run unless `finally_too`.
 */
void executor_cancel(struct executor *executor, int64_t run, enum cancel_cause cause,
                     enum keeper_stop how, bool finally_too);

/* --- for a daemon ---------------------------------------------------------------------------- */

/* End what somebody asked to stop; what is being stopped already is left alone. */
void executor_stop_wished(struct executor *executor, const struct stop_wish *wishes, size_t count);

/* Claim nothing more and give back what was not started; what runs goes on. */
void executor_close(struct executor *executor);
void executor_open(struct executor *executor); /* claim again */
/* Whether to look at what hosts that are gone looked at, which needs no slot; at first it does. */
void executor_set_looking(struct executor *executor, bool looks);
/* Stop everything and give it back, so that others run it at once. */
void executor_hand_back(struct executor *executor, enum keeper_stop how);
/* Nothing of what runs is ours any more: kill it and tell nobody. Closed until a new host is set.
 */
void executor_fence(struct executor *executor);
void executor_set_host(struct executor *executor, int64_t host);
/*
 * At this instant of the steady clock everything is killed, and nothing is started any more, until
 * it is moved on; 0: never.
 */
void executor_set_deadline(struct executor *executor, int64_t mono_us);
/* Attempts here, outcomes on their way, calls not answered: 0 when there is nothing to wait for. */
size_t executor_load(const struct executor *executor);

/* Compare what the store thinks we hold with what there is, and put it right. */
void executor_reconcile(struct executor *executor);
/* What that found so far, and outcomes that the store did not accept. */
struct executor_counts {
    int64_t differences;
    int64_t refused;
};
struct executor_counts executor_counts(const struct executor *executor);
/* Since when a call waits for the store, by the steady clock; 0: none does. */
int64_t executor_waiting_since_us(const struct executor *executor);
