/* Keys of changes: taken once, with the change or not at all, and free again after a day. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "store/answered.h"
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

TestSuite(answered, .init = setup, .fini = teardown);

static const struct answered_key KEY = {"anna", "k", "one"};
static const struct answered DONE = {200, "{\"n\":1}"};

static void begin(void)
{
    struct err err = {0};
    EXPECT_OK(store_together_begin(bench.store, &err), &err);
}

static void commit(void)
{
    struct err err = {0};
    EXPECT_OK(store_together_commit(bench.store, &err), &err);
}

static struct answered take(const struct answered_key *key)
{
    struct err err = {0};
    struct answered answer = {0};
    EXPECT_OK(store_answered_take(bench.store, key, bench.arena, &answer, &err), &err);
    return answer;
}

static void keep(const struct answered_key *key)
{
    struct err err = {0};
    EXPECT_OK(store_answered_keep(bench.store, key, &DONE, &err), &err);
}

static void enqueue(void)
{
    struct err err = {0};
    struct job_created created;
    const struct job_request request = {.queue = "default", .handler = "h", .actor = "me"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
}

static int64_t jobs(void)
{
    struct err err = {0};
    int64_t count = 0;
    EXPECT_OK(store_job_count(bench.store, &(struct job_filter){0}, 100, &count, &err), &err);
    return count;
}

static void do_once(const struct answered_key *key)
{
    begin();
    cr_assert_eq(take(key).status, 0);
    enqueue();
    keep(key);
    commit();
}

STORE_TEST(answered, a_key_gives_the_same_answer_again_to_its_owner_alone)
{
    struct err err = {0};
    struct answered ignored;
    const struct answered_key other = {"anna", "k", "two"};
    const struct answered_key of_other = {"bert", "k", "one"};
    do_once(&KEY);

    begin();
    struct answered again = take(&KEY);
    cr_expect_eq(again.status, 200);
    cr_expect_str_eq(again.body, "{\"n\":1}");
    EXPECT_STATUS(STATUS_CONFLICT,
                  store_answered_take(bench.store, &other, bench.arena, &ignored, &err), &err);
    cr_expect_eq(take(&of_other).status, 0);
    cr_expect(store_together_undo(bench.store), "no part was committed");
}

STORE_TEST(answered, a_change_and_its_key_are_there_or_neither)
{
    struct err err = {0};
    begin();
    cr_assert_eq(take(&KEY).status, 0);
    enqueue();
    keep(&KEY);
    cr_expect_eq(jobs(), 1);
    cr_expect(!store_together_undo(bench.store), "the store remembers what did not happen");
    store_close(bench.store);
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
    cr_expect_eq(jobs(), 0);

    begin();
    cr_assert_eq(take(&KEY).status, 0);
    enqueue();
    keep(&KEY);
    store_together_spoil(bench.store);
    EXPECT_STATUS(STATUS_IO, store_together_commit(bench.store, &err), &err);
    store_close(bench.store);
    err = (struct err){0};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
    cr_expect_eq(jobs(), 0);
    do_once(&KEY);
    cr_expect_eq(jobs(), 1);
}

STORE_TEST(answered, what_failed_lets_go_of_its_key)
{
    struct err err = {0};
    begin();
    cr_assert_eq(take(&KEY).status, 0);
    EXPECT_OK(store_answered_forget(bench.store, &KEY, &err), &err);
    cr_assert_eq(take(&KEY).status, 0, "for the next one of the same transaction, too");
    EXPECT_OK(store_answered_forget(bench.store, &KEY, &err), &err);
    commit();
    do_once(&KEY);
}

STORE_TEST(answered, a_key_is_free_again_after_a_day)
{
    const struct answered_key later = {"anna", "k", "two"};
    do_once(&KEY);
    bench_now_us += (int64_t)ANSWERED_KEPT_MS * 1000;
    begin();
    cr_expect_eq(take(&KEY).status, 200, "up to the last moment");
    commit();
    bench_now_us += 1;
    do_once(&later);
    begin();
    cr_expect_eq(take(&later).status, 200);
    commit();
}

/* --- two at once ----------------------------------------------------------------------------- */

struct second {
    pthread_t thread;
    struct store *store;
    struct arena *arena;
    struct answered answer;
    struct err err;
};

static void *take_as_well(void *context)
{
    struct second *second = context;
    if (store_together_begin(second->store, &second->err) == STATUS_OK &&
        store_answered_take(second->store, &KEY, second->arena, &second->answer, &second->err) ==
            STATUS_OK)
        (void)!store_together_undo(second->store);
    return NULL;
}

/* The second one starts when the first has the key, and hears what becomes of it. */
static struct second meet(bool is_kept)
{
    struct second second = {.arena = arena_new(), .answer = {.status = -1}};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &second.store, &second.err), &second.err);
    begin();
    cr_assert_eq(take(&KEY).status, 0);
    cr_assert_eq(pthread_create(&second.thread, NULL, take_as_well, &second), 0);
    enqueue();
    keep(&KEY);
    if (is_kept)
        commit();
    else
        cr_assert(!store_together_undo(bench.store));
    cr_assert_eq(pthread_join(second.thread, NULL), 0);
    cr_expect_eq(second.err.code, STATUS_OK, "%s", second.err.text);
    store_close(second.store);
    return second;
}

STORE_TEST(answered, of_two_at_once_the_second_waits_for_the_first)
{
    struct second second = meet(true);
    cr_expect_eq(second.answer.status, 200);
    cr_expect_str_eq(second.answer.body, "{\"n\":1}");
    arena_free(second.arena);
}

STORE_TEST(answered, of_two_at_once_the_second_goes_on_when_the_first_gives_up)
{
    struct second second = meet(false);
    cr_expect_eq(second.answer.status, 0);
    arena_free(second.arena);
    store_close(bench.store);
    struct err err = {0};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
}
