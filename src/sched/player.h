#pragma once
/*
 * player: a fleet on a virtual clock.
 *
 * Schedulers and hosts are played in one thread over a real store: duties run when their time has
 * come, hosts claim what they have slots for, tasks take as long as the caller says, and the clock
 * jumps from one instant at which something happens to the next. Nothing is left to chance or
 * to the machine, so what was played once can be played again. `eider simulate` looks ahead with
 * it, tests break things with it.
 *
 * The store must have been opened with player_clock. One player per thread at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"
#include "store/advance.h"
#include "store/store.h"

struct player;

/* The virtual clock of this thread, for store_options.now_us. */
int64_t player_clock(void);
void player_clock_set(int64_t now_us);

/* What becomes of an attempt. */
struct player_fate {
    int64_t takes_us;
    enum outcome_kind kind;
    struct attempt_end end;       /* of OUTCOME_END */
    int64_t instances;            /* of OUTCOME_EXPAND: at least 1 */
    const struct wait_plan *wait; /* of OUTCOME_DEFER; kept as `chosen` is */
    bool is_choice;
    const uint32_t *chosen; /* kept by the caller until the player is freed */
    size_t chosen_count;
};

struct player_events {
    void *context;
    /* Must be set. */
    struct player_fate (*started)(void *context, const struct claim *claim);
    /* These may be NULL. */
    void (*ended)(void *context, const struct claim *claim, bool accepted);
    void (*run_ended)(void *context, const struct run_change *run);
    /* True: the answer to this call is lost, although it was carried out. */
    bool (*loses_answer)(void *context, size_t host);
};

struct player_options {
    struct store *store;
    struct store *twin; /* a second scheduler that does every duty again; NULL: none */
    size_t hosts;
    int64_t slots;      /* of each */
    const char *labels; /* of each, as in host_request; NULL: none */
    int64_t lease_ms;   /* 0: hosts have no leases and never die */
    int64_t renew_ms;
    int64_t sweep_ms;
    int64_t grain_us; /* a duty that has nothing to do at once is not called again sooner */
    struct player_events events;
};

/* The clock must be set before. */
NODISCARD enum status player_new(const struct player_options *options, struct player **out,
                                 struct err *err);
void player_free(struct player *player); /* NULL is allowed */

/*
 * Everything that is due now; then the clock is at the next instant at which something happens, or
 * at `until_us` if that comes first.
 */
NODISCARD enum status player_step(struct player *player, int64_t until_us, struct err *err);
/* Steps until then. */
NODISCARD enum status player_run(struct player *player, int64_t until_us, struct err *err);
/* Tasks that are running now. */
size_t player_load(const struct player *player);

/* The host is gone with all it ran, and renews nothing; with a lease others take its tasks back. */
void player_kill_host(struct player *player, size_t host);
/* A new one in its place. */
NODISCARD enum status player_start_host(struct player *player, size_t host, struct err *err);

static inline void player_freep(struct player **player)
{
    player_free(*player);
}
