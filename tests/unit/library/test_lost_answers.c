/* Commits whose answer is lost on the way: the library finds out what happened. */
#include "library_bench.h"
#include "pg_between.h"

static struct library_bench bench;
static struct proxy proxy;
static struct eider *far;

static void setup(void)
{
    library_bench_open(&bench);
    if (!db_bench_is_postgres())
        return;
    proxy_start(&proxy);
    CLEANUP(mem_freep)
    char *url = mem_format("postgresql://postgres@127.0.0.1:%d/postgres?sslmode=disable&"
                           "options=-csearch_path%%3D%s",
                           proxy.port, bench.db.schema);
    EXPECT_DONE(eider_open(url, &far), far);
}

static void teardown(void)
{
    if (db_bench_is_postgres()) {
        eider_close(far);
        proxy_stop(&proxy);
    }
    library_bench_close(&bench);
}

TestSuite(lost_answers, .init = setup, .fini = teardown);

static void need_server(void)
{
    if (!db_bench_is_postgres())
        cr_skip_test("an embedded store answers");
}

static void lose_next_commit(void)
{
    need_server();
    proxy.lose_answer = "COMMIT";
}

/* The commit happened, and nobody was told. */
static void expect_lost(void)
{
    cr_assert_null(proxy.lose_answer, "nothing was lost");
}

static struct eider_claim claim_new(char id[static EIDER_ID_SIZE])
{
    struct eider_job_request request = {
        .handler = "work", .retries = 1, .retry_delay_ms = EIDER_NO_DELAY};
    EXPECT_DONE(eider_worker_begin(far, NULL), far);
    EXPECT_DONE(eider_enqueue(far, &request, id), far);
    return library_bench_claim(far);
}

Test(lost_answers, a_job_is_there_once)
{
    char id[EIDER_ID_SIZE];
    lose_next_commit();
    EXPECT_DONE(eider_enqueue(far, &(struct eider_job_request){.handler = "work"}, id), far);
    expect_lost();
    EXPECT_JOB(&bench, id, "pending");
    cr_assert_eq(library_bench_count(&bench, "SELECT count(*) FROM job"), 1);
}

Test(lost_answers, a_worker_is_one_host)
{
    lose_next_commit();
    EXPECT_DONE(eider_worker_begin(far, &(struct eider_worker_options){.name = "w"}), far);
    expect_lost();
    cr_assert_eq(library_bench_count(&bench, "SELECT count(*) FROM host WHERE kind = 'client'"), 1);
    EXPECT_DONE(eider_heartbeat(far), far);
}

Test(lost_answers, a_claim_comes_all_the_same_and_once)
{
    char ids[2][EIDER_ID_SIZE];
    struct eider_job_request requests[2] = {{.handler = "a"}, {.handler = "b"}};
    struct eider_claim claims[3] = {0};
    size_t count = 0;
    need_server();
    EXPECT_DONE(eider_worker_begin(far, NULL), far);
    EXPECT_DONE(eider_enqueue_many(far, requests, 2, ids), far);
    claims[0] = library_bench_claim(far);
    lose_next_commit();
    EXPECT_DONE(eider_claim(far, 2, claims + 1, &count), far);
    expect_lost();
    cr_assert_eq(count, 1, "not the one that is known");
    EXPECT_STR("b", claims[1].handler);
    EXPECT_DONE(eider_claim(far, 1, claims + 2, &count), far);
    cr_assert_eq(count, 0);
    for (size_t i = 0; i < 2; i++) {
        EXPECT_DONE(eider_complete(far, &claims[i], NULL), far);
        eider_claim_free(&claims[i]);
    }
}

Test(lost_answers, every_end_is_told_as_what_it_was)
{
    static enum eider_status (*const PLAIN[])(struct eider *, const struct eider_claim *) = {
        eider_release, eider_cancel};
    char id[EIDER_ID_SIZE];
    need_server();
    struct eider_claim claim = claim_new(id);
    lose_next_commit();
    EXPECT_DONE(eider_fail(far, &claim, "once", 1), far);
    expect_lost();
    cr_assert_eq(library_bench_job(&bench, id).failures, 1);
    eider_claim_free(&claim);
    for (size_t i = 0; i < ARRAY_LEN(PLAIN); i++) {
        claim = library_bench_claim(far);
        lose_next_commit();
        EXPECT_DONE(PLAIN[i](far, &claim), far);
        expect_lost();
        eider_claim_free(&claim);
    }
    EXPECT_JOB(&bench, id, "cancelled");
}

Test(lost_answers, a_completed_job_is_completed)
{
    char id[EIDER_ID_SIZE];
    need_server();
    struct eider_claim claim = claim_new(id);
    lose_next_commit();
    EXPECT_DONE(eider_complete(far, &claim, "7"), far);
    expect_lost();
    EXPECT_STR("7", library_bench_job(&bench, id).result);
    lose_next_commit();
    EXPECT_DONE(eider_heartbeat(far), far);
    expect_lost();
    lose_next_commit();
    EXPECT_DONE(eider_worker_end(far), far);
    expect_lost();
    eider_claim_free(&claim);
}

/* With the answer the server goes too, so nothing can be read back. */
static void lose_everything(void)
{
    proxy.then_nobody = true;
    lose_next_commit();
}

Test(lost_answers, an_end_that_cannot_be_read_back_is_unknown)
{
    char id[EIDER_ID_SIZE];
    need_server();
    struct eider_claim claim = claim_new(id);
    lose_everything();
    EXPECT_EIDER(EIDER_UNKNOWN, eider_complete(far, &claim, NULL), far);
    EXPECT_EIDER(EIDER_UNREACHABLE, eider_heartbeat(far), far);
    EXPECT_DONE(eider_complete(bench.e, &claim, NULL), bench.e);
    eider_claim_free(&claim);
}

Test(lost_answers, a_job_that_cannot_be_read_back_is_unknown)
{
    char id[EIDER_ID_SIZE];
    lose_everything();
    EXPECT_EIDER(EIDER_UNKNOWN,
                 eider_enqueue(far, &(struct eider_job_request){.handler = "work"}, id), far);
    cr_assert_eq(library_bench_count(&bench, "SELECT count(*) FROM job"), 1);
}

Test(lost_answers, a_claim_that_cannot_be_read_back_is_unknown)
{
    char id[EIDER_ID_SIZE];
    struct eider_claim claim = {0};
    size_t count = 0;
    need_server();
    EXPECT_DONE(eider_worker_begin(far, NULL), far);
    EXPECT_DONE(eider_enqueue(far, &(struct eider_job_request){.handler = "work"}, id), far);
    lose_everything();
    EXPECT_EIDER(EIDER_UNKNOWN, eider_claim(far, 1, &claim, &count), far);
    cr_assert_eq(count, 0);
    EXPECT_JOB(&bench, id, "claimed");
}
