#include "service/explain.h"

#include "base/check.h"
#include "base/clock.h"
#include "service/explain_place.h"
#include "service/explain_span.h"
#include "service/explain_verdict.h"
#include "service/explain_wait.h"
#include "service/json_build.h"

enum { NAMES_BYTES_MAX = 4 << 10 };

/* --- words ----------------------------------------------------------------------------------- */

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
        explain_add_span(out, world->now_us - parent->started_at_us);
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
    strbuf_init(&pending.names, NAMES_BYTES_MAX);
    for (size_t i = 0; i < def->needs.count; i++)
        note_pending(world, &world->nodes[def->needs.items[i]], &pending, out);
    explanation_next(out);
    strbuf_addf(&out->because, "waits by rule %s: %lld of %zu parents not over",
                trigger_rule_name(def->rule), (long long)pending.count, def->needs.count);
    if (pending.count > 0)
        add_pending_list(&pending, out);
    add_parent_counts(&task->counts, &out->because);
    explanation_change(out, "it is decided when %s",
                       pending.count == 1 ? "that parent is over" : "its parents are over");
    json_t *condition = explanation_note(out, EXPLAIN_PARENTS);
    json_put_string(condition, "rule", trigger_rule_name(def->rule));
    json_put_int(condition, "parents", (int64_t)def->needs.count);
    json_put_int(condition, "not_over", pending.count);
    strbuf_fini(&pending.names);
}

static void explain_finally(const struct explain_world *world, struct explanation *out)
{
    struct pending pending = {0};
    strbuf_init(&pending.names, NAMES_BYTES_MAX);
    for (size_t i = 0; i < world->dag->tasks_count; i++) {
        uint32_t node = world->dag->order[i];
        if (!world->dag->tasks[node].is_finally)
            note_pending(world, &world->nodes[node], &pending, out);
    }
    explanation_next(out);
    strbuf_add(&out->because, "a finally task runs after everything else; ");
    explain_add_count(&out->because, pending.count, "task is not over", "tasks are not over");
    if (pending.count > 0)
        add_pending_list(&pending, out);
    explanation_change(out, "it starts when the last of them is over");
    json_put_int(explanation_note(out, EXPLAIN_FINALLY), "not_over", pending.count);
    strbuf_fini(&pending.names);
}

static void explain_line(const struct admission_state *state, struct explanation *out)
{
    enum explain_code code = EXPLAIN_MAX_ACTIVE_RUNS;
    long long backfill = (long long)state->backfill;
    if (backfill == 0) {
        explanation_change(out, "it starts by itself when one of those is over; `max_active_runs` "
                                "of the DAG is the bound");
    } else if (state->backfill_state == BACKFILL_PAUSED) {
        code = EXPLAIN_BACKFILL_PAUSED;
        explanation_change(out, "`eider backfill resume %lld` lets it go on", backfill);
    } else if (state->backfill_state == BACKFILL_AWAITING) {
        code = EXPLAIN_BACKFILL_APPROVAL;
        explanation_change(out, "`eider backfill approve %lld` lets it begin", backfill);
    } else {
        code = EXPLAIN_BACKFILL_TURN;
        explanation_change(out, "it starts by itself when its turn has come");
    }
    json_t *condition = explanation_note(out, code);
    json_put_int(condition, "going", state->going);
    json_put_int(condition, "most", state->most);
    if (backfill == 0)
        json_put_int(condition, "ahead", state->ahead);
    else
        json_put_int(condition, "backfill", state->backfill);
}

/* Nothing of the run starts. */
static void explain_admission(const struct explain_world *world, struct explanation *out)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct admission_state *state = world->admission;
    const char *past = admission_past_text(arena, state);
    const char *line = admission_line_text(arena, state);
    if (past != NULL) {
        explanation_next(out);
        explanation_say(out, "its run may not start yet: %s", past);
        explanation_change(out, "%s", admission_past_remedy(arena, state));
        json_t *condition = explanation_note(out, EXPLAIN_DEPENDS_ON_PAST);
        json_put_string(condition, "dag_run_id", state->past_run);
        json_put_string(condition, "state", run_state_name(state->past_state));
        json_put_id(condition, "head", state->head);
        json_put_string(condition, "head_run_id", state->head_run);
        json_put_string(condition, "head_state", run_state_name(state->head_state));
    }
    if (line != NULL) {
        explanation_next(out);
        explanation_say(out, "%s%s", past == NULL ? "its run may not start yet: " : "", line);
        explain_line(state, out);
    }
    if (!world->has_scheduler) {
        explanation_next(out);
        explanation_say(out, "no scheduler is there to let it go");
        explanation_change(out, "`eider up` starts one");
        (void)explanation_note(out, EXPLAIN_NO_SCHEDULER);
    }
}

static void explain_past(const struct explain_world *world, const struct explain_subject *subject,
                         struct explanation *out)
{
    const struct past_reason *past = &subject->past;
    const char *id = id_of(world, subject->task->node);
    explanation_next(out);
    explanation_say(out, "%s", past->text);
    explanation_change(out, "%s", past->remedy);
    if (task_state_is_final(past->state))
        explanation_change(out, "`eider mark %lld %s success` lets it go without that one",
                           (long long)past->run, id);
    json_t *condition = explanation_note(out, EXPLAIN_DEPENDS_ON_PAST);
    json_put_string(condition, "dag_run_id", past->before_id);
    json_put_string(condition, "state", task_state_name(past->before_state));
    json_put_id(condition, "head", past->run);
    json_put_string(condition, "head_run_id", past->run_id);
    json_put_string(condition, "head_state", task_state_name(past->state));
}

static void note_nobody(const struct explain_world *world, struct explanation *out)
{
    if (!world->is_orphaned)
        return;
    explanation_next(out);
    explanation_say(out, "nobody works on the run");
    explanation_change(out, "`eider retry %lld` continues the run", number_of(world));
    (void)explanation_note(out, EXPLAIN_NOBODY_WORKS);
}

static void explain_none(const struct explain_world *world, const struct explain_subject *subject,
                         struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct task_def *def = &world->dag->tasks[task->node];
    if (world->admission != NULL)
        explain_admission(world, out);
    if (subject->past.text != NULL)
        explain_past(world, subject, out);
    if (def->is_finally && world->run->open_main > 0)
        explain_finally(world, out);
    else if (def->needs.count > 0)
        explain_parents(world, task, out);
    note_nobody(world, out);
    explain_obstacles(world, subject, out);
}

/* It goes on until its owner has heard of it and ended it. */
static void explain_wish(const struct explain_world *world, const struct explain_subject *subject,
                         struct explanation *out)
{
    const struct wish_info *wish = &subject->wish;
    bool is_clear = subject->task->wish == WISH_CLEAR;
    strbuf_addf(&out->because, "; it is being stopped%s",
                is_clear ? " and runs again then" : " while the run goes on");
    if (wish->is_found) {
        strbuf_addf(&out->because, ", asked for by %s ",
                    wish->actor != NULL ? wish->actor : "somebody");
        explain_add_span(&out->because, world->now_us - wish->asked_at_us);
        strbuf_add(&out->because, " ago");
    }
    explanation_change(out, "it is over when its process has ended, at the latest after its grace");
    json_t *condition = explanation_note(out, EXPLAIN_STOPPING);
    json_put_bool(condition, "runs_again", is_clear);
    json_put_string(condition, "actor", wish->actor);
    json_put_instant(condition, "since", wish->asked_at_us);
}

/* A sensor that runs: what for. */
static void add_poke(const struct task_def *def, struct explanation *out)
{
    struct sensor sensor;
    if (def->kind != KIND_SENSOR)
        return;
    sensor_load(def->settings, &sensor);
    strbuf_addf(&out->because, ", in a slot while it waits for %s '%s'",
                sensor_kind_key(sensor.kind), sensor.text);
}

static void explain_running(const struct explain_world *world,
                            const struct explain_subject *subject, struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct explain_host *host = &subject->host;
    const char *name = host->is_known ? host->name : "an unknown host";
    char named[EXPLAIN_NAME_MAX];
    if (!host->is_alive) {
        strbuf_addf(&out->because, "its owner is dead (process %lld on %s)", (long long)host->pid,
                    name);
        if (world->is_foreground)
            explanation_change(out, "`eider retry %lld` continues the run", number_of(world));
        else if (world->fleet.count > 0)
            explanation_change(out, "a host that lives takes it back by itself");
        else
            explanation_change(out, "`eider up` starts a host, which takes it back");
        (void)explanation_note(out, EXPLAIN_OWNER_LOST);
        return;
    }
    strbuf_add(&out->because, "runs for ");
    explain_add_span(&out->because, world->now_us - task->started_at_us);
    strbuf_addf(&out->because, ", attempt %lld, owned by process %lld on %s",
                (long long)task->attempt, (long long)host->pid, name);
    add_poke(&world->dag->tasks[task->node], out);
    if (task->wish != WISH_NONE) {
        explain_wish(world, subject, out);
        return;
    }
    if (world->run->cancel_asked != CANCEL_NONE)
        strbuf_add(&out->because, "; it was asked to stop");
    else
        explanation_change(out, "`eider stop %lld %s` stops it, `eider stop %lld` the run",
                           number_of(world), explain_name(world, task, named), number_of(world));
    (void)explanation_note(out, EXPLAIN_RUNNING);
}

static void explain_retry(const struct explain_world *world, const struct explain_subject *subject,
                          struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct task_def *def = &world->dag->tasks[task->node];
    char at[INSTANT_TEXT_MAX];
    strbuf_addf(&out->because, "attempt %lld failed (", (long long)task->attempt);
    explain_add_cause(&out->because, task);
    strbuf_addf(&out->because, "); retry %lld of %lld ", (long long)task->failures,
                (long long)def->retry.retries);
    if (task->due_at_us > world->now_us) {
        strbuf_add(&out->because, "in ");
        explain_add_span(&out->because, task->due_at_us - world->now_us + 999999);
    } else {
        strbuf_add(&out->because, "is due");
    }
    strbuf_addf(&out->because, ", at %s", instant_format(task->due_at_us, at));
    explanation_change(out, "it starts again by itself");
    json_t *condition = explanation_note(out, EXPLAIN_RETRY_DUE);
    json_put_instant(condition, "due", task->due_at_us);
    json_put_int(condition, "retry", task->failures);
    json_put_int(condition, "retries", def->retry.retries);
    note_nobody(world, out);
    explain_obstacles(world, subject, out);
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
    int64_t to_come = counts->total - task->inserted;
    if (to_come > 0)
        strbuf_addf(&out->because, "; %lld to come", (long long)to_come);
    if (task->wish != WISH_NONE)
        explain_wish(world, subject, out);
    else
        explanation_change(out, "it is over with the last instance");
    json_t *condition = explanation_note(out, EXPLAIN_INSTANCES);
    json_put_int(condition, "over", over);
    json_put_int(condition, "total", counts->total);
    json_put_int(condition, "to_come", to_come);
    if (to_come > 0)
        explain_to_come(world, subject, out);
}

static void explain_deferred(const struct explain_world *world,
                             const struct explain_subject *subject, struct explanation *out)
{
    const struct task_row *task = subject->task;
    if (task->instance_base != 0) {
        explain_instances(world, subject, out);
    } else if (subject->wait.task != 0) {
        explain_wait(world, subject, out);
    } else {
        explanation_say(out, "it waits for something outside, without holding a slot");
        (void)explanation_note(out, EXPLAIN_OUTSIDE);
    }
    note_nobody(world, out);
}

void explain_task(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out)
{
    switch (subject->task->state) {
    case TASK_NONE:
        explain_none(world, subject, out);
        return;
    case TASK_SCHEDULED:
        explain_held(world, subject, out);
        return;
    case TASK_QUEUED:
        explain_queued(world, subject, out);
        return;
    case TASK_RUNNING:
        explain_running(world, subject, out);
        return;
    case TASK_UP_FOR_RETRY:
        explain_retry(world, subject, out);
        return;
    case TASK_DEFERRED:
    case TASK_UP_FOR_RESCHEDULE:
    case TASK_AWAITING_INPUT:
        explain_deferred(world, subject, out);
        return;
    case TASK_SUCCESS:
    case TASK_FAILED:
    case TASK_SKIPPED:
    case TASK_UPSTREAM_FAILED:
    case TASK_CANCELLED:
    case TASK_REMOVED:
        explain_verdict(world, subject, out);
        return;
    case TASK_STATE_COUNT:
        break;
    }
    UNREACHABLE("every state is explained");
}

/* --- the run --------------------------------------------------------------------------------- */

static void say_counts(const struct tally *tally, struct explanation *out)
{
    const char *separator = "";
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        if (tally->states[state] == 0)
            continue;
        explanation_say(out, "%s%lld %s", separator, (long long)tally->states[state],
                        state == TASK_NONE ? "waiting" : task_state_name(state));
        separator = ", ";
    }
    if (tally->total == 0)
        explanation_say(out, "no tasks");
}

void explain_run(const struct explain_world *world, const struct tally *tally,
                 struct explanation *out)
{
    explanation_say(out, "run %lld of %s is %s: ", number_of(world), world->run->dag_id,
                    run_state_name(world->run->state));
    say_counts(tally, out);
    explanation_lead(out);
    bool is_over = run_state_is_final(world->run->state);
    if (is_over && world->run->cancel_asked == CANCEL_NONE)
        return;
    if (world->run->cancel_asked != CANCEL_NONE) {
        explanation_next(out);
        explanation_say(out, is_over ? "it was stopped" : "it was asked to stop");
        explain_add_stop(&out->because, &world->stop);
    }
    if (is_over)
        return;
    if (world->run->cancel_asked != CANCEL_NONE)
        (void)explanation_note(out, EXPLAIN_STOPPING);
    if (world->admission != NULL)
        explain_admission(world, out);
    if (world->is_orphaned) {
        explanation_next(out);
        explanation_say(out, "nobody works on it, its owner is dead");
        explanation_change(out, "`eider retry %lld` continues it", number_of(world));
        (void)explanation_note(out, EXPLAIN_NOBODY_WORKS);
    } else if (!world->is_foreground && world->fleet.count == 0 &&
               tally->states[TASK_RUNNING] == 0) {
        explanation_next(out);
        explanation_say(out, "no host is there that works");
        explanation_change(out, "`eider up` starts one");
        (void)explanation_note(out, EXPLAIN_NO_HOST);
    }
}
