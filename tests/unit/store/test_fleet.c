/* Hosts with leases: renewed, swept, fenced. */
#include <criterion/criterion.h>
#include <string.h>

#include "store/host.h"
#include "store/job.h"
#include "store_bench.h"

enum { LEASE_MS = 30000 };

static struct bench_store bench;

static void setup(void)
{
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(fleet, .init = setup, .fini = teardown);

static int64_t host_named(const char *name)
{
    struct err err = {0};
    struct host_request request = {
        .name = name, .kind = "daemon", .boot = "b", .slots = 4, .lease_ms = LEASE_MS};
    int64_t id = 0;
    EXPECT_OK(store_host_add(bench.store, &request, &id, &err), &err);
    return id;
}

static void enqueue(int count)
{
    for (int i = 0; i < count; i++) {
        struct err err = {0};
        struct job_request request = {.queue = "default", .handler = "work"};
        struct job_created created;
        EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    }
}

static struct advance_result advance_as(int64_t host, const struct outcome *outcomes, size_t count,
                                        const char *labels)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct advance_request request = {.host = host,
                                      .process_slots = 4,
                                      .labels = labels,
                                      .outcomes = outcomes,
                                      .outcomes_count = count};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    return result;
}

static struct sweep_result sweep_as(int64_t host)
{
    struct err err = {0};
    struct sweep_result result = {0};
    EXPECT_OK(store_sweep(bench.store, host, bench.arena, &result, &err), &err);
    return result;
}

static struct host_pulse renew(int64_t host)
{
    struct err err = {0};
    struct host_pulse pulse = {0};
    EXPECT_OK(store_host_renew(bench.store, host, &pulse, &err), &err);
    return pulse;
}

STORE_TEST(fleet, a_lease_that_ran_out_is_swept_and_its_task_runs_elsewhere)
{
    int64_t a = host_named("a");
    int64_t b = host_named("b");
    enqueue(1);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    cr_assert_eq(held.claims_count, 1);
    cr_assert_eq(sweep_as(b).hosts, 0, "the lease is good");
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    (void)renew(b);
    struct sweep_result swept = sweep_as(b);
    cr_assert_eq(swept.hosts, 1);
    cr_assert_eq(swept.tasks, 1);
    cr_assert_eq(sweep_as(b).tasks, 0, "once is enough");

    struct advance_result again = advance_as(b, NULL, 0, NULL);
    cr_assert_eq(again.claims_count, 1);
    cr_assert_eq(again.claims[0].attempt, 2);
    struct outcome late = bench_outcome(&held.claims[0], 0);
    cr_assert_not(advance_as(a, &late, 1, NULL).accepted[0], "the old owner is fenced");
    struct outcome good = bench_outcome(&again.claims[0], 0);
    cr_assert(advance_as(b, &good, 1, NULL).accepted[0]);
    struct err err = {0};
    struct host_pulse pulse;
    EXPECT_STATUS(STATUS_NOT_FOUND, store_host_renew(bench.store, a, &pulse, &err), &err);
}

STORE_TEST(fleet, an_expired_lease_may_be_renewed_until_a_sweep_took_it)
{
    int64_t a = host_named("a");
    int64_t b = host_named("b");
    enqueue(1);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    (void)renew(a);
    cr_assert_eq(sweep_as(b).hosts, 0);
    struct outcome outcome = bench_outcome(&held.claims[0], 0);
    cr_assert(advance_as(a, &outcome, 1, NULL).accepted[0]);
}

STORE_TEST(fleet, what_a_swept_host_claims_afterwards_is_found_by_the_next_sweep)
{
    int64_t a = host_named("a");
    int64_t b = host_named("b");
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    (void)renew(b);
    cr_assert_eq(sweep_as(b).hosts, 1);
    enqueue(1);
    cr_assert_eq(advance_as(a, NULL, 0, NULL).claims_count, 1);
    cr_assert_eq(renew(b).expired, 1);
    cr_assert_eq(sweep_as(b).tasks, 1);
    cr_assert_eq(advance_as(b, NULL, 0, NULL).claims_count, 1);
}

STORE_TEST(fleet, the_oldest_living_host_leads)
{
    int64_t a = host_named("a");
    int64_t b = host_named("b");
    cr_assert(renew(a).leads);
    cr_assert_not(renew(b).leads);
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    cr_assert(renew(b).leads);
    cr_assert_eq(renew(b).living, 1);
}

STORE_TEST(fleet, a_task_that_kills_its_owners_is_put_aside)
{
    enqueue(1);
    int64_t last = 0;
    for (int i = 1; i <= 3; i++) {
        int64_t host = host_named(arena_format(bench.arena, "h%d", i));
        struct advance_result held = advance_as(host, NULL, 0, NULL);
        cr_assert_eq(held.claims_count, 1, "loss %d", i);
        bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
        struct sweep_result swept = sweep_as(1);
        cr_assert_eq(swept.tasks, 1);
        cr_assert_eq(swept.buried, i == 3);
        last = held.claims[0].task;
    }
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM dead WHERE task = $1", last), 1);
    int64_t host = host_named("h4");
    cr_assert_eq(advance_as(host, NULL, 0, NULL).claims_count, 0);
}

STORE_TEST(fleet, a_living_name_is_taken_and_a_dead_one_is_not)
{
    struct err err = {0};
    struct host_request request = {.name = "a", .kind = "daemon", .lease_ms = LEASE_MS};
    int64_t id = host_named("a");
    int64_t other = 0;
    EXPECT_STATUS(STATUS_CONFLICT, store_host_add(bench.store, &request, &other, &err), &err);
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    EXPECT_OK(store_host_add(bench.store, &request, &other, &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_host_resume(bench.store, id, &request, &err), &err);
    EXPECT_OK(store_host_resume(bench.store, other, &request, &err), &err);
}

STORE_TEST(fleet, who_is_behind_http_and_who_is_not_do_not_share_names)
{
    struct err err = {0};
    const struct host_request worker = {.name = "a", .kind = "http", .lease_ms = LEASE_MS};
    const struct host_request client = {.name = "a", .kind = "client", .lease_ms = LEASE_MS};
    int64_t id = 0;
    int64_t found = 0;
    int64_t daemon = host_named("a");
    EXPECT_OK(store_host_add(bench.store, &worker, &id, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_host_add(bench.store, &worker, &id, &err), &err);
    cr_assert_null(strstr(err.text, "--host-name"), "%s", err.text);
    err = (struct err){0};
    EXPECT_STATUS(STATUS_CONFLICT, store_host_add(bench.store, &client, &id, &err), &err);
    EXPECT_OK(store_host_find(bench.store, "a", &found, &err), &err);
    cr_assert_eq(found, daemon);

    EXPECT_OK(store_host_end(bench.store, daemon, &err), &err);
    daemon = host_named("a");
    bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
    EXPECT_OK(store_host_add(bench.store, &worker, &id, &err), &err);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM host WHERE id = $1 AND ended_at_us IS NULL",
                              daemon),
                 1, "it is not for a worker to end a daemon");
}

struct seen {
    int64_t id;
    bool draining, stopping;
};

static enum status note_seen(void *context, const struct host_info *info, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    if (info->id == seen->id) {
        seen->draining = info->draining;
        seen->stopping = info->stopping;
    }
    return STATUS_OK;
}

static struct seen see(int64_t id)
{
    struct err err = {0};
    struct seen seen = {.id = id};
    EXPECT_OK(store_host_each(bench.store, false, note_seen, &seen, &err), &err);
    return seen;
}

STORE_TEST(fleet, one_that_stops_says_so_until_it_is_started_again)
{
    struct err err = {0};
    struct host_request request = {.name = "a", .kind = "daemon", .lease_ms = LEASE_MS};
    int64_t id = host_named("a");
    EXPECT_OK(store_host_leave(bench.store, id, &err), &err);
    cr_assert(renew(id).draining);
    EXPECT_OK(store_host_drain(bench.store, id, false, "ann", &err), &err);
    cr_assert(see(id).draining && see(id).stopping, "nobody else takes it back");

    EXPECT_OK(store_host_resume(bench.store, id, &request, &err), &err);
    cr_assert(!see(id).draining && !see(id).stopping);
    EXPECT_OK(store_host_drain(bench.store, id, true, "ann", &err), &err);
    EXPECT_OK(store_host_resume(bench.store, id, &request, &err), &err);
    cr_assert(see(id).draining && !see(id).stopping, "a wish of people outlives a restart");
    EXPECT_STATUS(STATUS_NOT_FOUND, store_host_leave(bench.store, id + 1, &err), &err);
}

STORE_TEST(fleet, a_restarted_host_is_told_what_it_holds)
{
    struct err err = {0};
    int64_t a = host_named("a");
    enqueue(2);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    struct claim *claims = NULL;
    size_t count = 0;
    EXPECT_OK(store_held(bench.store, a, bench.arena, &claims, &count, &err), &err);
    cr_assert_eq(count, 2);
    cr_assert_eq(memcmp(&claims[0].nonce, &held.claims[0].nonce, sizeof claims[0].nonce), 0);
    EXPECT_STR("work", claims[0].job->handler);
}

STORE_TEST(fleet, tasks_for_labelled_hosts_never_stand_in_the_way)
{
    int64_t a = host_named("a");
    bench_start(&bench, "{\"tasks\": {\"x\": {\"run\": \"x\", \"worker\": \"gpu\"},"
                        " \"y\": {\"run\": \"y\"}}}");
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    struct advance_result result = advance_as(a, NULL, 0, NULL);
    cr_assert_eq(result.claims_count, 1);
    EXPECT_STR("y", bench.dag->tasks[result.claims[0].node].id);
    result = advance_as(a, NULL, 0, "eu gpu");
    cr_assert_eq(result.claims_count, 1);
    EXPECT_STR("x", bench.dag->tasks[result.claims[0].node].id);
}

STORE_TEST(fleet, an_owner_that_gives_its_lease_up_itself_counts_as_lost)
{
    int64_t a = host_named("a");
    enqueue(1);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    struct outcome lost = bench_outcome(&held.claims[0], 0);
    lost.kind = OUTCOME_LOST;
    struct advance_result again = advance_as(a, &lost, 1, NULL);
    cr_assert(again.accepted[0]);
    cr_assert_eq(again.claims_count, 1);
    cr_assert_eq(bench_number(&bench, "SELECT losses FROM task WHERE id = $1", held.claims[0].task),
                 1);
}

STORE_TEST(fleet, a_hosts_wrong_clock_does_not_reach_the_rows)
{
    struct err err = {0};
    int64_t hour_us = (int64_t)3600 * 1000000;
    int64_t a = host_named("a");
    enqueue(1);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    struct outcome outcome = bench_outcome(&held.claims[0], 0);
    outcome.started_at_us = bench_now_us + hour_us - 2000;
    outcome.ended_at_us = bench_now_us + hour_us - 1000;
    struct advance_request request = {
        .host = a, .clock_us = bench_now_us + hour_us, .outcomes = &outcome, .outcomes_count = 1};
    struct advance_result result = {0};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    int64_t ended =
        bench_number(&bench, "SELECT ended_at_us FROM task WHERE id = $1", outcome.task);
    cr_assert_eq(ended, bench_now_us - 1000);
}

/* Else it would seem to run after what waited for it. */
STORE_TEST(fleet, nothing_that_is_over_ran_after_now)
{
    struct err err = {0};
    int64_t a = host_named("a");
    enqueue(1);
    struct advance_result held = advance_as(a, NULL, 0, NULL);
    struct outcome outcome = bench_outcome(&held.claims[0], 0);
    outcome.started_at_us = bench_now_us + 5000;
    outcome.ended_at_us = bench_now_us + 9000;
    struct advance_request request = {
        .host = a, .clock_us = bench_now_us, .outcomes = &outcome, .outcomes_count = 1};
    struct advance_result result = {0};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    cr_assert_eq(bench_number(&bench, "SELECT started_at_us FROM task WHERE id = $1", outcome.task),
                 bench_now_us);
    cr_assert_eq(bench_number(&bench, "SELECT ended_at_us FROM task WHERE id = $1", outcome.task),
                 bench_now_us);
}

/* --- who belongs together -------------------------------------------------------------------- */

static enum status join(const char *name, const char *kind, const char *fleet, int64_t *out_id,
                        struct err *err)
{
    struct host_request request = {
        .name = name, .kind = kind, .boot = "b", .slots = 4, .lease_ms = LEASE_MS, .fleet = fleet};
    return store_host_add(bench.store, &request, out_id, err);
}

STORE_TEST(fleet, a_store_belongs_to_the_fleet_of_its_first_daemon)
{
    struct err err = {0};
    int64_t id = 0;
    EXPECT_OK(join("run", "foreground", NULL, &id, &err), &err);
    EXPECT_OK(join("a", "daemon", "red", &id, &err), &err);
    EXPECT_OK(join("b", "daemon", "red", &id, &err), &err);
    struct err refused = {0};
    EXPECT_STATUS(STATUS_CONFLICT, join("c", "daemon", "blue", &id, &refused), &refused);
    EXPECT_CONTAINS(refused.text, "'red'");
    EXPECT_OK(store_host_end(bench.store, id, &err), &err);
    struct err again = {0};
    EXPECT_STATUS(STATUS_CONFLICT, join("c", "daemon", "blue", &id, &again), &again);
}

STORE_TEST(fleet, names_are_unique_among_daemons_only)
{
    struct err err = {0};
    int64_t id = 0;
    EXPECT_OK(join("same", "daemon", NULL, &id, &err), &err);
    EXPECT_OK(join("same", "foreground", NULL, &id, &err), &err);
    EXPECT_OK(join("same", "foreground", NULL, &id, &err), &err);
    struct err refused = {0};
    EXPECT_STATUS(STATUS_CONFLICT, join("same", "daemon", NULL, &id, &refused), &refused);
}

static bool is_alive(int64_t host)
{
    struct err err = {0};
    bool alive = false;
    EXPECT_OK(store_host_is_alive(bench.store, host, &alive, &err), &err);
    return alive;
}

STORE_TEST(fleet, a_host_lives_as_long_as_its_lease)
{
    struct err err = {0};
    int64_t a = host_named("a");
    int64_t b = host_named("b");
    cr_assert(is_alive(a));
    cr_assert(!is_alive(a + b));
    EXPECT_OK(store_host_end(bench.store, b, &err), &err);
    cr_assert(!is_alive(b));
    bench_now_us += (int64_t)LEASE_MS * 1000;
    cr_assert(!is_alive(a));
    (void)renew(a);
    cr_assert(is_alive(a));
}

STORE_TEST(fleet, a_task_that_was_put_aside_and_is_cleared_is_no_dead_letter_any_more)
{
    struct err err = {0};
    struct clear_result cleared;
    bench_start(&bench, "{\"tasks\": {\"x\": {\"run\": \"x\"}}}");
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    for (int i = 1; i <= 3; i++) {
        int64_t host = host_named(arena_format(bench.arena, "h%d", i));
        cr_assert_eq(advance_as(host, NULL, 0, NULL).claims_count, 1);
        bench_now_us += (int64_t)LEASE_MS * 1000 + 1;
        (void)sweep_as(1);
    }
    EXPECT_STATE(&bench, "x", "failed");
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM dead WHERE task > $1", 0), 1);
    struct clear_request request = {.run = bench.run.id, .map_index = -1, .actor = "test"};
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM dead WHERE task > $1", 0), 0);
}
