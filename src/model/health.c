#include "model/health.h"

#include <stddef.h>

static struct health_check check_store(const struct health_facts *facts)
{
    if (facts->database_error == NULL)
        return (struct health_check){"database", true, false, "answers", NULL};
    return (struct health_check){"database", false, false, facts->database_error,
                                 "see that the database runs and can be reached"};
}

static struct health_check check_commits(const struct health_facts *facts, struct arena *arena)
{
    if (facts->commits_failing_ms <= HEALTH_COMMIT_MS)
        return (struct health_check){"commits", true, false, "become durable", NULL};
    return (struct health_check){
        "commits", false, false,
        arena_format(arena, "have failed for %lld s", (long long)facts->commits_failing_ms / 1000),
        "the log says why; a full disk is likely"};
}

static struct health_check check_scheduler(const struct health_facts *facts, struct arena *arena)
{
    if (facts->schedulers == 0)
        return (struct health_check){"scheduler", false, false, "no host schedules",
                                     "`eider up` starts one"};
    if (facts->scheduler_late_ms > HEALTH_TURN_MS)
        return (struct health_check){
            "scheduler", false, false,
            arena_format(arena, "should have ended its turn %lld s ago",
                         (long long)facts->scheduler_late_ms / 1000),
            "the log says what holds it up; a new start of the daemon takes over"};
    return (struct health_check){"scheduler", true, false,
                                 arena_format(arena, "%lld host%s", (long long)facts->schedulers,
                                              facts->schedulers == 1 ? " schedules" : "s schedule"),
                                 NULL};
}

static struct health_check check_workers(const struct health_facts *facts, struct arena *arena)
{
    if (facts->workers == 0 && facts->ready > 0)
        return (struct health_check){
            "workers", false, false,
            arena_format(arena, "no host works, and %lld wait", (long long)facts->ready),
            "`eider up` starts one; `eider hosts resume` ends a drain"};
    return (struct health_check){"workers", true, facts->workers == 0,
                                 arena_format(arena, "%lld host%s", (long long)facts->workers,
                                              facts->workers == 1 ? " works" : "s work"),
                                 facts->workers == 0 ? "nothing runs until one does: `eider up`"
                                                     : NULL};
}

static struct health_check check_claims(const struct health_facts *facts, struct arena *arena)
{
    if (facts->stuck_queue != NULL && facts->stuck_ms > HEALTH_STUCK_MS)
        return (struct health_check){
            "claims", false, false,
            arena_format(arena,
                         "in queue '%s' something has waited for %lld s, and hosts have room",
                         facts->stuck_queue, (long long)facts->stuck_ms / 1000),
            "`eider explain` says why it waits; the hosts' logs say why none takes it"};
    if (facts->lone_queue != NULL)
        return (struct health_check){
            "claims", true, true,
            arena_format(arena, "in queue '%s' something waits for a host%s%s", facts->lone_queue,
                         facts->lone_labels[0] != '\0' ? " with the labels " : "",
                         facts->lone_labels),
            "start a host that serves it, or change the task"};
    return (struct health_check){"claims", true, false, "what is ready is taken", NULL};
}

bool health_judge(const struct health_facts *facts, struct arena *arena,
                  struct health_check out[static HEALTH_CHECKS])
{
    bool is_healthy = true;
    out[0] = check_store(facts);
    out[1] = check_commits(facts, arena);
    out[2] = check_scheduler(facts, arena);
    out[3] = check_workers(facts, arena);
    out[4] = check_claims(facts, arena);
    /* What the store would say is not known without it. */
    for (int i = facts->database_error != NULL ? 2 : HEALTH_CHECKS; i < HEALTH_CHECKS; i++)
        out[i] = (struct health_check){out[i].name, true, true, "not known", NULL};
    for (int i = 0; i < HEALTH_CHECKS; i++)
        is_healthy = is_healthy && out[i].is_ok;
    return is_healthy;
}
