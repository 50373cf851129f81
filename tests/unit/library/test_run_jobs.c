/* A worker claims, ends and hands back; whoever lost its claim changes nothing. */
#include "library_bench.h"
#include "store/dead.h"
#include "store/host.h"

enum { LEASE_MS = 500, ROUNDS_MAX = 400 };

static struct library_bench bench;
static struct eider *other;

static void setup(void)
{
    library_bench_open(&bench);
    EXPECT_DONE(eider_worker_begin(bench.e, &(struct eider_worker_options){.name = "one"}),
                bench.e);
    EXPECT_DONE(eider_open(bench.db.url, &other), other);
}

static void teardown(void)
{
    eider_close(other);
    library_bench_close(&bench);
}

TestSuite(run_jobs, .init = setup, .fini = teardown);

static void enqueue(const struct eider_job_request *request, char id[static EIDER_ID_SIZE])
{
    EXPECT_DONE(eider_enqueue(bench.e, request, id), bench.e);
}

static struct eider_claim claim_new(int64_t retries, char id[static EIDER_ID_SIZE])
{
    struct eider_job_request request = {
        .handler = "work", .payload = "[1]", .retries = retries, .retry_delay_ms = EIDER_NO_DELAY};
    enqueue(&request, id);
    return library_bench_claim(bench.e);
}

static size_t count_claimable(struct eider *e)
{
    struct eider_claim claims[9] = {0};
    size_t count = 0;
    EXPECT_DONE(eider_claim(e, 9, claims, &count), e);
    for (size_t i = 0; i < count; i++) {
        EXPECT_DONE(eider_release(e, &claims[i]), e);
        eider_claim_free(&claims[i]);
    }
    return count;
}

Test(run_jobs, a_claim_brings_the_job)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    EXPECT_STR(id, claim.job);
    EXPECT_STR("default", claim.queue);
    EXPECT_STR("work", claim.handler);
    EXPECT_STR("[1]", claim.payload);
    EXPECT_STR("default", claim.namespace_);
    cr_assert_eq(claim.attempt, 1);
    EXPECT_JOB(&bench, id, "claimed");
    cr_assert_eq(count_claimable(bench.e), 0);
    eider_claim_free(&claim);
    eider_claim_free(&claim);
}

Test(run_jobs, no_more_come_than_were_asked_for)
{
    char ids[6][EIDER_ID_SIZE];
    struct eider_job_request requests[6] = {{.handler = "noop"}, {.handler = "work"},
                                            {.handler = "noop"}, {.handler = "work"},
                                            {.handler = "noop"}, {.handler = "work"}};
    struct eider_claim claims[6] = {0};
    size_t first = 0;
    size_t second = 0;
    EXPECT_DONE(eider_enqueue_many(bench.e, requests, 6, ids), bench.e);
    EXPECT_DONE(eider_claim(bench.e, 4, claims, &first), bench.e);
    cr_assert_eq(first, 4);
    EXPECT_DONE(eider_claim(bench.e, 2, claims + 4, &second), bench.e);
    cr_assert_eq(second, 2);
    for (size_t i = 0; i < 6; i++)
        eider_claim_free(&claims[i]);
}

Test(run_jobs, a_worker_claims_from_its_queues)
{
    char id[EIDER_ID_SIZE];
    struct eider_worker_options options = {.name = "picky", .queues = "elsewhere"};
    EXPECT_DONE(eider_worker_begin(other, &options), other);
    enqueue(&(struct eider_job_request){.handler = "work"}, id);
    cr_assert_eq(count_claimable(other), 0);
    cr_assert_eq(count_claimable(bench.e), 1);
}

Test(run_jobs, a_completed_job_has_its_result)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    EXPECT_EIDER(EIDER_INVALID, eider_complete(bench.e, &claim, "{"), bench.e);
    EXPECT_JOB(&bench, id, "claimed");
    EXPECT_DONE(eider_complete(bench.e, &claim, "{\"sum\":3}"), bench.e);
    EXPECT_JOB(&bench, id, "completed");
    EXPECT_STR("{\"sum\":3}", library_bench_job(&bench, id).result);
    eider_claim_free(&claim);
    EXPECT_EIDER(EIDER_INVALID, eider_complete(bench.e, &claim, NULL), bench.e);
}

Test(run_jobs, the_same_end_twice_is_one_and_another_is_stale)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    EXPECT_DONE(eider_complete(bench.e, &claim, "1"), bench.e);
    EXPECT_DONE(eider_complete(bench.e, &claim, "2"), bench.e);
    EXPECT_STR("1", library_bench_job(&bench, id).result);
    EXPECT_EIDER(EIDER_STALE, eider_fail(bench.e, &claim, "no", 1), bench.e);
    EXPECT_EIDER(EIDER_STALE, eider_release(bench.e, &claim), bench.e);
    EXPECT_EIDER(EIDER_STALE, eider_cancel(bench.e, &claim), bench.e);
    EXPECT_JOB(&bench, id, "completed");
    eider_claim_free(&claim);
}

Test(run_jobs, a_wrong_token_changes_nothing)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    claim.token[0] ^= 1;
    EXPECT_EIDER(EIDER_STALE, eider_complete(bench.e, &claim, NULL), bench.e);
    EXPECT_JOB(&bench, id, "claimed");
    claim.token[0] ^= 1;
    EXPECT_DONE(eider_complete(bench.e, &claim, NULL), bench.e);
    eider_claim_free(&claim);
}

Test(run_jobs, a_failure_is_tried_again_while_there_are_tries)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim first = claim_new(1, id);
    EXPECT_DONE(eider_fail(bench.e, &first, "bad \xff weather", 1), bench.e);
    EXPECT_JOB(&bench, id, "delayed");
    EXPECT_DONE(eider_fail(bench.e, &first, "the same, told twice", 1), bench.e);
    struct eider_claim second = library_bench_claim(bench.e);
    cr_assert_eq(second.attempt, 2);
    EXPECT_DONE(eider_fail(bench.e, &first, "and again, from the record", 1), bench.e);
    EXPECT_EIDER(EIDER_STALE, eider_complete(bench.e, &first, NULL), bench.e);
    EXPECT_DONE(eider_fail(bench.e, &second, NULL, 1), bench.e);
    EXPECT_JOB(&bench, id, "failed");
    cr_assert(library_bench_job(&bench, id).is_dead);
    eider_claim_free(&first);
    eider_claim_free(&second);
}

Test(run_jobs, a_failure_without_retry_is_the_end)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(5, id);
    EXPECT_DONE(eider_fail(bench.e, &claim, "never", 0), bench.e);
    EXPECT_JOB(&bench, id, "failed");
    EXPECT_STR("never", library_bench_job(&bench, id).error);
    eider_claim_free(&claim);
}

Test(run_jobs, what_is_handed_back_counts_for_nothing)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    EXPECT_DONE(eider_release(bench.e, &claim), bench.e);
    EXPECT_DONE(eider_release(bench.e, &claim), bench.e);
    EXPECT_JOB(&bench, id, "pending");
    struct eider_claim again = library_bench_claim(bench.e);
    EXPECT_EIDER(EIDER_STALE, eider_complete(bench.e, &claim, NULL), bench.e);
    EXPECT_DONE(eider_complete(bench.e, &again, NULL), bench.e);
    cr_assert_eq(library_bench_job(&bench, id).failures, 0);
    eider_claim_free(&claim);
    eider_claim_free(&again);
}

Test(run_jobs, a_wish_to_stop_is_seen_and_followed)
{
    char id[EIDER_ID_SIZE];
    int is_wanted = -1;
    struct err err = {0};
    struct eider_claim claim = claim_new(3, id);
    EXPECT_DONE(eider_is_cancelled(bench.e, &claim, &is_wanted), bench.e);
    cr_assert_eq(is_wanted, 0);
    EXPECT_OK(store_job_cancel(bench.store, library_bench_id(id), "tester", &err), &err);
    EXPECT_DONE(eider_is_cancelled(bench.e, &claim, &is_wanted), bench.e);
    cr_assert_eq(is_wanted, 1);
    EXPECT_DONE(eider_cancel(bench.e, &claim), bench.e);
    EXPECT_JOB(&bench, id, "cancelled");
    EXPECT_EIDER(EIDER_STALE, eider_is_cancelled(bench.e, &claim, &is_wanted), bench.e);
    eider_claim_free(&claim);
}

/* --- leases ---------------------------------------------------------------------------------- */

static void sweep(void)
{
    struct err err = {0};
    struct sweep_result result = {0};
    library_bench_expire(&bench);
    EXPECT_OK(store_sweep(bench.store, 0, bench.arena, &result, &err), &err);
    cr_assert_eq(result.hosts, 1);
}

Test(run_jobs, who_is_silent_too_long_loses_its_claims)
{
    char id[EIDER_ID_SIZE];
    int is_wanted = 0;
    size_t count = 0;
    struct eider_claim late = claim_new(0, id);
    struct eider_claim none = {0};
    sweep();
    EXPECT_DONE(eider_worker_begin(other, NULL), other);
    struct eider_claim taken = library_bench_claim(other);
    EXPECT_STR(id, taken.job);
    EXPECT_EIDER(EIDER_STALE, eider_is_cancelled(bench.e, &late, &is_wanted), bench.e);
    EXPECT_EIDER(EIDER_STALE, eider_complete(bench.e, &late, "\"late\""), bench.e);
    EXPECT_JOB(&bench, id, "claimed");
    EXPECT_EIDER(EIDER_LOST, eider_heartbeat(bench.e), bench.e);
    EXPECT_EIDER(EIDER_LOST, eider_claim(bench.e, 1, &none, &count), bench.e);
    EXPECT_EIDER(EIDER_LOST, eider_wait(bench.e, 0), bench.e);
    cr_assert_eq(eider_heartbeat_due(bench.e), -1);
    EXPECT_DONE(eider_complete(other, &taken, "\"in time\""), other);
    EXPECT_STR("\"in time\"", library_bench_job(&bench, id).result);
    /* It may come back as another host. */
    EXPECT_DONE(eider_worker_begin(bench.e, NULL), bench.e);
    EXPECT_DONE(eider_heartbeat(bench.e), bench.e);
    eider_claim_free(&late);
    eider_claim_free(&taken);
}

Test(run_jobs, a_late_end_counts_while_nobody_has_taken_the_claim)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    library_bench_expire(&bench);
    EXPECT_DONE(eider_complete(bench.e, &claim, NULL), bench.e);
    EXPECT_JOB(&bench, id, "completed");
    eider_claim_free(&claim);
}

Test(run_jobs, workers_take_back_what_a_dead_one_held)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim lost = claim_new(0, id);
    struct eider_claim found = {0};
    struct eider_worker_options options = {.name = "two", .lease_ms = LEASE_MS};
    size_t count = 0;
    db_bench_script(bench.db.url, "UPDATE host SET lease_until_us = 1");
    EXPECT_DONE(eider_worker_begin(other, &options), other);
    for (int i = 0; i < ROUNDS_MAX && count == 0; i++) {
        EXPECT_DONE(eider_wait(other, LEASE_MS), other);
        EXPECT_DONE(eider_claim(other, 1, &found, &count), other);
    }
    cr_assert_eq(count, 1);
    EXPECT_STR(id, found.job);
    cr_assert_eq(found.attempt, 2);
    EXPECT_EIDER(EIDER_LOST, eider_heartbeat(bench.e), bench.e);
    eider_claim_free(&lost);
    eider_claim_free(&found);
}

Test(run_jobs, who_leaves_hands_back)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = claim_new(0, id);
    EXPECT_DONE(eider_worker_end(bench.e), bench.e);
    EXPECT_JOB(&bench, id, "pending");
    cr_assert_eq(library_bench_job(&bench, id).losses, 0);
    EXPECT_EIDER(EIDER_STALE, eider_complete(bench.e, &claim, NULL), bench.e);
    cr_assert_eq(library_bench_count(&bench, "SELECT count(*) FROM host WHERE fate = 'left'"), 1);
    EXPECT_EIDER(EIDER_INVALID, eider_heartbeat(bench.e), bench.e);
    eider_claim_free(&claim);
}

Test(run_jobs, one_that_is_drained_claims_nothing)
{
    char id[EIDER_ID_SIZE];
    int64_t host = 0;
    struct err err = {0};
    enqueue(&(struct eider_job_request){.handler = "work"}, id);
    EXPECT_OK(store_host_find(bench.store, "one", &host, &err), &err);
    EXPECT_OK(store_host_drain(bench.store, host, true, "tester", &err), &err);
    cr_assert_eq(eider_is_draining(bench.e), 0);
    EXPECT_DONE(eider_heartbeat(bench.e), bench.e);
    cr_assert_eq(eider_is_draining(bench.e), 1);
    cr_assert_eq(count_claimable(bench.e), 0);
    EXPECT_OK(store_host_drain(bench.store, host, false, "tester", &err), &err);
    EXPECT_DONE(eider_heartbeat(bench.e), bench.e);
    cr_assert_eq(count_claimable(bench.e), 1);
}

Test(run_jobs, names_and_options_are_checked)
{
    EXPECT_EIDER(EIDER_CONFLICT,
                 eider_worker_begin(other, &(struct eider_worker_options){.name = "one"}), other);
    EXPECT_EIDER(EIDER_INVALID,
                 eider_worker_begin(other, &(struct eider_worker_options){.lease_ms = 1}), other);
    EXPECT_EIDER(EIDER_INVALID, eider_worker_begin(bench.e, NULL), bench.e);
    EXPECT_EIDER(EIDER_INVALID, eider_heartbeat(other), other);
    cr_assert_eq(eider_heartbeat_due(other), -1);
    cr_assert_gt(eider_heartbeat_due(bench.e), 0);
}

Test(run_jobs, a_wait_ends_when_a_retry_is_due)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = {0};
    size_t count = 0;
    enqueue(&(struct eider_job_request){.handler = "work", .delay_ms = 300}, id);
    for (int i = 0; i < ROUNDS_MAX && count == 0; i++) {
        EXPECT_DONE(eider_claim(bench.e, 1, &claim, &count), bench.e);
        if (count == 0)
            EXPECT_DONE(eider_wait(bench.e, 4000), bench.e);
        cr_assert_leq(i, 20, "the waits were too short");
    }
    cr_assert_eq(count, 1);
    eider_claim_free(&claim);
}
