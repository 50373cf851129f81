#pragma once
/*
 * keeper_sweep: finding and ending what tasks left behind.
 *
 * A process whose parent ends is adopted by the keeper, also one that made itself a
 * daemon. So everything a task leaves becomes our child sooner or later, and is told by
 * its group, its session or the claim in its environment. What belongs to a running task
 * is left alone; what belongs to an ended one is killed, and then its children in turn.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "os/proc_tree.h"
#include "worker/keeper_run.h"

struct keeper_orphan {
    struct keeper_source source;
    struct process process;
    struct keeper_run *run; /* NULL: reported already, or nobody's */
    struct keeper_orphan *next;
};

struct keeper_sweep {
    struct keeper_orphan *orphans; /* killed, not reaped yet */
    size_t orphan_count;
    size_t unowned_count; /* those of no run that is known; they may be anybody's */
    struct proc_list children;
    size_t left; /* children of any sort when last looked */
};

/* Look once. Every orphan that is killed counts in `orphans` of its run. */
void keeper_sweep_look(struct keeper_sweep *sweep, struct keeper_room *room,
                       struct keeper_run *const *runs, size_t run_count);
/* An orphan has ended. */
void keeper_sweep_reap(struct keeper_sweep *sweep, struct keeper_room *room,
                       struct keeper_orphan *orphan);
/* A run is reported: its orphans are nobody's from here on. */
void keeper_sweep_forget(struct keeper_sweep *sweep, const struct keeper_run *run);
void keeper_sweep_fini(struct keeper_sweep *sweep);
