#pragma once
/*
 * store_thread: the thread that owns the write connection.
 *
 * A call runs there and its `done` comes back in the loop's thread. Calls are kept in order.
 * The store is opened in the thread as well, so that no handle crosses threads.
 *
 * Ownership  A call belongs to its maker, who keeps it until `done`.
 */
#include "os/loop.h"
#include "store/store.h"

struct store_thread;

struct store_call {
    /* In the store's thread. */
    void (*run)(struct store *store, struct store_call *call);
    /* In the loop's thread, afterwards. */
    void (*done)(struct store_call *call);
    struct store_thread *thread;
    bool stands_by;
    bool was_run;
};

/* Opens the store first; waits for that. */
NODISCARD enum status store_thread_start(struct loop *loop, const struct store_options *options,
                                         struct store_thread **out, struct err *err);
void store_thread_call(struct store_thread *thread, struct store_call *call);
/*
 * One call at a time may stand by: it runs as soon as the database tells of work, without a detour
 * over the loop. When another call comes first it is done without having run; was_run tells.
 * False where nothing is ever told: the call stays the caller's then.
 */
NODISCARD bool store_thread_stand_by(struct store_thread *thread, struct store_call *call);
/* Ends after the calls handed in so far; their `done` may never come. NULL is allowed. */
void store_thread_stop(struct store_thread *thread);
