#include "expect.h"
#include "service/explain_dag.h"

static struct explanation told;

static void tell(const struct explain_dag_facts *facts)
{
    explanation_init(&told);
    explain_dag(facts, &told);
}

static void forget(void)
{
    explanation_fini(&told);
}

static void expect_part(const json_t *condition, const char *member, const char *part)
{
    EXPECT_CONTAINS(json_get_string(condition, member, ""), part);
}

/* The n-th condition has this code, these words and this way out. */
static const json_t *expect_condition(size_t n, const char *code, const char *part,
                                      const char *change)
{
    const json_t *condition = json_array_get(told.conditions, n);
    EXPECT_STR(code, json_get_string(condition, "code", ""));
    expect_part(condition, "because", part);
    expect_part(condition, "change", change);
    return condition;
}

static struct explain_dag_facts facts_of(const struct timetable *timetable)
{
    return (struct explain_dag_facts){
        .dag_id = "d",
        .by_hand = "d -p x=...",
        .now_us = (int64_t)1800000000 * 1000000,
        .is_known = true,
        .is_active = true,
        .path = "/dags/d.yaml",
        .has_scheduler = true,
        .timetable = timetable,
    };
}

Test(explain_dag, everything_in_the_way_is_said_each_by_itself)
{
    const struct timetable never = {0};
    struct explain_dag_facts facts = facts_of(&never);
    const struct missed_info missed = {.last_us = 1, .count = 3, .why = MISSED_OVERLAP};
    facts.is_active = false;
    facts.broken = "/dags/d.yaml:3:5: unknown key";
    facts.broken_at_us = 1;
    facts.has_scheduler = false;
    facts.schedule = (struct schedule_info){.is_paused = true, .most_runs = 2};
    facts.going = 2;
    facts.waiting = 5;
    facts.missed = &missed;
    facts.backfills[facts.backfills_count++] = (struct explain_dag_backfill){7, BACKFILL_PAUSED};
    tell(&facts);
    cr_assert_eq(json_array_size(told.conditions), 8);
    expect_condition(0, "broken_file", "/dags/d.yaml:3:5: unknown key", "mend");
    expect_condition(1, "no_file", "no host offers it", "folder");
    expect_condition(2, "dag_paused", "paused", "eider dags unpause d");
    expect_condition(3, "no_schedule", "people start it", "eider dags trigger d -p x=...");
    const json_t *full = expect_condition(4, "max_active_runs", "2 of 2 runs go now, 5 wait", "");
    cr_assert_eq(json_get_int(full, "waiting", 0), 5);
    expect_condition(5, "backfill_paused", "its backfill 7 is paused", "eider backfill resume 7");
    expect_condition(6, "no_scheduler", "no scheduler", "eider up");
    expect_condition(7, "missed", "had no run", "");
    forget();
}

Test(explain_dag, what_triggers_still_need)
{
    const struct timetable never = {0};
    struct explain_dag_facts facts = facts_of(&never);
    struct trigger_need needs[] = {
        {.kind = TRIGGER_DATASET, .name = "s3://a", .waiting = 2},
        {.kind = TRIGGER_DATASET, .name = "s3://b", .is_needed = true},
        {.kind = TRIGGER_FILE, .name = "/in/*.csv", .is_needed = true},
    };
    const struct trigger_state trigger = {.needs = needs, .needs_count = 3, .missing = "s3://b"};
    facts.trigger = &trigger;
    tell(&facts);
    cr_assert_eq(json_array_size(told.conditions), 1);
    const json_t *condition = expect_condition(
        0, "trigger", "it waits for s3://b (dataset s3://a: 2 there", "trigger d -p x=...");
    EXPECT_CONTAINS(told.because.text, "dataset s3://b: none yet");
    EXPECT_CONTAINS(told.because.text, "/in/*.csv: each one starts a run");
    cr_assert_eq(json_array_size(json_object_get(condition, "needs")), 3);
    forget();
}

Test(explain_dag, an_event_that_no_run_could_be_made_of_is_told_until_a_run_is_made)
{
    const struct timetable never = {0};
    struct explain_dag_facts facts = facts_of(&never);
    const struct trigger_refusal refusal = {.at_us = 5, .what = "s3://a", .why = "x: is required"};
    const struct trigger_state trigger = {.missing = "s3://a", .refusal = &refusal};
    facts.trigger = &trigger;
    facts.last_run_us = 4;
    tell(&facts);
    const json_t *condition =
        expect_condition(1, "refused", "no run could be made of s3://a at ", "trigger d -p x=...");
    EXPECT_STR("x: is required", json_get_string(condition, "why", ""));
    forget();
    facts.last_run_us = 6;
    tell(&facts);
    cr_assert_eq(json_array_size(told.conditions), 1);
    forget();
}

Test(explain_dag, a_tick_without_params_says_how_to_start_it)
{
    const struct timetable never = {0};
    struct explain_dag_facts facts = facts_of(&never);
    const struct missed_info missed = {.last_us = 1, .count = 1, .why = MISSED_INVALID};
    facts.missed = &missed;
    tell(&facts);
    expect_condition(1, "missed", "params without a default", "eider dags trigger d -p x=...");
    forget();
}

Test(explain_dag, a_zone_that_is_not_on_this_machine)
{
    struct explain_dag_facts facts = facts_of(NULL);
    facts.timetable_problem = "zone 'Mars/Base' is not on this machine";
    tell(&facts);
    expect_condition(0, "no_schedule", "cannot be worked out here: zone 'Mars/Base'",
                     "trigger d -p x=...");
    forget();
}
