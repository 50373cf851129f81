#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "cli/progress_priv.h"
#include "model/dag.h"

enum { FAILURE_BYTES_MAX = 1024 };

struct progress *progress_new(void)
{
    struct progress *progress = mem_zalloc(1, sizeof *progress);
    strbuf_init(&progress->last_failure, FAILURE_BYTES_MAX);
    return progress;
}

void progress_free(struct progress *progress)
{
    if (progress == NULL)
        return;
    strbuf_fini(&progress->last_failure);
    free(progress->dag_id);
    free(progress->run_id);
    free(progress->nodes);
    free(progress->order);
    free(progress);
}

struct ranked {
    int64_t rank; /* place of the first node of its group, or its own without group */
    int64_t place;
    uint32_t node;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a;
    const struct ranked *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Parents first, as the tasks will run; members of a group together. */
static void order_nodes(struct progress *progress, const uint32_t *order)
{
    size_t count = progress->nodes_count;
    CLEANUP(strmap_freep) struct strmap *groups = strmap_new();
    CLEANUP(mem_freep) struct ranked *ranked = mem_zalloc(count + 1, sizeof *ranked);
    progress->order = mem_zalloc(count + 1, sizeof *progress->order);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = order != NULL ? order[i] : i;
        const char *group = progress->nodes[node].group;
        ranked[i] = (struct ranked){.rank = i, .place = i, .node = node};
        if (group[0] == '\0')
            continue;
        (void)strmap_add(groups, group, i);
        (void)strmap_find(groups, group, &ranked[i].rank);
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < count; i++)
        progress->order[i] = ranked[i].node;
}

void progress_start(struct progress *progress, const struct engine_run *run)
{
    CHECK(progress->nodes == NULL);
    progress->dag_id = mem_strdup(run->dag->id);
    progress->run_id = mem_strdup(run->run_id);
    progress->number = run->number;
    progress->started_at_us = run->started_at_us;
    progress->nodes_count = run->dag->tasks_count;
    progress->nodes = mem_zalloc(progress->nodes_count + 1, sizeof *progress->nodes);
    for (size_t i = 0; i < progress->nodes_count; i++) {
        const struct task_def *task = &run->dag->tasks[i];
        progress->nodes[i] = (struct progress_node){
            .id = task->id,
            .group = task->group != NULL ? task->group : "",
            .is_mapped = task_def_is_mapped(task),
            .counts = {[TASK_NONE] = 1},
            .total = 1,
            .duration_ms = -1,
            .percent = -1,
        };
    }
    progress->total = (int64_t)progress->nodes_count;
    progress->counts[TASK_NONE] = progress->total;
    order_nodes(progress, run->dag->order);
}

void progress_expand(struct progress *progress, uint32_t node_number, int64_t count)
{
    CHECK(node_number < progress->nodes_count);
    struct progress_node *node = &progress->nodes[node_number];
    if (count <= 0 || count > INT32_MAX || node->is_expanded)
        return;
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        progress->counts[state] -= node->counts[state];
        node->counts[state] = 0;
    }
    node->is_expanded = true;
    node->counts[TASK_NONE] = (int32_t)count;
    progress->counts[TASK_NONE] += count;
    progress->total += count - node->total;
    node->total = (int32_t)count;
}

static void move_count(struct progress *progress, struct progress_node *node, enum task_state from,
                       enum task_state to)
{
    if (node->counts[from] > 0) {
        node->counts[from]--;
        progress->counts[from]--;
    } else if (node->counts[TASK_NONE] > 0) {
        node->counts[TASK_NONE]--;
        progress->counts[TASK_NONE]--;
    }
    node->counts[to]++;
    progress->counts[to]++;
}

void progress_add_name(struct strbuf *out, const char *task_id, int64_t map_index,
                       const char *label)
{
    strbuf_add(out, task_id);
    if (map_index < 0)
        return;
    strbuf_addf(out, "[%lld%s%s]", (long long)map_index, label != NULL ? " " : "",
                label != NULL ? label : "");
}

static void note_failure(struct progress *progress, const struct engine_task *task)
{
    struct strbuf *out = &progress->last_failure;
    strbuf_clear(out);
    progress->failed_node = task->node;
    progress->failed_index = task->map_index;
    progress_add_name(out, progress->nodes[task->node].id, task->map_index, task->label);
    if (task->reason != NULL)
        strbuf_addf(out, ": %s", task->reason);
    if (task->exit_code >= 0)
        strbuf_addf(out, " %d", task->exit_code);
    else if (task->signal > 0)
        strbuf_addf(out, " %d", task->signal);
    if (task->message != NULL && task->message[0] != '\0')
        strbuf_addf(out, ": %s", task->message);
}

void progress_change(struct progress *progress, const struct engine_task *task)
{
    CHECK(task->node < progress->nodes_count);
    struct progress_node *node = &progress->nodes[task->node];
    if (node->is_expanded && task->map_index < 0)
        return; /* its instances speak for it */
    move_count(progress, node, task->from, task->to);
    node->attempt = task->attempt;
    node->attempts_max = task->attempts_max;
    if (task->to == TASK_RUNNING) {
        node->percent = -1;
        node->said[0] = '\0';
        node->attempt_at_us = task->at_us;
        if (node->started_at_us == 0)
            node->started_at_us = task->at_us;
    }
    if (task->duration_ms >= 0)
        node->duration_ms = task->duration_ms;
    bool was_final = task_state_is_final(task->from);
    bool is_final = task_state_is_final(task->to);
    if (is_final)
        node->ended_at_us = task->at_us;
    if (is_final && !was_final) {
        progress->done++;
        progress->done_before += task->replayed;
    }
    if (was_final && !is_final)
        progress->done--;
    if (task->to == TASK_FAILED || task->to == TASK_UP_FOR_RETRY)
        note_failure(progress, task);
    else if (task->to == TASK_SUCCESS && task->node == progress->failed_node &&
             task->map_index == progress->failed_index)
        strbuf_clear(&progress->last_failure); /* a later attempt made up for it */
}

void progress_report(struct progress *progress, const struct engine_progress *report)
{
    CHECK(report->node < progress->nodes_count);
    struct progress_node *node = &progress->nodes[report->node];
    if (node->is_expanded)
        return; /* its instances are counted already */
    bool has_part = report->total > 0 && report->done >= 0;
    double part = has_part ? MIN(report->done / report->total, 1.0) : 0;
    node->percent = has_part ? (int)(part * 100) : -1;
    (void)snprintf(node->said, sizeof node->said, "%s", report->text != NULL ? report->text : "");
}

void progress_interrupt(struct progress *progress, int times)
{
    progress->interrupts = times;
}

enum task_state progress_node_state(const struct progress_node *node)
{
    /* The most telling first; success only when nothing else is there. */
    static const enum task_state ORDER[] = {
        TASK_RUNNING,   TASK_UP_FOR_RETRY,      TASK_DEFERRED,  TASK_AWAITING_INPUT,
        TASK_FAILED,    TASK_UPSTREAM_FAILED,   TASK_CANCELLED, TASK_QUEUED,
        TASK_SCHEDULED, TASK_UP_FOR_RESCHEDULE, TASK_NONE,      TASK_SUCCESS,
        TASK_SKIPPED,   TASK_REMOVED,
    };
    _Static_assert(ARRAY_LEN(ORDER) == TASK_STATE_COUNT, "every state has its place");
    for (size_t i = 0; i < ARRAY_LEN(ORDER); i++)
        if (node->counts[ORDER[i]] > 0)
            return ORDER[i];
    return TASK_NONE;
}

int64_t progress_node_done(const struct progress_node *node)
{
    int64_t done = 0;
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (task_state_is_final(state))
            done += node->counts[state];
    return done;
}
