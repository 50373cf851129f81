#pragma once
/*
 * explain: why a task or a run is in the state it is in, and what would change that. In words, and
 * as conditions (explanation.h).
 *
 * Everything is worked out from rows that the caller has read.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/dag.h"
#include "service/explain_fleet.h"
#include "service/explanation.h"
#include "store/admission.h"
#include "store/audit.h"
#include "store/overview.h"
#include "store/pool.h"
#include "store/queue.h"
#include "store/rows.h"
#include "store/run_store.h"
#include "store/wait.h"
#include "store/wish.h"

enum {
    EXPLAIN_NAMES_MAX = 10,
    EXPLAIN_POOLS_MAX = 3, /* its pool, the limits of its DAG and of its namespace */
};

struct explain_host {
    bool is_known;
    bool is_alive;
    const char *name;
    int64_t pid;
    int64_t slots;
    int64_t holds;
};

struct explain_world {
    const struct run_info *run;
    const struct dag *dag;
    const struct task_row *nodes; /* one per node */
    int64_t now_us;
    int64_t running;                /* tasks of the run */
    bool is_foreground;             /* only the process that made the run works on it */
    bool is_orphaned;               /* and that one is gone, with the run unfinished */
    bool has_scheduler;             /* a living host has that role */
    struct fleet_hosts fleet;       /* who works on runs that are not in the foreground */
    struct fleet_hosts foregrounds; /* `eider run`s that live; one of them may be its own */
    const struct admission_state *admission; /* of a run that may not go yet; else NULL */
    struct stop_info stop;                   /* who asked the run to stop; else nobody */
};

/* One task or instance. */
struct explain_subject {
    const struct task_row *task;
    struct explain_host host; /* of a running one; of one that waits: who looks */
    struct wait_info wait;    /* of one that waits for something outside; task 0: not known */
    enum wait_target target;  /* of one that waits for a run of another DAG */
    struct queue_place place; /* of a queued one */
    struct pool_place pools[EXPLAIN_POOLS_MAX]; /* pools and limits that have no room for it */
    size_t pools_count;
    int64_t gate_ahead;       /* the same, by a limit of its run: those that come before it */
    int64_t siblings_running; /* instances of its mapped task */
    struct tally instances;   /* of an expanded one: its instances by state */
    struct past_reason past;  /* why its past keeps it waiting */
    struct stop_info stop;    /* of a cancelled one: who stopped it; else nobody */
    struct wish_info wish;    /* who wants it to stop, of one that is to */
    /* Of one that is still to start. */
    const struct queue_info *queue; /* or NULL: not known */
    const char *labels;             /* that a host must have */
};

void explain_task(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out);

/* How the run as a whole stands; its conditions are what keeps all of it from going on. */
void explain_run(const struct explain_world *world, const struct tally *tally,
                 struct explanation *out);
