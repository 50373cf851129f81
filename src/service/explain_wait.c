#include "service/explain_wait.h"

#include "base/clock.h"
#include "model/duration.h"
#include "service/explain_verdict.h"

static void add_duration(struct strbuf *out, int64_t us)
{
    char text[DURATION_TEXT_MAX];
    int64_t seconds = us > 0 ? us / 1000000 : 0;
    strbuf_add(out, duration_format(MIN(seconds * 1000, DURATION_MS_MAX), text));
}

static void add_looker(const struct wait_info *wait, const struct explain_host *looker,
                       struct explanation *out)
{
    char every[DURATION_TEXT_MAX];
    if (wait->host == 0)
        return;
    strbuf_addf(&out->because, "; looked for every %s%s by host %s",
                duration_format(wait->every_ms, every), wait->backoff > 1 ? " and more" : "",
                looker->is_known ? looker->name : "(unknown)");
    if (!looker->is_alive)
        strbuf_add(&out->because, ", which is gone: another that serves its queue takes over");
}

static void add_next(const struct wait_info *wait, struct explanation *out)
{
    char at[INSTANT_TEXT_MAX];
    if (wait->kind == SENSOR_RUN)
        strbuf_addf(&out->because, "; looked %lld times, next look at %s", (long long)wait->looks,
                    instant_format(wait->times.target_us, at));
}

static void add_deadline(const struct explain_world *world, const struct wait_info *wait,
                         struct explanation *out)
{
    char at[INSTANT_TEXT_MAX];
    if (wait->times.deadline_us == 0)
        return;
    strbuf_addf(&out->because, "; it gives up at %s, in ",
                instant_format(wait->times.deadline_us, at));
    add_duration(&out->because, wait->times.deadline_us - world->now_us);
}

/* A name that was misspelt, or dates that never meet, would be waited for in vain. */
static void add_target(const struct wait_info *wait, enum wait_target target,
                       struct explanation *out)
{
    if (target == WAIT_TARGET_NO_DAG) {
        strbuf_addf(&out->because, "; there is no DAG '%s'", wait->dag);
        explanation_change(out, "a DAG '%s' that runs, or another name in 'dag' of the sensor",
                           wait->dag);
    } else if (target == WAIT_TARGET_NO_RUN) {
        strbuf_addf(&out->because, "; '%s' has no run%s yet", wait->dag,
                    wait->date_us != 0 ? " of that date" : "");
        if (wait->date_us != 0)
            explanation_change(out, "`date: latest` or an offset in the sensor, if the two DAGs do "
                                    "not run for the same dates");
    }
}

void explain_wait(const struct explain_world *world, const struct explain_subject *subject,
                  struct explanation *out)
{
    const struct task_row *task = subject->task;
    const struct wait_info *wait = &subject->wait;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    char since[INSTANT_TEXT_MAX];
    char name[EXPLAIN_NAME_MAX];
    strbuf_addf(&out->because, "it waits for %s since %s (", wait_phrase(wait, arena),
                instant_format(wait->since_us, since));
    add_duration(&out->because, world->now_us - wait->since_us);
    strbuf_add(&out->because, "), without a slot");
    add_target(wait, subject->target, out);
    add_looker(wait, &subject->host, out);
    add_next(wait, out);
    add_deadline(world, wait, out);
    explanation_change(out, "`eider mark %lld %s success` lets the run go on without it",
                       (long long)world->run->id, explain_name(world, task, name));
    json_t *condition = explanation_note(out, EXPLAIN_SENSOR);
    json_put_string(condition, "sensor", sensor_kind_key(wait->kind));
    json_put_string(condition, "waits_for", wait_phrase(wait, arena));
    json_put_instant(condition, "since", wait->since_us);
    json_put_instant(condition, "deadline", wait->times.deadline_us);
    json_put_int(condition, "looks", wait->looks);
    if (wait->kind == SENSOR_RUN)
        json_put_instant(condition, "next_look", wait->times.target_us);
}
