#include "service/explain_place.h"

#include <string.h>

#include "model/word_set.h"
#include "service/explain_span.h"

/* --- the queue ------------------------------------------------------------------------------- */

static void explain_paused(const struct queue_info *queue, struct explanation *out)
{
    explanation_next(out);
    explanation_say(out, "its queue '%s' is paused, with %lld waiting in it and %lld running",
                    queue->name, (long long)queue->pending, (long long)queue->running);
    explanation_change(out, "`eider queues resume %s` lets hosts claim from it again", queue->name);
    json_t *condition = explanation_note(out, EXPLAIN_QUEUE_PAUSED);
    json_put_string(condition, "queue", queue->name);
    json_put_int(condition, "pending", queue->pending);
    json_put_int(condition, "running", queue->running);
}

static void explain_queue_bound(const struct queue_info *queue, struct explanation *out)
{
    if (queue->max_running == 0 || queue->running < queue->max_running)
        return;
    explanation_next(out);
    explanation_say(out, "its queue '%s' may have %lld running on all hosts and has %lld",
                    queue->name, (long long)queue->max_running, (long long)queue->running);
    explanation_change(out, "`eider queues set %s --max-running N` raises the bound", queue->name);
    json_t *condition = explanation_note(out, EXPLAIN_QUEUE_FULL);
    json_put_string(condition, "queue", queue->name);
    json_put_int(condition, "max_running", queue->max_running);
    json_put_int(condition, "running", queue->running);
}

/* --- hosts ----------------------------------------------------------------------------------- */

static void note_hosts(const struct fleet_answer *answer, enum explain_code code,
                       const struct explain_subject *subject, struct explanation *out)
{
    json_t *condition = explanation_note(out, code);
    json_put_string(condition, "queue", subject->queue->name);
    json_put_string(condition, "labels", subject->labels);
    json_put_int(condition, "hosts", answer->living);
    json_put_int(condition, "hosts_serving", answer->serving);
    json_put_int(condition, "hosts_able", answer->able);
    json_put_int(condition, "hosts_taking", answer->taking);
}

static struct fleet_answer ask(const struct explain_world *world,
                               const struct explain_subject *subject)
{
    const struct fleet_want want = {
        .queue = subject->queue->name,
        .labels = subject->labels,
        .max_share = subject->queue->max_share,
    };
    return fleet_ask(world->fleet, &want);
}

/* Nobody would take it, whatever else becomes free. */
static void explain_absence(const struct fleet_answer *answer,
                            const struct explain_subject *subject, struct explanation *out)
{
    const char *queue = subject->queue->name;
    if (answer->taking > 0)
        return;
    explanation_next(out);
    if (answer->living == 0) {
        explanation_say(out, "no host is there that works");
        explanation_change(out, "`eider up` starts one");
        note_hosts(answer, EXPLAIN_NO_HOST, subject, out);
    } else if (answer->serving == 0) {
        explanation_say(out, "no host serves its queue '%s' (%lld that work serve others)", queue,
                        (long long)answer->living);
        explanation_change(out, "`eider up --queues %s` starts a host that does", queue);
        note_hosts(answer, EXPLAIN_NO_HOST_FOR_QUEUE, subject, out);
    } else if (answer->able == 0) {
        explanation_say(out, "no host has what it asks for, worker: %s (%lld serve its queue '%s')",
                        subject->labels, (long long)answer->serving, queue);
        explanation_change(out, "`eider up --labels '%s'` starts a host that has", subject->labels);
        note_hosts(answer, EXPLAIN_NO_HOST_WITH_LABEL, subject, out);
    } else if (answer->drainer == NULL) {
        explanation_say(out,
                        "every host that could take it is stopping (%lld): '%s' takes nothing more "
                        "and ends with what it runs",
                        (long long)answer->able, answer->stopper);
        explanation_change(out, "`eider up` starts it again when it has ended, or another one");
        note_hosts(answer, EXPLAIN_HOSTS_STOPPING, subject, out);
    } else {
        explanation_say(out, "every host that could take it is draining (%lld)",
                        (long long)answer->able);
        explanation_change(out, "`eider hosts resume %s` lets it claim again", answer->drainer);
        note_hosts(answer, EXPLAIN_HOSTS_DRAINING, subject, out);
    }
}

/* Runs in the foreground are worked on by one process alone; which one, the store does not say. */
static void explain_foreground_labels(const struct explain_world *world,
                                      const struct explain_subject *subject,
                                      struct explanation *out)
{
    struct fleet_answer answer = {.living = (int64_t)world->foregrounds.count};
    if (world->is_orphaned || subject->labels[0] == '\0')
        return;
    for (size_t i = 0; i < world->foregrounds.count; i++)
        if (word_set_is_part(subject->labels, world->foregrounds.items[i].labels))
            return;
    answer.serving = answer.living;
    explanation_next(out);
    explanation_say(out,
                    "it asks for a host with worker: %s, and it runs in the foreground, in a "
                    "process without that",
                    subject->labels);
    explanation_change(out,
                       "stop it and run it with EIDER_LABELS='%s', or `eider dags trigger %s` it "
                       "where `eider up --labels '%s'` runs",
                       subject->labels, world->run->dag_id, subject->labels);
    note_hosts(&answer, EXPLAIN_NO_HOST_WITH_LABEL, subject, out);
}

void explain_obstacles(const struct explain_world *world, const struct explain_subject *subject,
                       struct explanation *out)
{
    if (subject->queue == NULL)
        return;
    if (subject->queue->paused)
        explain_paused(subject->queue, out);
    if (world->is_foreground) {
        explain_foreground_labels(world, subject, out);
        return;
    }
    struct fleet_answer answer = ask(world, subject);
    explain_absence(&answer, subject, out);
}

/* --- held ------------------------------------------------------------------------------------ */

/* As many instances of a mapped task run as may; nothing is said when not. */
static void explain_parallel(const struct task_def *def, int64_t running, struct explanation *out)
{
    if (def->max_parallel == 0 || running < def->max_parallel)
        return;
    explanation_next(out);
    explanation_say(out, "max_parallel: %lld of %lld instances of '%s' are running",
                    (long long)running, (long long)def->max_parallel, def->id);
    explanation_change(out, "the next starts when one of them is over");
    json_t *condition = explanation_note(out, EXPLAIN_MAX_PARALLEL);
    json_put_int(condition, "running", running);
    json_put_int(condition, "most", def->max_parallel);
}

static void explain_run_limits(const struct explain_world *world,
                               const struct explain_subject *subject, struct explanation *out)
{
    const struct task_def *def = &world->dag->tasks[subject->task->node];
    int64_t most = world->dag->max_active_tasks;
    if (subject->task->map_index >= 0 || subject->task->instance_base != 0)
        explain_parallel(def, subject->siblings_running, out);
    if (most > 0 && world->running >= most) {
        explanation_next(out);
        explanation_say(out, "max_active_tasks: %lld of %lld tasks of its run are running",
                        (long long)world->running, (long long)most);
        explanation_change(out, "it goes on when one of them is over");
        json_t *condition = explanation_note(out, EXPLAIN_MAX_ACTIVE_TASKS);
        json_put_int(condition, "running", world->running);
        json_put_int(condition, "most", most);
    }
    if (subject->gate_ahead > 0) {
        explanation_next(out);
        explain_add_count(&out->because, subject->gate_ahead, "task of its run comes before it",
                          "tasks of its run come before it");
        json_put_int(explanation_note(out, EXPLAIN_TURN), "ahead", subject->gate_ahead);
    }
}

static enum explain_code explain_pool(const struct pool_place *place, struct explanation *out)
{
    if (!place->is_there) {
        explanation_say(out, "it waits for the pool '%s', which is not there", place->name);
        explanation_change(out, "`eider pools set %s --slots N` makes it", place->name);
        return EXPLAIN_POOL_MISSING;
    }
    explanation_say(out, "it needs %lld of %lld slots of the pool '%s', %lld are held",
                    (long long)place->need, (long long)place->slots, place->name,
                    (long long)place->used);
    explanation_change(out, "`eider pools set %s --slots N` gives it more", place->name);
    return place->need > place->slots ? EXPLAIN_POOL_TOO_SMALL : EXPLAIN_POOL_FULL;
}

static enum explain_code explain_limit(const struct pool_place *place, struct explanation *out)
{
    explanation_say(out, "%s '%s' may have %lld tasks running and has %lld", place->kind,
                    place->name, (long long)place->slots, (long long)place->used);
    explanation_change(out, "`eider limits set %s %s --max-running N` raises the limit",
                       place->kind, place->name);
    if (strcmp(place->kind, "tier") == 0)
        return EXPLAIN_TIER_LIMIT;
    return strcmp(place->kind, "dag") == 0 ? EXPLAIN_DAG_LIMIT : EXPLAIN_NAMESPACE_LIMIT;
}

static void explain_pool_place(const struct pool_place *place, struct explanation *out)
{
    explanation_next(out);
    bool is_pool = strcmp(place->kind, "pool") == 0;
    enum explain_code code = is_pool ? explain_pool(place, out) : explain_limit(place, out);
    if (place->ahead > 0)
        explanation_say(out, "; %lld come before it", (long long)place->ahead);
    json_t *condition = explanation_note(out, code);
    json_put_string(condition, "name", place->name);
    json_put_int(condition, is_pool ? "slots" : "most", place->slots);
    json_put_int(condition, is_pool ? "slots_used" : "running", place->used);
    if (is_pool)
        json_put_int(condition, "slots_needed", place->need);
    json_put_int(condition, "ahead", place->ahead);
}

static void explain_pools(const struct explain_subject *subject, struct explanation *out)
{
    for (size_t i = 0; i < subject->pools_count; i++)
        explain_pool_place(&subject->pools[i], out);
}

void explain_held(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out)
{
    explanation_say(out, "its rule is met");
    explain_pools(subject, out);
    explain_run_limits(world, subject, out);
    if (json_array_size(out->conditions) == 0) {
        explanation_next(out);
        explanation_say(out, "there is room again, the next claim takes it");
        (void)explanation_note(out, EXPLAIN_READY);
    }
    explain_obstacles(world, subject, out);
}

/* --- ready ----------------------------------------------------------------------------------- */

static void explain_full(const struct fleet_answer *answer, struct explanation *out)
{
    if (answer->taking == 0 || answer->holds < answer->slots)
        return;
    explanation_next(out);
    explanation_say(out, "all %lld slots of ", (long long)answer->slots);
    explain_add_count(&out->because, answer->taking, "host that could take it are in use",
                      "hosts that could take it are in use");
    explanation_change(out,
                       "it starts when a slot is free; `eider up --slots N` gives a host more");
    json_t *condition = explanation_note(out, EXPLAIN_HOSTS_FULL);
    json_put_int(condition, "hosts", answer->taking);
    json_put_int(condition, "slots", answer->slots);
    json_put_int(condition, "slots_used", answer->holds);
}

static void explain_share(const struct queue_info *queue, const struct fleet_answer *answer,
                          struct explanation *out)
{
    if (answer->taking == 0 || answer->has_share_room)
        return;
    explanation_next(out);
    explanation_say(out,
                    "its queue '%s' may use %lld %% of a host's slots: %lld of %lld such slots "
                    "are in use",
                    queue->name, (long long)queue->max_share, (long long)answer->sharing,
                    (long long)answer->share);
    explanation_change(out, "`eider queues set %s --max-share N` gives it more", queue->name);
    json_t *condition = explanation_note(out, EXPLAIN_QUEUE_SHARE);
    json_put_string(condition, "queue", queue->name);
    json_put_int(condition, "max_share", queue->max_share);
    json_put_int(condition, "slots", answer->share);
    json_put_int(condition, "slots_used", answer->sharing);
}

static void explain_turn(const struct explain_subject *subject, struct explanation *out)
{
    if (!subject->place.is_ready || subject->place.ahead == 0)
        return;
    explanation_next(out);
    explain_add_count(&out->because, subject->place.ahead, "task comes before it",
                      "tasks come before it");
    explanation_change(out, "it starts when its turn has come and a slot is free");
    json_put_int(explanation_note(out, EXPLAIN_TURN), "ahead", subject->place.ahead);
}

static void explain_room(const struct explain_world *world, const struct explain_subject *subject,
                         struct explanation *out)
{
    if (subject->queue == NULL)
        return;
    explain_queue_bound(subject->queue, out);
    if (world->is_foreground)
        return;
    struct fleet_answer answer = ask(world, subject);
    explain_share(subject->queue, &answer, out);
    if (!task_def_is_inline(&world->dag->tasks[subject->task->node]))
        explain_full(&answer, out);
}

void explain_queued(const struct explain_world *world, const struct explain_subject *subject,
                    struct explanation *out)
{
    const struct task_row *task = subject->task;
    explanation_say(out, "ready to start");
    if (task->queued_at_us != 0) {
        explanation_say(out, " for ");
        explain_add_span(&out->because, world->now_us - task->queued_at_us);
    }
    if (task->losses > 0)
        explanation_say(out, "; it lost its owner %lld times (%s)", (long long)task->losses,
                        reason_name(REASON_LOST_OWNER));
    if (world->is_orphaned) {
        explanation_next(out);
        explanation_say(out, "nobody works on the run");
        explanation_change(out, "`eider retry %lld` continues the run", (long long)world->run->id);
        (void)explanation_note(out, EXPLAIN_NOBODY_WORKS);
    }
    explain_obstacles(world, subject, out);
    explain_pools(subject, out);
    explain_run_limits(world, subject, out);
    explain_turn(subject, out);
    explain_room(world, subject, out);
    if (json_array_size(out->conditions) > 0)
        return;
    explanation_change(out, "it starts when its turn has come and a slot is free");
    (void)explanation_note(out, EXPLAIN_READY);
}

void explain_to_come(const struct explain_world *world, const struct explain_subject *subject,
                     struct explanation *out)
{
    explain_pools(subject, out);
    explain_run_limits(world, subject, out);
    explain_obstacles(world, subject, out);
    explain_room(world, subject, out);
}
