/* A fleet on a virtual clock: what it claims, how long it takes, what it survives. */
#include "sched/player.h"
#include "store_bench.h"

static const int64_t BEGIN_US = 1700000000000000;
static const int64_t SECOND_US = 1000000;

static struct bench_store bench;
static struct store *store;
static size_t ended;
static size_t refused;
static size_t runs_ended;
static int answers_to_lose;

static void setup(void)
{
    struct err err = {0};
    bench_open(&bench);
    struct store_options options = {
        .url = bench.url, .mode = DB_READ_WRITE, .now_us = player_clock};
    player_clock_set(BEGIN_US);
    EXPECT_OK(store_open(&options, &store, &err), &err);
}

static void teardown(void)
{
    store_close(store);
    bench_close(&bench);
}

TestSuite(player, .init = setup, .fini = teardown);

/* The second node always fails; everything takes ten seconds. */
static struct player_fate ten_seconds(void *context, const struct claim *claim)
{
    (void)context;
    return (struct player_fate){
        .takes_us = 10 * SECOND_US,
        .end = {.reason = REASON_EXIT, .exit_code = claim->node == 1},
    };
}

static void count_end(void *context, const struct claim *claim, bool accepted)
{
    (void)context, (void)claim;
    ended += accepted;
    refused += !accepted;
}

static void count_run(void *context, const struct run_change *run)
{
    (void)context, (void)run;
    runs_ended++;
}

static bool lose_some(void *context, size_t host)
{
    (void)context, (void)host;
    return answers_to_lose > 0 && answers_to_lose-- > 0;
}

static struct player_options options_of(size_t hosts, int64_t slots)
{
    return (struct player_options){
        .store = store,
        .hosts = hosts,
        .slots = slots,
        .events = {.started = ten_seconds,
                   .ended = count_end,
                   .run_ended = count_run,
                   .loses_answer = lose_some},
    };
}

static void start_run(const char *dag)
{
    bench_start(&bench, dag);
    bench_sql(&bench, "UPDATE run SET scope = 0; UPDATE ready SET scope = 0");
}

static int64_t play_until_all_ended(struct player *player, size_t runs)
{
    struct err err = {0};
    for (int step = 0; step < 10000 && runs_ended < runs; step++)
        EXPECT_OK(player_step(player, BEGIN_US + 100000 * SECOND_US, &err), &err);
    cr_assert_eq(runs_ended, runs, "the runs never end");
    return (player_clock() - BEGIN_US) / SECOND_US;
}

static void expect_end(struct player_options options, int64_t seconds, size_t tasks)
{
    struct err err = {0};
    struct player *player = NULL;
    EXPECT_OK(player_new(&options, &player, &err), &err);
    int64_t spent = play_until_all_ended(player, 1);
    cr_assert_geq(spent, seconds);
    cr_assert_lt(spent, seconds + 10, "%lld s", (long long)spent);
    cr_assert_eq(ended, tasks);
    cr_assert_eq(player_load(player), 0);
    player_free(player);
    bench_check(&bench);
}

static const char CHAIN[] = "{\"tasks\": {\"a\": {\"noop\": null}, \"b\": {\"noop\": null},"
                            " \"c\": {\"noop\": null, \"needs\": [\"a\"]},"
                            " \"d\": {\"noop\": null, \"needs\": [\"c\"]}}}";

Test(player, a_chain_takes_the_sum_of_its_tasks)
{
    start_run(CHAIN);
    expect_end(options_of(1, 4), 30, 4);
}

Test(player, slots_bound_what_runs_at_once)
{
    start_run("{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"},"
              " \"c\": {\"run\": \"x\"}, \"d\": {\"run\": \"x\"}}}");
    expect_end(options_of(1, 1), 40, 4);
}

Test(player, two_hosts_share_the_work)
{
    start_run("{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"},"
              " \"c\": {\"run\": \"x\"}, \"d\": {\"run\": \"x\"}}}");
    expect_end(options_of(2, 1), 20, 4);
}

Test(player, a_retry_waits_for_its_time)
{
    start_run("{\"tasks\": {\"a\": {\"noop\": null}, \"b\": {\"noop\": null, \"retries\": 1,"
              " \"retry_delay\": 60}}}");
    expect_end(options_of(1, 4), 80, 3);
}

Test(player, lost_answers_cost_nothing_but_time)
{
    start_run(CHAIN);
    answers_to_lose = 4;
    expect_end(options_of(1, 4), 30, 4);
    cr_assert_eq(answers_to_lose, 0);
}

Test(player, what_a_dead_host_ran_is_run_again)
{
    struct err err = {0};
    struct player *player = NULL;
    struct player_options options = options_of(2, 4);
    options.lease_ms = 3000;
    options.renew_ms = 1000;
    options.sweep_ms = 1000;
    start_run("{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    EXPECT_OK(player_new(&options, &player, &err), &err);
    EXPECT_OK(player_run(player, BEGIN_US + 5 * SECOND_US, &err), &err);
    cr_assert_eq(player_load(player), 1);
    player_kill_host(player, 0);
    if (player_load(player) > 0) /* the other one had it */
        player_kill_host(player, 1);
    else
        cr_assert_eq(player_load(player), 0);
    EXPECT_OK(player_start_host(player, 0, &err), &err);
    int64_t spent = play_until_all_ended(player, 1);
    cr_assert_geq(spent, 18);
    cr_assert_leq(spent, 22, "%lld s", (long long)spent);
    cr_assert_eq(ended, 1);
    player_free(player);
    bench_check(&bench);
}
