#pragma once
/*
 * run_task_match: which of some runs have tasks in such states at such times, and how many.
 *
 * Tests  tests/unit/store/test_run_page.c
 */
#include "store/run_page.h"

struct run_task_filter {
    const int64_t *runs; /* of these */
    size_t count;
    unsigned states; /* of tasks, a bit each; 0: any */
    struct run_range started;
    struct run_range ended;
};
/* For each of the runs, whether it has a task with a row that matches. */
NODISCARD enum status store_runs_with_tasks(struct store *store,
                                            const struct run_task_filter *filter, bool *out,
                                            struct err *err);

struct run_task_count {
    int64_t rows;
    int64_t matching;
};
/* For each of the runs, how many rows of tasks it has and how many of them match. */
NODISCARD enum status store_runs_count_tasks(struct store *store,
                                             const struct run_task_filter *filter,
                                             struct run_task_count *out, struct err *err);
