#pragma once
/*
 * keeper_client: the daemon's side of the keeper.
 *
 * Requests are collected and sent when the loop is about to wait; answers come as
 * callbacks in the loop's thread. Every accepted task gets exactly one `exited`, unless
 * the keeper dies first, which `died` tells once.
 *
 * Ownership  Whoever starts a keeper closes it, not from inside its callbacks.
 * Threads    The loop's thread only.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/process.h"
#include "worker/keeper_report.h"
#include "worker/keeper_task.h"
#include "worker/keeper_wire.h"

struct keeper;
struct loop;

/* All must be set. What they get is valid during the call. */
struct keeper_events {
    void *context;
    void (*started)(void *context, int64_t id, pid_t pid, int64_t started_at_us);
    void (*exited)(void *context, int64_t id, const struct keeper_exit *exit);
    void (*report)(void *context, int64_t id, const struct keeper_report *report);
    void (*died)(void *context, const char *why);
};

/*
 * Start `exe __keeper`, which calls keeper_main(KEEPER_SOCKET_FD). `foreground`: tasks end with
 * this process.
 */
enum { KEEPER_SOCKET_FD = 3 };
NODISCARD enum status keeper_start(struct loop *loop, const char *exe, bool foreground,
                                   const struct keeper_events *events, struct keeper **out_keeper,
                                   struct err *err);

/* A keeper that is running already. */
struct keeper_peer {
    int socket_fd;
    struct process process; /* a child of ours */
    bool foreground;
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

/*
 *   STATUS_LIMIT      too large to be handed over.
 *   STATUS_NOT_FOUND  the keeper is dead.
 */
NODISCARD enum status keeper_spawn(struct keeper *keeper, const struct keeper_task *task,
                                   struct err *err);

/* Gentle is TERM and, after the task's grace, KILL. A task that has ended is fine. */
void keeper_stop_task(struct keeper *keeper, int64_t id, enum keeper_stop how);

/* All tasks are killed at this instant of clock_mono_us unless it is moved on; 0: never. */
void keeper_set_deadline(struct keeper *keeper, int64_t mono_us);

/*
 * Kill every process on this machine that carries the claim `nonce`: what a dead keeper left
 * behind. How many there were.
 */
size_t keeper_kill_claim(const char *nonce);
