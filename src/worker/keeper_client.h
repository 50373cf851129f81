#pragma once
/*
 * keeper_client: the daemon's side of the keeper.
 *
 * Requests are collected and sent when the loop is about to wait; answers come as
 * callbacks in the loop's thread. Every accepted task gets exactly one `exited`, unless
 * the keeper dies first, which `died` tells once.
 *
 * A keeper that stays outlives us. It tells what it has from an earlier daemon first: `held`
 * for each task, then `report` and `exited` as if they happened now, then `all_told`. It
 * tells an end to every daemon that comes until one has acknowledged it.
 *
 * Ownership  Whoever starts a keeper closes or leaves it, not from inside its callbacks.
 * Threads    The loop's thread only.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/process.h"
#include "worker/keeper_reach.h"
#include "worker/keeper_report.h"
#include "worker/keeper_task.h"
#include "worker/keeper_wire.h"

struct keeper;
struct loop;

/* All must be set, `held` and `all_told` only for one that stays. Valid during the call. */
struct keeper_events {
    void *context;
    void (*started)(void *context, int64_t id, pid_t pid, int64_t started_at_us);
    void (*exited)(void *context, int64_t id, const struct keeper_exit *exit);
    void (*report)(void *context, int64_t id, const struct keeper_report *report);
    void (*died)(void *context, const char *why);
    void (*held)(void *context, const struct keeper_held *held);
    void (*all_told)(void *context);
};

/*
 * Start `exe __keeper`, which calls keeper_main(KEEPER_SOCKET_FD). `foreground`: tasks end with
 * this process.
 */
NODISCARD enum status keeper_start(struct loop *loop, const char *exe, bool foreground,
                                   const struct keeper_events *events, struct keeper **out_keeper,
                                   struct err *err);

/* Reach one that stays; see keeper_reach for what can happen. It tells nothing before this returns.
 */
NODISCARD enum status keeper_start_staying(struct loop *loop,
                                           const struct keeper_stay_options *options,
                                           const struct keeper_events *events,
                                           struct keeper **out_keeper, struct err *err);

/* A keeper that is running already. */
struct keeper_peer {
    int socket_fd;
    struct process process; /* a child of ours, unless it stays */
    bool foreground;
    bool stays; /* greeted already */
};

/* The same with such a one; socket and process belong to the keeper from here on. */
NODISCARD enum status keeper_attach(struct loop *loop, const struct keeper_peer *peer,
                                    const struct keeper_events *events, struct keeper **out_keeper,
                                    struct err *err);

/*
 * End everything that still runs (TERM, two seconds, KILL) and the keeper with it; waits for
 * that. NULL is allowed.
 */
void keeper_close(struct keeper *keeper);
/* Part from a keeper that stays, and let it go on. NULL is allowed. */
void keeper_leave(struct keeper *keeper);

/*
 *   STATUS_LIMIT      too large to be handed over.
 *   STATUS_NOT_FOUND  the keeper is dead.
 */
NODISCARD enum status keeper_spawn(struct keeper *keeper, const struct keeper_task *task,
                                   struct err *err);

/* Gentle is TERM and, after the task's grace, KILL. A task that has ended is fine. */
void keeper_stop_task(struct keeper *keeper, int64_t id, enum keeper_stop how);

/*
 * The end of this task is written down: one that stays forgets it. Before the id is spawned again,
 * since a spawn says the same.
 */
void keeper_ack(struct keeper *keeper, int64_t id);

/*
 * All tasks but those with `survives_deadline` are killed at this instant of clock_mono_us unless
 * it is moved on; 0: never.
 */
void keeper_set_deadline(struct keeper *keeper, int64_t mono_us);

/*
 * Kill every process on this machine that carries the claim `nonce`: what a dead keeper left
 * behind. How many there were.
 */
size_t keeper_kill_claim(const char *nonce);
