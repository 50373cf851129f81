/*
 * Lists of DAGs with their last runs, and what is told of those that fail.
 */
#include "store/bars.h"
#include "store/host.h"
#include "store/recent.h"
#include "store/sight.h"
#include "store_bench.h"

static struct bench_store bench;

static const char GOOD[] = "{\"dag\":\"good\",\"title\":\"A good one\",\"tasks\":{"
                           "\"a\":{\"run\":\"x\"}}}";
static const char BAD[] = "{\"dag\":\"bad\",\"namespace\":\"retail\",\"tasks\":{"
                          "\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\",\"needs\":[\"a\"]},"
                          "\"c\":{\"run\":\"x\",\"needs\":[\"b\"]}}}";
static const struct bench_script B_FAILS[] = {{.task = "b", .exit_code = 3}, {NULL}};

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(bars, .init = setup, .fini = teardown);

static int64_t play(const char *dag, const struct bench_script *script)
{
    bench_start(&bench, dag);
    bench_now_us += 1000000;
    (void)bench_drain(&bench, script, 4);
    return bench.run.id;
}

struct told {
    struct bars_run runs[16];
    size_t count;
};

static void note_run(void *context, const struct bars_run *run)
{
    struct told *told = context;
    cr_assert_lt(told->count, ARRAY_LEN(told->runs));
    told->runs[told->count++] = *run;
}

STORE_TEST(bars, dags_come_by_id_and_each_with_its_last_runs)
{
    struct err err = {0};
    int64_t good[4];
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        good[i] = play(GOOD, NULL);
    int64_t bad = play(BAD, B_FAILS);
    bench_start(&bench, GOOD);
    int64_t waiting = bench.run.id;

    struct bars_dag *dags = NULL;
    struct told told = {0};
    size_t count = 0;
    EXPECT_OK(store_bars_dags(bench.store, bench.arena, 10, &dags, &count, &err), &err);
    cr_assert_eq(count, 2);
    EXPECT_STR("bad", dags[0].dag_id);
    EXPECT_STR("good", dags[1].dag_id);
    EXPECT_STR("A good one", dags[1].title);
    cr_expect_null(dags[0].title);
    cr_expect(dags[1].is_filed);
    cr_expect_not(dags[1].is_paused);

    int64_t keys[] = {dags[1].key, dags[0].key};
    const struct bars_wish wish = {keys, 2, 3};
    EXPECT_OK(store_bars_runs(bench.store, &wish, note_run, &told, &err), &err);
    const struct {
        size_t dag;
        int64_t id;
        enum run_state state;
    } wanted[] = {{0, waiting, RUN_QUEUED},
                  {1, bad, RUN_FAILED},
                  {0, good[3], RUN_SUCCESS},
                  {0, good[2], RUN_SUCCESS}};
    cr_assert_eq(told.count, ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        cr_expect_eq(told.runs[i].dag, wanted[i].dag, "run %zu", i);
        cr_expect_eq(told.runs[i].id, wanted[i].id, "run %zu", i);
        cr_expect_eq(told.runs[i].state, wanted[i].state, "run %zu", i);
    }
    cr_expect_eq(told.runs[0].ended_at_us, 0);
    cr_expect_gt(told.runs[2].ended_at_us, told.runs[3].ended_at_us);
}

STORE_TEST(bars, only_what_is_seen_is_told)
{
    struct err err = {0};
    struct bars_dag *dags = NULL;
    struct bars_dag one;
    size_t count = 0;
    int64_t failing[4];
    (void)play(GOOD, NULL);
    (void)play(BAD, B_FAILS);

    store_set_sight(bench.store, " default ");
    EXPECT_OK(store_bars_dags(bench.store, bench.arena, 10, &dags, &count, &err), &err);
    cr_assert_eq(count, 1);
    EXPECT_STR("good", dags[0].dag_id);
    EXPECT_OK(store_bars_dag(bench.store, bench.arena, "bad", &one, &count, &err), &err);
    cr_expect_eq(count, 0);
    EXPECT_OK(store_recent_failing(bench.store, 4, failing, &count, &err), &err);
    cr_expect_eq(count, 0);
    store_set_sight(bench.store, "");
    EXPECT_OK(store_bars_dag(bench.store, bench.arena, "bad", &one, &count, &err), &err);
    cr_assert_eq(count, 1);
    EXPECT_STR("retail", one.namespace_);
}

STORE_TEST(bars, a_dag_fails_until_a_later_run_is_over)
{
    struct err err = {0};
    int64_t failing[4];
    size_t count = 0;
    (void)play(BAD, B_FAILS);
    int64_t last = play(BAD, B_FAILS);
    (void)play(GOOD, NULL);
    bench_start(&bench, BAD); /* goes on, and says nothing yet */
    EXPECT_OK(store_recent_failing(bench.store, 4, failing, &count, &err), &err);
    cr_assert_eq(count, 1, "once, by its last run that is over");
    cr_expect_eq(failing[0], last);
    (void)bench_drain(&bench, NULL, 4);
    EXPECT_OK(store_recent_failing(bench.store, 4, failing, &count, &err), &err);
    cr_expect_eq(count, 0);
}

STORE_TEST(bars, the_task_that_failed_first_is_named)
{
    struct err err = {0};
    struct recent_failure failure = {0};
    bool is_found = false;
    int64_t bad = play(BAD, B_FAILS);
    EXPECT_OK(store_recent_failure(bench.store, bench.arena, bad, &failure, &is_found, &err), &err);
    cr_assert(is_found);
    EXPECT_STR("b", bench.dag->tasks[failure.node].id);
    cr_expect_eq(failure.exit_code, 3);
    cr_expect_eq(failure.reason, REASON_EXIT);
    cr_expect_eq(failure.attempt, 1);
    cr_expect_eq(failure.map_index, -1);
    int64_t good = play(GOOD, NULL);
    EXPECT_OK(store_recent_failure(bench.store, bench.arena, good, &failure, &is_found, &err),
              &err);
    cr_expect_not(is_found);
}

static int64_t add_host(const char *name, const char *kind)
{
    struct err err = {0};
    int64_t id = 0;
    const struct host_request request = {.name = name, .kind = kind, .slots = 1};
    EXPECT_OK(store_host_add(bench.store, &request, &id, &err), &err);
    return id;
}

static int64_t add_daemon(const char *name)
{
    return add_host(name, "daemon");
}

STORE_TEST(bars, a_daemon_is_lost_until_it_comes_back)
{
    struct err err = {0};
    struct recent_names lost = {0};
    int64_t since_us = bench_now_us;
    int64_t gone = add_daemon("gone");
    int64_t left = add_daemon("left");
    (void)add_daemon("here");
    EXPECT_OK(store_host_bury(bench.store, gone, &err), &err);
    EXPECT_OK(store_host_end(bench.store, left, &err), &err);
    EXPECT_OK(store_recent_lost(bench.store, bench.arena, since_us, 5, &lost, &err), &err);
    cr_assert_eq(lost.count, 1);
    EXPECT_STR("gone", lost.items[0]);
    EXPECT_OK(store_recent_lost(bench.store, bench.arena, bench_now_us + 1, 5, &lost, &err), &err);
    cr_expect_eq(lost.count, 0, "that was long ago");
    (void)add_host("gone", "http");
    EXPECT_OK(store_recent_lost(bench.store, bench.arena, since_us, 5, &lost, &err), &err);
    cr_expect_eq(lost.count, 1, "a worker that calls itself the same is not the daemon");
    (void)add_daemon("gone");
    EXPECT_OK(store_recent_lost(bench.store, bench.arena, since_us, 5, &lost, &err), &err);
    cr_expect_eq(lost.count, 0);
}
