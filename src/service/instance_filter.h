#pragma once
/*
 * instance_filter: which tasks of runs a request asks for.
 */
#include "service/run_filter.h"

struct instance_filter {
    const char *tasks;  /* ",a,b,": only these; NULL: any */
    const char *pools;  /* the same */
    const char *queues; /* the same */
    unsigned states;    /* a bit each; 0: any */
    bool is_mapped;     /* only instances of mapped tasks */
    bool has_index;
    int64_t map_index;
    struct run_range started;
    struct run_range ended;
    struct run_range updated;
    bool has_duration_from;
    bool has_duration_to;
    double duration_from;
    double duration_to;
};

/* Filter for tasks, and for the runs that they can be of. Texts are in the arena. */
NODISCARD enum status instance_filter_read(const json_t *request, struct arena *arena,
                                           struct instance_filter *out, struct run_page *out_runs,
                                           struct err *err);

/* Every task of a run matches. */
bool instance_filter_is_open(const struct instance_filter *filter);
/* Only tasks that have a row can match, and by what is in it. */
bool instance_filter_is_in_rows(const struct instance_filter *filter);
/* Nothing decides but the states and times that store_runs_count_tasks knows. */
bool instance_filter_is_counted_by_store(const struct instance_filter *filter);
/* False: no task of the run can match. */
bool instance_filter_lets_run(const struct instance_filter *filter, const struct run_info *run);
bool instance_filter_lets(const struct instance_filter *filter, const struct run_info *run,
                          const struct task_def *def, const struct task_row *task);
