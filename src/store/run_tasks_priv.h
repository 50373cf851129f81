#pragma once
/*
 * run_tasks_priv: all rows of one run in a work set, and counters worked out anew.
 */
#include "store/work.h"

struct run_tasks {
    struct run_row *run;
    struct task_row **nodes; /* one per node */
    struct instances {
        struct task_row **items;
        size_t count;
    } * instances; /* one per node; empty unless it is expanded */
};

NODISCARD enum status run_tasks_load(struct work *work, int64_t run, struct run_tasks *out,
                                     struct err *err);
/* Counters of waiting rows, of expanded tasks and of the run, from the states of the rows. */
void run_tasks_recount(struct run_tasks *tasks);
/* Let every waiting row be decided, finally tasks only once the rest is done. */
void run_tasks_touch(struct work *work, struct run_tasks *tasks);
