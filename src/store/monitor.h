#pragma once
/*
 * monitor: what goes on at the moment, for whoever watches all of it. Nothing is changed.
 *
 * Asked again every second or two, so each question is bounded whatever the store holds: numbers
 * end at a most, and history is read from its newest end. Who does not see all namespaces is told
 * of runs in those that are seen; how many tasks there are is no secret, as in lists of queues.
 */
#include "model/run_state.h"
#include "store/rows.h"
#include "store/store.h"

enum {
    MONITOR_COUNT_MAX = 100000, /* of what is there at the moment */
    MONITOR_ENDED_MAX = 10000,  /* of runs that ended */
    MONITOR_EVENTS_MAX = 20000, /* that one question about throughput reads */
    MONITOR_SECONDS_MAX = 120,  /* that it tells of */
};

struct monitor_counts {
    int64_t runs[RUN_STATE_COUNT]; /* that are not over, and those that ended since the instant */
    int64_t running;               /* tasks and jobs that a host holds */
    int64_t ready;                 /* claimable */
    int64_t held;                  /* by a limit of their run */
    int64_t later;                 /* wait for an instant: retries, delays */
    int64_t dead;                  /* letters; 0 for who does not see all */
    int64_t broken_files;          /* DAG files with problems; the same */
};

NODISCARD enum status store_monitor_count(struct store *store, int64_t ended_since_us,
                                          struct monitor_counts *out, struct err *err);

/* How many tasks ended in each second, by doing something: skipped ones do not count. */
struct monitor_pace {
    int64_t first; /* second since 1970 that `seconds` begins with */
    size_t count;
    int64_t seconds[MONITOR_SECONDS_MAX];
    size_t unread; /* so many of the first seconds are longer ago than was read */
};

/* From the second of `since_us` to the one of `now_us`; of more than fit, the last ones. */
NODISCARD enum status store_monitor_pace(struct store *store, int64_t since_us, int64_t now_us,
                                         struct monitor_pace *out, struct err *err);

typedef enum status (*monitor_each)(void *context, const struct task_row *task, struct err *err);

/* Rows of the tasks of a run without instances of mapped ones, in the order of nodes. */
NODISCARD enum status store_monitor_nodes(struct store *store, int64_t run, monitor_each each,
                                          void *context, struct err *err);
/* Instances of a mapped task that have rows, by index. */
NODISCARD enum status store_monitor_instances(struct store *store, const struct task_row *expander,
                                              monitor_each each, void *context, struct err *err);
