#pragma once
/*
 * lane_cache: what a store remembers of lanes between transactions.
 */
#include "base/arena.h"
#include "base/idmap.h"

struct lane_facts {
    int64_t id;
    int64_t queue;
    const char *queue_name;
    const char *labels;
    int64_t max_running;
};

struct lane_cache {
    struct idmap *versions; /* of DAGs: to int64_t[], one lane per node */
    bool unsure;            /* lanes were made by a transaction that may not have been committed */
    struct lane_facts *rows;
    size_t count;
    size_t capacity;
    struct arena *texts;
    int64_t read_us;
};

struct lane_cache *lane_cache_new(void);
void lane_cache_free(struct lane_cache *cache);
/* A transaction begins: forget what the last one may have left wrong. */
void lane_cache_begin(struct lane_cache *cache);
