/*
 * Tasks that wait for something outside: without a slot, without an owner, and not for ever.
 */
#include "base/clock.h"
#include "store/host.h"
#include "store/outcome_json.h"
#include "store/task_cancel.h"
#include "store/wait.h"
#include "store_bench.h"

enum { LEASE_MS = 30000, SECOND = 1000000 };

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

TestSuite(wait, .init = setup, .fini = teardown);

static struct outcome defer(const struct claim *claim, const struct wait_plan *plan)
{
    struct outcome outcome = bench_outcome(claim, 0);
    outcome.kind = OUTCOME_DEFER;
    outcome.wait = plan;
    return outcome;
}

static struct outcome met(const struct wait_info *wait)
{
    return (struct outcome){.task = wait->task,
                            .run = wait->run,
                            .attempt = wait->attempt,
                            .nonce = wait->nonce,
                            .kind = OUTCOME_MET,
                            .end = {.reason = REASON_RESULT}};
}

static const struct wait_plan FILE_PLAN = {.kind = SENSOR_FILE, .subject = "/in/a"};

/* One sensor 's', claimed and deferred. */
static struct advance_result begin(const char *settings, const struct wait_plan *plan)
{
    char dag[1000];
    (void)snprintf(dag, sizeof dag,
                   "{\"tasks\": {\"s\": {\"sensor\": %s}, \"t\": {\"run\": \"x\", \"needs\": "
                   "[\"s\"]}}}",
                   settings);
    bench_start(&bench, dag);
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 1);
    struct outcome outcome = defer(&result.claims[0], plan);
    result = bench_advance(&bench, &outcome, 1, 4);
    cr_assert(result.accepted[0]);
    return result;
}

static struct wait_info find(void)
{
    struct err err = {0};
    struct wait_info wait;
    EXPECT_OK(store_wait_find(bench.store, bench_row(&bench, "s", -1).id, bench.arena, &wait, &err),
              &err);
    return wait;
}

static int64_t waits(void)
{
    return bench_number(&bench, "SELECT count(*) FROM wait WHERE task <> $1", 0);
}

STORE_TEST(wait, a_task_that_waits_holds_nothing)
{
    struct advance_result result = begin("{\"file\": \"a\"}", &FILE_PLAN);

    struct task_row row = bench_row(&bench, "s", -1);
    EXPECT_STATE(&bench, "s", "deferred");
    EXPECT_STATE(&bench, "t", "none");
    cr_expect_eq(row.host, 0);
    cr_expect_eq(result.claims_count, 0);
    cr_expect_eq(bench_number(&bench, "SELECT count(*) FROM running WHERE task <> $1", 0), 0);
    struct wait_info wait = find();
    cr_expect_eq(wait.host, 7);
    cr_expect_eq(wait.since_us, row.queued_at_us);
    cr_expect_eq(wait.times.deadline_us, row.queued_at_us + (int64_t)3600 * SECOND);
    cr_expect_eq(row.due_at_us, wait.times.deadline_us);
    cr_expect_eq(result.next_due_us, wait.times.deadline_us);
    cr_expect_eq(wait.every_ms, 60000);
    EXPECT_STR("file '/in/a'", wait_phrase(&wait, bench.arena));
}

STORE_TEST(wait, what_is_found_ends_it_once_and_what_follows_runs)
{
    (void)begin("{\"file\": \"a\"}", &FILE_PLAN);
    struct wait_info wait = find();
    struct outcome outcome = met(&wait);
    struct outcome forged = outcome;
    forged.nonce.bytes[0] ^= 1;
    struct outcome older = outcome;
    older.attempt--;
    struct outcome running = outcome;
    running.kind = OUTCOME_END;
    const struct outcome outcomes[] = {forged, older, running, outcome, outcome};

    struct advance_result result = bench_advance(&bench, outcomes, ARRAY_LEN(outcomes), 4);

    static const bool ACCEPTED[] = {false, false, false, true, false};
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        cr_expect_eq(result.accepted[i], ACCEPTED[i], "outcome %zu", i);
    EXPECT_STATE(&bench, "s", "success");
    cr_assert_eq(result.claims_count, 1);
    cr_expect_eq(result.claims[0].node, dag_find_task(bench.dag, "t"));
    cr_expect_eq(waits(), 0);
}

STORE_TEST(wait, a_timeout_fails_at_its_instant_without_a_retry)
{
    struct advance_result result = begin("{\"file\": \"a\", \"timeout\": \"10s\"}", &FILE_PLAN);
    bench_now_us = result.next_due_us - 1;
    result = bench_advance(&bench, NULL, 0, 4);
    EXPECT_STATE(&bench, "s", "deferred");

    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 4);

    EXPECT_STATE(&bench, "s", "failed");
    EXPECT_STATE(&bench, "t", "upstream_failed");
    cr_expect_eq(bench_row(&bench, "s", -1).reason, REASON_TIMEOUT);
    cr_assert_eq(result.runs_count, 1);
    cr_expect_eq(result.runs[0].state, RUN_FAILED);
    cr_expect_eq(waits(), 0);
}

STORE_TEST(wait, a_soft_timeout_skips)
{
    struct advance_result result =
        begin("{\"file\": \"a\", \"timeout\": \"10s\", \"soft_fail\": true}", &FILE_PLAN);
    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 4);

    EXPECT_STATE(&bench, "s", "skipped");
    cr_expect_eq(bench_row(&bench, "s", -1).reason, REASON_TIMEOUT);
    cr_assert_eq(result.runs_count, 1);
    cr_expect_eq(result.runs[0].state, RUN_SUCCESS);
}

STORE_TEST(wait, times_need_nobody_and_are_met_at_their_instant)
{
    const struct wait_plan plan = {.kind = SENSOR_DURATION, .subject = "10m", .after_ms = 600000};
    struct advance_result result = begin("{\"duration\": \"10m\"}", &plan);
    cr_expect_eq(find().host, 0);
    cr_expect_eq(result.next_due_us, bench_row(&bench, "s", -1).queued_at_us + 600 * SECOND);
    bench_now_us = result.next_due_us;

    /* Whoever asks, with whatever room there is. */
    result = bench_advance(&bench, NULL, 0, 1);

    EXPECT_STATE(&bench, "s", "success");
    cr_assert_eq(result.claims_count, 1);
    cr_expect_eq(result.claims[0].node, dag_find_task(bench.dag, "t"));
}

STORE_TEST(wait, a_command_looks_again_in_a_slot_and_uses_no_retries)
{
    bench_start(&bench, "{\"tasks\": {\"s\": {\"sensor\": {\"run\": \"x\", \"every\": \"10s\", "
                        "\"backoff\": 2, \"timeout\": \"65s\"}, \"retries\": 1, \"retry_delay\": "
                        "\"1s\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    int64_t begun_us = bench_row(&bench, "s", -1).queued_at_us;
    static const int64_t LOOKS_S[] = {10, 30, 70};
    for (size_t i = 0; i < 2; i++) {
        cr_assert_eq(result.claims_count, 1);
        cr_expect_eq(result.claims[0].attempt - result.claims[0].looks, 1, "try number");
        struct outcome no = bench_outcome(&result.claims[0], 1);
        result = bench_advance(&bench, &no, 1, 4);
        struct task_row row = bench_row(&bench, "s", -1);
        EXPECT_STATE(&bench, "s", "deferred");
        cr_expect_eq(row.failures, 0);
        cr_expect_eq(row.host, 0);
        cr_expect_eq(result.next_due_us, begun_us + LOOKS_S[i] * SECOND, "look %zu", i);
        cr_expect_eq(find().looks, (int64_t)i + 1);
        bench_now_us = result.next_due_us;
        result = bench_advance(&bench, NULL, 0, 4);
    }
    struct outcome no = bench_outcome(&result.claims[0], 99);
    result = bench_advance(&bench, &no, 1, 4);
    cr_expect_eq(result.next_due_us, begun_us + 65 * SECOND, "the deadline comes first");
    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 4);

    EXPECT_STATE(&bench, "s", "failed");
    cr_expect_eq(bench_row(&bench, "s", -1).reason, REASON_TIMEOUT);
}

STORE_TEST(wait, a_command_that_fails_is_tried_again_as_a_new_wait)
{
    bench_start(&bench, "{\"tasks\": {\"s\": {\"sensor\": {\"run\": \"x\", \"every\": \"10s\"}, "
                        "\"retries\": 1, \"retry_delay\": \"1s\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    struct outcome no = bench_outcome(&result.claims[0], 1);
    result = bench_advance(&bench, &no, 1, 4);
    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 4);

    struct outcome broken = bench_outcome(&result.claims[0], 2);
    result = bench_advance(&bench, &broken, 1, 4);

    EXPECT_STATE(&bench, "s", "up_for_retry");
    cr_expect_eq(waits(), 0);
    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 1);
    cr_expect_eq(result.claims[0].attempt - result.claims[0].looks, 2, "the second try");
    struct outcome yes = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &yes, 1, 4);
    EXPECT_STATE(&bench, "s", "success");
}

STORE_TEST(wait, a_cancelled_run_waits_for_nothing)
{
    struct err err = {0};
    (void)begin("{\"file\": \"a\"}", &FILE_PLAN);
    struct wait_info wait = find();
    struct cancel_request request = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};
    EXPECT_OK(store_run_cancel(bench.store, &request, &err), &err);

    EXPECT_STATE(&bench, "s", "cancelled");
    cr_expect_eq(waits(), 0);
    struct outcome late = met(&wait);
    cr_expect_not(bench_advance(&bench, &late, 1, 4).accepted[0]);
    EXPECT_STATE(&bench, "s", "cancelled");
}

STORE_TEST(wait, one_that_waits_can_be_cleared_and_marked)
{
    struct err err = {0};
    struct clear_result cleared;
    (void)begin("{\"file\": \"a\"}", &FILE_PLAN);
    struct wait_info wait = find();
    bool nodes[] = {true, false};
    EXPECT_OK(store_clear(bench.store,
                          &(struct clear_request){
                              .run = bench.run.id, .nodes = nodes, .map_index = -1, .actor = "t"},
                          bench.arena, &cleared, &err),
              &err);
    EXPECT_STATE(&bench, "s", "queued");
    cr_expect_eq(waits(), 0);

    struct outcome late = met(&wait);
    struct advance_result result = bench_advance(&bench, &late, 1, 4);
    cr_expect_not(result.accepted[0]);
    struct outcome again = defer(&result.claims[0], &FILE_PLAN);
    (void)bench_advance(&bench, &again, 1, 4);
    EXPECT_STATE(&bench, "s", "deferred");

    EXPECT_OK(store_mark(bench.store,
                         &(struct mark_request){.run = bench.run.id,
                                                .node = 0,
                                                .map_index = -1,
                                                .state = TASK_SUCCESS,
                                                .actor = "t"},
                         &err),
              &err);
    EXPECT_STATE(&bench, "s", "success");
    EXPECT_STATE(&bench, "t", "queued");
    cr_expect_eq(waits(), 0);
}

STORE_TEST(wait, instances_of_a_mapped_sensor_wait_all_at_once)
{
    bench_start(&bench, "{\"tasks\": {\"s\": {\"foreach\": [1, 2, 3], \"sensor\": {\"duration\": "
                        "\"1m\"}}}}");
    const struct wait_plan plan = {.kind = SENSOR_DURATION, .subject = "1m", .after_ms = 60000};
    struct advance_result result = bench_advance(&bench, NULL, 0, 8);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    result = bench_advance(&bench, &expand, 1, 8);
    cr_assert_eq(result.claims_count, 3);
    struct outcome outcomes[3];
    for (size_t i = 0; i < 3; i++)
        outcomes[i] = defer(&result.claims[i], &plan);
    result = bench_advance(&bench, outcomes, 3, 8);
    cr_assert_eq(result.claims_count, 0);
    cr_expect_eq(waits(), 3);
    bench_check(&bench);

    bench_now_us += 60 * SECOND;
    result = bench_advance(&bench, NULL, 0, 8);

    EXPECT_STATE(&bench, "s", "success");
    cr_assert_eq(result.runs_count, 1);
    cr_expect_eq(result.runs[0].state, RUN_SUCCESS);
}

STORE_TEST(wait, the_scheduler_wakes_where_nobody_has_room)
{
    struct err err = {0};
    const struct wait_plan plan = {.kind = SENSOR_DURATION, .subject = "1m", .after_ms = 60000};
    (void)begin("{\"duration\": \"1m\"}", &plan);
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE timer SET scope = 0");
    int64_t due_us = bench_row(&bench, "s", -1).due_at_us;
    int64_t count = 0;
    int64_t next_us = 0;

    bench_now_us = due_us - 1;
    EXPECT_OK(store_waits_wake(bench.store, 10, &count, &next_us, &err), &err);
    cr_expect_eq(count, 0);
    cr_expect_eq(next_us, due_us);
    EXPECT_STATE(&bench, "s", "deferred");

    bench_now_us = due_us;
    EXPECT_OK(store_waits_wake(bench.store, 10, &count, &next_us, &err), &err);
    cr_expect_eq(count, 1);
    cr_expect_eq(next_us, 0);
    EXPECT_STATE(&bench, "s", "success");
    EXPECT_STATE(&bench, "t", "queued");
}

/* --- who looks ------------------------------------------------------------------------------- */

static int64_t host_named(const char *name)
{
    struct err err = {0};
    struct host_request request = {
        .name = name, .kind = "daemon", .boot = "b", .slots = 4, .lease_ms = LEASE_MS};
    int64_t id = 0;
    EXPECT_OK(store_host_add(bench.store, &request, &id, &err), &err);
    return id;
}

static size_t take(int64_t host, const char *queues, bool takes)
{
    struct err err = {0};
    struct wait_list list;
    const struct wait_taker taker = {.host = host, .queues = queues, .takes = takes};
    EXPECT_OK(store_waits_take(bench.store, &taker, bench.arena, &list, &err), &err);
    return list.count;
}

/* Two sensors, 'far' in a queue of its own, looked at by these hosts. */
static void begin_two(int64_t near_host, int64_t far_host)
{
    bench_start(&bench,
                "{\"tasks\": {\"far\": {\"queue\": \"far\", \"sensor\": {\"file\": \"b\"}}, "
                "\"s\": {\"sensor\": {\"file\": \"a\"}}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 2);
    const struct outcome outcomes[] = {defer(&result.claims[0], &FILE_PLAN),
                                       defer(&result.claims[1], &FILE_PLAN)};
    (void)bench_advance(&bench, outcomes, 2, 4);
    char sql[300];
    (void)snprintf(sql, sizeof sql,
                   "UPDATE run SET scope = 0; UPDATE timer SET scope = 0;"
                   " UPDATE wait SET host = %lld WHERE task = %lld;"
                   " UPDATE wait SET host = %lld WHERE task = %lld",
                   (long long)near_host, (long long)bench_row(&bench, "s", -1).id,
                   (long long)far_host, (long long)bench_row(&bench, "far", -1).id);
    bench_sql(&bench, sql);
}

static void end_host(int64_t host)
{
    char sql[100];
    (void)snprintf(sql, sizeof sql, "UPDATE host SET ended_at_us = 1 WHERE id = %lld",
                   (long long)host);
    bench_sql(&bench, sql);
}

static bool is_left(void)
{
    struct err err = {0};
    bool left = false;
    EXPECT_OK(store_waits_left(bench.store, &left, &err), &err);
    return left;
}

STORE_TEST(wait, who_serves_the_queue_follows_a_host_that_is_gone)
{
    int64_t dead = host_named("dead");
    int64_t living = host_named("living");
    int64_t taker = host_named("taker");
    begin_two(dead, living);

    cr_expect_eq(take(dead, "", true), 1);
    cr_expect_eq(take(taker, "", true), 0, "it is looked at");
    cr_expect_not(is_left());

    end_host(dead);
    cr_expect(is_left());
    cr_expect_eq(take(taker, "", false), 0, "it takes nothing now");
    cr_expect_eq(take(taker, "far", true), 0, "it does not serve the queue");
    cr_expect_eq(take(taker, "", true), 1);
    cr_expect_eq(find().host, taker);
    cr_expect_eq(take(living, "", true), 1, "what a living host looks at stays with it");
    cr_expect_not(is_left());
}

STORE_TEST(wait, who_goes_on_with_a_run_of_its_own_looks_at_all_of_it)
{
    struct err err = {0};
    struct wait_list list;
    (void)begin("{\"file\": \"a\"}", &FILE_PLAN);
    const struct wait_taker taker = {.host = 8, .scope = bench.run.scope, .takes = true};
    EXPECT_OK(store_waits_take(bench.store, &taker, bench.arena, &list, &err), &err);

    cr_assert_eq(list.count, 1);
    cr_expect_eq(find().host, 8);
}

/* --- other DAGs ------------------------------------------------------------------------------ */

static bool is_met(const struct wait_info *wait)
{
    struct err err = {0};
    bool found = false;
    EXPECT_OK(store_waits_look(bench.store, wait, 1, &found, &err), &err);
    return found;
}

STORE_TEST(wait, a_run_of_another_dag_is_found_by_its_date)
{
    bench_start(&bench, "{\"dag\": \"up\", \"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": "
                        "\"x\", \"needs\": [\"a\"]}}}");
    int64_t date_us = bench_now_us - 1; /* bench_start takes the instant and moves on */
    const struct wait_info whole = {.dag = "up", .date_us = date_us, .states = 1u << RUN_SUCCESS};
    struct wait_info task = {
        .dag = "up", .dag_task = "a", .date_us = date_us, .states = 1u << TASK_SUCCESS};
    struct wait_info other = whole;
    other.date_us++;
    struct wait_info latest = whole;
    latest.date_us = 0;
    struct wait_info failed = latest;
    failed.states = 1u << RUN_FAILED;
    struct wait_info no_task = task;
    no_task.dag_task = "zz";
    struct wait_info no_dag = whole;
    no_dag.dag = "nobody";

    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_expect_not(is_met(&task));
    struct outcome done = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &done, 1, 4);
    cr_expect(is_met(&task), "the task is over, its run is not");
    cr_expect_not(is_met(&whole));
    cr_expect_not(is_met(&latest));
    done = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &done, 1, 4);

    const struct wait_info all[] = {whole, task, other, latest, failed, no_task, no_dag};
    static const bool WANTED[] = {true, true, false, true, false, false, false};
    struct err err = {0};
    bool found[ARRAY_LEN(all)];
    EXPECT_OK(store_waits_look(bench.store, all, ARRAY_LEN(all), found, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        cr_expect_eq(found[i], WANTED[i], "wait %zu", i);
}

/* --- on its way ------------------------------------------------------------------------------ */

Test(wait, an_outcome_that_begins_a_wait_survives_the_journal)
{
    const struct wait_plan plan = {.kind = SENSOR_DAG,
                                   .subject = "up",
                                   .target_us = 5,
                                   .after_ms = 6,
                                   .dag = "up",
                                   .dag_task = "a",
                                   .date_us = 7};
    const struct outcome outcome = {.task = 1, .run = 2, .kind = OUTCOME_DEFER, .wait = &plan};
    struct outcome back = {.task = 1};
    struct err err = {0};
    char *text = outcome_format(&outcome);
    EXPECT_OK(outcome_parse(text, bench.arena, &back, &err), &err);
    free(text);

    cr_expect_eq(back.kind, OUTCOME_DEFER);
    cr_expect_eq(back.wait->kind, SENSOR_DAG);
    EXPECT_STR("a", back.wait->dag_task);
    cr_expect_eq(back.wait->target_us + back.wait->after_ms + back.wait->date_us, 18);

    const struct outcome plain = {.task = 1, .run = 2, .kind = OUTCOME_MET};
    text = outcome_format(&plain);
    EXPECT_OK(outcome_parse(text, bench.arena, &back, &err), &err);
    free(text);
    cr_expect_eq(back.kind, OUTCOME_MET);
}
