#pragma once
/*
 * scheduler: the thread that does the duties (duty.h) when their time has come or something
 * happened.
 *
 * It has a store connection of its own and waits in it: between two instants nothing is asked and
 * nothing is written.
 *
 * Threads    The callback comes in the loop's thread; scheduler_* are to be called there.
 * Ownership  Stopped after loop_run has returned.
 */
#include "os/loop.h"
#include "sched/retention_turn.h"
#include "store/store.h"

struct scheduler;

struct scheduler_options {
    struct store_options store;
    const char *blob_dir; /* of logs; NULL: none */
    struct retention_policy retention;
    int64_t chain_most; /* runs in a row that events start within an hour; 0: 100 */
    int64_t poll_ms;    /* the longest time between two looks, whatever is heard */
    /* There is something to claim, or to stop. */
    void (*changed)(void *context);
    /* There is something to send. */
    void (*has_mail)(void *context);
    void *context;
};

/* Texts in the options must outlive it. */
NODISCARD enum status scheduler_start(struct loop *loop, const struct scheduler_options *options,
                                      struct scheduler **out, struct err *err);
/* Something happened: a run ended, a DAG was changed, somebody knocked. NULL is allowed. */
void scheduler_wake(struct scheduler *scheduler);
void scheduler_stop(struct scheduler *scheduler); /* NULL is allowed */
