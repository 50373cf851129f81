#include "service/explain_dag.h"

#include "base/clock.h"
#include "service/explain_span.h"
#include "service/json_build.h"

/* --- what is in the way ---------------------------------------------------------------------- */

static void explain_file(const struct explain_dag_facts *facts, struct explanation *out)
{
    char since[INSTANT_TEXT_MAX];
    if (facts->broken != NULL) {
        explanation_next(out);
        explanation_say(out, "its file has a problem since %s: %s; the last good version counts",
                        instant_format(facts->broken_at_us, since), facts->broken);
        explanation_change(out, "mend the file; `eider validate` shows all problems");
        json_put_instant(explanation_note(out, EXPLAIN_BROKEN_FILE), "since", facts->broken_at_us);
    }
    if (facts->is_active)
        return;
    explanation_next(out);
    if (facts->is_known)
        explanation_say(
            out, "no host offers it: its file (%s) is gone, or was only run in the foreground",
            facts->path);
    else
        explanation_say(out, "no host has read its file (%s) yet", facts->path);
    explanation_change(out, "put the file into the folder of DAG files of a host");
    json_put_string(explanation_note(out, EXPLAIN_NO_FILE), "file", facts->path);
}

static void explain_paused(const struct explain_dag_facts *facts, struct explanation *out)
{
    if (!facts->schedule.is_paused)
        return;
    explanation_next(out);
    explanation_say(out, "it is paused, so it starts nothing by itself");
    explanation_change(out, "`eider dags unpause %s`", facts->dag_id);
    (void)explanation_note(out, EXPLAIN_DAG_PAUSED);
}

static void explain_scheduler(const struct explain_dag_facts *facts, struct explanation *out)
{
    if (facts->has_scheduler)
        return;
    explanation_next(out);
    explanation_say(out, "no scheduler is there");
    explanation_change(out, "`eider up` starts one");
    (void)explanation_note(out, EXPLAIN_NO_SCHEDULER);
}

static void explain_full(const struct explain_dag_facts *facts, struct explanation *out)
{
    int64_t most = facts->schedule.most_runs;
    if (most == 0 || facts->going < most)
        return;
    explanation_next(out);
    explanation_say(out, "max_active_runs: %lld of %lld runs go now, %lld wait",
                    (long long)facts->going, (long long)most, (long long)facts->waiting);
    explanation_change(out, "a further run goes when one of those is over");
    json_t *condition = explanation_note(out, EXPLAIN_MAX_ACTIVE_RUNS);
    json_put_int(condition, "going", facts->going);
    json_put_int(condition, "most", most);
    json_put_int(condition, "waiting", facts->waiting);
}

static void explain_backfills(const struct explain_dag_facts *facts, struct explanation *out)
{
    for (size_t i = 0; i < facts->backfills_count; i++) {
        const struct explain_dag_backfill *backfill = &facts->backfills[i];
        bool awaits = backfill->state == BACKFILL_AWAITING;
        explanation_next(out);
        explanation_say(out, "its backfill %lld %s", (long long)backfill->id,
                        awaits ? "awaits approval" : "is paused");
        explanation_change(out, "`eider backfill %s %lld`", awaits ? "approve" : "resume",
                           (long long)backfill->id);
        json_put_int(
            explanation_note(out, awaits ? EXPLAIN_BACKFILL_APPROVAL : EXPLAIN_BACKFILL_PAUSED),
            "backfill", backfill->id);
    }
}

/* --- what it waits for ----------------------------------------------------------------------- */

static bool has_ticks(const struct explain_dag_facts *facts)
{
    return facts->timetable != NULL && facts->timetable->schedules_count > 0;
}

static void explain_over(const struct explain_dag_facts *facts, struct explanation *out)
{
    char at[INSTANT_TEXT_MAX];
    int64_t last_us = 0;
    explanation_next(out);
    explanation_say(out, "its schedule is over (end_date)");
    if (timetable_previous(facts->timetable, facts->now_us, &last_us))
        explanation_say(out, ": the last tick was at %s", instant_format(last_us, at));
    explanation_change(out, "a later `end_date`, or `eider dags trigger %s`", facts->by_hand);
    json_put_instant(explanation_note(out, EXPLAIN_SCHEDULE_OVER), "last_run", last_us);
}

static void explain_ticks(const struct explain_dag_facts *facts, struct explanation *out)
{
    char at[INSTANT_TEXT_MAX];
    int64_t next_us = 0;
    int64_t after_us = MAX(facts->schedule.cursor_us, facts->now_us);
    if (!has_ticks(facts))
        return;
    if (!timetable_next(facts->timetable, after_us, &next_us)) {
        explain_over(facts, out);
        return;
    }
    explanation_next(out);
    explanation_say(out, "its next tick is at %s, in ", instant_format(next_us, at));
    explain_add_span(&out->because, next_us - facts->now_us);
    explanation_change(out, "`eider dags trigger %s` starts a run now", facts->by_hand);
    json_put_instant(explanation_note(out, EXPLAIN_NOT_DUE), "next_run", next_us);
}

static json_t *needs_json(const struct trigger_state *trigger)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < trigger->needs_count; i++) {
        const struct trigger_need *need = &trigger->needs[i];
        json_t *item = json_build_object();
        json_put_string(item, "kind", trigger_kind_name(need->kind));
        json_put_string(item, "name", need->name);
        json_put_int(item, "waiting", need->waiting);
        json_put_bool(item, "needed", need->is_needed);
        json_build_append(list, item);
    }
    return list;
}

/* What has come already, and what is still to come. */
static void say_needs(const struct trigger_state *trigger, struct explanation *out)
{
    const char *separator = " (";
    for (size_t i = 0; i < trigger->needs_count; i++) {
        const struct trigger_need *need = &trigger->needs[i];
        bool is_kept = need->kind == TRIGGER_DATASET || need->kind == TRIGGER_RUN_END;
        explanation_say(out, "%s%s %s: ", separator, trigger_kind_name(need->kind), need->name);
        if (is_kept && need->waiting > 0)
            explanation_say(out, "%lld there", (long long)need->waiting);
        else
            explanation_say(out, "%s", is_kept ? "none yet" : "each one starts a run");
        separator = ", ";
    }
    if (trigger->needs_count > 0)
        explanation_say(out, ")");
}

static void explain_trigger(const struct explain_dag_facts *facts, struct explanation *out)
{
    const struct trigger_state *trigger = facts->trigger;
    if (trigger == NULL)
        return;
    explanation_next(out);
    explanation_say(out, "it waits for %s",
                    trigger->missing != NULL ? trigger->missing : "what starts it");
    say_needs(trigger, out);
    explanation_change(out, "`eider dags trigger %s` starts a run without it", facts->by_hand);
    json_t *condition = explanation_note(out, EXPLAIN_TRIGGER);
    json_put_string(condition, "missing", trigger->missing);
    json_put(condition, "needs", needs_json(trigger));
}

/* What was asked for in vain; a run that was made since says that it is settled. */
static void explain_refused(const struct explain_dag_facts *facts, struct explanation *out)
{
    const struct trigger_refusal *refusal = facts->trigger != NULL ? facts->trigger->refusal : NULL;
    char at[INSTANT_TEXT_MAX];
    if (refusal == NULL || refusal->at_us < facts->last_run_us)
        return;
    explanation_next(out);
    explanation_say(out, "no run could be made of %s at %s: %s", refusal->what,
                    instant_format(refusal->at_us, at), refusal->why);
    explanation_change(out,
                       "mend that in its file, so that the next event starts a run; for this one, "
                       "`eider dags trigger %s`",
                       facts->by_hand);
    json_t *condition = explanation_note(out, EXPLAIN_REFUSED);
    json_put_instant(condition, "at", refusal->at_us);
    json_put_string(condition, "what", refusal->what);
    json_put_string(condition, "why", refusal->why);
}

static void explain_nothing(const struct explain_dag_facts *facts, struct explanation *out)
{
    if (facts->trigger != NULL || has_ticks(facts))
        return;
    explanation_next(out);
    if (facts->timetable == NULL)
        explanation_say(out, "its schedule cannot be worked out here: %s",
                        facts->timetable_problem);
    else
        explanation_say(out, "it has no schedule and waits for no event: people start it");
    explanation_change(out, "`eider dags trigger %s`", facts->by_hand);
    (void)explanation_note(out, EXPLAIN_NO_SCHEDULE);
}

static void explain_missed(const struct explain_dag_facts *facts, struct explanation *out)
{
    const struct missed_info *missed = facts->missed;
    char at[INSTANT_TEXT_MAX];
    if (missed == NULL)
        return;
    explanation_next(out);
    explanation_say(out, "its tick of %s had no run: %s", instant_format(missed->last_us, at),
                    missed_why_text(missed->why));
    if (missed->why == MISSED_INVALID)
        explanation_change(out, "give the params a default, or `eider dags trigger %s`",
                           facts->by_hand);
    json_t *condition = explanation_note(out, EXPLAIN_MISSED);
    json_put_instant(condition, "last", missed->last_us);
    json_put_int(condition, "count", missed->count);
}

void explain_dag(const struct explain_dag_facts *facts, struct explanation *out)
{
    explain_file(facts, out);
    explain_paused(facts, out);
    explain_ticks(facts, out);
    explain_trigger(facts, out);
    explain_refused(facts, out);
    explain_nothing(facts, out);
    explain_full(facts, out);
    explain_backfills(facts, out);
    explain_scheduler(facts, out);
    explain_missed(facts, out);
}
