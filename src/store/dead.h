#pragma once
/*
 * dead: dead letters. Jobs that failed for good, and jobs or tasks put aside because their owner
 * died under them too often, are listed here until somebody requeues or purges them.
 */
#include "base/arena.h"
#include "model/attempt.h"
#include "store/store.h"

struct dead_info {
    int64_t task; /* id of the job, or of the task row */
    int64_t run;  /* 0: a job */
    const char *queue;
    const char *name; /* handler of a job; DAG/RUN_ID/TASK of a task */
    int64_t at_us;
    enum reason reason;
    int64_t attempt;
    const char *detail;
    const char *payload; /* of a job; else NULL */
    const char *task_id; /* of a task that its DAG still has; else NULL */
    int64_t map_index;   /* of a task: its instance; -1: it is not mapped */
};

struct dead_filter {
    const char *queue; /* NULL: any */
    int64_t before_us; /* only older ones; 0: all */
    /* Of lists: only what comes after the letter of this time and task; 0: from the newest on */
    int64_t after_us;
    int64_t after_task;
    int64_t limit;
};

/* Newest first; texts are borrowed during the call. */
NODISCARD enum status
store_dead_each(struct store *store, const struct dead_filter *filter,
                enum status (*each)(void *context, const struct dead_info *info, struct err *err),
                void *context, struct err *err);
/* How many there are, at most `most`; `limit` does not count. */
NODISCARD enum status store_dead_count(struct store *store, const struct dead_filter *filter,
                                       int64_t most, int64_t *out, struct err *err);
struct dead_summary {
    int64_t count;
    int64_t oldest_us; /* 0: there is none */
};

NODISCARD enum status store_dead_summary(struct store *store, struct dead_summary *out,
                                         struct err *err);
NODISCARD enum status store_dead_load(struct store *store, struct arena *arena, int64_t task,
                                      struct dead_info *out, struct err *err);
/* Let it run again, in a new generation, and forget the letter. STATUS_CONFLICT: it runs. */
NODISCARD enum status store_dead_requeue(struct store *store, int64_t task, const char *actor,
                                         struct err *err);
/* Forget letters; what they tell of stays as it is. */
NODISCARD enum status store_dead_purge(struct store *store, const struct dead_filter *filter,
                                       const char *actor, int64_t *out_count, struct err *err);
