/*
 * Deadlines: when they are known, what is late, and that it is told once and while it is late.
 */
#include <pthread.h>

#include "model/event_kind.h"
#include "store/deadline.h"
#include "store/notice.h"
#include "store/sight.h"
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

TestSuite(deadline, .init = setup, .fini = teardown);

static const int64_t MINUTE_US = INT64_C(60) * 1000000;

#define HOOK "\"on_sla_miss\": {\"webhook\": \"http://127.0.0.1:1/\"}"
static const char OF_RUN[] =
    "{\"sla\": \"10m\", " HOOK ", \"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\","
    " \"needs\": [\"a\"]}}}";
static const char OF_TASK[] =
    "{\"tasks\": {\"a\": {\"run\": \"x\", \"sla\": \"10m\", \"retries\": 3,"
    " \"retry_delay\": \"1m\", " HOOK "}}}";

static struct deadline_result pass(void)
{
    struct err err = {0};
    struct deadline_result result;
    EXPECT_OK(store_deadline_pass(bench.store, &result, &err), &err);
    return result;
}

static int64_t next_due(void)
{
    struct err err = {0};
    int64_t next_us = 0;
    EXPECT_OK(store_deadline_next(bench.store, &next_us, &err), &err);
    return next_us;
}

static int64_t count(const char *sql)
{
    return bench_number(&bench, sql, 0);
}

static int64_t notices(void)
{
    return count("SELECT count(*) FROM notice WHERE $1 = 0");
}

static struct outcome end_of(const struct claim *claim, int code)
{
    return bench_outcome(claim, code);
}

struct misses {
    struct sla_miss items[8];
    size_t count;
};

static enum status keep(void *context, const struct sla_miss *miss, struct err *err)
{
    (void)err;
    struct misses *misses = context;
    misses->items[misses->count] = *miss;
    misses->items[misses->count].task_id = arena_strdup_null(bench.arena, miss->task_id);
    misses->count++;
    return STATUS_OK;
}

static struct misses list(bool open_only)
{
    struct err err = {0};
    struct misses misses = {.count = 0};
    struct sla_filter filter = {.open_only = open_only, .limit = ARRAY_LEN(misses.items)};
    int64_t counted = 0;
    EXPECT_OK(store_sla_each(bench.store, &filter, keep, &misses, &err), &err);
    EXPECT_OK(store_sla_count(bench.store, &filter, filter.limit, &counted, &err), &err);
    cr_assert_eq(counted, (int64_t)misses.count);
    return misses;
}

STORE_TEST(deadline, a_run_that_takes_too_long_is_late_once_until_it_ends)
{
    bench_start(&bench, OF_RUN);
    cr_assert_eq(next_due(), INT64_MAX, "it has not started");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    int64_t started_us = bench_now_us;
    cr_assert_eq(next_due(), started_us + 10 * MINUTE_US);

    bench_now_us += 10 * MINUTE_US - 1;
    cr_assert_eq(pass().looked, 0);
    bench_now_us += 2;
    struct deadline_result late = pass();
    cr_assert_eq(late.missed, 1);
    cr_assert_eq(late.told, 1);
    cr_assert_eq(pass().looked, 0);
    cr_assert_eq(notices(), 1);
    cr_assert_eq(
        bench_number(&bench, "SELECT count(*) FROM event WHERE kind = $1", EVENT_SLA_MISSED), 1);

    struct misses misses = list(true);
    cr_assert_eq(misses.count, 1);
    cr_assert_eq(misses.items[0].kind, SLA_WITHIN);
    cr_assert_eq(misses.items[0].expected_us, started_us + 10 * MINUTE_US);
    cr_assert_eq(misses.items[0].actual_us, 0);
    cr_assert_eq(misses.items[0].notified, 0, "the message has not arrived yet");
    cr_assert_null(misses.items[0].task_id);

    struct outcome first = end_of(&result.claims[0], 0);
    result = bench_advance(&bench, &first, 1, 1);
    struct outcome second = end_of(&result.claims[0], 0);
    bench_now_us += MINUTE_US;
    (void)bench_advance(&bench, &second, 1, 1);
    cr_assert_eq(list(true).count, 0);
    cr_assert_eq(list(false).items[0].actual_us, bench_now_us);
    cr_assert_eq(notices(), 1, "its end is no news");
}

STORE_TEST(deadline, what_ends_in_time_leaves_nothing)
{
    bench_start(&bench, OF_RUN);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    bench_now_us += 20 * MINUTE_US;

    struct deadline_result result = pass();
    cr_assert_eq(result.looked, 1);
    cr_assert_eq(result.missed, 0);
    cr_assert_eq(notices(), 0);
    cr_assert_eq(next_due(), INT64_MAX);
}

STORE_TEST(deadline, what_ended_late_while_nobody_looked_is_recorded_and_not_told)
{
    bench_start(&bench, OF_TASK);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    bench_now_us += 11 * MINUTE_US;
    struct outcome end = end_of(&result.claims[0], 0);
    (void)bench_advance(&bench, &end, 1, 1);
    int64_t ended_us = bench_now_us;
    bench_now_us += 11 * MINUTE_US;

    cr_assert_eq(pass().missed, 1);
    cr_assert_eq(notices(), 0);
    struct misses misses = list(false);
    cr_assert_eq(misses.items[0].actual_us, ended_us);
    cr_assert_eq(misses.items[0].notified, 0);
    cr_assert_str_eq(misses.items[0].task_id, "a");
}

STORE_TEST(deadline, a_retry_has_the_time_of_its_first_attempt)
{
    bench_start(&bench, OF_TASK);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    int64_t due_us = next_due();
    bench_now_us += 8 * MINUTE_US;
    struct outcome end = end_of(&result.claims[0], 1);
    (void)bench_advance(&bench, &end, 1, 1);
    bench_now_us += 90 * 1000000;
    result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(next_due(), due_us);

    bench_now_us = due_us;
    cr_assert_eq(pass().told, 1);
    /* Late already, it is tried once more: that is no second miss. */
    end = end_of(&result.claims[0], 1);
    (void)bench_advance(&bench, &end, 1, 1);
    bench_now_us += 5 * MINUTE_US;
    result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    bench_now_us += 11 * MINUTE_US;
    cr_assert_eq(pass().missed, 0);
    cr_assert_eq(notices(), 1);
}

STORE_TEST(deadline, each_instance_of_a_mapped_task_has_its_own)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1, 2, 3],"
                        " \"sla\": {\"within\": \"10m\"}, " HOOK "}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    struct outcome expand = end_of(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 3;
    result = bench_advance(&bench, &expand, 1, 2);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_eq(count("SELECT count(*) FROM deadline WHERE $1 = 0"), 2);
    struct outcome quick = end_of(&result.claims[0], 0);
    bench_now_us += 5 * MINUTE_US;
    (void)bench_advance(&bench, &quick, 1, 1);
    bench_now_us += 5 * MINUTE_US + 1;

    cr_assert_eq(pass().missed, 1);
    cr_assert_eq(list(true).items[0].map_index, 1);
    bench_now_us += 5 * MINUTE_US;
    cr_assert_eq(pass().missed, 1);
    cr_assert_eq(list(true).count, 2);
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_RUNNING);
    struct err err = {0};
    struct cancel_request cancel = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};
    EXPECT_OK(store_run_cancel(bench.store, &cancel, &err), &err);
}

/* A run of the given kind for this DAG, beside that of the bench. */
static struct run_created create(const char *kind, int64_t interval_end_us)
{
    struct err err = {0};
    struct run_created run;
    int64_t version = bench_number(&bench, "SELECT version FROM run WHERE id = $1", bench.run.id);
    struct run_request request = {.version = version,
                                  .kind = kind,
                                  .logical_at_us = interval_end_us,
                                  .interval_start_us = interval_end_us - MINUTE_US,
                                  .interval_end_us = interval_end_us,
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test",
                                  .scope = -1};
    EXPECT_OK(store_run_create(bench.store, &request, &run, &err), &err);
    return run;
}

static int64_t due_of(int64_t run, enum sla_kind kind, bool of_task)
{
    static const char *const SQL[] = {
        "SELECT max(due_at_us) FROM deadline WHERE run = $1 AND task = 0 AND kind = 0",
        "SELECT max(due_at_us) FROM deadline WHERE run = $1 AND task = 0 AND kind = 1",
        "SELECT max(due_at_us) FROM deadline WHERE run = $1 AND task = 0 AND kind = 2",
        "SELECT max(due_at_us) FROM deadline WHERE run = $1 AND task = 0 AND kind = 3",
    };
    static const char TASK_SQL[] =
        "SELECT max(due_at_us) FROM deadline WHERE run = $1 AND task <> 0 AND kind = 2";
    return bench_number(&bench, of_task ? TASK_SQL : SQL[kind], run);
}

STORE_TEST(deadline, the_schedule_counts_as_soon_as_there_is_a_run)
{
    bench_start(&bench, "{\"sla\": {\"of_schedule\": \"3h\", \"start_within\": \"5m\","
                        " \"finish_by\": \"06:30\", \"tz\": \"Europe/Berlin\"}, " HOOK ","
                        " \"tasks\": {\"a\": {\"run\": \"x\", \"sla\": {\"of_schedule\": \"1h\"}},"
                        " \"b\": {\"run\": \"x\"}}}");
    /* 2023-11-14T22:13:20Z is 23:13:20 in Berlin. */
    int64_t tick_us = INT64_C(1700000000000000) - 3600 * INT64_C(1000000);
    int64_t run = create("scheduled", tick_us).id;

    cr_expect_eq(due_of(run, SLA_OF_SCHEDULE, false), tick_us + 180 * MINUTE_US);
    cr_expect_eq(due_of(run, SLA_START_WITHIN, false), tick_us + 5 * MINUTE_US);
    cr_expect_eq(due_of(run, SLA_FINISH_BY, false), INT64_C(1700026200000000));
    cr_expect_eq(due_of(run, SLA_OF_SCHEDULE, true), tick_us + 60 * MINUTE_US);
    int64_t made_us =
        bench_number(&bench, "SELECT created_at_us FROM run WHERE id = $1", bench.run.id);
    cr_expect_eq(due_of(bench.run.id, SLA_OF_SCHEDULE, false), made_us + 180 * MINUTE_US);
    int64_t filled = create("backfill", tick_us - MINUTE_US).id;
    cr_expect_eq(bench_number(&bench, "SELECT count(*) FROM deadline WHERE run = $1", filled), 0);
}

STORE_TEST(deadline, a_run_and_a_task_that_do_not_start_are_late_until_they_do)
{
    bench_start(&bench, "{\"sla\": {\"start_within\": \"5m\"}, " HOOK ", \"tasks\": {\"a\":"
                        " {\"run\": \"x\", \"sla\": {\"start_within\": \"2m\"}, " HOOK "}}}");
    bench_now_us += 6 * MINUTE_US;
    struct deadline_result result = pass();
    cr_assert_eq(result.missed, 2);
    cr_assert_eq(result.told, 2);
    cr_assert_eq(list(true).count, 2);

    (void)bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(list(true).count, 0);
    cr_assert_eq(list(false).items[0].actual_us, bench_now_us);
    cr_assert_eq(list(false).items[1].actual_us, bench_now_us);
}

STORE_TEST(deadline, what_is_cleared_has_its_time_anew)
{
    struct err err = {0};
    struct clear_result cleared;
    bool nodes[] = {true};
    bench_start(&bench,
                "{\"sla\": \"30m\", \"tasks\": {\"a\": {\"run\": \"x\", \"sla\": \"10m\", " HOOK
                "}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome end = end_of(&result.claims[0], 1);
    bench_now_us += 9 * MINUTE_US;
    (void)bench_advance(&bench, &end, 1, 1);

    struct clear_request request = {
        .run = bench.run.id, .nodes = nodes, .map_index = -1, .actor = "test"};
    bench_now_us += 19 * MINUTE_US;
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);
    result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims_count, 1);
    int64_t again_us = bench_now_us;
    bench_now_us += 5 * MINUTE_US;
    cr_assert_eq(pass().missed, 0, "that of the first attempt means nothing any more");
    bench_now_us = again_us + 10 * MINUTE_US;
    cr_assert_eq(pass().missed, 1);
    bench_now_us = again_us + 30 * MINUTE_US;
    cr_assert_eq(pass().missed, 1, "the run as a whole");
    cr_assert_eq(list(true).count, 2);
    end = end_of(&result.claims[0], 0);
    (void)bench_advance(&bench, &end, 1, 1);
    cr_assert_eq(list(true).count, 0);
}

STORE_TEST(deadline, they_go_with_their_run)
{
    struct err err = {0};
    bench_start(&bench, OF_RUN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    bench_now_us += 11 * MINUTE_US;
    cr_assert_eq(pass().missed, 1);
    struct cancel_request cancel = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};
    EXPECT_OK(store_run_cancel(bench.store, &cancel, &err), &err);
    struct outcome end = end_of(&result.claims[0], 0);
    end.end.reason = REASON_CANCELLED;
    (void)bench_advance(&bench, &end, 1, 1);
    cr_assert_eq(list(true).count, 0, "a run that was stopped is not late any more");

    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "test", &err), &err);
    cr_assert_eq(count("SELECT count(*) FROM sla_miss WHERE $1 = 0"), 0);
    cr_assert_eq(count("SELECT count(*) FROM deadline WHERE $1 = 0"), 0);
    cr_assert_eq(notices(), 1, "who waits for a message still gets it");
}

static enum status keep_record(void *context, const struct sla_record *record, struct err *err)
{
    (void)err;
    *(struct sla_record *)context = *record;
    return STATUS_OK;
}

STORE_TEST(deadline, a_report_counts_runs_that_ended)
{
    struct err err = {0};
    struct sla_record record = {0};
    bench_start(&bench, OF_RUN);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    bench_start(&bench, OF_RUN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    bench_now_us += 12 * MINUTE_US;
    (void)pass();
    EXPECT_OK(store_sla_report(bench.store, "d", 20, keep_record, &record, &err), &err);
    cr_assert_eq(record.runs, 1);
    cr_assert_eq(record.late, 0);
    cr_assert_eq(record.open, 1);
    struct outcome end = end_of(&result.claims[0], 0);
    (void)bench_advance(&bench, &end, 1, 0);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);

    EXPECT_OK(store_sla_report(bench.store, NULL, 20, keep_record, &record, &err), &err);
    cr_assert_eq(record.runs, 2);
    cr_assert_eq(record.late, 1);
    cr_assert_eq(record.misses, 1);
    cr_assert_eq(record.open, 0);
    cr_assert_geq(record.worst_ms, 2 * 60 * 1000);
    EXPECT_OK(store_sla_report(bench.store, NULL, 1, keep_record, &record, &err), &err);
    cr_assert_eq(record.runs, 1);
    cr_assert_eq(record.late, 1);
}

STORE_TEST(deadline, a_dag_without_deadlines_costs_nothing)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    cr_assert_eq(count("SELECT count(*) FROM deadline WHERE $1 = 0"), 0);
    cr_assert_eq(notices(), 0);
}

/* --- several at once ------------------------------------------------------------------------- */

enum { RUNS = 40, LOOKERS = 4 };

struct looker {
    pthread_t thread;
    struct deadline_result sum;
};

static void *look(void *context)
{
    struct looker *looker = context;
    struct store *store = NULL;
    struct err err = {0};
    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &store, &err), &err);
    for (int64_t next_us = 0; next_us <= bench_now_us;) {
        struct deadline_result result;
        EXPECT_OK(store_deadline_pass(store, &result, &err), &err);
        looker->sum.missed += result.missed;
        looker->sum.told += result.told;
        EXPECT_OK(store_deadline_next(store, &next_us, &err), &err);
    }
    store_close(store);
    return NULL;
}

STORE_TEST(deadline, several_schedulers_tell_each_once)
{
    struct looker lookers[LOOKERS] = {0};
    bench_start(&bench, "{\"sla\": {\"of_schedule\": \"1m\"}, " HOOK ","
                        " \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    for (int i = 1; i < RUNS; i++)
        (void)create("scheduled", bench_now_us + i);
    bench_now_us += 2 * MINUTE_US;

    for (size_t i = 0; i < LOOKERS; i++)
        cr_assert_eq(pthread_create(&lookers[i].thread, NULL, look, &lookers[i]), 0);
    int64_t missed = 0;
    for (size_t i = 0; i < LOOKERS; i++) {
        cr_assert_eq(pthread_join(lookers[i].thread, NULL), 0);
        missed += lookers[i].sum.missed;
    }
    cr_assert_eq(missed, RUNS);
    cr_assert_eq(notices(), RUNS);
    cr_assert_eq(list(true).count, 8);
}

/* --- whether it was told --------------------------------------------------------------------- */

static void settle_next(enum notice_state state)
{
    struct err err = {0};
    struct notice_claim notice = {0};
    int64_t next_us = 0;
    EXPECT_OK(store_notice_claim(bench.store, bench.arena, NULL, &notice, &next_us, &err), &err);
    cr_assert_neq(notice.id, 0);
    struct notice_verdict verdict = {
        .id = notice.id, .attempts = notice.attempts, .state = state, .answer = "so"};
    EXPECT_OK(store_notice_settle(bench.store, &verdict, &err), &err);
}

STORE_TEST(deadline, a_miss_is_told_once_a_message_about_it_has_arrived)
{
    static const char LATE[] = "SELECT coalesce(sum(notified), 0) FROM sla_miss WHERE run = $1";
    bench_start(&bench, "{\"sla\": {\"of_schedule\": \"1m\"}, \"on_sla_miss\":"
                        " [{\"command\": \"a\"}, {\"command\": \"b\"}],"
                        " \"on_success\": {\"command\": \"c\"},"
                        " \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    bench_now_us += INT64_C(120) * 1000000;
    cr_assert_eq(pass().told, 2);
    cr_expect_eq(bench_number(&bench, LATE, bench.run.id), 0);
    settle_next(NOTICE_FAILED);
    cr_expect_eq(bench_number(&bench, LATE, bench.run.id), 0);
    settle_next(NOTICE_SENT);
    cr_expect_eq(bench_number(&bench, LATE, bench.run.id), 1);

    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    settle_next(NOTICE_SENT);
    cr_expect_eq(bench_number(&bench, LATE, bench.run.id), 1, "that one was about the end");
}

STORE_TEST(deadline, of_two_misses_of_a_run_each_is_told_by_its_own_message)
{
    static const char TOLD[] = "SELECT count(*) FROM sla_miss WHERE run = $1 AND notified = 1";
    static const char SUM[] = "SELECT sum(notified) FROM sla_miss WHERE run = $1";
    bench_start(&bench, "{\"sla\": {\"of_schedule\": \"1m\", \"start_within\": \"1m\"}, " HOOK
                        ", \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    bench_now_us += 2 * MINUTE_US;
    cr_assert_eq(pass().missed, 2);
    cr_assert_eq(notices(), 2);
    settle_next(NOTICE_SENT);
    cr_expect_eq(bench_number(&bench, TOLD, bench.run.id), 1);
    cr_expect_eq(bench_number(&bench, SUM, bench.run.id), 1);
    settle_next(NOTICE_SENT);
    cr_expect_eq(bench_number(&bench, TOLD, bench.run.id), 2);
    cr_expect_eq(bench_number(&bench, SUM, bench.run.id), 2);
}

/* --- lists ----------------------------------------------------------------------------------- */

struct line {
    char text[2048]; /* DAG, run, task, when it was due */
};

static enum status add_line(void *context, const struct sla_miss *miss, struct err *err)
{
    (void)err;
    struct line *line = context;
    size_t length = strlen(line->text);
    (void)snprintf(line->text + length, sizeof line->text - length, "%s %lld %lld %lld, ",
                   miss->dag_id, (long long)miss->run, (long long)miss->task,
                   (long long)miss->expected_us % 1000);
    return STATUS_OK;
}

/* One of them after the other, in their order, by comparing each with what is asked for. */
static struct line walk(const struct sla_filter *filter, const struct sla_miss *all, size_t count,
                        int64_t *out_count)
{
    struct line line = {0};
    struct err err = {0};
    *out_count = 0;
    for (size_t i = 0; i < count && *out_count < filter->limit; i++) {
        if ((filter->dag_id != NULL && strcmp(filter->dag_id, all[i].dag_id) != 0) ||
            (filter->run != 0 && filter->run != all[i].run) ||
            (filter->open_only && all[i].actual_us != 0))
            continue;
        EXPECT_OK(add_line(&line, &all[i], &err), &err);
        (*out_count)++;
    }
    return line;
}

enum { LISTED_RUNS = 12 };

/* Runs of two DAGs, of which every third is late still; the last ones share a time. */
static size_t make_misses(struct sla_miss *out)
{
    static const char OTHER[] = "{\"dag\": \"other\", \"tasks\": {\"a\": {\"run\": \"x\"}}}";
    for (size_t i = 0; i < LISTED_RUNS; i++) {
        bool is_open = i % 3 == 0;
        int64_t due_us = 100 + (int64_t)(i < 8 ? i : 8);
        char sql[256];
        bench_start(&bench, i % 2 == 0 ? OF_RUN : OTHER);
        if (!is_open)
            (void)bench_drain(&bench, NULL, 4);
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO sla_miss (run, task, kind, generation, due_at_us, dag, node,"
                       " map_index, noticed_at_us, ended_at_us, notified) SELECT id, 0, 0, 0, %lld,"
                       " dag, -1, -1, 7, %s, 0 FROM run WHERE id = %lld",
                       (long long)due_us, is_open ? "NULL" : "9", (long long)bench.run.id);
        bench_sql(&bench, sql);
        out[LISTED_RUNS - 1 - i] = (struct sla_miss){.run = bench.run.id,
                                                     .dag_id = i % 2 == 0 ? "d" : "other",
                                                     .expected_us = due_us,
                                                     .actual_us = is_open ? 0 : 9};
    }
    return LISTED_RUNS;
}

static void expect_list(const struct sla_filter *filter, const struct sla_miss *all, size_t count)
{
    struct err err = {0};
    struct line found = {0};
    int64_t walked_count = 0;
    int64_t counted = 0;
    struct line walked = walk(filter, all, count, &walked_count);
    EXPECT_OK(store_sla_each(bench.store, filter, add_line, &found, &err), &err);
    EXPECT_OK(store_sla_count(bench.store, filter, filter->limit, &counted, &err), &err);
    EXPECT_STR(walked.text, found.text);
    cr_assert_eq(counted, walked_count);
}

STORE_TEST(deadline, misses_of_a_dag_a_run_or_late_still_are_those_among_all)
{
    static const char *const DAGS[] = {NULL, "d", "other", "none"};
    struct sla_miss all[LISTED_RUNS];
    size_t count = make_misses(all);
    const int64_t runs[] = {0, all[3].run, all[LISTED_RUNS - 1].run};
    for (size_t d = 0; d < ARRAY_LEN(DAGS); d++)
        for (size_t r = 0; r < ARRAY_LEN(runs); r++)
            for (int64_t limit = 1; limit < 20; limit += 4)
                for (int open = 0; open < 2; open++)
                    expect_list(&(struct sla_filter){.dag_id = DAGS[d],
                                                     .run = runs[r],
                                                     .open_only = open != 0,
                                                     .limit = limit},
                                all, count);
    store_set_sight(bench.store, " elsewhere ");
    expect_list(&(struct sla_filter){.limit = 5}, NULL, 0);
    expect_list(&(struct sla_filter){.limit = 5, .open_only = true}, NULL, 0);
    store_set_sight(bench.store, " default ");
    expect_list(&(struct sla_filter){.limit = 5}, all, count);
    store_set_sight(bench.store, "");
}
