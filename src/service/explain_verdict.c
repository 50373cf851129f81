#include "service/explain_verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"

void explain_add_cause(struct strbuf *out, const struct task_row *task)
{
    if (task->reason == REASON_EXIT && task->exit_code >= 0)
        strbuf_addf(out, "exit code %lld", (long long)task->exit_code);
    else if (task->reason == REASON_SIGNAL && task->exit_code >= 0)
        strbuf_addf(out, "signal %lld (%s)", (long long)task->exit_code,
                    strsignal((int)task->exit_code));
    else
        strbuf_add(out, task->reason == REASON_NONE ? "no reason kept" : reason_name(task->reason));
    if (task->detail != NULL && task->detail[0] != '\0')
        strbuf_addf(out, ": %s", task->detail);
}

const char *explain_name(const struct explain_world *world, const struct task_row *task,
                         char out[EXPLAIN_NAME_MAX])
{
    const char *id = world->dag->tasks[task->node].id;
    int length = task->map_index < 0 ? snprintf(out, EXPLAIN_NAME_MAX, "%s", id)
                                     : snprintf(out, EXPLAIN_NAME_MAX, "%s --map-index %lld", id,
                                                (long long)task->map_index);
    CHECK(length > 0 && length < EXPLAIN_NAME_MAX);
    return out;
}

static const char *id_of(const struct explain_world *world, int64_t node)
{
    return world->dag->tasks[node].id;
}

static long long number_of(const struct explain_world *world)
{
    return (long long)world->run->id;
}

/* --- verdicts -------------------------------------------------------------------------------- */

static bool is_consequence(const struct task_row *task)
{
    return task->state == TASK_UPSTREAM_FAILED ||
           (task->state == TASK_SKIPPED && task->reason == REASON_UPSTREAM);
}

/* Back along parents that ended the same way, to the task where it began; -1: unknown. */
static int64_t find_origin(const struct explain_world *world, const struct task_row *task)
{
    int64_t node = task->node;
    bool failed = task->state == TASK_UPSTREAM_FAILED;
    /* Every step goes to a parent, so it ends with the DAG. */
    while (is_consequence(&world->nodes[node])) {
        const struct node_list *needs = &world->dag->tasks[node].needs;
        int64_t parent = -1;
        for (size_t i = 0; i < needs->count && parent < 0; i++) {
            enum task_state state = world->nodes[needs->items[i]].state;
            bool fits = failed ? state == TASK_FAILED || state == TASK_UPSTREAM_FAILED ||
                                     state == TASK_CANCELLED
                               : state != TASK_SUCCESS && task_state_is_final(state);
            if (fits)
                parent = needs->items[i];
        }
        if (parent < 0)
            return -1;
        node = parent;
    }
    return node == task->node ? -1 : node;
}

static void explain_consequence(const struct explain_world *world, const struct task_row *task,
                                struct explanation *out)
{
    int64_t origin = task->map_index < 0 ? find_origin(world, task) : -1;
    if (task->detail != NULL)
        strbuf_add(&out->because, task->detail);
    else
        strbuf_addf(&out->because, "its parents ended so that rule %s cannot be met",
                    trigger_rule_name(world->dag->tasks[task->node].rule));
    if (origin < 0)
        return;
    const struct task_row *first = &world->nodes[origin];
    out->caused_by = json_string(id_of(world, origin));
    strbuf_addf(&out->because, "; it began with '%s', which is %s (", id_of(world, origin),
                task_state_name(first->state));
    explain_add_cause(&out->because, first);
    strbuf_add(&out->because, ")");
    if (first->state == TASK_FAILED)
        explanation_change(out, "mend '%s', then `eider retry %lld`", id_of(world, origin),
                           number_of(world));
}

static void explain_failed(const struct explain_world *world, const struct task_row *task,
                           struct explanation *out)
{
    char name[EXPLAIN_NAME_MAX];
    const char *id = explain_name(world, task, name);
    explain_add_cause(&out->because, task);
    if (task->attempt > 1)
        strbuf_addf(&out->because, ", after %lld attempts", (long long)task->attempt);
    explanation_change(out,
                       "`eider logs %lld %s` shows what it printed; `eider retry %lld` runs it "
                       "again; `eider mark %lld %s success` lets the run go on without it",
                       number_of(world), id, number_of(world), number_of(world), id);
}

static void explain_skipped(const struct explain_world *world, const struct task_row *task,
                            struct explanation *out)
{
    const struct task_def *def = &world->dag->tasks[task->node];
    char name[EXPLAIN_NAME_MAX];
    bool can_change = false;
    if (task->reason == REASON_UPSTREAM) {
        explain_consequence(world, task, out);
    } else if (task->reason == REASON_CONDITION) {
        strbuf_addf(&out->because, "its condition was false (if: %s)",
                    def->condition != NULL ? def->condition : "?");
        can_change = true;
    } else if (task->reason == REASON_EMPTY) {
        strbuf_add(&out->because, "its list of items was empty");
        can_change = true;
    } else if (task->reason == REASON_NOT_SELECTED) {
        strbuf_add(&out->because, "it was not selected when the run was made (--task)");
    } else if (task->reason == REASON_MARKED) {
        strbuf_add(&out->because, "somebody marked it (marked)");
    } else {
        explain_add_cause(&out->because, task);
        can_change = task->reason != REASON_NOT_CHOSEN;
    }
    if (can_change)
        explanation_change(out, "`eider tasks clear %lld %s` decides it again", number_of(world),
                           explain_name(world, task, name));
}

void explain_add_stop(struct strbuf *out, const struct stop_info *stop)
{
    char at[INSTANT_TEXT_MAX];
    if (stop->actor == NULL)
        return;
    strbuf_addf(out, ", by %s at %s", stop->actor, instant_format(stop->at_us, at));
    if (stop->replaced_by != 0)
        strbuf_addf(out, ": run %lld took its place (%s)", (long long)stop->replaced_by,
                    stop->reason != NULL ? stop->reason : "it is newer");
    else if (stop->reason != NULL)
        strbuf_addf(out, ": %s", stop->reason);
}

static void explain_cancelled(const struct explain_world *world,
                              const struct explain_subject *subject, struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct stop_info *stop = subject->stop.actor != NULL ? &subject->stop : &world->stop;
    strbuf_add(&out->because, world->run->cancel_asked == CANCEL_TIMEOUT
                                  ? "the run took longer than it may (timeout)"
                              : task->started_at_us != 0 ? "it was stopped while it ran"
                                                         : "it was stopped before it started");
    if (world->run->cancel_asked != CANCEL_TIMEOUT)
        explain_add_stop(&out->because, stop);
    if (task->detail != NULL)
        strbuf_addf(&out->because, ": %s", task->detail);
    explanation_change(out, "`eider retry %lld` runs it again", number_of(world));
}

static void explain_success(const struct task_row *task, struct explanation *out)
{
    if (task->reason == REASON_MARKED) {
        strbuf_add(&out->because, "somebody marked it (marked)");
        return;
    }
    strbuf_add(&out->because, "it succeeded");
    if (task->reason == REASON_INSTANCES && task->detail != NULL)
        strbuf_addf(&out->because, ": %s", task->detail);
    else if (task->attempt > 1)
        strbuf_addf(&out->because, " with attempt %lld", (long long)task->attempt);
}

void explain_verdict(const struct explain_world *world, const struct explain_subject *subject,
                     struct explanation *out)
{
    const struct task_row *task = subject->task;
    enum explain_code code = EXPLAIN_REMOVED;
    CHECK(task_state_is_final(task->state));
    if (task->state == TASK_SUCCESS) {
        code = EXPLAIN_SUCCESS;
        explain_success(task, out);
    } else if (task->state == TASK_FAILED) {
        code = EXPLAIN_FAILED;
        explain_failed(world, task, out);
    } else if (task->state == TASK_SKIPPED) {
        code = task->reason == REASON_UPSTREAM ? EXPLAIN_UPSTREAM : EXPLAIN_SKIPPED;
        explain_skipped(world, task, out);
    } else if (task->state == TASK_UPSTREAM_FAILED) {
        code = EXPLAIN_UPSTREAM;
        explain_consequence(world, task, out);
    } else if (task->state == TASK_CANCELLED) {
        code = EXPLAIN_CANCELLED;
        explain_cancelled(world, subject, out);
    } else {
        explanation_say(out, "it is no part of the run any more");
    }
    (void)explanation_note(out, code);
}
