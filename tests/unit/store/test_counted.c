/*
 * What becomes durable is counted once, what is undone is not; and a census sees what there is.
 */
#include "model/meters.h"
#include "model/span.h"
#include "store/census.h"
#include "store/job.h"
#include "store_bench.h"

static struct bench_store bench;
static struct meters *meters;
static size_t spans;

static void take_span(void *context, struct span *taken)
{
    (void)context;
    spans++;
    span_free(taken);
}

static const struct span_sink SINK = {NULL, take_span};

static void setup(void)
{
    struct err err = {0};
    bench = (struct bench_store){0};
    spans = 0;
    bench_open(&bench);
    meters = meters_new(100);
    store_close(bench.store);
    struct store_options options = {.url = bench.url,
                                    .mode = DB_READ_WRITE,
                                    .now_us = bench_clock,
                                    .meters = meters,
                                    .spans = &SINK};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
}

static void teardown(void)
{
    bench_close(&bench);
    meters_free(meters);
}

TestSuite(counted, .init = setup, .fini = teardown);

static int64_t counted(enum metric metric)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    int64_t sum = 0;
    meters_collect(meters, &samples);
    for (size_t i = 0; i < samples.count; i++)
        if (samples.items[i].metric == metric)
            sum += METRICS[metric].type == METRIC_HISTOGRAM ? samples.items[i].count
                                                            : (int64_t)samples.items[i].value;
    return sum;
}

static const char DAG[] = "{\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\",\"retries\":1},"
                          "\"c\":{\"run\":\"x\",\"needs\":[\"b\"]}}}";

STORE_TEST(counted, a_run_to_its_end)
{
    static const struct bench_script SCRIPT[] = {{.task = "b", .exit_code = 1, .fails_first = 1},
                                                 {.task = NULL}};
    bench_start(&bench, DAG);
    (void)bench_drain(&bench, SCRIPT, 4);
    cr_expect_eq(counted(METRIC_TASKS), 3);
    cr_expect_eq(counted(METRIC_TASK_RETRIES), 1);
    cr_expect_eq(counted(METRIC_DAG_RUNS), 1);
    cr_expect_eq(counted(METRIC_DAG_RUN_DURATION), 1);
    cr_expect_eq(counted(METRIC_TASK_DURATION), 2, "what never started took no time");
    cr_expect_eq(counted(METRIC_TASKS_SCHEDULED), 3);
    cr_expect_eq(counted(METRIC_SCHEDULING_LATENCY), 3);
    cr_expect_eq(spans, 4, "three attempts and the run");
    cr_expect_gt(counted(METRIC_STORE_COMMIT), 3);
    cr_expect_eq(counted(METRIC_STORE_COMMIT_FAILURES), 0);
    cr_expect_neq(meters_sign_at(meters, SIGN_COMMIT), 0);
}

static void enqueue(void)
{
    struct err err = {0};
    struct job_created created;
    bool is_much = false;
    const struct job_request request = {.queue = "default", .handler = "h", .actor = "me"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, &is_much, &err), &err);
}

STORE_TEST(counted, what_is_done_together_is_counted_when_all_of_it_is_durable)
{
    struct err err = {0};
    enqueue();
    cr_expect_eq(counted(METRIC_JOBS_ENQUEUED), 1);
    EXPECT_OK(store_together_begin(bench.store, &err), &err);
    enqueue();
    enqueue();
    cr_expect_eq(counted(METRIC_JOBS_ENQUEUED), 1, "not yet");
    EXPECT_OK(store_together_commit(bench.store, &err), &err);
    cr_expect_eq(counted(METRIC_JOBS_ENQUEUED), 3);
}

STORE_TEST(counted, what_does_not_last_is_not_counted)
{
    struct err err = {0};
    EXPECT_OK(store_rehearse(bench.store, &err), &err);
    enqueue();
    store_close(bench.store);
    cr_expect_eq(counted(METRIC_JOBS_ENQUEUED), 0);
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
}

STORE_TEST(counted, a_census_sees_what_waits_and_runs)
{
    struct err err = {0};
    struct census census;
    EXPECT_OK(store_census(bench.store, bench.arena, &census, &err), &err);
    cr_assert_eq(census.queues_count, 1);
    cr_expect_eq(census.queues[0].ready, 0);
    cr_expect_eq(census.heads_count, 0);
    bench_start(&bench, DAG);
    enqueue();
    EXPECT_OK(store_census(bench.store, bench.arena, &census, &err), &err);
    cr_expect_str_eq(census.queues[0].name, "default");
    cr_expect_eq(census.runs_queued + census.runs_running, 1);
    cr_expect_eq(census.queues[0].jobs, 1);
    cr_expect_geq(census.queues[0].ready, 1);
    cr_expect_eq(census.heads_count > 0, true);
    cr_expect_neq(census.queues[0].head_us, 0);
    cr_expect_eq(census.dead, 0);
    cr_expect_eq(census.leaders_ended, 0);
    cr_expect_eq(census.hosts_count, 0);
}

static int64_t leaders_ended(void)
{
    struct err err = {0};
    struct census census;
    EXPECT_OK(store_census(bench.store, bench.arena, &census, &err), &err);
    return census.leaders_ended;
}

static int64_t add_host(const char *name)
{
    struct err err = {0};
    int64_t id = 0;
    const struct host_request request = {.name = name,
                                         .kind = "daemon",
                                         .machine = name,
                                         .version = "1",
                                         .roles = "worker",
                                         .labels = "",
                                         .queues = "",
                                         .boot = "b",
                                         .slots = 1,
                                         .lease_ms = 60000};
    EXPECT_OK(store_host_add(bench.store, &request, &id, &err), &err);
    return id;
}

static void end_host(int64_t id)
{
    struct err err = {0};
    bench_now_us += 1000;
    EXPECT_OK(store_host_end(bench.store, id, &err), &err);
}

STORE_TEST(counted, a_leader_that_ends_is_a_change)
{
    int64_t first = add_host("first");
    int64_t second = add_host("second");
    int64_t third = add_host("third");
    end_host(second);
    cr_expect_eq(leaders_ended(), 0, "an older one led");
    end_host(first);
    cr_expect_eq(leaders_ended(), 1);
    end_host(third);
    cr_expect_eq(leaders_ended(), 2);
}
