#pragma once
/*
 * explain_around: what is around a run or a DAG: the hosts that live, queues, pools and limits,
 * read once for an answer.
 */
#include "base/arena.h"
#include "service/explain_fleet.h"
#include "service/service.h"
#include "store/limit.h"
#include "store/pool.h"
#include "store/queue.h"

struct explain_around {
    struct fleet_host *hosts; /* daemons that live and work */
    size_t hosts_count;
    struct fleet_host *foregrounds; /* living `eider run`s */
    size_t foregrounds_count;
    bool has_scheduler;
    struct queue_info *queues;
    size_t queues_count;
    struct pool_info *pools;
    size_t pools_count;
    struct limit_info *limits;
    size_t limits_count;
};

/* Everything is in the arena. */
NODISCARD enum status explain_around_load(const struct service *service, struct store *store,
                                          struct arena *arena, struct explain_around *out,
                                          struct err *err);
/* NULL: there is none of that name. */
const struct queue_info *explain_around_queue(const struct explain_around *around,
                                              const char *name);
