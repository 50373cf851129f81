/* What is old goes, in portions, and nothing else. */
#include "sched/duty.h"
#include "store/job.h"
#include "store/old_rows.h"
#include "store/retention.h"
#include "store/run_store.h"
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

static int64_t events_removed(void)
{
    struct retention_report report = remove_old(false);
    return retention_report_events(&report);
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
    cr_assert_eq(events_removed(), 0);
    policy.events_ms = DAY_MS;

    cr_assert_eq(events_removed(), 2);

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
    (void)run_one(); /* the newest event stays */
    (void)remove_old(false);
    cr_assert_eq(count_of("SELECT count(*) FROM event WHERE $1 = 0 AND kind = 13"), 0);
}

/* --- what belongs to no run ------------------------------------------------------------------ */

/* The DAG with key 1 waits for files and has taken three: two long ago. */
static void add_arrivals(int paused)
{
    char sql[512];
    int64_t old_us = bench_now_us - 100 * DAY_MS * 1000;
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO trigger_dag (dag, keeps, paused) VALUES (1, 1, %d)", paused);
    bench_sql(&bench, sql);
    bench_sql(&bench, "INSERT INTO trigger_watch (dag, kind, name, since_us) VALUES"
                      " (1, 2, '/in/*', 0), (1, 0, 's3://x', 0), (2, 2, '/other/*', 0)");
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO file_arrival (dag, path, mtime_us, bytes, inode, at_us, run) VALUES"
                   " (1, '/in/a', 1, 1, 1, %lld, 0), (1, '/in/b', 1, 1, 2, %lld, 0),"
                   " (1, '/in/c', 1, 1, 3, %lld, 0)",
                   (long long)old_us, (long long)(old_us + 1), (long long)bench_now_us);
    bench_sql(&bench, sql);
}

static int64_t since_us(void)
{
    return count_of("SELECT since_us FROM trigger_watch WHERE $1 = 0 AND dag = 1 AND kind = 2");
}

STORE_TEST(retention, a_file_whose_arrival_is_forgotten_does_not_arrive_again)
{
    struct err err = {0};
    int64_t kept_us = 0;
    add_arrivals(0);
    int64_t old_us = bench_now_us - 100 * DAY_MS * 1000;
    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 0);
    policy.events_ms = 60 * DAY_MS;
    cr_assert_eq(remove_old(true).rest[OLD_ARRIVALS], 2);
    cr_assert_eq(since_us(), 0, "that was only a look");

    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 2);

    cr_assert_eq(count_of("SELECT count(*) FROM file_arrival WHERE $1 = 0"), 1);
    cr_assert_gt(since_us(), old_us + DAY_MS * 1000, "what was forgotten lies a day before it");
    cr_assert_leq(since_us(), bench_now_us - 60 * DAY_MS * 1000);
    EXPECT_OK(store_files_since(bench.store, 1, &kept_us, &err), &err);
    cr_assert_eq(kept_us, since_us(), "watches that are made later begin there");
    EXPECT_OK(store_files_since(bench.store, 2, &kept_us, &err), &err);
    cr_assert_eq(kept_us, 0, "others are not concerned");
    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 0);
}

STORE_TEST(retention, arrivals_stay_for_a_month_and_while_their_dag_is_paused)
{
    add_arrivals(1);
    policy.events_ms = DAY_MS;
    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 0);
    cr_assert_eq(since_us(), 0);
    bench_sql(&bench, "UPDATE trigger_dag SET paused = 0");
    pass_days(20);
    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 2);
    pass_days(20);
    cr_assert_eq(remove_old(false).rest[OLD_ARRIVALS], 1);
}

/* Three texts of one DAG: the first has a run, the second has none, the last is current. */
STORE_TEST(retention, versions_that_nothing_has_go)
{
    static const char *const TEXTS[] = {"{\"tasks\": {\"a\": {\"run\": \"1\"}}}",
                                        "{\"tasks\": {\"a\": {\"run\": \"2\"}}}",
                                        "{\"tasks\": {\"a\": {\"run\": \"3\"}}}"};
    int64_t runs[ARRAY_LEN(TEXTS)];
    for (size_t i = 0; i < ARRAY_LEN(TEXTS); i++) {
        bench_start(&bench, TEXTS[i]);
        runs[i] = bench.run.id;
        struct advance_result result = bench_advance(&bench, NULL, 0, 1);
        struct outcome outcome = bench_outcome(&result.claims[0], 0);
        (void)bench_advance(&bench, &outcome, 1, 0);
    }
    struct err err = {0};
    EXPECT_OK(store_run_delete(bench.store, runs[1], "test", &err), &err);
    pass_days(10);
    policy.runs_ms = 20 * DAY_MS;
    cr_assert_eq(remove_old(false).rest[OLD_VERSIONS], 0);
    policy.runs_ms = 0;
    cr_assert_eq(remove_old(false).rest[OLD_VERSIONS], 0, "for ever");
    pass_days(15);
    bench_sql(&bench, "UPDATE run SET ended_at_us = ended_at_us + 86400000000 * 20,"
                      " created_at_us = created_at_us + 86400000000 * 20");
    policy.runs_ms = 20 * DAY_MS;
    cr_assert_eq(remove_old(true).rest[OLD_VERSIONS], 1);
    cr_assert_eq(remove_old(false).rest[OLD_VERSIONS], 1);
    cr_assert_eq(count_of("SELECT count(*) FROM version WHERE $1 = 0 AND number IN (1, 3)"), 2);
    pass_days(100);
    cr_assert_eq(remove_old(false).runs, 2);
    cr_assert_eq(count_of("SELECT count(*) FROM version WHERE $1 = 0"), 1, "the current one stays");
}

/* Of three hosts the last stays, whatever its age, and so does one that still holds something. */
STORE_TEST(retention, hosts_that_left_go_with_the_age_of_what_they_ran)
{
    bench_sql(&bench, "INSERT INTO host (id, maker, name, pid, boot, kind, slots, started_at_us,"
                      " ended_at_us) VALUES (91, 0, 'a', 1, '', 'daemon', 1, 0, 5),"
                      " (92, 0, 'b', 1, '', 'daemon', 1, 0, 5),"
                      " (93, 0, 'c', 1, '', 'daemon', 1, 0, 5)");
    bench_sql(&bench, "INSERT INTO running (host, task) VALUES (92, 12345)");
    policy.runs_ms = DAY_MS;
    cr_assert_eq(remove_old(false).rest[OLD_HOSTS], 0, "jobs are kept for ever");
    policy.jobs_ms = DAY_MS;
    cr_assert_eq(remove_old(false).rest[OLD_HOSTS], 1);
    cr_assert_eq(count_of("SELECT count(*) FROM host WHERE $1 = 0 AND id IN (92, 93)"), 2);
    bench_sql(&bench, "DELETE FROM running WHERE host = 92");
}

STORE_TEST(retention, backfills_go_after_their_runs)
{
    int64_t run = run_one();
    char sql[256];
    bench_sql(&bench,
              "INSERT INTO backfill (id, dag, version, state, from_us, to_us, until_us,"
              " newest_first, redo, max_active, queue, params, conf, tasks, note, reason, actor,"
              " token, size, cursor_us, created_at_us, ended_at_us) VALUES"
              " (1, 1, 0, 4, 0, 0, 0, 0, 0, 1, 0, '', '', '', '', '', '', 'a', 1, 0, 0, 5),"
              " (2, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, '', '', '', '', '', '', 'b', 1, 0, 0, NULL),"
              " (3, 1, 0, 6, 0, 0, 0, 0, 0, 1, 0, '', '', '', '', '', '', 'c', 1, 0, 0, 5)");
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO backfill_run (backfill, logical_at_us, run, action, outcome) VALUES"
                   " (1, 5, 987654321, 0, 2), (3, 5, %lld, 0, 2)",
                   (long long)run);
    bench_sql(&bench, sql);
    policy.runs_ms = DAY_MS;
    cr_assert_eq(remove_old(true).rest[OLD_BACKFILLS], 1);
    cr_assert_eq(remove_old(false).rest[OLD_BACKFILLS], 1);
    cr_assert_eq(count_of("SELECT count(*) FROM backfill WHERE $1 = 0 AND id IN (2, 3)"), 2);
    cr_assert_eq(count_of("SELECT count(*) FROM backfill_run WHERE $1 = 0"), 1);
    pass_days(3);
    cr_assert_eq(remove_old(false).rest[OLD_BACKFILLS], 1);
    bench_sql(&bench, "DELETE FROM backfill WHERE id = 2");
}

STORE_TEST(retention, missed_ticks_and_rates_that_are_whole_again_go)
{
    char sql[256];
    bench_sql(&bench, "INSERT INTO missed (dag, first_us, last_us, count, is_more, why, at_us)"
                      " VALUES (1, 1, 1, 1, 0, 0, 5), (1, 2, 2, 1, 0, 0, 4000000000000000)");
    (void)snprintf(
        sql, sizeof sql,
        "INSERT INTO alert_rate (hook_key, empty_at_us) VALUES ('old', 5), ('young', %lld)",
        (long long)bench_now_us);
    bench_sql(&bench, sql);
    policy.events_ms = DAY_MS;
    cr_assert_eq(remove_old(false).rest[OLD_MISSED], 1);
    cr_assert_eq(count_of("SELECT count(*) FROM missed WHERE $1 = 0 AND first_us = 2"), 1);
    cr_assert_eq(count_of("SELECT count(*) FROM alert_rate WHERE $1 = 0"), 1);
}

STORE_TEST(retention, answers_go_when_their_keys_are_free_again)
{
    char sql[512];
    (void)snprintf(sql, sizeof sql,
                   "INSERT INTO answered (owner, key, request, status, body, created_at_us) VALUES"
                   " ('anna', 'old', '', 200, '', %lld), ('anna', 'young', '', 200, '', %lld)",
                   (long long)(bench_now_us - DAY_MS * 1000 - 1),
                   (long long)(bench_now_us - DAY_MS * 1000));
    bench_sql(&bench, sql);
    cr_assert_eq(remove_old(true).rest[OLD_ANSWERS], 1);
    cr_assert_eq(remove_old(false).rest[OLD_ANSWERS], 1);
    cr_assert_eq(count_of("SELECT count(*) FROM answered WHERE $1 = 0 AND key = 'young'"), 1);
}

STORE_TEST(retention, dead_letters_go_only_when_that_is_asked_for)
{
    bench_sql(&bench, "INSERT INTO dead (task, run, lane, at_us, reason, attempt) VALUES"
                      " (1, 0, 1, 5, 0, 1), (2, 0, 1, 4000000000000000, 0, 1)");
    cr_assert_eq(remove_old(false).dead, 0);
    policy.dead_ms = DAY_MS;
    cr_assert_eq(remove_old(false).dead, 1);
    cr_assert_eq(count_of("SELECT count(*) FROM dead WHERE $1 = 0 AND task = 2"), 1);
    bench_sql(&bench, "DELETE FROM dead");
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

/* What goes by its age, by its number and loses its log is counted once. */
STORE_TEST(retention, a_dry_turn_counts_what_a_real_one_removes)
{
    policy = (struct retention_policy){
        .runs_ms = DAY_MS, .runs_per_dag = 1, .logs_ms = DAY_MS / 2, .values_ms = DAY_MS / 2};
    for (int i = 0; i < 3; i++)
        (void)run_one();
    pass_days(2);
    (void)run_one();
    (void)run_one();

    struct retention_report counted = remove_old(true);
    struct retention_report removed = remove_old(false);

    cr_assert_eq(removed.runs, 4);
    cr_assert_eq(counted.runs, removed.runs);
    cr_assert_eq(counted.runs_without_logs, removed.runs_without_logs);
    cr_assert_eq(counted.runs_without_values, removed.runs_without_values);
}

/* Others that began later and ended sooner were looked at meanwhile. */
STORE_TEST(retention, a_long_run_loses_its_log_by_its_end)
{
    policy.logs_ms = DAY_MS;
    bench_start(&bench, DAG);
    const struct run_created slow = bench.run;
    const struct claim claim = bench_advance(&bench, NULL, 0, 1).claims[0];
    struct blob_key key = log_of(slow.id, claim.task);
    struct err err = {0};
    EXPECT_OK(blob_put(blob, &key, "hello", 5, &err), &err);
    (void)run_one();
    pass_days(2);
    cr_assert_eq(remove_old(false).runs_without_logs, 1);
    bench.run = slow;
    const struct outcome outcome = bench_outcome(&claim, 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(remove_old(false).runs_without_logs, 0, "it is over just now");
    pass_days(2);
    cr_assert_eq(remove_old(false).runs_without_logs, 1);
    cr_assert_not(has_log(slow.id, claim.task));
}

STORE_TEST(retention, many_runs_of_one_instant_are_done_in_portions)
{
    policy.logs_ms = DAY_MS;
    for (int i = 0; i < 120; i++)
        (void)run_one();
    db_bench_script(bench.url, "UPDATE run SET ended_at_us = (SELECT min(ended_at_us) FROM run)");
    pass_days(2);
    (void)remove_old(false);
    cr_assert_eq(count_of("SELECT count(*) FROM chunk WHERE $1 = 0"), 0);
    cr_assert_eq(remove_old(false).runs_without_logs, 0);
}
