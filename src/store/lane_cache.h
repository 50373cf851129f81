#pragma once
/*
 * lane_cache: what a store remembers of lanes between transactions.
 */
#include <stdbool.h>

#include "base/idmap.h"

struct lane_cache {
    struct idmap *versions; /* of DAGs: to int64_t[], one lane per node */
    struct idmap *queues;   /* that whole runs wait in: to a map like `versions` */
    int64_t usual; /* of the queue that is always there, without labels; 0: not known yet */
    bool unsure;   /* lanes were made by a transaction that may not have been committed */
};

struct lane_cache *lane_cache_new(void);
void lane_cache_free(struct lane_cache *cache);
/* What it knows may be the reason of a failure. */
void lane_cache_doubt(struct lane_cache *cache);
/* A transaction begins: forget what the last one may have left wrong. */
void lane_cache_begin(struct lane_cache *cache);
