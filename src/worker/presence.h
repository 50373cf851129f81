#pragma once
/*
 * presence: which hosts of an embedded store are alive.
 *
 * Each holds a lock on hosts/ID.lock in the state folder while it lives. The kernel lets go of it
 * when the process dies, however it dies, so a free lock means dead: no clock is involved.
 * A run in the foreground is held in the same way, by hosts/run-ID.lock.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "os/file_lock.h"

struct presence {
    char *path;
    struct file_lock lock;
};

NODISCARD enum status presence_begin(const char *home, int64_t host, struct presence *out,
                                     struct err *err);
/* STATUS_CONFLICT: another process works on the run. */
NODISCARD enum status presence_hold_run(const char *home, int64_t run, struct presence *out,
                                        struct err *err);
void presence_end(struct presence *presence); /* twice is fine */

/* For store_recover: `context` is the state folder's path. */
bool presence_is_alive(void *context, int64_t host);
/* It was on this machine, with this state folder, and died without a word. */
bool presence_is_dead(const char *home, int64_t host);
/* As presence_is_alive, for a run. */
bool presence_run_is_held(void *context, int64_t run);
