/* Whom the token of a task lets in, and for how long. */
#include <criterion/criterion.h>
#include <string.h>

#include "store/job.h"
#include "store/task_pass.h"
#include "store_bench.h"

static struct bench_store bench;
static struct task_token_key key;

static void setup(void)
{
    struct err err = {0};
    bench_open(&bench);
    EXPECT_OK(store_task_key(bench.store, &key, &err), &err);
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(task_pass, .init = setup, .fini = teardown);

static enum status find(const struct task_token *token, struct task_holder *out)
{
    struct err err = {0};
    char text[TASK_TOKEN_MAX];
    return store_task_token_find(bench.store, bench.arena, task_token_format(token, text), out,
                                 &err);
}

static bool lets_in(const struct task_token *token)
{
    struct task_holder holder;
    return find(token, &holder) == STATUS_OK;
}

static struct task_token token_of(const struct claim *claim)
{
    return task_token_make(&key, claim->task, claim->attempt, &claim->nonce);
}

static bool is_held(const struct claim *claim)
{
    struct err err = {0};
    bool held = false;
    EXPECT_OK(store_task_is_held(bench.store, claim->task, claim->attempt, &held, &err), &err);
    return held;
}

STORE_TEST(task_pass, the_key_is_made_once)
{
    struct err err = {0};
    struct task_token_key again = {0};
    EXPECT_OK(store_task_key(bench.store, &again, &err), &err);
    cr_assert_eq(memcmp(&key, &again, sizeof key), 0);
    static const struct task_token_key ZERO = {0};
    cr_assert_neq(memcmp(&key, &ZERO, sizeof key), 0);
}

STORE_TEST(task_pass, a_task_is_who_it_is_as_long_as_it_runs)
{
    bench_start(&bench, "{\"dag\":\"shop\",\"namespace\":\"sales\",\"tasks\":{\"one\":{\"run\":"
                        "\"x\",\"retries\":1,\"retry_delay\":\"0s\"}}}");
    struct advance_result got = bench_advance(&bench, NULL, 0, 1);
    struct claim first = got.claims[0];
    struct task_token token = token_of(&first);
    struct task_holder holder = {0};

    cr_assert_eq(find(&token, &holder), STATUS_OK);
    cr_assert_eq(holder.task, first.task);
    cr_assert_eq(holder.attempt, 1);
    EXPECT_STR("sales", holder.space);
    cr_assert_eq(strncmp(holder.name, "task shop/", 10), 0, "%s", holder.name);
    cr_assert_str_eq(holder.name + strlen(holder.name) - 4, "/one");
    cr_assert(is_held(&first));

    struct outcome failed = bench_outcome(&first, 1);
    got = bench_advance(&bench, &failed, 1, 0);
    cr_assert_not(lets_in(&token), "it waits for its second try");
    cr_assert_not(is_held(&first));

    got = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(got.claims_count, 1);
    struct claim second = got.claims[0];
    struct task_token newer = token_of(&second);
    cr_assert_not(lets_in(&token), "that was the first try");
    cr_assert_not(is_held(&first));
    cr_assert(lets_in(&newer));

    struct outcome ended = bench_outcome(&second, 0);
    (void)bench_advance(&bench, &ended, 1, 0);
    cr_assert_not(lets_in(&newer));
}

STORE_TEST(task_pass, a_nonce_that_comes_again_does_not_bring_an_attempt_back)
{
    bench_start(&bench, "{\"tasks\":{\"one\":{\"run\":\"x\",\"retries\":1,"
                        "\"retry_delay\":\"0s\"}}}");
    struct advance_result got = bench_advance(&bench, NULL, 0, 1);
    struct task_token token = token_of(&got.claims[0]);
    struct outcome failed = bench_outcome(&got.claims[0], 1);
    (void)bench_advance(&bench, &failed, 1, 0);
    (void)bench_advance(&bench, NULL, 0, 1);

    bench_sql(&bench,
              "UPDATE task SET nonce = (SELECT a.nonce FROM attempt a WHERE a.task = task.id"
              " AND a.attempt = 1) WHERE state = 3");
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM task WHERE id = $1 AND attempt = 2"
                              " AND state = 3 AND nonce IS NOT NULL",
                              token.task),
                 1);
    cr_assert_not(lets_in(&token));
}

STORE_TEST(task_pass, a_proof_counts_for_its_own_claim_alone)
{
    bench_start(&bench, "{\"tasks\":{\"one\":{\"run\":\"x\"},\"two\":{\"run\":\"x\"}}}");
    struct advance_result got = bench_advance(&bench, NULL, 0, 2);
    cr_assert_eq(got.claims_count, 2);
    struct task_token one = token_of(&got.claims[0]);
    struct task_token two = token_of(&got.claims[1]);
    cr_assert(lets_in(&one) && lets_in(&two));

    struct task_token mixed = one;
    memcpy(mixed.proof, two.proof, sizeof mixed.proof);
    cr_assert_not(lets_in(&mixed), "the proof of another task");
    mixed = one;
    mixed.attempt = 2;
    cr_assert_not(lets_in(&mixed), "an attempt that there was not");
    struct task_token_key wrong = key;
    wrong.bytes[31] ^= 1;
    mixed = task_token_make(&wrong, one.task, one.attempt, &got.claims[0].nonce);
    cr_assert_not(lets_in(&mixed), "who knows the nonce alone");

    /* The same attempt under another claim: a store that was brought back from a copy. */
    bench_sql(&bench, arena_format(bench.arena,
                                   "UPDATE task SET nonce = (SELECT o.nonce FROM task o WHERE "
                                   "o.id = %lld) WHERE id = %lld",
                                   (long long)two.task, (long long)one.task));
    cr_assert_not(lets_in(&one));
    cr_assert(lets_in(&two));
}

STORE_TEST(task_pass, a_job_is_in_its_own_namespace)
{
    struct err err = {0};
    struct job_created created;
    struct job_request request = {
        .queue = "default", .handler = "send", .payload = "1", .namespace_ = "sales"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    struct advance_result got = bench_advance(&bench, NULL, 0, 1);
    struct task_token token = token_of(&got.claims[0]);
    struct task_holder holder = {0};

    cr_assert_eq(find(&token, &holder), STATUS_OK);
    EXPECT_STR("sales", holder.space);
    EXPECT_STR(arena_format(bench.arena, "job %lld", (long long)created.id), holder.name);
    struct outcome ended = bench_outcome(&got.claims[0], 0);
    (void)bench_advance(&bench, &ended, 1, 0);
    cr_assert_not(lets_in(&token));
}

STORE_TEST(task_pass, texts_that_are_no_token_are_not_found)
{
    static const char *const CASES[] = {"", "eda_", "eda_1_1_", "eda_1_1_x"};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct task_holder holder;
        EXPECT_STATUS(STATUS_NOT_FOUND,
                      store_task_token_find(bench.store, bench.arena, CASES[i], &holder, &err),
                      &err);
    }
}
