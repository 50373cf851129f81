/* Jobs come from programs: with their defaults, all or none, within the bounds. */
#include <stdio.h>

#include "library_bench.h"
#include "model/limits.h"

static struct library_bench bench;

static void setup(void)
{
    library_bench_open(&bench);
}

static void teardown(void)
{
    library_bench_close(&bench);
}

TestSuite(produce, .init = setup, .fini = teardown);

static const char COUNT_JOBS[] = "SELECT count(*) FROM job";

Test(produce, the_library_is_the_one_of_the_header)
{
    char text[32];
    (void)snprintf(text, sizeof text, "%d.%d.%d", EIDER_VERSION_MAJOR, EIDER_VERSION_MINOR,
                   EIDER_VERSION_PATCH);
    EXPECT_STR(text, eider_version());
}

Test(produce, a_job_of_zeros_has_the_usual_values)
{
    char id[EIDER_ID_SIZE];
    EXPECT_DONE(eider_enqueue(bench.e, &(struct eider_job_request){.handler = "work"}, id),
                bench.e);
    struct job_info job = library_bench_job(&bench, id);
    EXPECT_STR("default", job.queue);
    EXPECT_STR("work", job.handler);
    EXPECT_STR("null", job.payload);
    EXPECT_STR("default", job.namespace_);
    EXPECT_STR("library", job.actor);
    EXPECT_STR("pending", job_status_name(job.state));
    cr_assert_eq(job.retry_delay_ms, -1);
}

Test(produce, what_is_said_is_kept)
{
    char id[EIDER_ID_SIZE];
    struct eider_job_request request = {
        .handler = "work",
        .payload = "{\"n\":1}",
        .actor = "tester",
        .priority = 7,
        .retries = 3,
        .retry_delay_ms = EIDER_NO_DELAY,
        .timeout_ms = 9000,
        .delay_ms = 3600000,
    };
    EXPECT_DONE(eider_enqueue(bench.e, &request, id), bench.e);
    struct job_info job = library_bench_job(&bench, id);
    EXPECT_STR("{\"n\":1}", job.payload);
    EXPECT_STR("tester", job.actor);
    EXPECT_STR("delayed", job_status_name(job.state));
    cr_assert_eq(job.priority, 7);
    cr_assert_eq(job.retries, 3);
    cr_assert_eq(job.retry_delay_ms, 0);
    cr_assert_eq(job.timeout_ms, 9000);
}

Test(produce, many_jobs_come_all_or_none)
{
    char ids[3][EIDER_ID_SIZE];
    struct eider_job_request requests[3] = {
        {.handler = "a"}, {.handler = "b", .payload = "{"}, {.handler = "c"}};
    EXPECT_EIDER(EIDER_INVALID, eider_enqueue_many(bench.e, requests, 3, ids), bench.e);
    EXPECT_CONTAINS(eider_error(bench.e), "job 2");
    cr_assert_eq(library_bench_count(&bench, COUNT_JOBS), 0);
    requests[1].payload = "{}";
    EXPECT_DONE(eider_enqueue_many(bench.e, requests, 3, ids), bench.e);
    for (size_t i = 0; i < 3; i++)
        EXPECT_STR(requests[i].handler, library_bench_job(&bench, ids[i]).handler);
    EXPECT_DONE(eider_enqueue_many(bench.e, NULL, 0, NULL), bench.e);
}

Test(produce, a_dedupe_key_gives_the_job_that_is_there)
{
    char first[EIDER_ID_SIZE];
    char second[EIDER_ID_SIZE];
    struct eider_job_request request = {.handler = "work", .dedupe = "k"};
    EXPECT_DONE(eider_enqueue(bench.e, &request, first), bench.e);
    EXPECT_DONE(eider_enqueue(bench.e, &request, second), bench.e);
    EXPECT_STR(first, second);
    request.payload = "2";
    EXPECT_EIDER(EIDER_CONFLICT, eider_enqueue(bench.e, &request, second), bench.e);
}

Test(produce, what_is_out_of_bounds_is_refused)
{
    char *long_name = mem_format("%0*d", LIMIT_ID_BYTES + 1, 0);
    const struct {
        enum eider_status wanted;
        struct eider_job_request request;
    } cases[] = {
        {EIDER_INVALID, {.handler = NULL}},
        {EIDER_INVALID, {.handler = ""}},
        {EIDER_LIMIT, {.handler = long_name}},
        {EIDER_NOT_FOUND, {.handler = "x", .queue = "nowhere"}},
        {EIDER_LIMIT, {.handler = "x", .queue = long_name}},
        {EIDER_LIMIT, {.handler = "x", .dedupe = long_name}},
        {EIDER_INVALID, {.handler = "x", .dedupe = ""}},
        {EIDER_INVALID, {.handler = "x", .payload = "nonsense"}},
        {EIDER_INVALID, {.handler = "x", .priority = LIMIT_PRIORITY + 1}},
        {EIDER_INVALID, {.handler = "x", .retries = -1}},
        {EIDER_INVALID, {.handler = "x", .retries = LIMIT_RETRIES + 1}},
        {EIDER_INVALID, {.handler = "x", .retry_delay_ms = -2}},
        {EIDER_INVALID, {.handler = "x", .delay_ms = INT64_MAX}},
        {EIDER_INVALID, {.handler = "x", .timeout_ms = -1}},
        {EIDER_INVALID, {.handler = "x", .delay_ms = 1, .run_after_us = 1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char id[EIDER_ID_SIZE] = "untouched";
        enum eider_status status = eider_enqueue(bench.e, &cases[i].request, id);
        cr_assert_eq(status, cases[i].wanted, "case %zu: %s (%s)", i, eider_status_text(status),
                     eider_error(bench.e));
        EXPECT_STR("untouched", id);
    }
    cr_assert_eq(library_bench_count(&bench, COUNT_JOBS), 0);
    free(long_name);
}

Test(produce, a_store_that_cannot_be_opened_says_why)
{
    static const char *const URLS[] = {NULL, "nonsense:x", "sqlite:/nowhere/at/all/eider.db"};
    for (size_t i = 0; i < ARRAY_LEN(URLS); i++) {
        char id[EIDER_ID_SIZE];
        struct eider *e = NULL;
        cr_assert_neq(eider_open(URLS[i], &e), EIDER_OK);
        cr_assert_str_not_empty(eider_error(e));
        EXPECT_EIDER(EIDER_INVALID,
                     eider_enqueue(e, &(struct eider_job_request){.handler = "x"}, id), e);
        EXPECT_EIDER(EIDER_INVALID, eider_worker_begin(e, NULL), e);
        eider_close(e);
    }
    eider_close(NULL);
}
