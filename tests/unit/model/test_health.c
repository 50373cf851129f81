/*
 * Health: each thing that keeps work from moving is told, and nothing else.
 */
#include <string.h>

#include "expect.h"
#include "model/health.h"

static const struct health_facts FINE = {.schedulers = 1, .workers = 2};

static void expect(const struct health_facts *facts, const char *wrong, const char *detail)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct health_check checks[HEALTH_CHECKS];
    bool is_healthy = health_judge(facts, arena, checks);
    cr_expect_eq(is_healthy, wrong == NULL);
    for (size_t i = 0; i < HEALTH_CHECKS; i++) {
        bool is_wrong = wrong != NULL && strcmp(checks[i].name, wrong) == 0;
        cr_expect_eq(checks[i].is_ok, !is_wrong, "%s: %s", checks[i].name, checks[i].detail);
        if (is_wrong) {
            cr_expect_not_null(strstr(checks[i].detail, detail), "%s", checks[i].detail);
            cr_expect_not_null(checks[i].advice);
        }
    }
}

Test(health, all_is_well)
{
    expect(&FINE, NULL, NULL);
}

Test(health, the_store_is_away)
{
    struct health_facts facts = {.database_error = "no route"};
    expect(&facts, "database", "no route");
}

Test(health, commits_fail_for_longer_than_it_takes_to_try_again)
{
    struct health_facts facts = FINE;
    facts.commits_failing_ms = HEALTH_COMMIT_MS;
    expect(&facts, NULL, NULL);
    facts.commits_failing_ms = HEALTH_COMMIT_MS + 1000;
    expect(&facts, "commits", "11 s");
}

Test(health, nobody_schedules_or_the_scheduler_is_stuck)
{
    struct health_facts facts = FINE;
    facts.schedulers = 0;
    expect(&facts, "scheduler", "no host schedules");
    facts = FINE;
    facts.scheduler_late_ms = HEALTH_TURN_MS;
    expect(&facts, NULL, NULL);
    facts.scheduler_late_ms = HEALTH_TURN_MS + 1000;
    expect(&facts, "scheduler", "61 s");
}

Test(health, nobody_works_while_something_waits)
{
    struct health_facts facts = FINE;
    facts.workers = 0;
    expect(&facts, NULL, NULL);
    facts.ready = 3;
    expect(&facts, "workers", "3 wait");
}

Test(health, something_waits_although_hosts_have_room)
{
    struct health_facts facts = FINE;
    facts.stuck_queue = "mail";
    facts.stuck_ms = HEALTH_STUCK_MS;
    expect(&facts, NULL, NULL);
    facts.stuck_ms = HEALTH_STUCK_MS + 1000;
    expect(&facts, "claims", "'mail'");
}

Test(health, a_host_that_is_not_there_is_a_matter_of_the_dag)
{
    struct health_facts facts = FINE;
    facts.lone_queue = "default";
    facts.lone_labels = "gpu";
    expect(&facts, NULL, NULL);
}
