/* Jobs claimed and finished in few steps: what is remembered may be old, and others may be there.
 */
#include <criterion/criterion.h>

#include "store/job.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench_open(&bench);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(claim_jobs, .init = setup, .fini = teardown);

static int64_t enqueue(const char *queue, int64_t retries)
{
    struct err err = {0};
    struct job_created created;
    struct job_request request = {
        .queue = queue, .handler = "send", .payload = "1", .retries = retries};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    return created.id;
}

static enum task_state state_of(int64_t id)
{
    struct err err = {0};
    struct task_row row;
    EXPECT_OK(store_task_load(bench.store, bench.arena, id, &row, &err), &err);
    return row.state;
}

static struct advance_result claim_when_woken(int64_t slots)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct advance_request request = {
        .host = 7, .process_slots = slots, .inline_slots = slots, .is_woken = true};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    return result;
}

/* One job came and went, so that the store knows where jobs are. */
static void run_one(void)
{
    (void)enqueue("default", 0);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
}

static void add_queue(const char *columns, const char *values)
{
    CLEANUP(mem_freep)
    char *sql = mem_format("INSERT INTO queue (id, name, created_at_us%s) VALUES (5, 'other', 0%s)",
                           columns, values);
    bench_sql(&bench, sql);
    bench_sql(&bench, "INSERT INTO lane (id, queue, labels) VALUES (5, 5, '')");
}

STORE_TEST(claim_jobs, tasks_of_runs_between_them_keep_their_turn)
{
    int64_t first = enqueue("default", 0);
    bench_now_us += 1000;
    bench_start(&bench, "{\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\"}}}");
    bench_sql(&bench, "UPDATE run SET scope = 0; UPDATE ready SET scope = 0");
    bench.run.scope = 0;
    bench_now_us += 1000;
    int64_t last = enqueue("default", 0);

    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_eq(result.claims[0].task, first);
    cr_assert_neq(result.claims[1].run, 0, "the run is older than the second job");
    result = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_neq(state_of(last), TASK_QUEUED);
}

STORE_TEST(claim_jobs, each_attempt_has_a_nonce_of_its_own)
{
    for (int i = 0; i < 3; i++)
        (void)enqueue("default", 0);
    struct advance_result result = bench_advance(&bench, NULL, 0, 3);
    cr_assert_eq(result.claims_count, 3);
    for (int i = 1; i < 3; i++)
        cr_assert_neq(memcmp(&result.claims[i - 1].nonce, &result.claims[i].nonce, 16), 0);
}

/* As a sweep does that takes the job from a host that seems dead. */
static void take_away(int64_t id)
{
    CLEANUP(mem_freep)
    char *sql = mem_format(
        "UPDATE task SET attempt = attempt + 1, row_version = row_version + 1 WHERE id = %lld",
        (long long)id);
    bench_sql(&bench, sql);
}

STORE_TEST(claim_jobs, what_is_remembered_of_a_job_that_was_taken_away_is_not_trusted)
{
    struct err err = {0};
    int64_t id = enqueue("default", 0);
    int64_t other = enqueue("default", 0);
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(result.claims_count, 2);
    take_away(id);
    struct outcome outcomes[2];
    for (size_t i = 0; i < 2; i++)
        outcomes[i] = bench_outcome(&result.claims[i], 0);
    struct advance_request request = {.host = 7, .outcomes = outcomes, .outcomes_count = 2};
    enum status status = store_advance(bench.store, &request, bench.arena, &result, &err);
    cr_assert(status == (db_bench_is_postgres() ? STATUS_BUSY : STATUS_OK));
    if (status == STATUS_BUSY)
        EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    for (size_t i = 0; i < 2; i++)
        cr_assert_eq(result.accepted[i], outcomes[i].task == other);
    cr_assert_eq(state_of(id), TASK_RUNNING, "its new owner is not disturbed");
    cr_assert_eq(state_of(other), TASK_SUCCESS);
}

STORE_TEST(claim_jobs, a_job_to_be_cancelled_is_not_tried_again)
{
    struct err err = {0};
    int64_t id = enqueue("default", 3);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    EXPECT_OK(store_job_cancel(bench.store, id, "me", &err), &err);
    struct outcome outcome = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(state_of(id), TASK_CANCELLED);
}

STORE_TEST(claim_jobs, who_is_woken_finds_a_job_where_the_last_was)
{
    run_one();
    int64_t id = enqueue("default", 0);
    struct advance_result result = claim_when_woken(4);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].task, id);
    EXPECT_STR("send", result.claims[0].job->handler);
    EXPECT_STR("default", result.claims[0].job->queue);
    cr_assert_eq(result.changes_count, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &outcome, 1, 0);
    cr_assert(result.accepted[0]);
    cr_assert_eq(state_of(id), TASK_SUCCESS);
}

STORE_TEST(claim_jobs, who_is_woken_finds_a_job_elsewhere_too)
{
    add_queue("", "");
    run_one();
    int64_t id = enqueue("other", 0);
    struct advance_result result = claim_when_woken(4);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].task, id);
}

STORE_TEST(claim_jobs, who_is_woken_keeps_to_pauses_and_bounds)
{
    run_one();
    bench_sql(&bench, "UPDATE queue SET paused = 1");
    (void)enqueue("default", 0);
    (void)enqueue("default", 0);
    cr_assert_eq(claim_when_woken(4).claims_count, 0, "the queue is paused");
    bench_sql(&bench, "UPDATE queue SET paused = 0, max_running = 1");
    cr_assert_eq(claim_when_woken(4).claims_count, 1, "the queue runs one at a time");
    cr_assert_eq(claim_when_woken(4).claims_count, 0, "the queue runs one at a time");
    bench_sql(&bench, "UPDATE queue SET max_running = 0");
    cr_assert_eq(claim_when_woken(0).claims_count, 0, "no slot is free");
    cr_assert_eq(claim_when_woken(4).claims_count, 1);
}

/* --- going on where the last claim ended ----------------------------------------------------- */

static void expect_claims(struct advance_result result, const int64_t *ids, size_t count)
{
    cr_assert_eq(result.claims_count, count);
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(result.claims[i].task, ids[i]);
}

STORE_TEST(claim_jobs, many_are_claimed_one_batch_after_the_other)
{
    int64_t ids[7];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++)
        ids[i] = enqueue("default", 0);
    expect_claims(bench_advance(&bench, NULL, 0, 2), ids, 2);
    expect_claims(bench_advance(&bench, NULL, 0, 2), ids + 2, 2);
    expect_claims(bench_advance(&bench, NULL, 0, 2), ids + 4, 2);
    expect_claims(bench_advance(&bench, NULL, 0, 2), ids + 6, 1);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 0);
}

STORE_TEST(claim_jobs, one_that_comes_in_before_the_last_claim_is_found)
{
    for (int i = 0; i < 5; i++)
        (void)enqueue("default", 0);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 2);
    struct err err = {0};
    struct job_created urgent;
    struct job_request request = {
        .queue = "default", .handler = "send", .payload = "1", .priority = 10};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &urgent, NULL, &err), &err);
    size_t rest = 0;
    for (int i = 0; i < 3; i++)
        rest += bench_advance(&bench, NULL, 0, 2).claims_count;
    cr_assert_eq(rest, 4);
    cr_assert_eq(state_of(urgent.id), TASK_RUNNING);
}

STORE_TEST(claim_jobs, who_goes_on_keeps_to_pauses_and_bounds)
{
    for (int i = 0; i < 9; i++)
        (void)enqueue("default", 0);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 2);
    bench_sql(&bench, "UPDATE queue SET paused = 1");
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 0);
    bench_sql(&bench, "UPDATE queue SET paused = 0");
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 2);
    bench_sql(&bench, "UPDATE queue SET max_running = 5");
    cr_assert_eq(bench_advance(&bench, NULL, 0, 2).claims_count, 1);
}

STORE_TEST(claim_jobs, a_retry_whose_time_has_come_is_not_passed_over)
{
    int64_t id = enqueue("default", 1);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 1);
    for (int i = 0; i < 9; i++)
        (void)enqueue("default", 0);
    result = bench_advance(&bench, &outcome, 1, 2);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_neq(result.next_due_us, 0);
    bench_now_us = result.next_due_us + 1;
    (void)bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(state_of(id), TASK_RUNNING, "it is older than the others");
}
