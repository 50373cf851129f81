/*
 * What people see of jobs and do to them, and what becomes of dead letters.
 */
#include "store/dead.h"
#include "store/event_store.h"
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

TestSuite(job, .init = setup, .fini = teardown);

static int64_t enqueue_with(struct job_request request)
{
    struct err err = {0};
    struct job_created job;
    request.queue = request.queue != NULL ? request.queue : "default";
    request.handler = request.handler != NULL ? request.handler : "h";
    request.actor = "test";
    EXPECT_OK(store_jobs_enqueue(bench.store, &request, 1, &job, NULL, &err), &err);
    return job.id;
}

static int64_t enqueue(int64_t delay_ms)
{
    return enqueue_with((struct job_request){.delay_ms = delay_ms, .retry_delay_ms = -1});
}

static struct job_info load(int64_t id)
{
    struct err err = {0};
    struct job_info info;
    EXPECT_OK(store_job_load(bench.store, bench.arena, id, &info, &err), &err);
    return info;
}

static const char *status_of(int64_t id)
{
    return job_status_name(load(id).state);
}

static struct claim claim_one(void)
{
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    return result.claims[0];
}

/* The attempt started and ends with this code. */
static void end(const struct claim *claim, int exit_code)
{
    struct outcome outcome = bench_outcome(claim, exit_code);
    outcome.started_at_us = bench_now_us;
    bench_now_us += 2000000;
    outcome.ended_at_us = bench_now_us;
    outcome.detail = exit_code != 0 ? "it went wrong" : NULL;
    struct advance_result result = bench_advance(&bench, &outcome, 1, 0);
    cr_assert(result.accepted[0]);
}

static int64_t count_claimable(void)
{
    struct err err = {0};
    struct queue_info info;
    EXPECT_OK(store_queue_load(bench.store, bench.arena, "default", &info, &err), &err);
    return info.pending;
}

static enum status count_event(void *context, const struct event_info *event, struct err *err)
{
    (void)err;
    int64_t *counts = context;
    counts[event->kind]++;
    if (event->kind == EVENT_JOB_CANCEL_ASKED || event->kind == EVENT_JOBS_PURGED)
        EXPECT_STR("test", event->actor);
    return STATUS_OK;
}

static int64_t events(enum event_kind kind)
{
    struct err err = {0};
    int64_t counts[EVENT_KIND_COUNT] = {0};
    struct event_range range = {.limit = 1000};
    EXPECT_OK(store_event_each(bench.store, &range, count_event, counts, &err), &err);
    return counts[kind];
}

/* --- looking --------------------------------------------------------------------------------- */

STORE_TEST(job, a_job_is_shown_as_it_was_made)
{
    int64_t id = enqueue_with((struct job_request){.handler = "send",
                                                   .payload = "{\"to\":\"ann\"}",
                                                   .dedupe = "k",
                                                   .priority = 4,
                                                   .retries = 2,
                                                   .retry_delay_ms = 500,
                                                   .timeout_ms = 9000,
                                                   .finish_on_lost_lease = true});
    struct job_info job = load(id);
    EXPECT_STR("default", job.queue);
    EXPECT_STR("send", job.handler);
    EXPECT_STR("{\"to\":\"ann\"}", job.payload);
    EXPECT_STR("k", job.dedupe);
    EXPECT_STR("test", job.actor);
    cr_assert_eq(job.priority, 4);
    cr_assert_eq(job.retries, 2);
    cr_assert_eq(job.retry_delay_ms, 500);
    cr_assert_eq(job.timeout_ms, 9000);
    cr_assert(job.finish_on_lost_lease);
    cr_assert_eq(job.created_at_us, bench_now_us);
    cr_assert_eq(job.updated_at_us, bench_now_us);
    EXPECT_STR("pending", status_of(id));
}

struct seen {
    int64_t ids[16];
    size_t count;
};

static enum status see(void *context, const struct job_info *job, struct err *err)
{
    (void)err;
    struct seen *seen = context;
    cr_assert_lt(seen->count, ARRAY_LEN(seen->ids));
    seen->ids[seen->count++] = job->id;
    return STATUS_OK;
}

static struct seen list(struct job_filter filter)
{
    struct err err = {0};
    struct seen seen = {0};
    EXPECT_OK(store_job_each(bench.store, &filter, see, &seen, &err), &err);
    return seen;
}

STORE_TEST(job, lists_are_newest_first_by_queue_status_and_page)
{
    struct err err = {0};
    struct queue_change mail = {.name = "mail", .actor = "test"};
    EXPECT_OK(store_queue_set(bench.store, &mail, true, &err), &err);
    int64_t first = enqueue(0);
    int64_t second = enqueue(60000);
    int64_t third = enqueue_with((struct job_request){.queue = "mail", .retry_delay_ms = -1});
    EXPECT_OK(store_job_cancel(bench.store, first, "test", &err), &err);

    struct seen all = list((struct job_filter){.limit = 10});
    cr_assert_eq(all.count, 3);
    cr_assert_eq(all.ids[0], third);
    cr_assert_eq(all.ids[2], first);
    cr_assert_eq(list((struct job_filter){.limit = 2}).count, 2);
    struct seen page = list((struct job_filter){.limit = 10, .before = second});
    cr_assert_eq(page.count, 1);
    cr_assert_eq(page.ids[0], first);
    cr_assert_eq(list((struct job_filter){.limit = 10, .queue = "mail"}).ids[0], third);
    cr_assert_eq(list((struct job_filter){.limit = 10, .status = "delayed"}).ids[0], second);
    cr_assert_eq(list((struct job_filter){.limit = 10, .status = "cancelled"}).ids[0], first);
    cr_assert_eq(list((struct job_filter){.limit = 10, .status = "failed"}).count, 0);
    cr_assert_eq(
        list((struct job_filter){.limit = 10, .status = "pending", .queue = "default"}).count, 0);
}

Test(job, every_status_has_its_name_in_the_list)
{
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        cr_assert(job_status_is_known(job_status_name(state)), "%s", task_state_name(state));
    cr_assert_not(job_status_is_known("running"));
    size_t count = 0;
    while (job_status_at(count) != NULL)
        count++;
    cr_assert_eq(count, 7);
}

/* --- cancel ---------------------------------------------------------------------------------- */

STORE_TEST(job, one_that_waits_is_cancelled_at_once)
{
    struct err err = {0};
    int64_t ids[] = {enqueue(0), enqueue(60000)};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        EXPECT_OK(store_job_cancel(bench.store, ids[i], "test", &err), &err);
        EXPECT_STR("cancelled", status_of(ids[i]));
        cr_assert_eq(load(ids[i]).reason, REASON_CANCELLED);
        cr_assert_eq(load(ids[i]).ended_at_us, bench_now_us);
        EXPECT_STATUS(STATUS_CONFLICT, store_job_cancel(bench.store, ids[i], "test", &err), &err);
        EXPECT_CONTAINS(err.text, "is over already: cancelled");
    }
    bench_now_us += 120000000;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 8).claims_count, 0);
    cr_assert_eq(events(EVENT_TASK_ENDED), 2);
}

STORE_TEST(job, the_owner_of_one_that_runs_is_asked)
{
    struct err err = {0};
    struct stop_wish *wishes = NULL;
    size_t count = 0;
    int64_t id = enqueue(0);
    struct claim claim = claim_one();
    EXPECT_OK(store_job_cancel(bench.store, id, "test", &err), &err);
    EXPECT_OK(store_job_cancel(bench.store, id, "test", &err), &err);
    EXPECT_STR("claimed", status_of(id));
    cr_assert(load(id).cancel_asked);
    cr_assert_eq(events(EVENT_JOB_CANCEL_ASKED), 1);
    EXPECT_OK(store_stop_wishes(bench.store, 7, bench.arena, &wishes, &count, &err), &err);
    cr_assert_eq(count, 1);
    cr_assert_eq(wishes[0].task, id);

    struct outcome outcome = bench_outcome(&claim, 0);
    outcome.end.reason = REASON_CANCELLED;
    (void)bench_advance(&bench, &outcome, 1, 0);
    EXPECT_STR("cancelled", status_of(id));
}

STORE_TEST(job, a_task_of_a_run_is_no_job)
{
    struct err err = {0};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    EXPECT_STATUS(STATUS_NOT_FOUND, store_job_cancel(bench.store, 1, "test", &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_job_retry(bench.store, 1, "test", &err), &err);
    EXPECT_STATE(&bench, "a", "queued");
}

/* --- retry and reschedule -------------------------------------------------------------------- */

STORE_TEST(job, one_that_is_over_runs_again_with_a_fresh_budget)
{
    struct err err = {0};
    int64_t id = enqueue_with((struct job_request){.retries = 1, .retry_delay_ms = 0});
    struct claim claim = claim_one();
    end(&claim, 1);
    claim = claim_one();
    EXPECT_STATUS(STATUS_CONFLICT, store_job_retry(bench.store, id, "test", &err), &err);
    EXPECT_CONTAINS(err.text, "cancel it first");
    end(&claim, 1);
    struct job_info job = load(id);
    EXPECT_STR("failed", status_of(id));
    EXPECT_STR("it went wrong", job.error);
    cr_assert(job.is_dead);
    cr_assert_eq(job.attempt, 2);

    EXPECT_OK(store_job_retry(bench.store, id, "test", &err), &err);
    job = load(id);
    EXPECT_STR("pending", status_of(id));
    cr_assert_null(job.error);
    cr_assert_not(job.is_dead);
    cr_assert_eq(job.failures, 0);
    cr_assert_eq(job.attempt, 2, "attempts keep counting");
    cr_assert_eq(job.ended_at_us, 0);
    EXPECT_STATUS(STATUS_CONFLICT, store_job_retry(bench.store, id, "test", &err), &err);

    claim = claim_one();
    cr_assert_eq(claim.attempt, 3);
    end(&claim, 0);
    EXPECT_STR("completed", status_of(id));
}

STORE_TEST(job, one_that_waits_for_its_time_runs_now)
{
    struct err err = {0};
    int64_t id = enqueue(3600000);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 0);
    EXPECT_OK(store_job_retry(bench.store, id, "test", &err), &err);
    cr_assert_eq(claim_one().task, id);
}

STORE_TEST(job, another_time_is_kept_to)
{
    struct err err = {0};
    int64_t id = enqueue(0);
    int64_t later_us = bench_now_us + 50000000;
    EXPECT_OK(store_job_reschedule(bench.store, id, later_us, "test", &err), &err);
    EXPECT_STR("delayed", status_of(id));
    cr_assert_eq(load(id).run_after_us, later_us);
    cr_assert_eq(count_claimable(), 0);
    EXPECT_OK(store_job_reschedule(bench.store, id, later_us + 1, "test", &err), &err);
    bench_now_us = later_us;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 0);
    bench_now_us++;
    struct claim claim = claim_one();
    EXPECT_STATUS(STATUS_CONFLICT, store_job_reschedule(bench.store, id, 1, "test", &err), &err);
    EXPECT_CONTAINS(err.text, "runs already");
    end(&claim, 0);
    EXPECT_STATUS(STATUS_CONFLICT, store_job_reschedule(bench.store, id, 1, "test", &err), &err);
}

STORE_TEST(job, a_time_that_is_past_means_now)
{
    struct err err = {0};
    int64_t ids[] = {enqueue(3600000), enqueue(0)};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        EXPECT_OK(store_job_reschedule(bench.store, ids[i], 1, "test", &err), &err);
        EXPECT_STR("pending", status_of(ids[i]));
    }
    cr_assert_eq(count_claimable(), 2);
}

/* --- purge ----------------------------------------------------------------------------------- */

static void remember(void *context, int64_t job)
{
    struct seen *seen = context;
    seen->ids[seen->count++] = job;
}

STORE_TEST(job, a_purge_takes_what_is_over_and_old_enough)
{
    struct err err = {0};
    int64_t old = enqueue(0);
    int64_t failed = enqueue(0);
    EXPECT_OK(store_job_cancel(bench.store, old, "test", &err), &err);
    struct claim claim = claim_one();
    cr_assert_eq(claim.task, failed);
    end(&claim, 1);
    bench_now_us += 1000000;
    int64_t bound_us = bench_now_us;
    int64_t young = enqueue(0);
    EXPECT_OK(store_job_cancel(bench.store, young, "test", &err), &err);
    int64_t waits = enqueue(0);

    struct seen gone = {0};
    struct job_purge purge = {.filter = {.limit = 100},
                              .ended_before_us = bound_us,
                              .dry_run = true,
                              .actor = "test",
                              .each = remember,
                              .context = &gone};
    int64_t count = 0;
    EXPECT_OK(store_job_purge(bench.store, &purge, &count, &err), &err);
    cr_assert_eq(count, 1);
    cr_assert_eq(gone.count, 0);
    (void)load(old);

    purge.dry_run = false;
    EXPECT_OK(store_job_purge(bench.store, &purge, &count, &err), &err);
    cr_assert_eq(count, 1);
    cr_assert_eq(gone.count, 1);
    cr_assert_eq(gone.ids[0], old);
    struct seen left = list((struct job_filter){.limit = 10});
    cr_assert_eq(left.count, 3, "a dead letter, a young one and one that waits stay");
    cr_assert_eq(left.ids[0], waits);
    cr_assert_eq(left.ids[2], failed);
    cr_assert_eq(events(EVENT_JOBS_PURGED), 1);
}

STORE_TEST(job, a_purge_goes_on_beyond_what_does_not_fit)
{
    struct err err = {0};
    enum { MANY = 2300 };
    struct job_request *requests = arena_array(bench.arena, MANY, sizeof *requests);
    struct job_created *made = arena_array(bench.arena, MANY, sizeof *made);
    for (size_t i = 0; i < MANY; i++)
        requests[i] = (struct job_request){
            .queue = "default", .handler = "noop", .retry_delay_ms = -1, .actor = "test"};
    EXPECT_OK(store_jobs_enqueue(bench.store, requests, MANY, made, NULL, &err), &err);
    /* Every other one ends as completed, the rest as cancelled. */
    for (size_t i = 0; i < MANY; i += 2)
        EXPECT_OK(store_job_cancel(bench.store, made[i].id, "test", &err), &err);
    struct advance_result result = bench_advance(&bench, NULL, 0, MANY);
    struct outcome *ends = arena_array(bench.arena, result.claims_count + 1, sizeof *ends);
    for (size_t i = 0; i < result.claims_count; i++)
        ends[i] = bench_outcome(&result.claims[i], 0);
    (void)bench_advance(&bench, ends, result.claims_count, 0);

    struct job_purge purge = {.filter = {.limit = 1100, .status = "cancelled"},
                              .ended_before_us = INT64_MAX,
                              .actor = "test"};
    int64_t count = 0;
    EXPECT_OK(store_job_purge(bench.store, &purge, &count, &err), &err);
    cr_assert_eq(count, 1100);
    EXPECT_OK(store_job_purge(bench.store, &purge, &count, &err), &err);
    cr_assert_eq(count, MANY / 2 - 1100);
    purge.filter = (struct job_filter){.limit = INT64_MAX};
    EXPECT_OK(store_job_purge(bench.store, &purge, &count, &err), &err);
    cr_assert_eq(count, (int64_t)result.claims_count);
}

/* --- dead letters ---------------------------------------------------------------------------- */

struct letters {
    int64_t ids[8];
    const char *names[8];
    size_t count;
};

static enum status see_letter(void *context, const struct dead_info *letter, struct err *err)
{
    (void)err;
    struct letters *letters = context;
    letters->ids[letters->count] = letter->task;
    letters->names[letters->count++] = arena_strdup(bench.arena, letter->name);
    return STATUS_OK;
}

static struct letters letters(struct dead_filter filter)
{
    struct err err = {0};
    struct letters found = {0};
    int64_t counted = 0;
    EXPECT_OK(store_dead_each(bench.store, &filter, see_letter, &found, &err), &err);
    EXPECT_OK(store_dead_count(bench.store, &filter, filter.limit, &counted, &err), &err);
    cr_assert_eq(counted, (int64_t)found.count);
    return found;
}

STORE_TEST(job, one_that_failed_for_good_is_a_dead_letter_until_it_runs_again)
{
    struct err err = {0};
    struct dead_info letter;
    int64_t id = enqueue_with((struct job_request){.payload = "[1]", .retry_delay_ms = -1});
    struct claim claim = claim_one();
    end(&claim, 3);
    EXPECT_OK(store_dead_load(bench.store, bench.arena, id, &letter, &err), &err);
    EXPECT_STR("h", letter.name);
    EXPECT_STR("default", letter.queue);
    EXPECT_STR("[1]", letter.payload);
    EXPECT_STR("it went wrong", letter.detail);
    cr_assert_eq(letter.run, 0);
    cr_assert_eq(letter.attempt, 1);
    cr_assert_eq(letters((struct dead_filter){.limit = 9}).count, 1);
    cr_assert_eq(letters((struct dead_filter){.limit = 9, .queue = "default"}).count, 1);
    cr_assert_eq(letters((struct dead_filter){.limit = 9, .queue = "mail"}).count, 0);
    cr_assert_eq(letters((struct dead_filter){.limit = 9, .before_us = letter.at_us}).count, 0);

    EXPECT_OK(store_dead_requeue(bench.store, id, "test", &err), &err);
    cr_assert_eq(letters((struct dead_filter){.limit = 9}).count, 0);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_dead_requeue(bench.store, id, "test", &err), &err);
    claim = claim_one();
    end(&claim, 0);
    EXPECT_STR("completed", status_of(id));
}

static bool nobody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

STORE_TEST(job, a_task_that_kills_its_owners_is_a_letter_too)
{
    struct err err = {0};
    int64_t lost = 0;
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"},"
                        " \"b\": {\"run\": \"x\", \"needs\": [\"a\"]}}}");
    for (int i = 0; i < 3; i++) {
        (void)claim_one();
        EXPECT_OK(store_recover(bench.store, bench.run.id, nobody_lives, NULL, &lost, &err), &err);
    }
    EXPECT_STATE(&bench, "a", "failed");
    struct letters found = letters((struct dead_filter){.limit = 9});
    cr_assert_eq(found.count, 1);
    cr_assert(strncmp(found.names[0], "d/", 2) == 0, "%s", found.names[0]);
    cr_assert(strcmp(found.names[0] + strlen(found.names[0]) - 2, "/a") == 0, "%s", found.names[0]);

    EXPECT_OK(store_dead_requeue(bench.store, found.ids[0], "test", &err), &err);
    cr_assert_eq(letters((struct dead_filter){.limit = 9}).count, 0);
    EXPECT_STATE(&bench, "a", "queued");
    struct claim claim = claim_one();
    end(&claim, 0);
    EXPECT_STATE(&bench, "b", "queued");
}

STORE_TEST(job, forgetting_letters_leaves_the_jobs)
{
    struct err err = {0};
    int64_t count = 0;
    int64_t id = enqueue(0);
    struct claim claim = claim_one();
    end(&claim, 1);
    struct dead_filter filter = {.limit = 10, .queue = "default"};
    EXPECT_OK(store_dead_purge(bench.store, &filter, "test", &count, &err), &err);
    cr_assert_eq(count, 1);
    EXPECT_STR("failed", status_of(id));
    cr_assert_not(load(id).is_dead);
    EXPECT_OK(store_dead_purge(bench.store, &filter, "test", &count, &err), &err);
    cr_assert_eq(count, 0);
    cr_assert_eq(events(EVENT_DEAD_PURGED), 1);
}
