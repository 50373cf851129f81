/* Workers behind HTTP: who they are, what a claim's name gives again, and what is theirs. */
#include <criterion/criterion.h>
#include <string.h>

#include "store/job.h"
#include "store/worker_claim.h"
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

TestSuite(worker_claim, .init = setup, .fini = teardown);

static int64_t enqueue(void)
{
    struct err err = {0};
    struct job_created created;
    struct job_request request = {.queue = "default", .handler = "send", .payload = "1"};
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &created, NULL, &err), &err);
    return created.id;
}

static struct worker_host come(const char *name, const char *owner)
{
    struct err err = {0};
    struct worker_host host = {0};
    const struct host_request request = {
        .name = name, .kind = WORKER_HOST_KIND, .machine = owner, .slots = 1, .lease_ms = 60000};
    EXPECT_OK(store_worker_add(bench.store, &request, &host, &err), &err);
    return host;
}

struct got {
    struct claim *claims;
    size_t count;
};

static struct got claim(int64_t host, const char *name, int64_t slots)
{
    struct err err = {0};
    struct got got = {0};
    const struct worker_claim wanted = {.host = host, .name = name, .slots = slots};
    EXPECT_OK(store_worker_claim(bench.store, &wanted, bench.arena, &got.claims, &got.count, &err),
              &err);
    return got;
}

static struct worker_held held_of(const struct claim *claim)
{
    return (struct worker_held){
        .task = claim->task, .attempt = claim->attempt, .nonce = claim->nonce};
}

static enum status look(const struct worker_held *held, const char *owner,
                        struct worker_attempt *out)
{
    struct err err = {0};
    return store_worker_attempt(bench.store, held, owner, bench.arena, out, &err);
}

STORE_TEST(worker_claim, a_worker_is_found_by_its_owner_alone)
{
    struct err err = {0};
    struct worker_host found = {0};
    struct worker_host host = come("w", "gpu");
    EXPECT_OK(store_worker_find(bench.store, "w", "gpu", &found, &err), &err);
    cr_assert_eq(found.id, host.id);
    cr_assert_eq(found.lease_ms, 60000);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_worker_find(bench.store, "w", "cpu", &found, &err), &err);
    err = (struct err){0};
    EXPECT_OK(store_host_end(bench.store, host.id, &err), &err);
    err = (struct err){0};
    EXPECT_STATUS(STATUS_NOT_FOUND, store_worker_find(bench.store, "w", "gpu", &found, &err), &err);
}

STORE_TEST(worker_claim, a_name_gives_the_same_again_while_it_is_held)
{
    struct worker_host host = come("w", "gpu");
    int64_t one = enqueue();
    int64_t two = enqueue();
    struct got first = claim(host.id, "a", 1);
    struct got again = claim(host.id, "a", 1);
    struct got other = claim(host.id, "b", 1);
    cr_assert_eq(first.count, 1);
    cr_assert_eq(first.claims[0].task, one);
    cr_assert_eq(again.count, 1);
    cr_assert_eq(again.claims[0].task, one);
    cr_assert_eq(memcmp(&first.claims[0].nonce, &again.claims[0].nonce, sizeof(struct nonce)), 0);
    cr_assert_eq(other.count, 1);
    cr_assert_eq(other.claims[0].task, two);
    cr_assert_eq(claim(host.id, "c", 9).count, 0);
    cr_assert_eq(claim(host.id, NULL, 9).count, 0);
}

STORE_TEST(worker_claim, a_name_of_what_is_over_claims_anew)
{
    struct err err = {0};
    struct worker_host host = come("w", "gpu");
    int64_t job = enqueue();
    struct got first = claim(host.id, "a", 1);
    struct worker_held held = held_of(&first.claims[0]);
    EXPECT_OK(store_worker_return(bench.store, host.id, &held, 1, &err), &err);
    EXPECT_OK(store_worker_return(bench.store, host.id, &held, 1, &err), &err);
    struct got again = claim(host.id, "a", 1);
    cr_assert_eq(again.count, 1);
    cr_assert_eq(again.claims[0].task, job);
    cr_assert_gt(again.claims[0].attempt, held.attempt);
}

STORE_TEST(worker_claim, what_it_holds_is_listed_with_its_nonces)
{
    struct err err = {0};
    struct worker_host host = come("w", "gpu");
    (void)enqueue();
    (void)enqueue();
    struct got got = claim(host.id, NULL, 2);
    struct worker_held *held = NULL;
    size_t count = 0;
    EXPECT_OK(store_worker_held(bench.store, host.id, bench.arena, &held, &count, &err), &err);
    cr_assert_eq(got.count, 2);
    cr_assert_eq(count, 2);
    for (size_t i = 0; i < count; i++) {
        cr_assert_gt(held[i].started_at_us, 0);
        struct worker_attempt attempt;
        cr_assert_eq(look(&held[i], "gpu", &attempt), STATUS_OK);
    }
}

STORE_TEST(worker_claim, only_who_owns_it_and_knows_its_nonce_sees_an_attempt)
{
    struct worker_host host = come("w", "gpu");
    (void)enqueue();
    struct got got = claim(host.id, NULL, 1);
    struct worker_held held = held_of(&got.claims[0]);
    struct worker_attempt attempt = {0};
    cr_assert_eq(look(&held, "gpu", &attempt), STATUS_OK);
    cr_assert_eq(attempt.state, TASK_RUNNING);
    cr_assert_eq(look(&held, "cpu", &attempt), STATUS_CONFLICT);
    struct worker_held wrong = held;
    wrong.nonce.bytes[3] ^= 1;
    cr_assert_eq(look(&wrong, "gpu", &attempt), STATUS_CONFLICT);
    wrong = held;
    wrong.attempt++;
    cr_assert_eq(look(&wrong, "gpu", &attempt), STATUS_CONFLICT);
    wrong = held;
    wrong.task++;
    cr_assert_eq(look(&wrong, "gpu", &attempt), STATUS_CONFLICT);

    struct outcome outcome = bench_outcome(&got.claims[0], 0);
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(look(&held, "gpu", &attempt), STATUS_OK);
    cr_assert_eq(attempt.state, TASK_SUCCESS);
    cr_assert_eq(attempt.reason, REASON_EXIT);
}

STORE_TEST(worker_claim, what_was_told_at_the_end_is_known_of_the_last_attempt)
{
    struct err err = {0};
    struct worker_attempt attempt = {0};
    struct worker_host host = come("w", "gpu");
    int64_t job = enqueue();
    struct got got = claim(host.id, NULL, 1);
    struct worker_held held = held_of(&got.claims[0]);
    const struct outcome_value value = {.key = JOB_RESULT_KEY, .json = "{\"x\":1}"};
    struct outcome outcome = bench_outcome(&got.claims[0], 0);
    outcome.values = &value;
    outcome.values_count = 1;
    outcome.detail = "well";
    (void)bench_advance(&bench, &outcome, 1, 0);
    cr_assert_eq(look(&held, "gpu", &attempt), STATUS_OK);
    cr_assert(attempt.has_last_word);
    EXPECT_STR("{\"x\":1}", attempt.result);
    EXPECT_STR("well", attempt.detail);

    EXPECT_OK(store_job_retry(bench.store, job, "ann", &err), &err);
    cr_assert_eq(look(&held, "gpu", &attempt), STATUS_OK);
    cr_assert(!attempt.has_last_word);
    cr_assert_null(attempt.result);
    EXPECT_STR("well", attempt.detail);
}

/* Whoever ends an attempt need not be the one that claimed it, nor the one that claimed before. */
STORE_TEST(worker_claim, an_end_is_taken_by_a_store_that_remembers_an_older_attempt)
{
    struct err err = {0};
    const struct store_options options = {
        .url = bench.db.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    CLEANUP(store_closep) struct store *other = NULL;
    EXPECT_OK(store_open(&options, &other, &err), &err);
    struct worker_host host = come("w", "gpu");
    (void)enqueue();
    struct got first = claim(host.id, NULL, 1);
    struct worker_held held = held_of(&first.claims[0]);
    EXPECT_OK(store_worker_return(other, host.id, &held, 1, &err), &err);
    struct got second = {0};
    const struct worker_claim wanted = {.host = host.id, .slots = 1};
    EXPECT_OK(store_worker_claim(other, &wanted, bench.arena, &second.claims, &second.count, &err),
              &err);
    cr_assert_eq(second.count, 1);
    struct outcome outcome = bench_outcome(&second.claims[0], 0);
    cr_assert(bench_advance(&bench, &outcome, 1, 0).accepted[0]);
}
