/*
 * Limits of namespaces, DAGs and tiers, and shares of queues: kept inside the claim, for tasks and
 * jobs.
 */
#include "model/event_kind.h"
#include "store/host.h"
#include "store/job.h"
#include "store/limit.h"
#include "store/pool.h"
#include "store/queue.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(limit, .init = setup, .fini = teardown);

static void set(enum limit_kind kind, const char *name, int64_t max_running)
{
    struct err err = {0};
    struct limit_change change = {
        .kind = kind, .name = name, .max_running = max_running, .actor = "test"};
    EXPECT_OK(store_limit_set(bench.store, &change, &err), &err);
}

static void start(const char *json)
{
    bench_start(&bench, json);
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    bench.run.scope = 0;
}

static struct advance_result claim(int64_t slots)
{
    return bench_advance(&bench, NULL, 0, slots);
}

static struct advance_result finish(const struct claim *done, int64_t slots)
{
    struct outcome outcome = bench_outcome(done, 0);
    bench_now_us += 1000;
    return bench_advance(&bench, &outcome, 1, slots);
}

static void enqueue(const char *queue, const char *namespace_, int count)
{
    struct err err = {0};
    for (int i = 0; i < count; i++) {
        struct job_created job;
        struct job_request request = {.queue = queue,
                                      .handler = "h",
                                      .namespace_ = namespace_,
                                      .retry_delay_ms = -1,
                                      .actor = "test"};
        EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &job, NULL, &err), &err);
    }
}

#define OF_SALES(dag)                                                                              \
    "{\"dag\": \"" dag "\", \"namespace\": \"sales\", \"tasks\": {\"a\": {\"run\": \"x\"},"        \
    " \"b\": {\"run\": \"x\"}}}"

/* --- namespaces and DAGs --------------------------------------------------------------------- */

STORE_TEST(limit, a_namespace_has_no_more_tasks_running_than_it_may)
{
    struct err err = {0};
    struct limit_info *limits = NULL;
    size_t count = 0;
    set(LIMIT_OF_NAMESPACE, "sales", 3);
    start(OF_SALES("one"));
    start(OF_SALES("two"));
    start("{\"dag\": \"other\", \"tasks\": {\"a\": {\"run\": \"x\"}}}");

    struct advance_result first = claim(10);

    cr_assert_eq(first.claims_count, 4, "three of sales, one of default");
    EXPECT_OK(store_limit_list(bench.store, bench.arena, &limits, &count, &err), &err);
    cr_assert_eq(count, 1);
    EXPECT_STR("sales", limits[0].name);
    cr_assert_eq(limits[0].running, 3);
    cr_assert_eq(limits[0].waiting, 1);
    size_t of_sales = first.claims[0].run == bench.run.id;
    cr_assert_eq(finish(&first.claims[of_sales], 10).claims_count, 1);
}

STORE_TEST(limit, a_limit_of_a_dag_counts_over_all_its_runs)
{
    set(LIMIT_OF_DAG, "one", 1);
    start(OF_SALES("one"));
    start(OF_SALES("one"));
    start(OF_SALES("two"));
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 3);
    size_t of_one = 0;
    while (first.claims[of_one].run == bench.run.id)
        of_one++;
    struct advance_result next = finish(&first.claims[of_one], 10);
    cr_assert_eq(next.claims_count, 1);
    cr_assert_eq(finish(&next.claims[0], 10).claims_count, 1);
}

#define OF_TIER(dag, tier)                                                                         \
    "{\"dag\": \"" dag "\", \"tier\": \"" tier "\", \"tasks\": {\"a\": {\"run\": \"x\"},"          \
    " \"b\": {\"run\": \"x\"}}}"

static size_t claims_of(const struct advance_result *result, int64_t run)
{
    size_t count = 0;
    for (size_t i = 0; i < result->claims_count; i++)
        count += result->claims[i].run == run;
    return count;
}

STORE_TEST(limit, a_tier_counts_over_all_its_dags)
{
    struct err err = {0};
    struct limit_info *limits = NULL;
    struct pool_place place = {0};
    size_t count = 0;
    set(LIMIT_OF_TIER, "best", 3);
    start(OF_TIER("one", "best"));
    start(OF_TIER("two", "best"));
    int64_t two = bench.run.id;
    start(OF_TIER("three", "other"));
    start("{\"dag\": \"four\", \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    enqueue("default", "best", 2);

    struct advance_result first = claim(20);

    cr_assert_eq(first.claims_count, 8, "three of the tier, three of others, two jobs");
    cr_assert_eq(claims_of(&first, two), 1);
    cr_assert_eq(claim(20).claims_count, 0, "what runs already counts");
    EXPECT_OK(store_limit_list(bench.store, bench.arena, &limits, &count, &err), &err);
    cr_assert_eq(count, 1);
    EXPECT_STR("tier", limit_kind_name(limits[0].kind));
    cr_assert_eq(limits[0].running, 3);
    cr_assert_eq(limits[0].waiting, 1);
    int64_t waiting = bench_number(&bench, "SELECT task FROM pool_wait WHERE pool > $1", 0);
    EXPECT_OK(store_pool_place(bench.store, bench.arena, waiting, &place, &err), &err);
    EXPECT_STR("tier", place.kind);
    cr_assert_eq(place.used, 3);
    size_t of_two = 0;
    while (first.claims[of_two].run != two)
        of_two++;
    struct advance_result next = finish(&first.claims[of_two], 20);
    cr_assert_eq(next.claims_count, 1);
    cr_assert_eq(next.claims[0].run, two);
}

STORE_TEST(limit, dags_that_name_no_tier_share_one_too)
{
    set(LIMIT_OF_TIER, "default", 1);
    set(LIMIT_OF_NAMESPACE, "sales", 3);
    start(OF_SALES("one"));
    start(OF_SALES("two"));
    start(OF_TIER("three", "best"));
    cr_assert_eq(claim(10).claims_count, 3, "one of default, two of best");
    struct err err = {0};
    EXPECT_OK(store_limit_delete(bench.store, LIMIT_OF_TIER, "default", "test", &err), &err);
    cr_assert_eq(claim(10).claims_count, 2, "the namespace still counts");
}

STORE_TEST(limit, instances_without_rows_are_counted_as_waiting)
{
    struct err err = {0};
    struct limit_info *limits = NULL;
    size_t count = 0;
    set(LIMIT_OF_DAG, "one", 1);
    start("{\"dag\": \"one\", \"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}}}");
    struct claim expander = claim(10).claims[0];
    struct outcome outcome = bench_outcome(&expander, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 6;

    cr_assert_eq(bench_advance(&bench, &outcome, 1, 10).claims_count, 1);
    EXPECT_OK(store_limit_list(bench.store, bench.arena, &limits, &count, &err), &err);
    cr_assert_eq(limits[0].running, 1);
    cr_assert_eq(limits[0].waiting, 5);
}

STORE_TEST(limit, jobs_count_in_their_namespace)
{
    set(LIMIT_OF_NAMESPACE, "sales", 2);
    enqueue("default", "sales", 4);
    enqueue("default", "default", 3);
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 5);
    size_t of_sales = 0;
    while (strcmp(first.claims[of_sales].job->namespace_, "sales") != 0)
        of_sales++;
    cr_assert_eq(finish(&first.claims[of_sales], 10).claims_count, 1);
}

STORE_TEST(limit, a_woken_host_does_not_pass_by_a_limit)
{
    struct err err = {0};
    enqueue("default", "sales", 1);
    cr_assert_eq(claim(1).claims_count, 1, "so that the next one is looked for where it was");
    set(LIMIT_OF_NAMESPACE, "sales", 2);
    enqueue("default", "sales", 5);
    struct advance_request request = {
        .host = 7, .process_slots = 10, .inline_slots = 10, .is_woken = true};
    struct advance_result result;
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    cr_assert_eq(result.claims_count, 1);
}

STORE_TEST(limit, a_limit_that_is_raised_or_removed_lets_in_what_waits)
{
    struct err err = {0};
    set(LIMIT_OF_NAMESPACE, "sales", 1);
    start(OF_SALES("one"));
    start(OF_SALES("two"));
    cr_assert_eq(claim(10).claims_count, 1);
    set(LIMIT_OF_NAMESPACE, "sales", 2);
    cr_assert_eq(claim(10).claims_count, 1);
    EXPECT_OK(store_limit_delete(bench.store, LIMIT_OF_NAMESPACE, "sales", "test", &err), &err);
    cr_assert_eq(claim(1).claims_count, 1, "as many as it can take");
    cr_assert_eq(claim(10).claims_count, 1);
    EXPECT_STATUS(STATUS_NOT_FOUND,
                  store_limit_delete(bench.store, LIMIT_OF_NAMESPACE, "sales", "test", &err), &err);
    cr_assert_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_LIMIT_SET), 2);
}

STORE_TEST(limit, a_task_needs_room_under_every_limit_and_holds_no_slot_meanwhile)
{
    struct err err = {0};
    int64_t slots = 1;
    struct pool_change change = {
        .namespace_ = "default", .name = "db", .slots = &slots, .actor = "test"};
    EXPECT_OK(store_pool_set(bench.store, &change, &err), &err);
    set(LIMIT_OF_DAG, "one", 1);
    start("{\"dag\": \"one\", \"tasks\": {\"a\": {\"run\": \"x\", \"priority\": 1},"
          " \"b\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    start("{\"dag\": \"two\", \"tasks\": {\"c\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 2, "a, and c, since b takes no slot while it waits");
    size_t a = first.claims[0].run == bench.run.id;

    struct advance_result second = finish(&first.claims[a], 10);
    cr_assert_eq(second.claims_count, 0, "b is let in by its DAG, and waits for the pool now");
    cr_assert_eq(finish(&first.claims[1 - a], 10).claims_count, 1);
}

STORE_TEST(limit, who_is_let_in_by_a_pool_and_held_by_a_limit_stands_in_line_there)
{
    struct err err = {0};
    int64_t slots = 1;
    struct pool_change change = {
        .namespace_ = "default", .name = "db", .slots = &slots, .actor = "test"};
    EXPECT_OK(store_pool_set(bench.store, &change, &err), &err);
    set(LIMIT_OF_DAG, "one", 1);
    start("{\"dag\": \"two\", \"tasks\": {\"c\": {\"run\": \"x\", \"pool\": \"db\"}}}");
    struct claim c = claim(10).claims[0];
    start("{\"dag\": \"one\", \"tasks\": {\"b\": {\"run\": \"x\", \"pool\": \"db\","
          " \"priority\": 1}, \"d\": {\"run\": \"x\"}}}");
    struct advance_result first = claim(10);
    cr_assert_eq(first.claims_count, 1, "d, since b waits for the pool");
    cr_assert_eq(finish(&c, 10).claims_count, 0, "now the limit holds it");
    cr_assert_eq(bench_row(&bench, "b", -1).reason, REASON_CAP);
    cr_assert_eq(finish(&first.claims[0], 10).claims_count, 1);
}

STORE_TEST(limit, a_namespace_that_is_full_is_not_among_what_claims_look_at)
{
    set(LIMIT_OF_NAMESPACE, "sales", 1);
    for (int i = 0; i < 50; i++)
        start(OF_SALES("one"));
    cr_assert_eq(claim(4).claims_count, 1);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM ready WHERE scope = $1", 0), 0);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM pool_wait WHERE pool > $1", 0), 99);
}

Test(limit, what_cannot_be_a_limit_is_refused)
{
    struct err err = {0};
    struct limit_change change = {
        .kind = LIMIT_OF_DAG, .name = "one", .max_running = 0, .actor = "test"};
    EXPECT_STATUS(STATUS_INVALID, store_limit_set(bench.store, &change, &err), &err);
    EXPECT_CONTAINS(err.text, "from 1 to 1000000");
    change.name = "a b";
    change.max_running = 1;
    EXPECT_STATUS(STATUS_INVALID, store_limit_set(bench.store, &change, &err), &err);
}

/* --- shares ---------------------------------------------------------------------------------- */

static void set_share(const char *queue, int64_t share)
{
    struct err err = {0};
    struct queue_change change = {.name = queue, .max_share = &share, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &change, true, &err), &err);
}

static int64_t add_host(const char *name, int64_t slots)
{
    struct err err = {0};
    int64_t id = 0;
    struct host_request request = {
        .name = name, .kind = "daemon", .machine = "m", .slots = slots, .lease_ms = 60000};
    EXPECT_OK(store_host_add(bench.store, &request, &id, &err), &err);
    return id;
}

static struct advance_result advance_on(int64_t host, int64_t slots, const struct claim *done,
                                        size_t count)
{
    struct err err = {0};
    struct advance_result result;
    struct outcome outcomes[16];
    for (size_t i = 0; i < count; i++)
        outcomes[i] = bench_outcome(&done[i], 0);
    struct advance_request request = {.host = host,
                                      .process_slots = slots,
                                      .inline_slots = slots,
                                      .outcomes = outcomes,
                                      .outcomes_count = count};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    return result;
}

STORE_TEST(limit, queues_with_a_share_leave_the_rest_of_every_host_to_others)
{
    set_share("backfill", 50);
    set_share("adhoc", 25);
    int64_t one = add_host("one", 8);
    int64_t two = add_host("two", 4);
    enqueue("backfill", "default", 9);
    enqueue("adhoc", "default", 9);

    struct advance_result first = advance_on(one, 8, NULL, 0);
    cr_assert_eq(first.claims_count, 4, "half of the host, by both together");
    cr_assert_eq(advance_on(one, 4, NULL, 0).claims_count, 0);
    cr_assert_eq(advance_on(two, 4, NULL, 0).claims_count, 2);

    enqueue("default", "default", 4);
    cr_assert_eq(advance_on(one, 4, NULL, 0).claims_count, 4, "production finds its slots free");
    cr_assert_eq(advance_on(one, 1, first.claims, 1).claims_count, 1,
                 "a place that was left is taken again");
}

STORE_TEST(limit, a_share_holds_for_tasks_of_runs_and_not_for_what_runs_in_the_worker)
{
    set_share("backfill", 50);
    int64_t host = add_host("one", 4);
    start("{\"dag\": \"b\", \"defaults\": {\"queue\": \"backfill\"}, \"tasks\": {"
          "\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}, \"c\": {\"run\": \"x\"},"
          " \"n\": {\"noop\": null}}}");
    struct advance_result first = advance_on(host, 4, NULL, 0);
    cr_assert_eq(first.claims_count, 3, "two of three, and the noop");
}

STORE_TEST(limit, shares_of_small_hosts)
{
    set_share("backfill", 30);
    int64_t two = add_host("two", 2);
    int64_t single = add_host("single", 1);
    enqueue("backfill", "default", 4);
    cr_assert_eq(advance_on(two, 2, NULL, 0).claims_count, 1, "one at least");
    cr_assert_eq(advance_on(single, 1, NULL, 0).claims_count, 0, "the only one is kept");
    set_share("backfill", 100);
    cr_assert_eq(advance_on(single, 1, NULL, 0).claims_count, 1);
    set_share("backfill", 0);
    cr_assert_eq(advance_on(two, 1, NULL, 0).claims_count, 1, "no share, no bound");
}

STORE_TEST(limit, a_woken_host_does_not_pass_by_a_share)
{
    struct err err = {0};
    set_share("backfill", 0);
    int64_t host = add_host("one", 4);
    enqueue("backfill", "default", 1);
    cr_assert_eq(advance_on(host, 1, NULL, 0).claims_count, 1);
    set_share("backfill", 50);
    enqueue("backfill", "default", 5);
    struct advance_request request = {
        .host = host, .process_slots = 3, .inline_slots = 3, .is_woken = true};
    struct advance_result result;
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    cr_assert_eq(result.claims_count, 1);
}
