#pragma once
/*
 * census: how much there is of everything, read in one read transaction of a bounded size.
 *
 * For metrics and health: what is counted here is the same for every host that asks. Counts stop at
 * CENSUS_MOST rows of a table, and no row of a task is read but those at the heads of queues.
 */
#include "base/arena.h"
#include "store/host.h"
#include "store/pool.h"
#include "store/store.h"

enum { CENSUS_MOST = 1000000 };

struct census_queue {
    const char *name;
    bool paused;
    int64_t max_running; /* 0: no bound */
    int64_t ready;       /* tasks and jobs that can be claimed now */
    int64_t jobs;        /* of those, jobs */
    int64_t delayed;     /* jobs that wait for their time */
    int64_t running;
    int64_t head_us; /* since when its first waits, of the slowest of heads; 0: none */
};

/* What is claimed next of a queue by hosts with these labels. */
struct census_head {
    const char *queue;
    const char *labels;
    int64_t since_us;
    bool is_bounded; /* its queue is paused, at its bound, or has only a share of every host */
};

struct census {
    int64_t now_us; /* by the store's clock */
    struct census_queue *queues;
    size_t queues_count;
    struct census_head *heads;
    size_t heads_count;
    struct pool_info *pools;
    size_t pools_count;
    struct host_info *hosts; /* that are not ended, dead ones included */
    size_t hosts_count;
    int64_t runs_queued;
    int64_t runs_running;
    int64_t jobs_claimed;
    int64_t dead;
    int64_t leaders_ended; /* hosts that led when they ended */
};

/* Everything is in the arena. */
NODISCARD enum status store_census(struct store *store, struct arena *arena, struct census *out,
                                   struct err *err);
