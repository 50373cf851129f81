/*
 * Jobs made by plain SQL are the same as others.
 */
#include "base/clock.h"
#include "base/id.h"
#include "store/job.h"
#include "store/store_priv.h"
#include "store_bench.h"

static struct bench_store bench;

static void setup(void)
{
    bench = (struct bench_store){0};
    struct err err = {0};
    bench_open(&bench);
    /* As programs of others are: our own connections trust no schema, and never use the view. */
    if (db_dialect(bench.store->db) == DB_SQLITE)
        EXPECT_OK(db_script(bench.store->db, "PRAGMA trusted_schema = ON", &err), &err);
    /* The view reads the database's clock. */
    bench_now_us = clock_wall_us() + 1000000;
}

static void teardown(void)
{
    bench_close(&bench);
}

TestSuite(enqueue_view, .init = setup, .fini = teardown);

static const char INSERT[] = "INSERT INTO enqueue (queue, handler, payload, priority, delay_ms,"
                             " dedupe, retries) VALUES ($1, $2, $3, $4, $5, $6, $7)";

struct row {
    const char *queue;
    const char *handler;
    const char *payload;
    int64_t priority;
    int64_t delay_ms;
    const char *dedupe;
    int64_t retries;
};

static enum status insert(struct row row, struct err *err)
{
    struct db *db = bench.store->db;
    EXPECT_OK(db_begin(db, err), err);
    enum status status = db_do(db, err, INSERT, "tttiiti", row.queue, row.handler, row.payload,
                               row.priority, row.delay_ms, row.dedupe, row.retries);
    if (status == STATUS_OK)
        EXPECT_OK(db_commit(db, err), err);
    db_end(db);
    return status;
}

static enum status see(void *context, const struct job_info *job, struct err *err)
{
    (void)err;
    struct job_info **next = context;
    *(*next)++ = (struct job_info){.id = job->id,
                                   .priority = job->priority,
                                   .retries = job->retries,
                                   .state = job->state,
                                   .created_at_us = job->created_at_us,
                                   .run_after_us = job->run_after_us,
                                   .actor = arena_strdup(bench.arena, job->actor),
                                   .payload = arena_strdup(bench.arena, job->payload)};
    return STATUS_OK;
}

static size_t list(struct job_info *out, size_t room)
{
    struct err err = {0};
    struct job_info *next = out;
    struct job_filter filter = {.limit = (int64_t)room};
    EXPECT_OK(store_job_each(bench.store, &filter, see, (void *)&next, &err), &err);
    return (size_t)(next - out);
}

STORE_TEST(enqueue_view, a_row_becomes_a_job_that_is_claimed)
{
    struct err err = {0};
    struct job_info jobs[4];
    EXPECT_OK(insert((struct row){"default", "send", "{\"a\":1}", 7, 0, NULL, 2}, &err), &err);
    EXPECT_OK(insert((struct row){"default", "noop", NULL, 0, 0, NULL, 0}, &err), &err);
    cr_assert_eq(list(jobs, 4), 2);
    EXPECT_STR("{\"a\":1}", jobs[1].payload);
    EXPECT_STR("null", jobs[0].payload);
    EXPECT_STR("sql", jobs[1].actor);
    cr_assert_eq(jobs[1].priority, 7);
    cr_assert_eq(jobs[1].retries, 2);
    cr_assert_lt(llabs(id_time_us(jobs[1].id) - jobs[1].created_at_us), 1000);
    cr_assert_geq((jobs[1].id >> 10) & 4095, ID_MAKERS, "no process has this maker");

    struct advance_result result = bench_advance(&bench, NULL, 0, 8);
    cr_assert_eq(result.claims_count, 2);
    struct outcome ends[] = {bench_outcome(&result.claims[0], 0),
                             bench_outcome(&result.claims[1], 0)};
    (void)bench_advance(&bench, ends, 2, 0);
    cr_assert_eq(list(jobs, 4), 2);
    cr_assert_eq(jobs[0].state, TASK_SUCCESS);
    cr_assert_eq(jobs[1].state, TASK_SUCCESS);
}

STORE_TEST(enqueue_view, a_delay_is_kept_to)
{
    struct err err = {0};
    struct job_info job;
    EXPECT_OK(insert((struct row){"default", "send", NULL, 0, 3600000, NULL, 0}, &err), &err);
    cr_assert_eq(list(&job, 1), 1);
    EXPECT_STR("delayed", job_status_name(job.state));
    cr_assert_eq(job.run_after_us - job.created_at_us, (int64_t)3600 * 1000000);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 0);
    bench_now_us += (int64_t)3600 * 1000000;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 1);
}

STORE_TEST(enqueue_view, many_rows_of_one_statement_have_ids_of_their_own)
{
    static const char MANY[] =
        "INSERT INTO enqueue (queue, handler) WITH RECURSIVE c (n) AS"
        " (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000) SELECT 'default', 'noop' FROM c";
    static const char COUNT[] = "SELECT count(*) FROM ready WHERE run = 0";
    struct err err = {0};
    struct db *db = bench.store->db;
    int64_t count = 0;
    EXPECT_OK(db_begin(db, &err), &err);
    EXPECT_OK(db_do(db, &err, MANY, ""), &err);
    EXPECT_OK(db_commit(db, &err), &err);
    EXPECT_OK(db_get_int(db, 0, &count, &err, COUNT, ""), &err);
    cr_assert_eq(count, 3000);
}

STORE_TEST(enqueue_view, a_key_that_is_taken_changes_nothing)
{
    struct err err = {0};
    struct job_info jobs[4];
    struct row row = {"default", "send", "[]", 0, 0, "k", 0};
    EXPECT_OK(insert(row, &err), &err);
    EXPECT_OK(insert(row, &err), &err);
    cr_assert_eq(list(jobs, 4), 1);
    row.payload = "[2]";
    EXPECT_STATUS(STATUS_CONFLICT, insert(row, &err), &err);
    EXPECT_CONTAINS(err.text, "another handler or payload");
}

STORE_TEST(enqueue_view, what_cannot_be_a_job_is_refused_with_a_reason)
{
    static const struct {
        struct row row;
        const char *part;
    } CASES[] = {
        {{"nope", "send", NULL, 0, 0, NULL, 0}, "eider queues set"},
        {{"default", "", NULL, 0, 0, NULL, 0}, "needs a handler"},
        {{"default", NULL, NULL, 0, 0, NULL, 0}, "needs a handler"},
        {{"default", "send", "{", 0, 0, NULL, 0}, "not JSON"},
        {{"default", "send", NULL, 1000001, 0, NULL, 0}, "priority"},
        {{"default", "send", NULL, 0, -1, NULL, 0}, "delay_ms"},
        {{"default", "send", NULL, 0, 0, NULL, 1001}, "retries"},
    };
    struct job_info job;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        EXPECT_STATUS(STATUS_CONFLICT, insert(CASES[i].row, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].part);
    }
    cr_assert_eq(list(&job, 1), 0);
}
