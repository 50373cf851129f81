/*
 * settle: what follows from tasks that ended.
 *
 * A verdict is counted at once for the dependants, for the mapped task of an instance and
 * for the run; whoever was counted for is touched. work_settle then decides touched
 * rows until none is left: a rule may make a row claimable, or end it, which counts and
 * touches again. Counting first and deciding later sums a batch per dependant, and
 * nothing recurses, so a chain of any length settles in one loop.
 */
#include "base/check.h"
#include "base/str.h"
#include "model/blame.h"
#include "store/admission_priv.h"
#include "store/control_priv.h"
#include "store/work.h"

static bool stops_with_run(const struct run_row *run, const struct task_row *task)
{
    return run->cancel_asked != CANCEL_NONE && !task_row_def(run, task)->is_finally;
}

bool work_is_stopping(const struct run_row *run, const struct task_row *task)
{
    if (work_is_job(task))
        return task->job->cancel_asked;
    return task->wish != WISH_NONE || stops_with_run(run, task);
}

bool work_begins_anew(const struct run_row *run, const struct task_row *task)
{
    return task->wish == WISH_CLEAR && !stops_with_run(run, task);
}

bool work_counts_as_failure(const struct run_row *run, const struct task_row *task)
{
    return blame_counts(run->dag, (size_t)task->node, task->state);
}

static int64_t *open_counter(struct run_row *run, const struct task_row *task)
{
    return task_row_def(run, task)->is_finally ? &run->open_finally : &run->open_main;
}

/* Count `times` parents of `node` that ended in `state` for its dependants. */
static enum status count_for_dependants(struct work *work, struct run_row *run, int64_t node,
                                        enum task_state state, int64_t times, struct err *err)
{
    const struct task_def *def = &run->dag->tasks[node];
    if (work_fetch_nodes(work, run, &def->dependants, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < def->dependants.count; i++) {
        struct task_row *child = NULL;
        if (work_node(work, run, def->dependants.items[i], &child, err) != STATUS_OK)
            return err->code;
        /* A rule is decided once; and an expanded task counts its instances here. */
        if (child->state != TASK_NONE)
            continue;
        parent_counts_add(&child->counts, state, false, times);
        if (state != TASK_SUCCESS)
            child->cause = node;
        child->dirty = true;
        work_touch(work, child);
    }
    return STATUS_OK;
}

enum status work_end_task(struct work *work, struct run_row *run, struct task_row *task,
                          struct ending ending, struct err *err)
{
    CHECK(task_state_allows(task->state, ending.state));
    task->state = ending.state;
    task->reason = ending.reason;
    task->detail = ending.detail;
    if (task->ended_at_us == 0)
        task->ended_at_us = work->now_us;
    task->due_at_us = 0;
    task->dirty = true;
    if (work_is_job(task)) {
        /* Nothing follows from it, but lists find it by that. */
        if (ending.state != TASK_SUCCESS)
            db_bulk_add(&work->saver.bulks[SAVER_JOB_ENDED], task->id, (int64_t)ending.state);
        return STATUS_OK;
    }
    if (work_begins_anew(run, task)) {
        work_begin_anew(work, task);
        return STATUS_OK;
    }
    task->wish = WISH_NONE;
    (*open_counter(run, task))--;
    run->failures += work_counts_as_failure(run, task);
    run->dirty = true;

    if (task->map_index >= 0) {
        struct task_row *expander = NULL;
        if (work_node(work, run, task->node, &expander, err) != STATUS_OK)
            return err->code;
        parent_counts_add(&expander->counts, ending.state, false, 1);
        expander->dirty = true;
        work_touch(work, expander);
        if (work_begins_anew(run, expander))
            return STATUS_OK; /* nobody stands on what is about to be forgotten */
    } else if (task->instance_base != 0) {
        return STATUS_OK; /* its instances were the parents */
    }
    return count_for_dependants(work, run, task->node, ending.state, 1, err);
}

enum status work_drop_uninserted(struct work *work, struct run_row *run, struct task_row *expander,
                                 struct err *err)
{
    int64_t rest = expander->counts.total - expander->inserted;
    if (expander->instance_base == 0 || rest <= 0)
        return STATUS_OK;
    expander->inserted = expander->counts.total;
    parent_counts_add(&expander->counts, TASK_CANCELLED, false, rest);
    expander->dirty = true;
    work_touch(work, expander);
    *open_counter(run, expander) -= rest;
    run->dirty = true;
    return count_for_dependants(work, run, expander->node, TASK_CANCELLED, rest, err);
}

/* Mark every node that can be reached from the chosen ones, themselves included. */
static bool *reachable_from(struct arena *arena, const struct dag *dag, const uint32_t *chosen,
                            size_t count)
{
    bool *reached = arena_array(arena, dag->tasks_count, sizeof *reached);
    for (size_t i = 0; i < count; i++)
        reached[chosen[i]] = true;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        uint32_t node = dag->order[i];
        const struct node_list *next = &dag->tasks[node].dependants;
        for (size_t j = 0; reached[node] && j < next->count; j++)
            reached[next->items[j]] = true;
    }
    return reached;
}

enum status work_skip_unchosen(struct work *work, struct run_row *run, struct task_row *task,
                               const uint32_t *chosen, size_t chosen_count, struct err *err)
{
    const struct task_def *def = task_row_def(run, task);
    const bool *reached = reachable_from(work->arena, run->dag, chosen, chosen_count);
    for (size_t i = 0; i < def->dependants.count; i++) {
        uint32_t node = def->dependants.items[i];
        struct task_row *child = NULL;
        if (reached[node])
            continue;
        if (work_node(work, run, node, &child, err) != STATUS_OK)
            return err->code;
        if (child->state != TASK_NONE)
            continue;
        const char *detail = arena_format(work->arena, "'%s' did not choose it", def->id);
        if (work_end_task(work, run, child,
                          (struct ending){TASK_SKIPPED, REASON_NOT_CHOSEN, detail},
                          err) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

/* --- deciding -------------------------------------------------------------------------------- */

static enum status count_setups(struct work *work, const struct run_row *run,
                                const struct task_def *def, struct parent_counts *counts,
                                struct err *err)
{
    counts->setups = (int64_t)def->teardown_of.count;
    for (size_t i = 0; i < def->teardown_of.count; i++) {
        struct task_row *setup = NULL;
        if (work_node(work, run, def->teardown_of.items[i], &setup, err) != STATUS_OK)
            return err->code;
        counts->setups_success += setup->state == TASK_SUCCESS;
        counts->setups_skipped += setup->state == TASK_SKIPPED;
    }
    return STATUS_OK;
}

static const char *why_not(struct work *work, struct run_row *run, const struct task_row *task)
{
    if (task->cause < 0)
        return NULL;
    const struct task_row *parent = idmap_find(work->tasks, run->first_task + task->cause);
    const char *became = parent != NULL && task_state_is_final(parent->state)
                             ? task_state_name(parent->state)
                             : "not successful";
    return arena_format(work->arena, "'%s' is %s (rule %s)", run->dag->tasks[task->cause].id,
                        became, trigger_rule_name(task_row_def(run, task)->rule));
}

static enum status decide_rule(struct work *work, struct run_row *run, struct task_row *task,
                               struct err *err)
{
    const struct task_def *def = task_row_def(run, task);
    if (run->cancel_asked != CANCEL_NONE && !def->is_finally)
        return work_end_task(work, run, task,
                             (struct ending){TASK_CANCELLED, REASON_CANCELLED, NULL}, err);
    if (def->is_finally && run->open_main > 0)
        return STATUS_OK; /* looked at again when the rest is done */
    if (run->admission == ADMISSION_WAITING && !def->is_finally)
        return STATUS_OK; /* looked at again when the run may go */
    struct parent_counts counts = task->counts;
    if (def->rule == RULE_ALL_DONE_SETUP_SUCCESS &&
        count_setups(work, run, def, &counts, err) != STATUS_OK)
        return err->code;
    switch (trigger_rule_decide(def->rule, &counts)) {
    case RULE_WAIT:
        return STATUS_OK;
    case RULE_RUN:
        if (def->depends_on_past)
            return past_queue(work, run, task, err);
        work_queue(work, task);
        return STATUS_OK;
    case RULE_SKIP:
        return work_end_task(
            work, run, task,
            (struct ending){TASK_SKIPPED, REASON_UPSTREAM, why_not(work, run, task)}, err);
    case RULE_UPSTREAM_FAILED:
        return work_end_task(
            work, run, task,
            (struct ending){TASK_UPSTREAM_FAILED, REASON_UPSTREAM, why_not(work, run, task)}, err);
    }
    UNREACHABLE("every decision is handled");
}

static enum task_state state_of_instances(const struct run_row *run, const struct task_row *task)
{
    const struct parent_counts *counts = &task->counts;
    bool is_stopped = run->cancel_asked != CANCEL_NONE || task->wish != WISH_NONE;
    if (is_stopped && counts->success < counts->total)
        return TASK_CANCELLED;
    if (counts->failed > 0 || counts->upstream_failed > 0)
        return TASK_FAILED;
    return counts->success > 0 ? TASK_SUCCESS : TASK_SKIPPED;
}

/* An expanded task: stop early when asked to, end when the last instance has ended. */
static enum status decide_instances(struct work *work, struct run_row *run, struct task_row *task,
                                    struct err *err)
{
    const struct parent_counts *counts = &task->counts;
    if (task_row_def(run, task)->fail_fast && counts->failed > 0 &&
        work_drop_uninserted(work, run, task, err) != STATUS_OK)
        return err->code;
    int64_t ended = counts->success + counts->failed + counts->upstream_failed + counts->skipped +
                    counts->removed;
    if (ended < counts->total)
        return STATUS_OK;
    const char *detail = arena_format(work->arena, "%lld of %lld instances succeeded",
                                      (long long)counts->success, (long long)counts->total);
    return work_end_task(work, run, task,
                         (struct ending){state_of_instances(run, task), REASON_INSTANCES, detail},
                         err);
}

static enum status decide(struct work *work, struct task_row *task, struct err *err)
{
    struct run_row *run = NULL;
    if (work_run(work, task->run, &run, err) != STATUS_OK)
        return err->code;
    if (task->state == TASK_DEFERRED && task->instance_base != 0)
        return decide_instances(work, run, task, err);
    if (task->state == TASK_NONE)
        return decide_rule(work, run, task, err);
    return STATUS_OK;
}

/* --- runs ------------------------------------------------------------------------------------ */

static enum status release_finally(struct work *work, struct run_row *run, struct err *err)
{
    run->finally_released = true;
    for (size_t node = 0; node < run->dag->tasks_count; node++) {
        struct task_row *task = NULL;
        if (!run->dag->tasks[node].is_finally)
            continue;
        if (work_node(work, run, (int64_t)node, &task, err) != STATUS_OK)
            return err->code;
        work_touch(work, task);
    }
    return STATUS_OK;
}

static enum status settle_run(struct work *work, struct run_row *run, struct err *err)
{
    CHECK(run->open_main >= 0);
    CHECK(run->open_finally >= 0);
    if (!run->locked || run_state_is_final(run->state) || run->open_main > 0)
        return STATUS_OK;
    if (run->open_finally > 0)
        return run->finally_released ? STATUS_OK : release_finally(work, run, err);
    run->state = run->cancel_asked == CANCEL_TIMEOUT
                     ? RUN_FAILED
                     : run_verdict(run->cancel_asked == CANCEL_ASKED, run->failures);
    run->ended_at_us = work->now_us;
    run->dirty = true;
    return STATUS_OK;
}

static enum status decide_touched(struct work *work, struct err *err)
{
    /* The list grows while it is walked. */
    for (size_t i = 0; i < work->touched.count; i++) {
        struct task_row *task = work->touched.items[i];
        task->touched = false;
        if (decide(work, task, err) != STATUS_OK)
            return err->code;
    }
    work->touched.count = 0;
    return STATUS_OK;
}

enum status work_settle(struct work *work, struct err *err)
{
    do {
        if (decide_touched(work, err) != STATUS_OK)
            return err->code;
        if (work->anew.count > 0 && clear_anew(work, err) != STATUS_OK)
            return err->code;
        for (size_t i = 0; i < work->run_rows.count; i++)
            if (settle_run(work, work->run_rows.items[i], err) != STATUS_OK)
                return err->code;
    } while (work->touched.count > 0);
    return STATUS_OK;
}
