/* What is old goes, in portions, and nothing else. */
#include "sched/duty.h"
#include "store/job.h"
#include "store/retention.h"
#include "store/value.h"
#include "store_bench.h"

static const int64_t DAY_MS = 86400000;

static struct bench_store bench;
static struct blob *blob;
static struct retention_policy policy;

static void setup(void)
{
    bench_open(&bench);
    blob_open_store(bench.store, &blob);
    policy = (struct retention_policy){0};
}

static void teardown(void)
{
    blob_close(blob);
    bench_close(&bench);
}

TestSuite(retention, .init = setup, .fini = teardown);

static const char DAG[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}}";

static struct blob_key log_of(int64_t run, int64_t task)
{
    return (struct blob_key){.kind = BLOB_LOG, .ids = {run, task, 1}, .id_count = 3};
}

/* A run with a log and a value that ends now; its number. */
static int64_t run_one(void)
{
    struct err err = {0};
    bench_start(&bench, DAG);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    struct blob_key key = log_of(bench.run.id, result.claims[0].task);
    EXPECT_OK(blob_put(blob, &key, "hello", 5, &err), &err);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    outcome.values = &(struct outcome_value){.key = "v", .json = "1", .bytes = 1};
    outcome.values_count = 1;
    (void)bench_advance(&bench, &outcome, 1, 0);
    return bench.run.id;
}

static void pass_days(int64_t days)
{
    bench_now_us += days * DAY_MS * 1000;
}

static struct retention_report remove_old(bool is_dry)
{
    struct err err = {0};
    struct retention_report report = {0};
    const struct retention_call call = {
        .store = bench.store, .blob = blob, .policy = &policy, .is_dry = is_dry, .actor = "test"};
    bool more = true;
    for (int turn = 0; more; turn++) {
        cr_assert_lt(turn, 1000, "it never ends");
        EXPECT_OK(retention_turn(&call, &report, &more, &err), &err);
    }
    return report;
}

static int64_t count_of(const char *sql)
{
    return bench_number(&bench, sql, 0);
}

static bool has_log(int64_t run, int64_t task)
{
    struct err err = {0};
    struct blob_handle *handle = NULL;
    struct blob_key key = log_of(run, task);
    enum status status = blob_open(blob, &key, BLOB_READ, &handle, &err);
    if (status == STATUS_OK)
        blob_handle_close(handle);
    return status == STATUS_OK;
}

STORE_TEST(retention, without_settings_everything_stays)
{
    (void)run_one();
    pass_days(10000);
    struct retention_report report = remove_old(false);
    cr_assert_eq(report.runs, 0);
    cr_assert_eq(count_of("SELECT count(*) FROM run WHERE $1 = 0"), 1);
}

STORE_TEST(retention, old_runs_go_with_everything_and_young_ones_stay)
{
    int64_t first_task = 0;
    int64_t old = 0;
    for (int i = 0; i < 120; i++) {
        old = run_one();
        first_task = bench.run.first_task;
    }
    pass_days(10);
    int64_t young = run_one();
    policy.runs_ms = 5 * DAY_MS;
    cr_assert_eq(remove_old(true).runs, 120);
    cr_assert_eq(count_of("SELECT count(*) FROM run WHERE $1 = 0"), 121, "that was only a look");
    cr_assert_eq(remove_old(false).runs, 120);
    cr_assert_eq(count_of("SELECT count(*) FROM run WHERE $1 = 0"), 1);
    cr_assert_eq(count_of("SELECT count(*) FROM task WHERE $1 = 0"), 1);
    cr_assert_not(has_log(old, first_task));
    cr_assert(has_log(young, bench.run.first_task));
    cr_assert_eq(remove_old(false).runs, 0);
}

STORE_TEST(retention, a_run_that_is_not_over_stays)
{
    bench_start(&bench, DAG);
    (void)bench_advance(&bench, NULL, 0, 1);
    pass_days(1000);
    policy = (struct retention_policy){.runs_ms = DAY_MS, .logs_ms = DAY_MS, .values_ms = DAY_MS};
    cr_assert_eq(remove_old(false).runs, 0);
    cr_assert_eq(count_of("SELECT count(*) FROM run WHERE $1 = 0"), 1);
}

STORE_TEST(retention, of_each_dag_the_last_ones_are_kept)
{
    int64_t last = 0;
    for (int i = 0; i < 7; i++)
        last = run_one();
    policy.runs_per_dag = 3;
    cr_assert_eq(remove_old(true).runs, 4);
    cr_assert_eq(remove_old(false).runs, 4);
    cr_assert_eq(count_of("SELECT count(*) FROM run WHERE $1 = 0"), 3);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM run WHERE id = $1", last), 1);
}

STORE_TEST(retention, logs_and_values_can_go_before_their_runs)
{
    int64_t old = run_one();
    int64_t old_task = bench.run.first_task;
    pass_days(10);
    int64_t young = run_one();
    policy = (struct retention_policy){.logs_ms = 5 * DAY_MS, .values_ms = 5 * DAY_MS};
    struct retention_report report = remove_old(false);
    cr_assert_eq(report.runs, 0);
    cr_assert_eq(report.runs_without_logs, 1);
    cr_assert_eq(report.values, 1);
    cr_assert_not(has_log(old, old_task));
    cr_assert(has_log(young, bench.run.first_task));
    cr_assert_eq(count_of("SELECT count(*) FROM value WHERE $1 = 0"), 1);
    cr_assert_eq(remove_old(false).runs_without_logs, 0, "it does not begin anew each time");
    pass_days(10);
    cr_assert_eq(remove_old(false).runs_without_logs, 1);
    cr_assert_not(has_log(young, bench.run.first_task));
}

STORE_TEST(retention, the_place_never_moves_back)
{
    struct err err = {0};
    int64_t place = 0;
    EXPECT_OK(store_retention_move(bench.store, "logs", 5, &err), &err);
    EXPECT_OK(store_retention_move(bench.store, "logs", 3, &err), &err);
    EXPECT_OK(store_retention_place(bench.store, "logs", &place, &err), &err);
    cr_assert_eq(place, 5);
}

STORE_TEST(retention, old_jobs_go)
{
    struct err err = {0};
    struct job_created created;
    struct job_request request = {.queue = "default", .handler = "noop", .payload = "1"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    policy.jobs_ms = DAY_MS;
    cr_assert_eq(remove_old(false).jobs, 0);
    pass_days(2);
    cr_assert_eq(remove_old(true).jobs, 1);
    cr_assert_eq(remove_old(false).jobs, 1);
    cr_assert_eq(count_of("SELECT count(*) FROM job WHERE $1 = 0"), 0);
}

/* Of three updates the first still waits for others, and the last is the newest. */
STORE_TEST(retention, old_updates_and_calls_go_but_not_what_waits)
{
    bench_sql(&bench, "INSERT INTO asset (id, uri, created_at_us) VALUES (1, 's3://x', 0)");
    bench_sql(&bench, "INSERT INTO asset_event (id, asset, at_us, map_index, actor)"
                      " VALUES (1, 1, 5, -1, 'x'), (2, 1, 6, -1, 'x'), (3, 1, 7, -1, 'x')");
    bench_sql(&bench, "INSERT INTO trigger_pending (dag, kind, source, name, state, at_us, seen)"
                      " VALUES (1, 0, 1, 's3://x', 0, 5, 0)");
    bench_sql(&bench, "INSERT INTO webhook_call (webhook, key, run, at_us)"
                      " VALUES (1, 'old', 1, 5), (1, 'young', 1, 4000000000000000)");
    cr_assert_eq(remove_old(false).events, 0);
    policy.events_ms = DAY_MS;

    cr_assert_eq(remove_old(false).events, 2);

    cr_assert_eq(count_of("SELECT count(*) FROM asset_event WHERE $1 = 0"), 2);
    cr_assert_eq(count_of("SELECT count(*) FROM asset_event WHERE $1 = 0 AND id = 2"), 0);
    cr_assert_eq(count_of("SELECT count(*) FROM webhook_call WHERE $1 = 0 AND key = 'young'"), 1);
    cr_assert_eq(count_of("SELECT count(*) FROM webhook_call WHERE $1 = 0"), 1);
}

STORE_TEST(retention, that_a_run_was_deleted_is_known_for_as_long_as_other_changes)
{
    (void)run_one();
    policy.runs_ms = DAY_MS;
    pass_days(2);
    cr_assert_eq(remove_old(false).runs, 1);
    cr_assert_eq(count_of("SELECT count(*) FROM event WHERE $1 = 0 AND kind = 13"), 1);
    policy.events_ms = 3 * DAY_MS;
    (void)remove_old(false);
    cr_assert_eq(count_of("SELECT count(*) FROM event WHERE $1 = 0 AND kind = 13"), 1);
    pass_days(4);
    (void)remove_old(false);
    cr_assert_eq(count_of("SELECT count(*) FROM event WHERE $1 = 0 AND kind = 13"), 0);
}

static int64_t ask_duty(int64_t due_us)
{
    struct err err = {0};
    struct duty_result result = {.next_us = DUTY_NEVER};
    const struct duty_call call = {.store = bench.store,
                                   .now_us = bench_now_us,
                                   .blob = blob,
                                   .retention = &policy,
                                   .due_us = due_us};
    EXPECT_OK(duty_remove_old(&call, &result, &err), &err);
    return result.next_us;
}

/* A store where something happens every minute is cleaned all the same. */
STORE_TEST(retention, news_neither_bring_it_on_nor_put_it_off)
{
    policy.runs_ms = DAY_MS;
    (void)run_one();
    pass_days(2);
    int64_t due_us = bench_now_us + 1000;

    cr_assert_eq(ask_duty(due_us), due_us);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM run WHERE id <> $1", 0), 1);

    bench_now_us = due_us;
    cr_assert_gt(ask_duty(due_us), due_us);
    cr_assert_eq(bench_number(&bench, "SELECT count(*) FROM run WHERE id <> $1", 0), 0);
}
