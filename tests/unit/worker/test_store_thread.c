/*
 * The thread that owns the write connection.
 */
#include "store/job.h"
#include "store_bench.h"
#include "worker/store_thread.h"

static struct bench_store bench;
static struct loop *loop;

static void setup(void)
{
    struct err err = {0};
    bench = (struct bench_store){0};
    bench_open(&bench);
    EXPECT_OK(loop_new(&loop, &err), &err);
}

static void teardown(void)
{
    loop_free(loop);
    bench_close(&bench);
}

TestSuite(store_thread, .init = setup, .fini = teardown);

enum { CALLS = 100 };

struct numbered {
    struct store_call call; /* first: a call is cast back */
    int number;
    char uuid[37];
};

static struct numbered calls[CALLS];
static int ran[CALLS];
static int ran_count;
static int done[CALLS];
static int done_count;

static void run_one(struct store *store, struct store_call *call)
{
    struct err err = {0};
    struct store_info info;
    struct numbered *one = (struct numbered *)call;
    if (store_describe(store, &info, &err) == STATUS_OK)
        memcpy(one->uuid, info.uuid, sizeof one->uuid);
    ran[ran_count++] = one->number;
}

static void done_one(struct store_call *call)
{
    done[done_count++] = ((struct numbered *)call)->number;
    if (done_count == CALLS)
        loop_stop(loop);
}

static struct store_thread *start(void)
{
    struct err err = {0};
    struct store_thread *thread = NULL;
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_thread_start(loop, &options, &thread, &err), &err);
    return thread;
}

static void hand_in(struct store_thread *thread)
{
    for (int i = 0; i < CALLS; i++) {
        calls[i] = (struct numbered){.call = {.run = run_one, .done = done_one}, .number = i};
        store_thread_call(thread, &calls[i].call);
    }
}

Test(store_thread, calls_run_and_come_back_in_order)
{
    struct err err = {0};
    struct store_info info;
    struct store_thread *thread = start();
    hand_in(thread);

    loop_run(loop);
    store_thread_stop(thread);

    EXPECT_OK(store_describe(bench.store, &info, &err), &err);
    cr_assert_eq(ran_count, CALLS);
    cr_assert_eq(done_count, CALLS);
    for (int i = 0; i < CALLS; i++) {
        cr_assert_eq(ran[i], i);
        cr_assert_eq(done[i], i);
        EXPECT_STR(info.uuid, calls[i].uuid);
        cr_assert_eq(calls[i].call.thread, thread);
    }
}

Test(store_thread, a_stop_waits_for_the_calls_handed_in)
{
    struct store_thread *thread = start();
    hand_in(thread);

    store_thread_stop(thread);

    cr_assert_eq(ran_count, CALLS);
    for (int i = 0; i < CALLS; i++)
        cr_assert_eq(ran[i], i);
    cr_assert_eq(done_count, 0);
    store_thread_stop(NULL);
}

Test(store_thread, a_store_that_does_not_open_is_reported)
{
    struct err err = {0};
    struct store_thread *thread = NULL;
    const char *url = arena_format(bench.arena, "sqlite:%s/none/eider.db", bench.dir);
    struct store_options options = {.url = url, .mode = DB_READ_ONLY};

    EXPECT_STATUS(STATUS_NOT_FOUND, store_thread_start(loop, &options, &thread, &err), &err);
    cr_assert_null(thread);
    cr_assert_neq(err.text[0], '\0');
}

/* --- standing by ----------------------------------------------------------------------------- */

static void done_standing(struct store_call *call)
{
    done[done_count++] = ((struct numbered *)call)->number;
    loop_stop(loop);
}

static struct numbered standing_call(void)
{
    return (struct numbered){.call = {.run = run_one, .done = done_standing}, .number = 7};
}

static void enqueue_one(void *context)
{
    (void)context;
    struct err err = {0};
    struct job_created created;
    struct job_request request = {.queue = "default", .handler = "noop", .payload = "1"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
}

Test(store_thread, a_call_that_stands_by_runs_when_there_is_work)
{
    struct store_thread *thread = start();
    struct numbered standing = standing_call();
    bool stands = store_thread_stand_by(thread, &standing.call);
    cr_assert_eq(stands, db_bench_is_postgres(), "an embedded store tells nothing");
    if (stands) {
        /* More than one: the thread may not listen yet when the first is told. */
        struct loop_timer *again = loop_timer_new(loop, enqueue_one, NULL);
        loop_timer_start(again, 1, 50);
        loop_run(loop);
        loop_timer_free(again);
        cr_assert(standing.call.was_run);
        cr_assert_eq(ran_count, 1);
    }
    store_thread_stop(thread);
}

Test(store_thread, another_call_sends_back_the_one_that_stands_by)
{
    struct store_thread *thread = start();
    struct numbered standing = standing_call();
    if (store_thread_stand_by(thread, &standing.call)) {
        struct numbered other = {.call = {.run = run_one, .done = done_one}, .number = 8};
        store_thread_call(thread, &other.call);
        loop_run(loop);
        cr_assert_not(standing.call.was_run);
        cr_assert_eq(done[0], 7);
    }
    store_thread_stop(thread);
}

Test(store_thread, a_stop_does_not_wait_for_one_that_stands_by)
{
    struct store_thread *thread = start();
    struct numbered standing = standing_call();
    (void)!store_thread_stand_by(thread, &standing.call);
    store_thread_stop(thread);
    cr_assert_eq(ran_count, 0);
}
