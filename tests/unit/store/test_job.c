/* Jobs: enqueued, claimed beside tasks, retried and given up by their own policy. */
#include <criterion/criterion.h>

#include "store/dead.h"
#include "store/job.h"
#include "store/queue.h"
#include "store/sight.h"
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

TestSuite(job, .init = setup, .fini = teardown);

static struct job_request job_of(const char *handler)
{
    return (struct job_request){
        .queue = "default", .handler = handler, .payload = "{\"n\":1}", .retry_delay_ms = 1000};
}

static int64_t enqueue(struct job_request request)
{
    struct err err = {0};
    struct job_created created;
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    return created.id;
}

static int64_t number_of(const char *sql, int64_t id)
{
    return bench_number(&bench, sql, id);
}

static enum task_state state_of(int64_t id)
{
    struct err err = {0};
    struct task_row row;
    EXPECT_OK(store_task_load(bench.store, bench.arena, id, &row, &err), &err);
    return row.state;
}

static struct outcome end_of(const struct claim *claim, int exit_code)
{
    return bench_outcome(claim, exit_code);
}

STORE_TEST(job, runs_and_keeps_its_result)
{
    int64_t id = enqueue(job_of("send"));
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 1);
    const struct claim *claim = &result.claims[0];
    cr_assert_eq(claim->task, id);
    cr_assert_eq(claim->run, 0);
    EXPECT_STR("send", claim->job->handler);
    EXPECT_STR("{\"n\":1}", claim->job->payload);
    EXPECT_STR("default", claim->job->queue);
    struct outcome outcome = end_of(claim, 0);
    outcome.values = &(struct outcome_value){.key = "result", .json = "42", .bytes = 2};
    outcome.values_count = 1;
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(state_of(id), TASK_SUCCESS);
    cr_assert_eq(number_of("SELECT count(*) FROM job WHERE id = $1 AND result = '42'", id), 1);
}

STORE_TEST(job, retries_by_its_own_policy_and_is_then_a_dead_letter)
{
    struct job_request request = job_of("send");
    request.retries = 1;
    int64_t id = enqueue(request);
    for (int attempt = 1; attempt <= 2; attempt++) {
        struct advance_result result = bench_advance(&bench, NULL, 0, 4);
        cr_assert_eq(result.claims_count, 1);
        cr_assert_eq(result.claims[0].attempt, attempt);
        struct outcome outcome = end_of(&result.claims[0], 3);
        (void)bench_advance(&bench, &outcome, 1, 0);
        result = bench_advance(&bench, NULL, 0, 4);
        cr_assert_eq(result.claims_count, 0, "not before its time");
        bench_now_us += 2000000;
    }
    cr_assert_eq(state_of(id), TASK_FAILED);
    cr_assert_eq(number_of("SELECT count(*) FROM dead WHERE task = $1", id), 1);
}

STORE_TEST(job, waits_for_its_time)
{
    struct job_request request = job_of("send");
    request.delay_ms = 5000;
    (void)enqueue(request);
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 0);
    cr_assert_eq(result.next_due_us, bench_now_us + 5000000);
    bench_now_us += 5000000;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 4).claims_count, 1);
}

STORE_TEST(job, more_urgent_and_older_ones_go_first)
{
    struct job_request request = job_of("send");
    int64_t plain = enqueue(request);
    bench_now_us += 1000;
    int64_t later = enqueue(request);
    request.priority = 5;
    int64_t urgent = enqueue(request);
    const int64_t wanted[] = {urgent, plain, later};
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct advance_result result = bench_advance(&bench, NULL, 0, 1);
        cr_assert_eq(result.claims_count, 1);
        cr_assert_eq(result.claims[0].task, wanted[i], "place %zu", i);
    }
}

STORE_TEST(job, a_dedupe_key_makes_one_job)
{
    struct err err = {0};
    struct job_request request = job_of("send");
    request.dedupe = "order-7";
    struct job_created created[3];
    struct job_request both[] = {request, request};
    EXPECT_OK(store_jobs_enqueue(bench.store, both, 2, created, NULL, &err), &err);
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created[2], NULL, &err), &err);
    cr_assert_not(created[0].existed);
    cr_assert(created[1].existed);
    cr_assert(created[2].existed);
    cr_assert_eq(created[1].id, created[0].id);
    cr_assert_eq(created[2].id, created[0].id);
    request.payload = "{\"n\":2}";
    EXPECT_STATUS(STATUS_CONFLICT,
                  store_jobs_enqueue(bench.store, &request, 1, &created[2], NULL, &err), &err);
    cr_assert_eq(number_of("SELECT count(*) FROM job WHERE id > $1", 0), 1);
}

STORE_TEST(job, a_bad_one_keeps_the_whole_request_out)
{
    static const struct {
        enum status status;
        struct job_request request;
    } CASES[] = {
        {STATUS_NOT_FOUND, {.queue = "nowhere", .handler = "send"}},
        {STATUS_INVALID, {.queue = "default", .handler = "send", .payload = "{"}},
        {STATUS_INVALID, {.queue = "default", .handler = ""}},
    };
    struct err err = {0};
    struct job_created created[2];
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct job_request requests[] = {job_of("send"), CASES[i].request};
        EXPECT_STATUS(CASES[i].status,
                      store_jobs_enqueue(bench.store, requests, 2, created, NULL, &err), &err);
        cr_assert_eq(number_of("SELECT count(*) FROM job WHERE id > $1", 0), 0);
    }
}

STORE_TEST(job, a_full_queue_refuses_and_a_filling_one_warns)
{
    struct err err = {0};
    struct job_created created[4];
    struct job_request requests[] = {job_of("a"), job_of("b"), job_of("c"), job_of("d")};
    bool warned = false;
    bench_sql(&bench, "UPDATE queue SET soft_pending = 1, hard_pending = 3");
    EXPECT_OK(store_jobs_enqueue(bench.store, requests, 1, created, &warned, &err), &err);
    cr_assert_not(warned);
    EXPECT_OK(store_jobs_enqueue(bench.store, requests, 2, created, &warned, &err), &err);
    cr_assert(warned);
    EXPECT_STATUS(STATUS_LIMIT, store_jobs_enqueue(bench.store, requests, 1, created, NULL, &err),
                  &err);
    cr_assert_eq(number_of("SELECT count(*) FROM job WHERE id > $1", 0), 3);
}

STORE_TEST(job, a_paused_queue_is_left_alone_and_others_are_not)
{
    bench_sql(&bench, "INSERT INTO queue (id, name, created_at_us) VALUES (5, 'other', 0)");
    bench_sql(&bench, "INSERT INTO lane (id, queue, labels) VALUES (5, 5, '')");
    bench_sql(&bench, "UPDATE queue SET paused = 1 WHERE id = 1");
    (void)enqueue(job_of("send"));
    struct job_request request = job_of("send");
    request.queue = "other";
    int64_t id = enqueue(request);
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].task, id);
}

STORE_TEST(job, a_queue_with_a_bound_runs_no_more_than_that)
{
    bench_sql(&bench, "UPDATE queue SET max_running = 2");
    for (int i = 0; i < 5; i++)
        (void)enqueue(job_of("send"));
    struct advance_result result = bench_advance(&bench, NULL, 0, 10);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 10).claims_count, 0);
    struct outcome outcome = end_of(&result.claims[0], 0);
    cr_assert_eq(bench_advance(&bench, &outcome, 1, 10).claims_count, 1,
                 "the place of one that ends is free in the same commit");
}

STORE_TEST(job, higher_queues_are_emptied_first)
{
    bench_sql(&bench, "INSERT INTO queue (id, name, priority, created_at_us)"
                      " VALUES (5, 'fast', 10, 0)");
    bench_sql(&bench, "INSERT INTO lane (id, queue, labels) VALUES (5, 5, '')");
    struct job_request slow = job_of("send");
    slow.priority = 1000;
    (void)enqueue(slow);
    struct job_request fast = job_of("send");
    fast.queue = "fast";
    int64_t id = enqueue(fast);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].task, id);
}

static size_t claim_jobs(int64_t slots)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct advance_request request = {
        .host = 7, .process_slots = slots, .inline_slots = slots, .jobs_only = true};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    for (size_t i = 0; i < result.claims_count; i++)
        cr_assert_eq(result.claims[i].run, 0);
    return result.claims_count;
}

STORE_TEST(job, who_takes_only_jobs_is_not_held_up_by_tasks_of_runs)
{
    bench_start(&bench, "{\"tasks\":{\"a\":{\"run\":\"x\"},\"b\":{\"run\":\"x\"},"
                        "\"c\":{\"noop\":null}}}");
    bench_sql(&bench, "UPDATE run SET scope = 0; UPDATE ready SET scope = 0");
    bench.run.scope = 0;
    bench_now_us += 1000;
    (void)enqueue(job_of("send"));
    (void)enqueue(job_of("noop"));
    cr_assert_eq(claim_jobs(1), 1, "the tasks are older");
    cr_assert_eq(claim_jobs(1), 1, "the classes share the slots");
    cr_assert_eq(claim_jobs(9), 0);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 9).claims_count, 3, "the tasks are still there");
}

STORE_TEST(job, a_failure_for_good_is_not_tried_again)
{
    struct job_request request = job_of("send");
    request.retries = 5;
    int64_t id = enqueue(request);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = end_of(&result.claims[0], 3);
    outcome.end.for_good = true;
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(state_of(id), TASK_FAILED);
}

/* --- lists ----------------------------------------------------------------------------------- */

struct listed {
    int64_t ids[16];
    size_t count;
};

static enum status note_job(void *context, const struct job_info *info, struct err *err)
{
    (void)err;
    struct listed *listed = context;
    cr_assert_lt(listed->count, ARRAY_LEN(listed->ids));
    listed->ids[listed->count++] = info->id;
    return STATUS_OK;
}

/* The jobs of a status, and that as many are counted. */
static struct listed list_jobs(const char *status, const char *queue)
{
    struct err err = {0};
    struct listed listed = {0};
    int64_t counted = 0;
    const struct job_filter filter = {.status = status, .queue = queue, .limit = 10};
    EXPECT_OK(store_job_each(bench.store, &filter, note_job, &listed, &err), &err);
    EXPECT_OK(store_job_count(bench.store, &filter, 100, &counted, &err), &err);
    cr_expect_eq(counted, (int64_t)listed.count, "%s: %lld", status, (long long)counted);
    return listed;
}

static void expect_listed(const char *status, const char *queue, int64_t id)
{
    struct listed listed = list_jobs(status, queue);
    cr_expect_eq(listed.count, id != 0 ? 1 : 0, "%s: %zu", status, listed.count);
    cr_expect_eq(listed.ids[0], id, "%s", status);
}

static int64_t count_jobs(const char *status, const char *queue, int64_t most)
{
    struct err err = {0};
    int64_t counted = -1;
    const struct job_filter filter = {.status = status, .queue = queue};
    EXPECT_OK(store_job_count(bench.store, &filter, most, &counted, &err), &err);
    return counted;
}

/* One of each status, and then more than one looks at that completed. */
Test(job, few_are_found_by_their_status_among_many_that_completed)
{
    enum { MANY = 1500 };
    struct err err = {0};
    int64_t failed = enqueue(job_of("send"));
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    struct outcome end = end_of(&result.claims[0], 1);
    (void)bench_advance(&bench, &end, 1, 0);
    int64_t claimed = enqueue(job_of("send"));
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 1);
    int64_t cancelled = enqueue(job_of("send"));
    EXPECT_OK(store_job_cancel(bench.store, cancelled, "test", &err), &err);
    struct job_request later = job_of("send");
    later.delay_ms = 1000000;
    int64_t delayed = enqueue(later);
    int64_t again = enqueue(job_of("send"));
    EXPECT_OK(store_job_cancel(bench.store, again, "test", &err), &err);
    EXPECT_OK(store_job_retry(bench.store, again, "test", &err), &err);
    bench_check(&bench);

    static struct job_request requests[MANY];
    static struct job_created created[MANY];
    for (size_t i = 0; i < MANY; i++)
        requests[i] = job_of("send");
    EXPECT_OK(store_jobs_enqueue(bench.store, requests, MANY, created, NULL, &err), &err);
    CLEANUP(mem_freep)
    char *complete = mem_format("DELETE FROM ready WHERE task > %lld;"
                                " UPDATE task SET state = 4 WHERE id > %lld;",
                                (long long)again, (long long)again);
    bench_sql(&bench, complete);
    static const char *const QUEUES[] = {NULL, "default"};
    for (size_t i = 0; i < ARRAY_LEN(QUEUES); i++) {
        expect_listed("failed", QUEUES[i], failed);
        expect_listed("claimed", QUEUES[i], claimed);
        expect_listed("cancelled", QUEUES[i], cancelled);
        expect_listed("delayed", QUEUES[i], delayed);
        expect_listed("pending", QUEUES[i], again);
        expect_listed("skipped", QUEUES[i], 0);
        cr_expect_eq(count_jobs("completed", QUEUES[i], 10000), MANY);
        cr_expect_eq(count_jobs("completed", QUEUES[i], 700), 700);
        store_set_sight(bench.store, " default ");
        cr_expect_eq(count_jobs("completed", QUEUES[i], 10000), MANY);
        cr_expect_eq(count_jobs("failed", QUEUES[i], 10000), 1);
        store_set_sight(bench.store, " elsewhere ");
        cr_expect_eq(count_jobs("completed", QUEUES[i], 10000), 0);
        store_set_sight(bench.store, "");
    }
    cr_expect_eq(count_jobs("completed", "none", 10000), 0);
    const struct queue_change other = {.name = "other", .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &other, true, &err), &err);
    expect_listed("failed", "other", 0);
    expect_listed("pending", "other", 0);
}
