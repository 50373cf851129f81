#pragma once
/*
 * prove_host: a host of a proof: `eider up` with a home of its own, to be killed.
 */
#include "app/prove.h"
#include "os/process.h"

struct prove_host {
    const struct prove_world *world;
    char *home;
    char *log_path;
    char *label; /* its label and its only queue */
    char *name;
    int64_t slots;
    struct process process; /* pidfd -1: none */
    int64_t starts;
};

/* Nothing is started; `folder` holds its home and its messages. */
NODISCARD enum status prove_host_init(struct prove_host *host, const struct prove_world *world,
                                      const char *folder, const char *label, int number,
                                      struct err *err);
NODISCARD enum status prove_host_start(struct prove_host *host, int64_t slots, struct err *err);
/* Whether it has said that it works since it was started last. */
bool prove_host_is_up(const struct prove_host *host);
/* Whether it has noticed that others gave it up, and is a host again. */
bool prove_host_is_new(const struct prove_host *host);
/* Whether it ended by itself; *out_last is the last line that it wrote, heap. */
bool prove_host_has_ended(struct prove_host *host, char **out_last);

/* KILL the daemon; what it runs goes on. */
void prove_host_kill(struct prove_host *host);
/* KILL the daemon and the keepers of its tasks, which end with them. */
void prove_host_kill_all(struct prove_host *host);
/* STOP the daemon and the keepers of its tasks; CONT one after the other. */
void prove_host_freeze(struct prove_host *host);
void prove_host_thaw_keepers(struct prove_host *host);
void prove_host_thaw_daemon(struct prove_host *host);
/* Stop in order, or else by force. */
void prove_host_stop(struct prove_host *host);
/* Everything that is left of it, then its memory; a host that was never made is fine. */
void prove_host_fini(struct prove_host *host);
