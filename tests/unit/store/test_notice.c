/*
 * The outbox: what is left in it with what happened, and how it gets out again.
 */
#include <pthread.h>
#include <sched.h>

#include "base/json.h"
#include "model/event_kind.h"
#include "store/deadline.h"
#include "store/notice.h"
#include "store/old_rows.h"
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

TestSuite(notice, .init = setup, .fini = teardown);

static const int64_t MINUTE_US = INT64_C(60) * 1000000;

#define WEBHOOK "{\"webhook\": \"http://127.0.0.1:1/\"}"

static int64_t count(const char *sql)
{
    return bench_number(&bench, sql, 0);
}

static int64_t all(void)
{
    return count("SELECT count(*) FROM notice WHERE $1 = 0");
}

/* The next one to send, which there must be. */
static struct notice_claim claim(void)
{
    struct err err = {0};
    struct notice_claim notice = {0};
    int64_t next_us = 0;
    EXPECT_OK(store_notice_claim(bench.store, bench.arena, NULL, &notice, &next_us, &err), &err);
    cr_assert_neq(notice.id, 0, "nothing is due; the next one is in %lld us",
                  (long long)(next_us - bench_now_us));
    return notice;
}

/* When the next one is due, while none is. */
static int64_t idle_until(void)
{
    struct err err = {0};
    struct notice_claim notice = {0};
    int64_t next_us = 0;
    EXPECT_OK(store_notice_claim(bench.store, bench.arena, NULL, &notice, &next_us, &err), &err);
    cr_assert_eq(notice.id, 0, "notice %lld is due", (long long)notice.id);
    return next_us;
}

static void settle(const struct notice_claim *notice, enum notice_state state, int64_t due_us)
{
    struct err err = {0};
    struct notice_verdict verdict = {.id = notice->id,
                                     .attempts = notice->attempts,
                                     .state = state,
                                     .due_at_us = due_us,
                                     .answer = "as it was"};
    EXPECT_OK(store_notice_settle(bench.store, &verdict, &err), &err);
}

static enum notice_state state_of(int64_t id)
{
    return (enum notice_state)bench_number(&bench, "SELECT state FROM notice WHERE id = $1", id);
}

static json_t *document_of(const struct notice_claim *notice, size_t i)
{
    struct err err = {0};
    json_t *document = NULL;
    cr_assert_lt(i, notice->count);
    EXPECT_OK(json_parse(notice->documents[i], strlen(notice->documents[i]), &document, &err),
              &err);
    return document;
}

STORE_TEST(notice, what_happens_to_tasks_and_runs_is_left_for_those_who_asked)
{
    static const struct bench_script SCRIPT[] = {
        {.task = "bad", .exit_code = 1, .fails_first = 1},
        {.task = "odd", .exit_code = 99},
        {.task = NULL},
    };
    bench_start(&bench,
                "{\"on_failure\": [" WEBHOOK "], \"on_success\": [" WEBHOOK "],"
                " \"tasks\": {\"bad\": {\"run\": \"x\", \"retries\": 1, \"on_retry\": " WEBHOOK ","
                " \"on_failure\": [" WEBHOOK ", {\"slack\": \"#ops\"}]},"
                " \"good\": {\"run\": \"x\", \"on_success\": " WEBHOOK ", \"on_failure\": " WEBHOOK
                "}, \"odd\": {\"run\": \"x\", \"on_skip\": " WEBHOOK "},"
                " \"plain\": {\"run\": \"x\"}}}");
    cr_assert_eq(bench_drain(&bench, SCRIPT, 4), RUN_FAILED);

    static const char OF_KIND[] = "SELECT count(*) FROM notice WHERE kind = $1 AND task <> 0";
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_RETRY), 1);
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_FAILURE), 2);
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_SUCCESS), 1);
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_SKIP), 1);
    cr_expect_eq(bench_number(&bench, "SELECT kind FROM notice WHERE task = $1", 0), HOOK_FAILURE);
    cr_expect_eq(all(), 6);
}

STORE_TEST(notice, retries_and_skips_are_told_of_tasks_though_the_dag_asked)
{
    static const struct bench_script SCRIPT[] = {
        {.task = "bad", .fails_first = 2}, {.task = "odd", .exit_code = 99}, {.task = NULL}};
    bench_start(&bench, "{\"on_retry\": " WEBHOOK ", \"on_skip\": " WEBHOOK ", \"tasks\": {"
                        "\"bad\": {\"run\": \"x\", \"retries\": 2}, \"odd\": {\"run\": \"x\"},"
                        " \"after\": {\"run\": \"x\", \"needs\": [\"odd\"]}}}");
    cr_assert_eq(bench_drain(&bench, SCRIPT, 4), RUN_SUCCESS);

    static const char OF_KIND[] = "SELECT count(*) FROM notice WHERE kind = $1 AND task <> 0";
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_RETRY), 2);
    cr_expect_eq(bench_number(&bench, OF_KIND, HOOK_SKIP), 2, "by itself, and by its parent");
    cr_expect_eq(all(), 4);
}

STORE_TEST(notice, a_message_says_what_happened)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 3}, {.task = NULL}};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\", \"on_failure\": " WEBHOOK "}}}");
    cr_assert_eq(bench_drain(&bench, SCRIPT, 4), RUN_FAILED);

    struct notice_claim notice = claim();
    CLEANUP(json_decrefp) json_t *document = document_of(&notice, 0);
    cr_expect_str_eq(notice.dag_id, "d");
    cr_expect_eq(notice.hook.target, HOOK_WEBHOOK);
    cr_expect_str_eq(notice.hook.url, "http://127.0.0.1:1/");
    cr_expect_eq(notice.total, 1);
    cr_expect_str_eq(json_get_string(document, "kind", ""), "failure");
    cr_expect_str_eq(json_get_string(document, "dag", ""), "d");
    cr_expect_str_eq(json_get_string(document, "task", ""), "a");
    cr_expect_str_eq(json_get_string(document, "state", ""), "failed");
    cr_expect_str_eq(json_get_string(document, "reason", ""), "exit");
    cr_expect_str_eq(json_get_string(document, "run_id", ""), bench.run.run_id);
    cr_expect_eq(json_get_int(document, "try_number", 0), 1);
    cr_expect_eq(json_get_int(document, "exit_code", 0), 3);
    cr_expect(json_is_null(json_object_get(document, "failed_tasks")));
}

STORE_TEST(notice, the_message_of_a_run_says_which_tasks_failed_and_what_the_first_said)
{
    bench_start(&bench, "{\"on_failure\": " WEBHOOK ", \"tasks\": {\"m\": {\"run\": \"x\","
                        " \"foreach\": \"{{ params }}\"}, \"a\": {\"run\": \"x\"},"
                        " \"b\": {\"run\": \"x\"}, \"c\": {\"run\": \"x\", \"needs\": [\"a\"]}}}");
    static const struct bench_script SCRIPT[] = {
        {.task = "m", .expand = 15, .exit_code = 2}, {.task = "b", .exit_code = 3}, {.task = NULL}};
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    cr_assert_eq(result.claims_count, 3);
    struct outcome first[3];
    for (size_t i = 0; i < 3; i++)
        first[i] = bench_play(&bench, SCRIPT, &result.claims[i]);
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(bench.dag->tasks[result.claims[i].node].id, "b") != 0)
            continue;
        first[i].detail = "the last line";
        first[i].log_end = "Traceback:\nthe last line";
    }
    bench_now_us += 1000;
    result = bench_advance(&bench, first, 3, 1);
    while (result.runs_count == 0) {
        struct outcome next = bench_play(&bench, SCRIPT, &result.claims[0]);
        bench_now_us += 1000;
        result = bench_advance(&bench, &next, result.claims_count, 1);
    }
    cr_assert_eq(result.runs[0].state, RUN_FAILED);

    struct notice_claim notice = claim();
    CLEANUP(json_decrefp) json_t *document = document_of(&notice, 0);
    const json_t *failed = json_object_get(document, "failed_tasks");
    cr_expect_eq(json_get_int(document, "failed_total", 0), 16, "%s", notice.documents[0]);
    cr_assert_eq(json_array_size(failed), 10);
    cr_expect_str_eq(json_get_string(json_array_get(failed, 0), "task", ""), "b");
    cr_expect_str_eq(json_get_string(json_array_get(failed, 0), "error", ""), "the last line");
    cr_expect_eq(json_get_int(json_array_get(failed, 0), "exit_code", 0), 3);
    cr_expect_str_eq(json_get_string(json_array_get(failed, 9), "task", ""), "m");
    cr_expect_str_eq(json_get_string(document, "error", ""), "the last line");
}

STORE_TEST(notice, only_what_made_the_run_fail_is_told_of)
{
    static const struct bench_script FIRST[] = {{.task = "m", .expand = 4, .exit_code = 1},
                                                {.task = "may", .exit_code = 1},
                                                {.task = "bad", .exit_code = 1},
                                                {.task = NULL}};
    static const struct bench_script SECOND[] = {{.task = "m", .expand = 3, .failing_index = 2},
                                                 {.task = "may", .exit_code = 1},
                                                 {.task = NULL}};
    struct err err = {0};
    struct clear_result cleared;
    bench_start(&bench, "{\"on_failure\": " WEBHOOK ", \"tasks\": {\"m\": {\"run\": \"x\","
                        " \"foreach\": \"{{ params }}\"}, \"may\": {\"run\": \"x\","
                        " \"allow_failure\": true}, \"bad\": {\"run\": \"x\"},"
                        " \"after\": {\"run\": \"x\", \"needs\": [\"bad\"]}}}");
    cr_assert_eq(bench_drain(&bench, FIRST, 8), RUN_FAILED);
    struct notice_claim notice = claim();
    CLEANUP(json_decrefp) json_t *first = document_of(&notice, 0);
    settle(&notice, NOTICE_SENT, 0);
    cr_expect_eq(json_get_int(first, "failed_total", 0), 5, "%s", notice.documents[0]);

    struct clear_request request = {.run = bench.run.id, .map_index = -1, .actor = "test"};
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    cr_assert_eq(bench_drain(&bench, SECOND, 8), RUN_FAILED);
    notice = claim();
    CLEANUP(json_decrefp) json_t *second = document_of(&notice, 0);
    const json_t *failed = json_object_get(second, "failed_tasks");
    cr_expect_eq(json_get_int(second, "failed_total", 0), 1, "%s", notice.documents[0]);
    cr_assert_eq(json_array_size(failed), 1);
    cr_expect_str_eq(json_get_string(json_array_get(failed, 0), "task", ""), "m");
    cr_expect_eq(json_get_int(json_array_get(failed, 0), "map_index", -1), 1);
}

/* A run of one task that failed, with the hooks given. */
static void fail_with(const char *hooks)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    CLEANUP(mem_freep)
    char *dag = mem_format("{\"tasks\": {\"a\": {\"run\": \"x\", \"on_failure\": %s}}}", hooks);
    bench_start(&bench, dag);
    cr_assert_eq(bench_drain(&bench, SCRIPT, 1), RUN_FAILED);
}

STORE_TEST(notice, one_sender_has_it_until_its_time_is_up)
{
    fail_with(WEBHOOK);
    struct notice_claim first = claim();
    cr_expect_eq(first.attempts, 1);
    int64_t until_us = idle_until();
    cr_expect_eq(until_us, bench_now_us + NOTICE_LEASE_MS * INT64_C(1000));

    bench_now_us = until_us;
    struct notice_claim second = claim();
    cr_expect_eq(second.id, first.id);
    cr_expect_eq(second.attempts, 2);
    cr_expect_str_eq(second.delivery, first.delivery, "a receiver must know it again");
    settle(&first, NOTICE_FAILED, 0);
    cr_expect_eq(state_of(first.id), NOTICE_SENDING, "who lost it has no say");
    settle(&second, NOTICE_SENT, 0);
    cr_expect_eq(state_of(first.id), NOTICE_SENT);
    cr_expect_eq(idle_until(), INT64_MAX);
}

STORE_TEST(notice, one_that_did_not_arrive_is_tried_when_it_is_due)
{
    fail_with(WEBHOOK);
    struct notice_claim notice = claim();
    int64_t first_us = notice.first_at_us;
    settle(&notice, NOTICE_PENDING, bench_now_us + MINUTE_US);

    cr_expect_eq(idle_until(), bench_now_us + MINUTE_US);
    bench_now_us += MINUTE_US;
    notice = claim();
    cr_expect_eq(notice.attempts, 2);
    cr_expect_eq(notice.first_at_us, first_us);
    settle(&notice, NOTICE_FAILED, 0);
    cr_expect_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_NOTICE_FAILED), 1);
}

STORE_TEST(notice, a_group_goes_out_as_one)
{
    static const char HOOKS[] = "{\"webhook\": \"http://127.0.0.1:1/\", \"group\": \"5m\"}";
    fail_with(HOOKS);
    int64_t first_us = bench_now_us;
    bench_now_us += MINUTE_US;
    fail_with(HOOKS);
    cr_expect_lt(idle_until(), first_us + 5 * MINUTE_US + 1000000);
    bench_now_us = first_us + 5 * MINUTE_US;

    struct notice_claim notice = claim();
    cr_assert_eq(notice.total, 2);
    cr_assert_eq(notice.count, 2);
    cr_expect_eq(count("SELECT count(*) FROM notice WHERE state = 5 AND $1 = 0"), 1);
    cr_expect_eq(idle_until(), bench_now_us + NOTICE_LEASE_MS * INT64_C(1000));
    /* Sent again it is the same: what came later waits for the next. */
    fail_with(HOOKS);
    bench_now_us += NOTICE_LEASE_MS * INT64_C(1000) + 1;
    notice = claim();
    cr_expect_eq(notice.total, 2);
    settle(&notice, NOTICE_SENT, 0);
    bench_now_us += 5 * MINUTE_US;
    cr_expect_eq(claim().total, 1);
}

STORE_TEST(notice, a_rate_holds_for_the_target_whatever_the_dag)
{
    static const char HOOKS[] = "{\"webhook\": \"http://127.0.0.1:1/\", \"rate\": \"2/1h\"}";
    for (int i = 0; i < 4; i++)
        fail_with(HOOKS);
    struct notice_claim notice = claim();
    settle(&notice, NOTICE_PENDING, bench_now_us);
    notice = claim();
    settle(&notice, NOTICE_SENT, 0);
    notice = claim();
    settle(&notice, NOTICE_SENT, 0);

    int64_t next_us = idle_until();
    cr_expect_gt(next_us, bench_now_us + 25 * MINUTE_US);
    cr_expect_leq(next_us, bench_now_us + 30 * MINUTE_US);
    bench_now_us = next_us;
    notice = claim();
    settle(&notice, NOTICE_SENT, 0);
    (void)idle_until();
}

static bool is_slow(void *context, const struct notice_claim *candidate)
{
    (*(int *)context)++;
    return strstr(candidate->hook.url, "slow") != NULL;
}

STORE_TEST(notice, what_goes_to_a_receiver_that_is_busy_lets_others_pass)
{
    struct err err = {0};
    int asked = 0;
    int64_t next_us = 0;
    struct notice_claim notice = {0};
    struct notice_passing passing = {.is_passed = is_slow, .context = &asked};
    strbuf_init(&passing.keys, NOTICE_PASSING_BYTES);
    for (int i = 0; i < 3; i++)
        fail_with("[{\"webhook\": \"http://slow/a\"}, {\"webhook\": \"http://slow/b\"}]");
    fail_with("{\"webhook\": \"http://quick\"}");
    bench_now_us += MINUTE_US;

    EXPECT_OK(store_notice_claim(bench.store, bench.arena, &passing, &notice, &next_us, &err),
              &err);
    cr_assert_neq(notice.id, 0);
    cr_expect_str_eq(notice.hook.url, "http://quick");
    cr_expect_eq(asked, 3, "once for each hook, not for each message");
    settle(&notice, NOTICE_PENDING, bench_now_us + 5 * MINUTE_US);
    EXPECT_OK(store_notice_claim(bench.store, bench.arena, &passing, &notice, &next_us, &err),
              &err);
    cr_expect_eq(notice.id, 0);
    cr_expect_eq(next_us, bench_now_us + 5 * MINUTE_US, "what is passed over is not waited for");

    strbuf_clear(&passing.keys);
    cr_expect_str_eq(claim().hook.url, "http://slow/a", "nothing happened to it");
    strbuf_fini(&passing.keys);
}

static bool is_of_one(void *context, const struct notice_claim *candidate)
{
    (*(int *)context)++;
    return strcmp(candidate->space, "one") == 0;
}

STORE_TEST(notice, a_busy_receiver_of_a_namespace_holds_up_no_other)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    static const char *const SPACES[] = {"one", "one", "two", "one"};
    struct err err = {0};
    int asked = 0;
    int64_t next_us = 0;
    struct notice_claim notice = {0};
    struct notice_passing passing = {.is_passed = is_of_one, .context = &asked};
    strbuf_init(&passing.keys, NOTICE_PASSING_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(SPACES); i++) {
        CLEANUP(mem_freep)
        char *dag = mem_format("{\"dag\": \"of_%s\", \"namespace\": \"%s\", \"tasks\": {\"a\":"
                               " {\"run\": \"x\", \"on_failure\": {\"slack\": \"#ops\"}}}}",
                               SPACES[i], SPACES[i]);
        bench_start(&bench, dag);
        cr_assert_eq(bench_drain(&bench, SCRIPT, 1), RUN_FAILED);
    }
    bench_now_us += MINUTE_US;

    EXPECT_OK(store_notice_claim(bench.store, bench.arena, &passing, &notice, &next_us, &err),
              &err);
    cr_assert_neq(notice.id, 0, "the other namespace waits, too");
    cr_expect_str_eq(notice.space, "two");
    cr_expect_eq(asked, 2, "once for each namespace");
    settle(&notice, NOTICE_PENDING, bench_now_us + MINUTE_US);
    EXPECT_OK(store_notice_claim(bench.store, bench.arena, &passing, &notice, &next_us, &err),
              &err);
    cr_expect_eq(notice.id, 0);
    cr_expect_eq(next_us, bench_now_us + MINUTE_US, "what is passed over is not waited for");
    strbuf_fini(&passing.keys);
}

STORE_TEST(notice, a_success_closes_the_incident_after_it_was_opened)
{
    struct err err = {0};
    struct clear_result cleared;
    fail_with("{\"pagerduty\": \"night\"}");
    struct clear_request request = {.run = bench.run.id, .map_index = -1, .actor = "test"};
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    cr_assert_eq(all(), 2);

    struct notice_claim opening = claim();
    cr_expect_eq(count("SELECT incident FROM notice WHERE kind = 1 AND $1 = 0"), 2);
    settle(&opening, NOTICE_PENDING, bench_now_us + 10 * MINUTE_US);
    bench_now_us += MINUTE_US;
    cr_expect_gt(idle_until(), bench_now_us, "the end must not overtake the beginning");
    bench_now_us += 9 * MINUTE_US;
    opening = claim();
    CLEANUP(json_decrefp) json_t *document = document_of(&opening, 0);
    cr_expect_str_eq(json_get_string(document, "kind", ""), "failure");
    settle(&opening, NOTICE_SENT, 0);
    bench_now_us = MAX(bench_now_us, idle_until());
    struct notice_claim closing = claim();
    CLEANUP(json_decrefp) json_t *end = document_of(&closing, 0);
    cr_expect_str_eq(json_get_string(end, "kind", ""), "success");
    settle(&closing, NOTICE_SENT, 0);

    /* A second success has nothing to close. */
    bool nodes[] = {true};
    request.nodes = nodes;
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    cr_expect_eq(all(), 2);
}

static int64_t closings(void)
{
    return count("SELECT count(*) FROM notice WHERE follows IS NOT NULL AND $1 = 0");
}

static int64_t open_incidents(void)
{
    return count("SELECT count(*) FROM notice WHERE incident = 1 AND $1 = 0");
}

#define PAGER "{\"pagerduty\": \"night\"}"

STORE_TEST(notice, an_incident_of_a_retry_is_closed_by_the_success)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .fails_first = 1}, {.task = NULL}};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 1,"
                        " \"on_retry\": " PAGER "}}}");
    (void)bench_drain(&bench, SCRIPT, 1);
    cr_assert_eq(all(), 2);
    cr_expect_eq(closings(), 1);
    cr_expect_eq(open_incidents(), 0);
}

STORE_TEST(notice, an_incident_is_closed_by_another_run_of_its_date)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    static const char DAG[] = "{\"on_failure\": " PAGER ", \"tasks\": {\"a\": {\"run\": \"x\","
                              " \"on_failure\": {\"pagerduty\": {\"key\": \"{{ run_id }}\"}}},"
                              " \"b\": {\"run\": \"x\", \"on_failure\": " PAGER "}}}";
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, SCRIPT, 4), RUN_FAILED);
    CLEANUP(mem_freep) char *first = mem_strdup(bench.run.run_id);
    cr_assert_eq(open_incidents(), 2);

    bench_now_us = count("SELECT max(logical_at_us) FROM run WHERE $1 = 0");
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
    cr_expect_eq(open_incidents(), 0);
    cr_expect_eq(closings(), 2);
    for (size_t i = 0; i < 4; i++) {
        struct notice_claim notice = claim();
        CLEANUP(json_decrefp) json_t *document = document_of(&notice, 0);
        settle(&notice, NOTICE_SENT, 0);
        bench_now_us += 2000000;
        cr_expect_str_eq(json_get_string(document, "run_id", ""), first,
                         "a key may have the run in it");
    }
}

STORE_TEST(notice, a_success_of_another_date_closes_nothing)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    static const char DAG[] = "{\"tasks\": {\"a\": {\"run\": \"x\", \"on_failure\": " PAGER "}}}";
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, SCRIPT, 1), RUN_FAILED);
    bench_now_us += MINUTE_US;
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    cr_expect_eq(open_incidents(), 1);
    cr_expect_eq(all(), 1);
}

STORE_TEST(notice, a_cancelled_run_is_not_late_any_more)
{
    struct err err = {0};
    struct deadline_result late;
    bench_start(&bench, "{\"sla\": {\"of_schedule\": \"1m\"}, \"on_sla_miss\": " PAGER
                        ", \"on_skip\": " PAGER ","
                        " \"on_failure\": " PAGER ", \"tasks\": {\"a\": {\"run\": \"x\","
                        " \"sla\": {\"of_schedule\": \"1m\"}, \"on_sla_miss\": " PAGER "}}}");
    bench_now_us += 2 * MINUTE_US;
    EXPECT_OK(store_deadline_pass(bench.store, &late, &err), &err);
    cr_assert_eq(open_incidents(), 2);

    struct cancel_request request = {.run = bench.run.id, .actor = "test"};
    EXPECT_OK(store_run_cancel(bench.store, &request, &err), &err);
    cr_expect_eq(open_incidents(), 0);
    cr_expect_eq(closings(), 2);
    cr_expect_eq(all(), 4, "nobody is told of it otherwise");
}

static void *finish_run(void *context)
{
    struct store *own = NULL;
    struct store *shared = bench.store;
    struct err err = {0};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &own, &err), &err);
    bench.store = own;
    *(enum run_state *)context = bench_drain(&bench, NULL, 1);
    bench.store = shared;
    store_close(own);
    return NULL;
}

/* Two runs of a date succeed at the same time: the other host is just about to commit. */
STORE_TEST(notice, an_incident_that_another_closes_meanwhile_is_closed_once)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    static const char DAG[] = "{\"tasks\": {\"a\": {\"run\": \"x\", \"on_failure\": " PAGER "}}}";
    struct err err = {0};
    CLEANUP(db_closep) struct db *other = NULL;
    enum run_state state = RUN_QUEUED;
    pthread_t thread;
    bench_start(&bench, DAG);
    cr_assert_eq(bench_drain(&bench, SCRIPT, 1), RUN_FAILED);
    cr_assert_eq(open_incidents(), 1);
    bench_now_us = count("SELECT max(logical_at_us) FROM run WHERE $1 = 0");
    bench_start(&bench, DAG);
    EXPECT_OK(db_open(bench.url, DB_READ_WRITE, &other, &err), &err);
    if (db_dialect(other) == DB_SQLITE)
        return; /* one writer at a time */
    EXPECT_OK(db_begin(other, &err), &err);
    EXPECT_OK(db_do(other, &err, "UPDATE notice SET incident = 2 WHERE incident = 1", ""), &err);
    cr_assert_eq(pthread_create(&thread, NULL, finish_run, &state), 0);
    while (count("SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation"
                 " JOIN pg_locks w ON w.pid = l.pid AND NOT w.granted"
                 " WHERE c.relname = 'notice' AND c.relnamespace = current_schema()::regnamespace"
                 " AND $1 = 0") == 0)
        sched_yield();
    EXPECT_OK(db_commit(other, &err), &err);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_expect_eq(state, RUN_SUCCESS);
    cr_expect_eq(closings(), 0, "who closed it has left the message");
}

STORE_TEST(notice, a_failed_one_can_be_sent_again_by_hand)
{
    struct err err = {0};
    fail_with(WEBHOOK);
    struct notice_claim notice = claim();
    const struct notice_filter all = {.state = -1};
    int64_t counted = 0;
    EXPECT_OK(store_notice_count(bench.store, &all, 10, &counted, &err), &err);
    cr_assert_eq(counted, 1);
    EXPECT_STATUS(STATUS_CONFLICT, store_notice_retry(bench.store, notice.id, "me", &err), &err);
    settle(&notice, NOTICE_FAILED, 0);

    err = (struct err){0};
    EXPECT_OK(store_notice_retry(bench.store, notice.id, "me", &err), &err);
    notice = claim();
    cr_expect_eq(notice.attempts, 2);
    cr_expect_eq(notice.first_at_us, bench_now_us, "a day is left again");
    settle(&notice, NOTICE_SENT, 0);
    EXPECT_STATUS(STATUS_CONFLICT, store_notice_retry(bench.store, notice.id, "me", &err), &err);
    EXPECT_STATUS(STATUS_NOT_FOUND, store_notice_retry(bench.store, 12345, "me", &err), &err);
    cr_expect_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_NOTICE_RETRIED),
        1);
}

static enum status note_id(void *context, const struct notice_info *notice, struct err *err)
{
    (void)err;
    *(int64_t *)context = notice->id;
    return STATUS_OK;
}

STORE_TEST(notice, those_before_one_are_listed)
{
    struct err err = {0};
    int64_t newest = 0;
    int64_t next = 0;
    int64_t none = 0;
    fail_with(WEBHOOK);
    fail_with(WEBHOOK);
    struct notice_filter filter = {.state = -1, .limit = 1};
    EXPECT_OK(store_notice_each(bench.store, &filter, note_id, &newest, &err), &err);
    filter.before = newest;
    EXPECT_OK(store_notice_each(bench.store, &filter, note_id, &next, &err), &err);
    cr_assert_gt(next, 0);
    cr_assert_lt(next, newest);
    filter.before = next;
    filter.state = NOTICE_PENDING;
    EXPECT_OK(store_notice_each(bench.store, &filter, note_id, &none, &err), &err);
    cr_assert_eq(none, 0);
}

STORE_TEST(notice, old_ones_are_forgotten_once_they_are_settled)
{
    static const char HOOKS[] = "{\"webhook\": \"http://127.0.0.1:1/\", \"group\": \"1m\"}";
    struct err err = {0};
    int64_t pruned = 0;
    fail_with(HOOKS);
    fail_with(HOOKS);
    fail_with(WEBHOOK);
    struct notice_claim plain = claim();
    settle(&plain, NOTICE_PENDING, bench_now_us + 9 * MINUTE_US);
    bench_now_us += 2 * MINUTE_US;
    struct notice_claim folded = claim();
    cr_assert_eq(folded.total, 2);
    settle(&folded, NOTICE_SENT, 0);

    EXPECT_OK(store_old_rows_remove(bench.store, OLD_NOTICES, bench_now_us, 10, &pruned, &err),
              &err);
    cr_expect_eq(all(), 3);
    EXPECT_OK(store_old_rows_remove(bench.store, OLD_NOTICES, bench_now_us + 1, 10, &pruned, &err),
              &err);
    cr_expect_eq(all(), 1);
}

STORE_TEST(notice, what_nobody_watches_leaves_nothing)
{
    static const struct bench_script SCRIPT[] = {{.task = "a", .exit_code = 1}, {.task = NULL}};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    cr_assert_eq(bench_drain(&bench, SCRIPT, 1), RUN_FAILED);
    cr_expect_eq(all(), 0);
}

/* --- several senders ------------------------------------------------------------------------- */

enum { NOTICES = 60, SENDERS = 4 };

struct sending {
    pthread_t thread;
    int64_t ids[NOTICES];
    size_t count;
};

static void *send_all(void *context)
{
    struct sending *self = context;
    struct store *store = NULL;
    struct err err = {0};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &store, &err), &err);
    for (;;) {
        CLEANUP(arena_freep) struct arena *arena = arena_new();
        struct notice_claim notice = {0};
        int64_t next_us = 0;
        EXPECT_OK(store_notice_claim(store, arena, NULL, &notice, &next_us, &err), &err);
        if (notice.id == 0 && next_us > bench_now_us)
            break;
        if (notice.id != 0)
            self->ids[self->count++] = notice.id;
    }
    store_close(store);
    return NULL;
}

STORE_TEST(notice, several_senders_have_each_once)
{
    static struct sending senders[SENDERS];
    int64_t seen = 0;
    CLEANUP(mem_freep) char *hooks = mem_strdup("[" WEBHOOK);
    for (int i = 1; i < 10; i++) {
        char *more = mem_format("%s, {\"webhook\": \"http://127.0.0.1:%d/\"}", hooks, i + 1);
        free(hooks);
        hooks = more;
    }
    CLEANUP(mem_freep) char *list = mem_format("%s]", hooks);
    for (int i = 0; i < NOTICES / 10; i++)
        fail_with(list);
    cr_assert_eq(all(), NOTICES);

    for (size_t i = 0; i < SENDERS; i++)
        cr_assert_eq(pthread_create(&senders[i].thread, NULL, send_all, &senders[i]), 0);
    for (size_t i = 0; i < SENDERS; i++) {
        cr_assert_eq(pthread_join(senders[i].thread, NULL), 0);
        seen += (int64_t)senders[i].count;
    }
    cr_expect_eq(seen, NOTICES);
    cr_expect_eq(count("SELECT count(*) FROM notice WHERE attempts <> 1 AND $1 = 0"), 0);
}
