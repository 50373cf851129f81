/*
 * What a monitor asks of a store, on both databases.
 */
#include "store/monitor.h"
#include "store/sight.h"
#include "store_bench.h"

enum { SECOND_US = 1000000 };

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

TestSuite(monitor, .init = setup, .fini = teardown);

static struct monitor_counts count(int64_t since_us)
{
    struct err err = {0};
    struct monitor_counts counts;
    EXPECT_OK(store_monitor_count(bench.store, since_us, &counts, &err), &err);
    return counts;
}

static const char THREE[] = "{\"tasks\":{\"a\":{\"run\":\"true\"},\"b\":{\"run\":\"true\"},"
                            "\"c\":{\"run\":\"true\",\"needs\":[\"a\",\"b\"]}}}";

STORE_TEST(monitor, counts_what_goes_on_and_what_ended_since)
{
    struct monitor_counts counts = count(0);
    cr_assert_eq(counts.ready + counts.running + counts.runs[RUN_QUEUED], 0);
    bench_start(&bench, THREE);
    counts = count(0);
    cr_assert_eq(counts.ready, 2);
    cr_assert_eq(counts.runs[RUN_QUEUED] + counts.runs[RUN_RUNNING], 1);

    struct advance_result claimed = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(claimed.claims_count, 1);
    counts = count(0);
    cr_assert_eq(counts.ready, 1);
    cr_assert_eq(counts.running, 1);
    cr_assert_eq(counts.runs[RUN_RUNNING], 1);
}

STORE_TEST(monitor, counts_runs_that_ended_only_since_the_instant)
{
    bench_start(&bench, "{\"tasks\":{\"a\":{\"run\":\"true\"}}}");
    struct advance_result claimed = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&claimed.claims[0], 1);
    (void)bench_advance(&bench, &outcome, 1, 0);

    cr_assert_eq(count(0).runs[RUN_FAILED], 1);
    cr_assert_eq(count(INT64_MAX / 2).runs[RUN_FAILED], 0);
}

static int64_t sum(const struct monitor_pace *pace)
{
    int64_t total = 0;
    for (size_t i = 0; i < pace->count; i++)
        total += pace->seconds[i];
    return total;
}

Test(monitor, throughput_counts_tasks_that_did_something_by_second)
{
    struct err err = {0};
    struct monitor_pace pace;
    int64_t now_us = 5000 * (int64_t)SECOND_US + 10;
    db_bench_script(bench.url, "INSERT INTO event (at_us, kind, new_state) VALUES"
                               " (4940000000, 6, 4), (4998000000, 6, 4), (4998999999, 6, 5),"
                               " (4999000000, 6, 6), (4999000000, 7, 8), (5000000000, 6, 4)");

    EXPECT_OK(store_monitor_pace(bench.store, now_us - 10 * SECOND_US, now_us, &pace, &err), &err);
    cr_assert_eq(pace.first, 4990);
    cr_assert_eq(pace.count, 11);
    cr_assert_eq(pace.unread, 0);
    cr_assert_eq(pace.seconds[8], 2);
    cr_assert_eq(pace.seconds[9], 0, "one was skipped, one is tried again");
    cr_assert_eq(pace.seconds[10], 1);
    cr_assert_eq(sum(&pace), 3);
    EXPECT_OK(store_monitor_pace(bench.store, 0, now_us, &pace, &err), &err);
    cr_assert_eq(pace.count, MONITOR_SECONDS_MAX);
    cr_assert_eq(sum(&pace), 4);
    EXPECT_OK(store_monitor_pace(bench.store, now_us * 2, now_us, &pace, &err), &err);
    cr_assert_eq(pace.count, 1);
}

Test(monitor, throughput_reads_no_more_than_it_may_and_says_so)
{
    struct err err = {0};
    struct monitor_pace pace;
    int64_t now_us = 5000 * (int64_t)SECOND_US;
    db_bench_script(bench.url, "INSERT INTO event (at_us, kind, new_state)"
                               " WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n"
                               " WHERE i < 29999) SELECT 4970000000 + i * 1000, 6, 4 FROM n");

    EXPECT_OK(store_monitor_pace(bench.store, now_us - 30 * SECOND_US, now_us, &pace, &err), &err);
    cr_assert_eq(pace.unread, 11);
    cr_assert_eq(pace.seconds[pace.count - 2], 1000);
}

static enum status add_id(void *context, const struct task_row *task, struct err *err)
{
    (void)err;
    int64_t *total = context;
    *total += task->map_index + 100;
    return STATUS_OK;
}

STORE_TEST(monitor, instances_are_read_only_when_asked_for)
{
    struct err err = {0};
    int64_t nodes = 0;
    int64_t instances = 0;
    bench_start(&bench, "{\"tasks\":{\"m\":{\"run\":\"true\",\"foreach\":[1]},"
                        "\"z\":{\"run\":\"true\",\"needs\":[\"m\"]}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    (void)bench_advance(&bench, &expand, 1, 4);

    EXPECT_OK(store_monitor_nodes(bench.store, bench.run.id, add_id, &nodes, &err), &err);
    cr_assert_eq(nodes, 99 + 99);
    struct task_row expander = bench_row(&bench, "m", -1);
    EXPECT_OK(store_monitor_instances(bench.store, &expander, add_id, &instances, &err), &err);
    cr_assert_eq(instances, 100 + 101 + 102);
}

STORE_TEST(monitor, who_sees_other_namespaces_only_is_told_of_no_runs)
{
    bench_start(&bench, THREE);

    store_set_sight(bench.store, " elsewhere ");
    struct monitor_counts counts = count(0);
    cr_assert_eq(counts.runs[RUN_QUEUED] + counts.runs[RUN_RUNNING], 0);
    store_set_sight(bench.store, " elsewhere default ");
    counts = count(0);
    cr_assert_eq(counts.runs[RUN_QUEUED] + counts.runs[RUN_RUNNING], 1);
    store_set_sight(bench.store, "");
}
