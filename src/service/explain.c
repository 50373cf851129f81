#include "service/explain.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/explain_wait.h"
#include "service/json_build.h"

enum { TEXT_MAX = 8 << 10 };

void explanation_init(struct explanation *explanation)
{
    *explanation = (struct explanation){.waits_for = json_build_array()};
    strbuf_init(&explanation->because, TEXT_MAX);
    strbuf_init(&explanation->change, TEXT_MAX);
}

void explanation_fini(struct explanation *explanation)
{
    strbuf_fini(&explanation->because);
    strbuf_fini(&explanation->change);
    json_decref(explanation->waits_for);
    json_decref(explanation->caused_by);
    explanation->waits_for = explanation->caused_by = NULL;
}

/* --- words ----------------------------------------------------------------------------------- */

static void add_span(struct strbuf *out, int64_t span_us)
{
    int64_t seconds = MAX(span_us, (int64_t)0) / 1000000;
    if (seconds < 120)
        strbuf_addf(out, "%lld s", (long long)seconds);
    else if (seconds < 7200)
        strbuf_addf(out, "%lld min", (long long)seconds / 60);
    else
        strbuf_addf(out, "%lld h", (long long)seconds / 3600);
}

static void add_count(struct strbuf *out, int64_t count, const char *one, const char *several)
{
    strbuf_addf(out, "%lld %s", (long long)count, count == 1 ? one : several);
}

/* "exit code 7: no such file". */
static void add_cause(struct strbuf *out, const struct task_row *task)
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

static const char *id_of(const struct explain_world *world, int64_t node)
{
    return world->dag->tasks[node].id;
}

static long long number_of(const struct explain_world *world)
{
    return (long long)world->run->id;
}

/* --- waiting --------------------------------------------------------------------------------- */

static void add_pending(const struct explain_world *world, const struct task_row *parent,
                        struct strbuf *out)
{
    strbuf_addf(out, "'%s' is %s", id_of(world, parent->node), task_state_name(parent->state));
    if (parent->instance_base != 0) {
        const struct parent_counts *counts = &parent->counts;
        int64_t over = counts->success + counts->failed + counts->upstream_failed +
                       counts->skipped + counts->removed;
        strbuf_addf(out, " (%lld of %lld instances over)", (long long)over,
                    (long long)counts->total);
    } else if (parent->state == TASK_RUNNING && parent->started_at_us != 0) {
        strbuf_add(out, " for ");
        add_span(out, world->now_us - parent->started_at_us);
    }
}

struct pending {
    int64_t count;
    struct strbuf names;
};

static void note_pending(const struct explain_world *world, const struct task_row *task,
                         struct pending *pending, struct explanation *out)
{
    if (task_state_is_final(task->state))
        return;
    if (pending->count++ >= EXPLAIN_NAMES_MAX)
        return;
    strbuf_add(&pending->names, pending->count > 1 ? ", " : "");
    add_pending(world, task, &pending->names);
    json_build_append(out->waits_for, json_string(id_of(world, task->node)));
}

/* "2 of 3 parents are not over: ..." in one voice for parents and for the rest of a run. */
static void add_pending_list(struct pending *pending, struct explanation *out)
{
    strbuf_addf(&out->because, ": %s%s", pending->names.text,
                pending->count > EXPLAIN_NAMES_MAX ? ", ..." : "");
}

static void add_parent_counts(const struct parent_counts *counts, struct strbuf *out)
{
    const struct {
        const char *name;
        int64_t count;
    } states[] = {
        {"succeeded", counts->success},
        {"failed", counts->failed},
        {"upstream_failed", counts->upstream_failed},
        {"skipped", counts->skipped},
    };
    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        if (states[i].count > 0)
            strbuf_addf(out, "; %lld %s", (long long)states[i].count, states[i].name);
}

static void explain_parents(const struct explain_world *world, const struct task_row *task,
                            struct explanation *out)
{
    const struct task_def *def = &world->dag->tasks[task->node];
    struct pending pending = {0};
    strbuf_init(&pending.names, TEXT_MAX / 2);
    for (size_t i = 0; i < def->needs.count; i++)
        note_pending(world, &world->nodes[def->needs.items[i]], &pending, out);
    strbuf_addf(&out->because, "waits by rule %s: %lld of %zu parents not over",
                trigger_rule_name(def->rule), (long long)pending.count, def->needs.count);
    if (pending.count > 0)
        add_pending_list(&pending, out);
    add_parent_counts(&task->counts, &out->because);
    strbuf_addf(&out->change, "it is decided when %s",
                pending.count == 1 ? "that parent is over" : "its parents are over");
    strbuf_fini(&pending.names);
}

static void explain_finally(const struct explain_world *world, struct explanation *out)
{
    struct pending pending = {0};
    strbuf_init(&pending.names, TEXT_MAX / 2);
    for (size_t i = 0; i < world->dag->tasks_count; i++) {
        uint32_t node = world->dag->order[i];
        if (!world->dag->tasks[node].is_finally)
            note_pending(world, &world->nodes[node], &pending, out);
    }
    strbuf_add(&out->because, "a finally task runs after everything else; ");
    add_count(&out->because, pending.count, "task is not over", "tasks are not over");
    if (pending.count > 0)
        add_pending_list(&pending, out);
    strbuf_add(&out->change, "it starts when the last of them is over");
    strbuf_fini(&pending.names);
}

/* Nothing of the run starts, or this task waits for the run before. */
static void explain_admission(const struct explain_subject *subject, const char *run_waits_because,
                              struct explanation *out)
{
    if (run_waits_because != NULL) {
        strbuf_addf(&out->because, "its run may not start yet: %s", run_waits_because);
        strbuf_add(&out->change, "the run starts by itself when its turn has come");
        return;
    }
    strbuf_add(&out->because, subject->past);
    strbuf_add(&out->change, "clear or mark that task, or wait for it");
}

static void explain_none(const struct explain_world *world, const struct explain_subject *subject,
                         struct explanation *out)
{
    const struct task_row *task = subject->task;
    if (world->run_waits_because != NULL || subject->past != NULL) {
        explain_admission(subject, world->run_waits_because, out);
        return;
    }
    if (world->dag->tasks[task->node].is_finally && world->run->open_main > 0)
        explain_finally(world, out);
    else
        explain_parents(world, task, out);
    if (world->is_orphaned)
        strbuf_addf(&out->change, "; nobody works on the run: `eider retry %lld` continues it",
                    number_of(world));
}

static void explain_queued(const struct explain_world *world, const struct explain_subject *subject,
                           struct explanation *out)
{
    const struct task_row *task = subject->task;
    strbuf_add(&out->because, "ready to start");
    if (task->queued_at_us != 0) {
        strbuf_add(&out->because, " for ");
        add_span(&out->because, world->now_us - task->queued_at_us);
    }
    if (subject->place.is_ready && subject->place.ahead > 0) {
        strbuf_add(&out->because, "; ");
        add_count(&out->because, subject->place.ahead, "task comes before it",
                  "tasks come before it");
    }
    if (task->losses > 0)
        strbuf_addf(&out->because, "; it lost its owner %lld times (%s)", (long long)task->losses,
                    reason_name(REASON_LOST_OWNER));
    if (world->is_orphaned) {
        strbuf_add(&out->because, "; nobody works on the run");
        strbuf_addf(&out->change, "`eider retry %lld` continues the run", number_of(world));
    } else {
        strbuf_add(&out->change, "it starts when its turn has come and a slot is free");
    }
}

static void explain_running(const struct explain_world *world,
                            const struct explain_subject *subject, struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct explain_host *host = &subject->host;
    const char *name = host->is_known ? host->name : "an unknown host";
    if (!host->is_alive) {
        strbuf_addf(&out->because, "its owner is dead (process %lld on %s)", (long long)host->pid,
                    name);
        strbuf_addf(&out->change, "`eider retry %lld` continues the run", number_of(world));
        return;
    }
    strbuf_add(&out->because, "runs for ");
    add_span(&out->because, world->now_us - task->started_at_us);
    strbuf_addf(&out->because, ", attempt %lld, owned by process %lld on %s",
                (long long)task->attempt, (long long)host->pid, name);
    if (world->run->cancel_asked != CANCEL_NONE)
        strbuf_add(&out->because, "; it was asked to stop");
    else
        strbuf_addf(&out->change, "`eider stop %lld` stops the run", number_of(world));
}

static void explain_retry(const struct explain_world *world, const struct task_row *task,
                          struct explanation *out)
{
    const struct task_def *def = &world->dag->tasks[task->node];
    char at[INSTANT_TEXT_MAX];
    strbuf_addf(&out->because, "attempt %lld failed (", (long long)task->attempt);
    add_cause(&out->because, task);
    strbuf_addf(&out->because, "); retry %lld of %lld ", (long long)task->failures,
                (long long)def->retry.retries);
    if (task->due_at_us > world->now_us) {
        strbuf_add(&out->because, "in ");
        add_span(&out->because, task->due_at_us - world->now_us + 999999);
    } else {
        strbuf_add(&out->because, "is due");
    }
    strbuf_addf(&out->because, ", at %s", instant_format(task->due_at_us, at));
    if (world->is_orphaned)
        strbuf_addf(&out->change, "nobody works on the run: `eider retry %lld` continues it",
                    number_of(world));
    else
        strbuf_add(&out->change, "it starts again by itself");
}

static void explain_instances(const struct explain_world *world,
                              const struct explain_subject *subject, struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct parent_counts *counts = &task->counts;
    int64_t over = counts->success + counts->failed + counts->upstream_failed + counts->skipped +
                   counts->removed;
    strbuf_addf(&out->because, "%lld of %lld instances are over", (long long)over,
                (long long)counts->total);
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (subject->instances.states[state] > 0)
            strbuf_addf(&out->because, "; %lld %s", (long long)subject->instances.states[state],
                        task_state_name(state));
    int64_t most = world->dag->tasks[task->node].max_parallel;
    if (most > 0)
        strbuf_addf(&out->because, "; at most %lld at once", (long long)most);
    strbuf_add(&out->change, "it is over with the last instance");
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
    add_cause(&out->because, first);
    strbuf_add(&out->because, ")");
    if (first->state == TASK_FAILED)
        strbuf_addf(&out->change, "mend '%s', then `eider retry %lld`", id_of(world, origin),
                    number_of(world));
}

static void explain_failed(const struct explain_world *world, const struct task_row *task,
                           struct explanation *out)
{
    const char *id = id_of(world, task->node);
    add_cause(&out->because, task);
    if (task->attempt > 1)
        strbuf_addf(&out->because, ", after %lld attempts", (long long)task->attempt);
    strbuf_addf(&out->change,
                "`eider logs %lld %s` shows what it printed; `eider retry %lld` runs it "
                "again; `eider mark %lld %s success` lets the run go on without it",
                number_of(world), id, number_of(world), number_of(world), id);
}

static void explain_skipped(const struct explain_world *world, const struct task_row *task,
                            struct explanation *out)
{
    const struct task_def *def = &world->dag->tasks[task->node];
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
        add_cause(&out->because, task);
        can_change = task->reason != REASON_NOT_CHOSEN;
    }
    if (can_change)
        strbuf_addf(&out->change, "`eider tasks clear %lld %s` decides it again", number_of(world),
                    def->id);
}

static void explain_cancelled(const struct explain_world *world, const struct task_row *task,
                              struct explanation *out)
{
    strbuf_add(&out->because, world->run->cancel_asked == CANCEL_TIMEOUT
                                  ? "the run took longer than it may (timeout)"
                              : task->started_at_us != 0 ? "it was stopped while it ran"
                                                         : "it was stopped before it started");
    if (task->detail != NULL)
        strbuf_addf(&out->because, ": %s", task->detail);
    strbuf_addf(&out->change, "`eider retry %lld` runs it again", number_of(world));
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

void explain_task(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out)
{
    const struct task_row *task = subject->task;
    switch (task->state) {
    case TASK_NONE:
        explain_none(world, subject, out);
        return;
    case TASK_SCHEDULED:
        strbuf_add(&out->because, "its rule is met; it waits for its time or for other runs");
        return;
    case TASK_QUEUED:
        explain_queued(world, subject, out);
        return;
    case TASK_RUNNING:
        explain_running(world, subject, out);
        return;
    case TASK_UP_FOR_RETRY:
        explain_retry(world, task, out);
        return;
    case TASK_DEFERRED:
    case TASK_UP_FOR_RESCHEDULE:
    case TASK_AWAITING_INPUT:
        if (task->instance_base != 0)
            explain_instances(world, subject, out);
        else if (subject->wait.task != 0)
            explain_wait(world, task, &subject->wait, &subject->host, out);
        else
            strbuf_add(&out->because, "it waits for something outside, without holding a slot");
        return;
    case TASK_SUCCESS:
        explain_success(task, out);
        return;
    case TASK_FAILED:
        explain_failed(world, task, out);
        return;
    case TASK_SKIPPED:
        explain_skipped(world, task, out);
        return;
    case TASK_UPSTREAM_FAILED:
        explain_consequence(world, task, out);
        return;
    case TASK_CANCELLED:
        explain_cancelled(world, task, out);
        return;
    case TASK_REMOVED:
        strbuf_add(&out->because, "it is no part of the run any more");
        return;
    case TASK_STATE_COUNT:
        break;
    }
    UNREACHABLE("every state is explained");
}

void explain_run(const struct explain_world *world, const struct tally *tally, struct strbuf *out)
{
    const char *separator = "";
    strbuf_addf(out, "run %lld of %s is %s: ", number_of(world), world->run->dag_id,
                run_state_name(world->run->state));
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        if (tally->states[state] == 0)
            continue;
        strbuf_addf(out, "%s%lld %s", separator, (long long)tally->states[state],
                    state == TASK_NONE ? "waiting" : task_state_name(state));
        separator = ", ";
    }
    if (tally->total == 0)
        strbuf_add(out, "no tasks");
    if (!run_state_is_final(world->run->state) && world->run->cancel_asked != CANCEL_NONE)
        strbuf_add(out, "; it was asked to stop");
    if (world->run_waits_because != NULL)
        strbuf_addf(out, "; it may not start yet: %s", world->run_waits_because);
    if (world->is_orphaned)
        strbuf_addf(out, "; nobody works on it, its owner is dead: `eider retry %lld` continues it",
                    number_of(world));
}
