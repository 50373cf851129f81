#pragma once
/*
 * progress_priv: what progress.c gathers and progress_frame.c shows.
 */
#include <stdbool.h>

#include "cli/progress.h"

struct progress_node {
    const char *id;
    const char *group;
    bool is_mapped;
    bool is_expanded;
    int32_t counts[TASK_STATE_COUNT]; /* of its instances, or of itself */
    int32_t total;
    int64_t started_at_us; /* of the first attempt; 0: none */
    int64_t attempt_at_us; /* of the latest attempt */
    int64_t duration_ms;   /* of the latest ended attempt; -1: none */
    int64_t ended_at_us;
    int64_t attempt;
    int64_t attempts_max;
    int percent;   /* said by the task; -1: nothing */
    char said[40]; /* the same in its words */
};

struct progress {
    char *dag_id;
    char *run_id;
    int64_t number;
    int64_t started_at_us;
    struct progress_node *nodes;
    size_t nodes_count;
    uint32_t *order; /* nodes with the members of a group together */
    int64_t counts[TASK_STATE_COUNT];
    int64_t total;
    int64_t done; /* in this call; what a retried run had before is not throughput */
    int64_t done_before;
    int interrupts;
    struct strbuf last_failure; /* "load[3]: exit 1: cannot connect", or empty */
    uint32_t failed_node;       /* whose it is */
    int64_t failed_index;
};

/* The state that stands for a node: of itself, or the most telling of its instances. */
enum task_state progress_node_state(const struct progress_node *node);
int64_t progress_node_done(const struct progress_node *node);
