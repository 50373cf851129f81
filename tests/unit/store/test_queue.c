/*
 * Queues: what is in them, who serves them, what may be changed.
 */
#include "store/host.h"
#include "store/job.h"
#include "store/queue.h"
#include "store_bench.h"

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

TestSuite(queue, .init = setup, .fini = teardown);

static void set(const char *name, int64_t priority)
{
    struct err err = {0};
    struct queue_change change = {.name = name, .priority = &priority, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &change, true, &err), &err);
}

static struct queue_info load(const char *name)
{
    struct err err = {0};
    struct queue_info info;
    EXPECT_OK(store_queue_load(bench.store, bench.arena, name, &info, &err), &err);
    return info;
}

static int64_t enqueue(const char *queue, int64_t delay_ms)
{
    struct err err = {0};
    struct job_created job;
    struct job_request request = {.queue = queue,
                                  .handler = "h",
                                  .delay_ms = delay_ms,
                                  .retry_delay_ms = -1,
                                  .actor = "test"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &job, NULL, &err), &err);
    return job.id;
}

STORE_TEST(queue, the_default_queue_is_there_and_others_stand_by_priority)
{
    struct err err = {0};
    struct queue_info *list = NULL;
    size_t count = 0;
    set("slow", -5);
    set("mail", 10);
    set("b.2", 0);
    EXPECT_OK(store_queue_list(bench.store, bench.arena, &list, &count, &err), &err);
    cr_assert_eq(count, 4);
    static const char *const ORDER[] = {"mail", "b.2", "default", "slow"};
    for (size_t i = 0; i < count; i++)
        EXPECT_STR(ORDER[i], list[i].name);
}

STORE_TEST(queue, a_change_leaves_alone_what_it_does_not_name)
{
    struct err err = {0};
    int64_t bound = 7;
    bool paused = true;
    set("mail", 3);
    struct queue_change change = {
        .name = "mail", .hard_pending = &bound, .paused = &paused, .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &change, false, &err), &err);
    struct queue_info info = load("mail");
    cr_assert_eq(info.priority, 3);
    cr_assert_eq(info.hard_pending, 7);
    cr_assert(info.paused);
    cr_assert_eq(info.max_running, 0);
}

STORE_TEST(queue, counts_tell_what_waits_is_delayed_and_runs)
{
    set("mail", 0);
    enqueue("mail", 0);
    int64_t since_us = bench_now_us;
    bench_now_us += 1000000;
    enqueue("mail", 0);
    enqueue("mail", 60000);
    enqueue("default", 0);
    struct queue_info info = load("mail");
    cr_assert_eq(info.pending, 2);
    cr_assert_eq(info.delayed, 1);
    cr_assert_eq(info.running, 0);
    cr_assert_eq(info.oldest_us, since_us);

    (void)bench_advance(&bench, NULL, 0, 8);
    info = load("mail");
    cr_assert_eq(info.pending, 0);
    cr_assert_eq(info.running, 2);
    cr_assert_eq(info.oldest_us, 0);
}

STORE_TEST(queue, work_of_a_run_in_the_foreground_is_not_the_queues)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    cr_assert_neq(bench.run.scope, 0);
    cr_assert_eq(load("default").pending, 0);
}

STORE_TEST(queue, hosts_with_a_lease_serve_the_queues_that_they_name)
{
    struct err err = {0};
    int64_t id = 0;
    set("mail", 0);
    set("mail2", 0);
    struct host_request host = {.name = "w",
                                .kind = "daemon",
                                .machine = "m",
                                .version = "1",
                                .roles = "scheduler worker",
                                .labels = "",
                                .queues = "bulk mail",
                                .pid = 1,
                                .boot = "b",
                                .slots = 4,
                                .lease_ms = 30000};
    EXPECT_OK(store_host_add(bench.store, &host, &id, &err), &err);
    cr_assert_eq(load("mail").serving_hosts, 1);
    cr_assert_eq(load("mail").served_at_us, bench_now_us);
    cr_assert_eq(load("mail2").serving_hosts, 0, "a name that begins the same is another");
    cr_assert_eq(load("mail2").served_at_us, 0);

    bench_now_us += 31000000;
    cr_assert_eq(load("mail").serving_hosts, 0, "its lease is over");
    cr_assert_neq(load("mail").served_at_us, 0, "but it was there a moment ago");
    EXPECT_OK(store_host_end(bench.store, id, &err), &err);
    cr_assert_eq(load("mail").served_at_us, 0);
}

Test(queue, words_are_compared_whole)
{
    static const struct {
        const char *queues;
        const char *name;
        bool among;
    } CASES[] = {
        {"", "any", true},         {"mail", "mail", true},   {"a mail b", "mail", true},
        {"a mail", "mail", true},  {"mails", "mail", false}, {"mail", "mails", false},
        {"a-mail", "mail", false}, {"a_b", "axb", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_expect_eq(queue_is_among(CASES[i].queues, CASES[i].name), CASES[i].among, "%s in '%s'",
                     CASES[i].name, CASES[i].queues);
}

STORE_TEST(queue, what_is_not_there_is_named_with_the_nearest)
{
    struct err err = {0};
    struct queue_info info;
    bool paused = true;
    set("mail", 0);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_queue_load(bench.store, bench.arena, "mial", &info, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "did you mean 'mail'?");
    EXPECT_CONTAINS(err.text, "eider queues set mial");
    struct queue_change change = {.name = "nope", .paused = &paused, .actor = "test"};
    EXPECT_STATUS(STATUS_NOT_FOUND, store_queue_set(bench.store, &change, false, &err), &err);
}

STORE_TEST(queue, bad_names_and_numbers_are_refused)
{
    struct err err = {0};
    static const char *const NAMES[] = {"", "a b", "-a", "a/b", "ü"};
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        struct queue_change change = {.name = NAMES[i], .actor = "test"};
        EXPECT_STATUS(STATUS_INVALID, store_queue_set(bench.store, &change, true, &err), &err);
    }
    int64_t negative = -1;
    int64_t large = 1000001;
    struct queue_change bound = {.name = "q", .max_running = &negative, .actor = "test"};
    EXPECT_STATUS(STATUS_INVALID, store_queue_set(bench.store, &bound, true, &err), &err);
    EXPECT_CONTAINS(err.text, "max_running");
    struct queue_change priority = {.name = "q", .priority = &large, .actor = "test"};
    EXPECT_STATUS(STATUS_INVALID, store_queue_set(bench.store, &priority, true, &err), &err);
}

STORE_TEST(queue, only_an_empty_queue_can_be_deleted)
{
    struct err err = {0};
    set("mail", 0);
    int64_t id = enqueue("mail", 60000);
    EXPECT_STATUS(STATUS_CONFLICT, store_queue_delete(bench.store, "default", "test", &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_queue_delete(bench.store, "mail", "test", &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_queue_delete(bench.store, "nope", "test", &err), &err);

    struct job_purge purge = {.filter = {.limit = 10}, .ended_before_us = INT64_MAX, .actor = "t"};
    int64_t gone = 0;
    EXPECT_OK(store_job_cancel(bench.store, id, "test", &err), &err);
    EXPECT_OK(store_job_purge(bench.store, &purge, &gone, &err), &err);
    EXPECT_OK(store_queue_delete(bench.store, "mail", "test", &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_queue_delete(bench.store, "mail", "test", &err), &err);
}
