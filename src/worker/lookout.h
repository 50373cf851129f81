#pragma once
/*
 * lookout: looks whether what tasks wait for is there: files here, runs of other DAGs in the store.
 *
 * Which waits are this host's is in the store; when to look next is only known here, so that
 * looking writes nothing. What is told of as it happens is added at once; the store is read
 * now and then for what hosts that are gone have left, and for what is over.
 *
 * Ownership  Freed after loop_run has returned; what it is given is copied.
 * Threads    The loop's thread; questions go to the store's thread.
 */
#include "os/loop.h"
#include "store/wait.h"
#include "worker/store_thread.h"

struct lookout;

struct lookout_events {
    void *context;
    /* It is there. The wait is not looked at any more, and lives until the call returns. */
    void (*met)(void *context, const struct wait_info *wait);
};

struct lookout_options {
    struct store_thread *store_thread;
    struct wait_taker taker; /* borrowed texts; `takes` is set by lookout_set_taking */
};

NODISCARD struct lookout *lookout_new(struct loop *loop, const struct lookout_events *events);
void lookout_free(struct lookout *lookout); /* NULL is allowed */

/* Look at what is this host's, for as long as it is one. */
void lookout_begin(struct lookout *lookout, const struct lookout_options *options);
void lookout_set_host(struct lookout *lookout, int64_t host);
/* Whether waits of hosts that are gone become ours. */
void lookout_set_taking(struct lookout *lookout, bool takes);

/* Look at it from now on; of a task that is known already nothing changes. */
void lookout_add(struct lookout *lookout, const struct wait_info *wait);
/* The same for a task that keeps its slot meanwhile, which the store knows nothing of. */
void lookout_add_held(struct lookout *lookout, const struct wait_info *wait);
void lookout_remove(struct lookout *lookout, int64_t task);
/* Something ended: runs that are waited for may be among it. */
void lookout_runs_changed(struct lookout *lookout);
size_t lookout_count(const struct lookout *lookout);
