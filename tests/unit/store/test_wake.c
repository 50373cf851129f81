/* Whoever could work is told, or finds it with the same look; nothing waits for a later one. */
#include <criterion/criterion.h>

#include "base/strbuf.h"
#include "store/job.h"
#include "store/listen.h"
#include "store/queue.h"
#include "store_bench.h"

enum { A = 11, B = 12, PATIENCE_MS = 5000 };

static struct bench_store bench;
static struct store *listener;

static void setup(void)
{
    bench_open(&bench);
}

static void teardown(void)
{
    store_close(listener);
    bench_close(&bench);
}

TestSuite(wake, .init = setup, .fini = teardown);

/* What was told before is not heard by who begins to listen now. */
static void listen_from_now(void)
{
    struct err err = {0};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    store_close(listener);
    listener = NULL;
    EXPECT_OK(store_open(&options, &listener, &err), &err);
    EXPECT_OK(store_listen_for_work(listener, &err), &err);
}

/* Only processes of a fleet tell each other through the database. */
static void expect_heard(void)
{
    struct err err = {0};
    bool is_heard = !db_bench_is_postgres();
    if (!is_heard)
        EXPECT_OK(store_wait(listener, -1, PATIENCE_MS, &is_heard, &err), &err);
    cr_assert(is_heard, "nobody is told");
}

static void set_queue(const char *name, int64_t max_running, bool paused)
{
    struct err err = {0};
    struct queue_change change = {
        .name = name, .max_running = &max_running, .paused = &paused, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &change, true, &err), &err);
}

static int64_t enqueue(const char *queue, int64_t delay_ms)
{
    struct err err = {0};
    struct job_request request = {.queue = queue, .handler = "work", .delay_ms = delay_ms};
    struct job_created created;
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    return created.id;
}

static struct advance_result advance(int64_t host, const struct outcome *outcome, int64_t slots,
                                     const char *queues)
{
    struct err err = {0};
    struct advance_result result = {0};
    struct advance_request request = {.host = host,
                                      .process_slots = slots,
                                      .queues = queues,
                                      .outcomes = outcome,
                                      .outcomes_count = outcome != NULL};
    EXPECT_OK(store_advance(bench.store, &request, bench.arena, &result, &err), &err);
    return result;
}

static const char *name_of(const struct claim *claim)
{
    return bench.dag->tasks[claim->node].id;
}

STORE_TEST(wake, a_retry_of_a_limited_run_starts_with_the_look_that_finds_it_due)
{
    bench_start(&bench, "{\"max_active_tasks\": 1, \"tasks\": {\"a\": {\"run\": \"x\","
                        " \"retries\": 1, \"retry_delay\": 1}}}");
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome bad = bench_outcome(&first.claims[0], 1);
    first = bench_advance(&bench, &bad, 1, 1);
    cr_assert_neq(first.next_due_us, 0);
    bench_now_us = first.next_due_us;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 1);
}

STORE_TEST(wake, a_queue_made_a_moment_ago_is_served)
{
    cr_assert_eq(advance(A, NULL, 1, NULL).claims_count, 0);
    set_queue("new", 0, false);
    (void)enqueue("new", 0);
    cr_assert_eq(advance(A, NULL, 1, NULL).claims_count, 1);
}

STORE_TEST(wake, a_pause_counts_at_once_and_its_end_is_told)
{
    set_queue("q", 0, false);
    (void)enqueue("q", 0);
    cr_assert_eq(advance(A, NULL, 0, NULL).claims_count, 0);
    set_queue("q", 0, true);
    cr_assert_eq(advance(A, NULL, 1, NULL).claims_count, 0);
    listen_from_now();
    set_queue("q", 0, false);
    expect_heard();
    cr_assert_eq(advance(A, NULL, 1, NULL).claims_count, 1);
}

STORE_TEST(wake, a_job_for_later_is_told_so_that_hosts_know_when)
{
    listen_from_now();
    (void)enqueue("default", 1000);
    expect_heard();
    cr_assert_eq(advance(A, NULL, 1, NULL).next_due_us, bench_now_us + 1000000);
}

STORE_TEST(wake, a_place_in_a_full_queue_is_told_by_a_host_that_has_no_use_for_it)
{
    set_queue("q", 1, false);
    (void)enqueue("q", 0);
    (void)enqueue("q", 0);
    (void)enqueue("q", 0);
    struct advance_result held = advance(A, NULL, 1, NULL);
    cr_assert_eq(held.claims_count, 1);
    cr_assert_eq(advance(B, NULL, 1, NULL).claims_count, 0, "it is full");
    listen_from_now();
    struct outcome good = bench_outcome(&held.claims[0], 0);
    cr_assert_eq(advance(A, &good, 0, NULL).claims_count, 0);
    expect_heard();

    held = advance(B, NULL, 1, NULL);
    cr_assert_eq(held.claims_count, 1);
    listen_from_now();
    good = bench_outcome(&held.claims[0], 0);
    cr_assert_eq(advance(B, &good, 1, "other").claims_count, 0, "B does not serve it any more");
    expect_heard();
}

STORE_TEST(wake, who_finds_a_run_taken_goes_past_it_and_looks_again_soon)
{
    struct err err = {0};
    if (!db_bench_is_postgres())
        cr_skip_test("one writer has all rows");
    bench_start(&bench, "{\"max_active_tasks\": 2, \"tasks\": {\"a\": {\"run\": \"x\"},"
                        " \"b\": {\"run\": \"x\"}, \"c\": {\"run\": \"x\"}}}");
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    bench_now_us += 1000;
    int64_t job = enqueue("default", 0);
    CLEANUP(db_closep) struct db *other = NULL;
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, "SELECT id FROM run FOR UPDATE", ""), &err);
    struct advance_result result = advance(A, NULL, 1, NULL);
    cr_assert_eq(result.claims_count, 1, "the run's tasks stand before it");
    cr_assert_eq(result.claims[0].task, job);
    cr_assert_neq(result.next_due_us, 0);
    cr_assert_lt(result.next_due_us, bench_now_us + 1000000);
    db_end(other);
    cr_assert_eq(advance(B, NULL, 1, NULL).claims_count, 1);
}

STORE_TEST(wake, who_finds_everything_taken_looks_again_soon)
{
    struct err err = {0};
    if (!db_bench_is_postgres())
        cr_skip_test("one writer has all rows");
    set_queue("q", 1, false);
    (void)enqueue("default", 0);
    (void)enqueue("q", 0);
    CLEANUP(db_closep) struct db *other = NULL;
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    static const char *const LOCKS[] = {"SELECT task FROM ready WHERE lane = 1 FOR UPDATE",
                                        "SELECT id FROM queue WHERE name = 'q' FOR UPDATE"};
    static const char *const SERVED[] = {"default", "q"};
    for (size_t i = 0; i < ARRAY_LEN(LOCKS); i++) {
        EXPECT_OK(db_begin(other, &err), &err);
        EXPECT_OK(db_do(other, &err, LOCKS[i], ""), &err);
        struct advance_result result = advance(A, NULL, 1, SERVED[i]);
        cr_assert_eq(result.claims_count, 0);
        cr_assert_neq(result.next_due_us, 0, "%s", SERVED[i]);
        db_end(other);
        cr_assert_eq(advance(A, NULL, 1, SERVED[i]).claims_count, 1);
    }
}

STORE_TEST(wake, what_waits_for_a_paused_queue_leaves_the_runs_room_to_others)
{
    bench_start(&bench,
                "{\"max_active_tasks\": 1, \"tasks\": {\"x\": {\"run\": \"x\", \"priority\": 9},"
                " \"slow\": {\"run\": \"x\", \"priority\": 5, \"queue\": \"slow\"},"
                " \"b\": {\"run\": \"x\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 1);
    EXPECT_STATE(&bench, "slow", "scheduled");
    EXPECT_STATE(&bench, "b", "scheduled");
    set_queue("slow", 0, true);
    struct outcome good = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &good, 1, 4);
    cr_assert_eq(result.claims_count, 1);
    EXPECT_STR("b", name_of(&result.claims[0]));
}

STORE_TEST(wake, many_held_tasks_do_not_hide_what_stands_behind_them)
{
    CLEANUP(strbuf_fini) struct strbuf json;
    strbuf_init(&json, 1 << 16);
    strbuf_add(&json, "{\"max_active_tasks\": 1, \"tasks\": {\"t0\": {\"run\": \"x\"}");
    for (int i = 1; i < 300; i++)
        strbuf_addf(&json, ", \"t%d\": {\"run\": \"x\"}", i);
    strbuf_add(&json, "}}");
    bench_start(&bench, json.text);
    bench_sql(&bench, "UPDATE run SET scope = 0");
    bench_sql(&bench, "UPDATE ready SET scope = 0");
    bench_now_us += 1000;
    int64_t job = enqueue("default", 0);
    cr_assert_eq(advance(A, NULL, 1, NULL).claims_count, 1);
    struct advance_result result = advance(B, NULL, 1, NULL);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].task, job);
}

STORE_TEST(wake, a_stop_that_was_only_announced_makes_no_instances)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1],"
                        " \"max_parallel\": 1}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    result = bench_advance(&bench, &expand, 1, 4);
    cr_assert_eq(result.claims_count, 1);
    bench_sql(&bench, "UPDATE run SET cancel_asked = 1, row_version = row_version + 1");
    struct outcome good = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &good, 1, 4);
    cr_assert_eq(result.claims_count, 0);
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
}
