/*
 * What is counted is told, bounded, and as the formats of those who read it want it.
 */
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "expect.h"
#include "model/meters.h"
#include "model/metric_statsd.h"
#include "model/run_state.h"
#include "model/task_state.h"

static struct meters *meters;

static void setup(void)
{
    meters = meters_new(3);
}

static void teardown(void)
{
    meters_free(meters);
}

TestSuite(metric, .init = setup, .fini = teardown);

static char *text_of(void)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    struct strbuf text;
    strbuf_init(&text, 1 << 20);
    meters_collect(meters, &samples);
    metric_text(&samples, &text);
    return strbuf_take(&text);
}

static void expect_line(const char *line, bool is_there)
{
    CLEANUP(mem_freep) char *text = text_of();
    CLEANUP(mem_freep) char *whole = mem_format("\n%s\n", line);
    cr_expect_eq(strstr(text, whole) != NULL, is_there, "%s in %s", line, text);
}

static void count(enum metric metric, const char *first, const char *second, int state,
                  int64_t amount)
{
    const struct meter_labels labels = {first, second, state};
    meter_count(meters_find(meters, metric, &labels), metric, amount);
}

Test(metric, names_follow_the_rules_of_prometheus)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric_row *row = &METRICS[i];
        bool is_total = str_ends_with(row->name, "_total");
        cr_expect(str_starts_with(row->name, "eider_"), "%s", row->name);
        cr_expect_eq(is_total, row->type == METRIC_COUNTER, "%s", row->name);
        cr_expect_eq(row->type == METRIC_HISTOGRAM, row->buckets != BUCKETS_NONE, "%s", row->name);
        cr_expect_gt(strlen(row->help), 10, "%s", row->name);
        CLEANUP(mem_freep) char *unit = mem_format("_%s", metric_unit_name(row->unit));
        cr_expect(row->unit == UNIT_NONE || strstr(row->name, unit) != NULL, "%s", row->name);
        for (size_t j = 0; j < i; j++)
            cr_expect_neq(strcmp(METRICS[j].name, row->name), 0, "%s", row->name);
    }
}

Test(metric, bounds_of_histograms_rise)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        size_t bounds_count = 0;
        const int64_t *bounds = metric_bounds((enum metric)i, &bounds_count);
        cr_assert_lt(bounds_count, METRIC_BUCKETS_MAX);
        for (size_t j = 1; j < bounds_count; j++)
            cr_expect_gt(bounds[j], bounds[j - 1], "%s", METRICS[i].name);
    }
}

Test(metric, what_was_counted_is_told_with_its_labels)
{
    count(METRIC_TASKS, "shop", "load", TASK_SUCCESS, 1);
    count(METRIC_TASKS, "shop", "load", TASK_SUCCESS, 2);
    count(METRIC_TASKS, "shop", "load", TASK_FAILED, 1);
    count(METRIC_DAG_RUNS, "shop", NULL, RUN_CANCELLED, 1);
    meters_count(meters, METRIC_CLAIM_CONFLICTS, 7);
    expect_line("eider_tasks_total{dag_id=\"shop\",task_id=\"load\",state=\"success\"} 3", true);
    expect_line("eider_tasks_total{dag_id=\"shop\",task_id=\"load\",state=\"failed\"} 1", true);
    expect_line("eider_dag_runs_total{dag_id=\"shop\",state=\"cancelled\"} 1", true);
    expect_line("eider_claim_conflicts_total 7", true);
    expect_line("eider_claim_backoffs_total 0", true);
}

Test(metric, a_histogram_adds_up_and_its_bounds_are_included)
{
    count(METRIC_JOB_DURATION, "mail", NULL, TASK_SUCCESS, 100000);
    count(METRIC_JOB_DURATION, "mail", NULL, TASK_SUCCESS, 100001);
    count(METRIC_JOB_DURATION, "mail", NULL, TASK_SUCCESS, (int64_t)90000 * 1000000);
#define SERIES "{queue=\"mail\",state=\"success\""
    expect_line("eider_job_duration_seconds_bucket" SERIES ",le=\"0.1\"} 1", true);
    expect_line("eider_job_duration_seconds_bucket" SERIES ",le=\"0.5\"} 2", true);
    expect_line("eider_job_duration_seconds_bucket" SERIES ",le=\"86400\"} 2", true);
    expect_line("eider_job_duration_seconds_bucket" SERIES ",le=\"+Inf\"} 3", true);
    expect_line("eider_job_duration_seconds_sum" SERIES "} 90000.2", true);
    expect_line("eider_job_duration_seconds_count" SERIES "} 3", true);
    expect_line("eider_store_batch_size_bucket{le=\"+Inf\"} 0", true);
}

Test(metric, labels_are_escaped)
{
    count(METRIC_JOBS_ENQUEUED, "a\"b\\c\nd", NULL, 0, 1);
    expect_line("eider_jobs_enqueued_total{queue=\"a\\\"b\\\\c\\nd\"} 1", true);
}

Test(metric, beyond_the_bound_all_are_other)
{
    for (int i = 0; i < 10; i++) {
        CLEANUP(mem_freep) char *name = mem_format("t%d", i);
        count(METRIC_TASK_RETRIES, "shop", name, 0, 1);
    }
    expect_line("eider_task_retries_total{dag_id=\"shop\",task_id=\"t2\"} 1", true);
    expect_line("eider_task_retries_total{dag_id=\"shop\",task_id=\"t3\"} 1", false);
    expect_line("eider_task_retries_total{dag_id=\"other\",task_id=\"other\"} 7", true);
    count(METRIC_TASK_RETRIES, "shop", "t2", 0, 1);
    expect_line("eider_task_retries_total{dag_id=\"shop\",task_id=\"t2\"} 2", true);
}

Test(metric, nobody_need_count)
{
    meters_count(NULL, METRIC_CLAIM_CONFLICTS, 1);
    meters_set(NULL, METRIC_WORKER_CPU, 1);
    meters_sign(NULL, SIGN_COMMIT, 1);
    cr_expect_null(meters_find(NULL, METRIC_TASKS, NULL));
    meter_count(NULL, METRIC_TASKS, 1);
    cr_expect_eq(meters_sign_at(NULL, SIGN_COMMIT), 0);
}

enum { THREADS = 4, ROUNDS = 20000 };

static void *count_a_lot(void *context)
{
    (void)context;
    for (int i = 0; i < ROUNDS; i++) {
        static const char *const NAMES[] = {"a", "b", "c", "d", "e"};
        count(METRIC_TASKS, "shop", NAMES[i % 5], TASK_SUCCESS, 1);
        meters_count(meters, METRIC_STORE_COMMIT, i);
    }
    return NULL;
}

Test(metric, threads_lose_nothing)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, count_a_lot, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    meters_collect(meters, &samples);
    double tasks = 0;
    size_t series = 0;
    for (size_t i = 0; i < samples.count; i++) {
        const struct metric_sample *sample = &samples.items[i];
        tasks += sample->metric == METRIC_TASKS ? sample->value : 0;
        series += sample->metric == METRIC_TASKS;
        if (sample->metric == METRIC_STORE_COMMIT)
            cr_expect_eq(sample->count, THREADS * ROUNDS);
    }
    cr_expect_eq((int64_t)tasks, THREADS * ROUNDS);
    cr_expect_eq(series, 4, "three and the others");
}

/* --- StatsD ---------------------------------------------------------------------------------- */

static void add_line(void *context, const char *line)
{
    strbuf_addf(context, "%s\n", line);
}

static char *lines_of(struct metric_statsd *statsd)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct metric_samples samples = {.arena = arena};
    struct strbuf lines;
    strbuf_init(&lines, 1 << 20);
    meters_collect(meters, &samples);
    metric_samples_add(&samples, METRIC_QUEUE_DEPTH, 5, "mail", NULL);
    metric_statsd_write(statsd, &samples, add_line, &lines);
    return strbuf_take(&lines);
}

Test(metric, statsd_is_sent_what_was_added)
{
    struct metric_statsd *statsd = metric_statsd_new("x");
    count(METRIC_TASKS, "a.b", "load", TASK_SUCCESS, 3);
    for (int i = 0; i < 10; i++)
        count(METRIC_TASK_DURATION, "a.b", "load", TASK_SUCCESS, 50000);
    CLEANUP(mem_freep) char *first = lines_of(statsd);
    cr_expect_not_null(strstr(first, "x.tasks.a_b.load.success:3|c\n"), "%s", first);
    cr_expect_not_null(strstr(first, "x.task_duration.a_b.load.success:100|ms|@0.1\n"), "%s",
                       first);
    cr_expect_not_null(strstr(first, "x.queue_depth.mail:5|g\n"), "%s", first);
    count(METRIC_TASKS, "a.b", "load", TASK_SUCCESS, 1);
    CLEANUP(mem_freep) char *second = lines_of(statsd);
    cr_expect_not_null(strstr(second, "x.tasks.a_b.load.success:1|c\n"), "%s", second);
    cr_expect_null(strstr(second, "task_duration"), "%s", second);
    metric_statsd_free(statsd);
}
