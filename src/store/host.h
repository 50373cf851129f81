#pragma once
/*
 * host: the processes that run tasks, as the store knows them.
 *
 * On an embedded store each of ours holds a lock on a file of its own, and a free lock means dead
 * (worker/presence.h); nothing is renewed. In a fleet, and for programs that use the library
 * everywhere, a host has a lease, renewed on the database's clock: one that expired may still be
 * renewed until a sweep has taken it.
 */
#include "base/arena.h"
#include "store/store.h"

struct host_request {
    const char *name;    /* unique among the living of a fleet, see store_host_add */
    const char *kind;    /* "foreground" | "daemon" | "client" | "http" */
    const char *machine; /* its network name */
    const char *version; /* of the program */
    const char *roles;   /* separated by blanks */
    const char *labels;  /* sorted, separated by blanks */
    const char *queues;  /* the same; "": all */
    int64_t pid;
    const char *boot;
    int64_t slots;
    int64_t lease_ms;  /* 0: none, its lock tells */
    const char *fleet; /* it belongs to; NULL: whichever the store has */
};

/*
 * STATUS_CONFLICT: a living namesake is in the fleet, or the store belongs to another fleet. A
 * namesake whose lease has run out is ended first, as lost. Namesakes are daemons and clients among
 * each other, and workers behind HTTP among each other; foreground ones share names with anybody.
 * The first daemon of a store says which fleet it belongs to.
 */
NODISCARD enum status store_host_add(struct store *store, const struct host_request *request,
                                     int64_t *out_id, struct err *err);
/*
 * The same process place again: a daemon that was killed and started with the same id. Renews the
 * lease. STATUS_NOT_FOUND: a sweep has taken it, or there is no such host: add a new one.
 * STATUS_CONFLICT: the store belongs to another fleet.
 */
NODISCARD enum status store_host_resume(struct store *store, int64_t id,
                                        const struct host_request *request, struct err *err);
/*
 * It takes no more work and leaves when what it runs is over; others read that as draining, which
 * nobody but its own start takes back. STATUS_NOT_FOUND: as for store_host_renew.
 */
NODISCARD enum status store_host_leave(struct store *store, int64_t id, struct err *err);
NODISCARD enum status store_host_end(struct store *store, int64_t id, struct err *err);
/* The same of one that others found dead. */
NODISCARD enum status store_host_bury(struct store *store, int64_t id, struct err *err);

struct host_pulse {
    bool draining;   /* asked for by somebody */
    bool leads;      /* the oldest living host */
    int64_t living;  /* hosts */
    int64_t expired; /* hosts that a sweep should look at, or that left tasks behind */
};

/* Renew the lease. STATUS_NOT_FOUND: a sweep has taken it; everything it held is lost. */
NODISCARD enum status store_host_renew(struct store *store, int64_t id, struct host_pulse *out,
                                       struct err *err);

struct sweep_result {
    int64_t hosts;  /* ended as lost */
    int64_t tasks;  /* taken back */
    int64_t buried; /* of those, put aside for good */
    int64_t *dead;  /* the ids of these, in the arena */
    bool more;      /* there is more than one call does */
};

/*
 * Take back what expired hosts hold, and what hosts that ended left behind. Idempotent: any number
 * of hosts may do it at once. `self` is left alone.
 */
NODISCARD enum status store_sweep(struct store *store, int64_t self, struct arena *arena,
                                  struct sweep_result *out, struct err *err);

/* Ask a host to claim nothing more, or to claim again. */
NODISCARD enum status store_host_drain(struct store *store, int64_t id, bool drain,
                                       const char *actor, struct err *err);

struct host_info {
    int64_t id;
    const char *name;
    const char *kind;
    const char *machine;
    const char *version;
    const char *roles;
    const char *labels;
    const char *queues;
    const char *boot;
    int64_t pid;
    int64_t slots;
    int64_t started_at_us;
    int64_t ended_at_us;
    const char *fate;
    bool draining; /* on somebody's request, or because it stops */
    bool stopping;
    int64_t lease_ms;
    int64_t renewed_at_us;
    int64_t lease_until_us;
    bool has_expired; /* by the store's clock; never without a lease */
    bool leads;
    int64_t holds; /* tasks */
};

/* Newest first; texts are borrowed during the call. */
NODISCARD enum status
store_host_each(struct store *store, bool with_ended,
                enum status (*each)(void *context, const struct host_info *info, struct err *err),
                void *context, struct err *err);
/* By id or by the name of a living one: of namesakes the daemon, and one behind HTTP last. */
NODISCARD enum status store_host_find(struct store *store, const char *text, int64_t *out_id,
                                      struct err *err);
/*
 * Not ended and, if it has a lease, within it. One without a lease may be dead all the same: its
 * lock tells.
 */
NODISCARD enum status store_host_is_alive(struct store *store, int64_t id, bool *out,
                                          struct err *err);
/* Hosts that hold tasks of a run: is there a living one? Calls `each` with their ids. */
NODISCARD enum status store_host_of_run(struct store *store, int64_t run,
                                        void (*each)(void *context, int64_t host), void *context,
                                        struct err *err);
