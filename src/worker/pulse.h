#pragma once
/*
 * pulse: the thread by which a daemon shows that it lives and hears what others want.
 *
 * It has a store connection of its own, so that it goes on while the store's thread is busy. It
 * renews the lease, takes back what dead hosts left, hears of wishes to stop, and looks for those
 * and for work at least every `poll_ms` whatever was heard. On an embedded store it has no lease:
 * locks tell which daemons live, leases which programs that use the library.
 *
 * Threads    Callbacks come in the loop's thread; pulse_* are to be called there.
 * Ownership  Stopped after loop_run has returned.
 */
#include "os/loop.h"
#include "store/advance.h"
#include "store/host.h"
#include "store/store.h"
#include "worker/lease.h"

struct pulse;

/* All must be set. */
struct pulse_events {
    void *context;
    /* The store was asked at `sent_us`, by the steady clock, and answered. */
    void (*beat)(void *context, int64_t sent_us, const struct host_pulse *pulse);
    /* A sweep has taken this host. Nothing more comes until pulse_set_host. */
    void (*swept)(void *context);
    /* Something may be claimable. */
    void (*heard)(void *context);
    void (*wished)(void *context, const struct stop_wish *wishes, size_t count);
    /* While this host leads: the store should be cleaned. NULL: somebody else's business. */
    void (*dirty)(void *context);
};

struct pulse_options {
    struct store_options store;
    struct lease_times lease;
    int64_t sweep_ms;
    bool always_sweeps; /* not only when it leads */
    int64_t poll_ms;
    int64_t host;
    const char *meeting_dir;   /* of an embedded store; else NULL */
    const char *dead_log_path; /* where tasks are noted that were put aside for good */
};

/* Texts in the options must outlive it. */
NODISCARD enum status pulse_start(struct loop *loop, const struct pulse_options *options,
                                  const struct pulse_events *events, struct pulse **out,
                                  struct err *err);
/* Look now: somebody knocked. */
void pulse_look(struct pulse *pulse);
/* Go on under a new id. */
void pulse_set_host(struct pulse *pulse, int64_t host);
/* Tell others that this host takes no more work and will be gone; its lease is still renewed. */
void pulse_leave(struct pulse *pulse);
void pulse_stop(struct pulse *pulse); /* NULL is allowed */
