/*
 * What follows from the current version of a DAG: its schedule and what it waits for come, change
 * and go with it, whichever way it changes.
 */
#include "read_dag.h"
#include "store/dag_delete.h"
#include "store/dag_file.h"
#include "store/move_tables.h"
#include "store/schedule.h"
#include "store_bench.h"

static struct bench_store bench;

#define TASKS   "\"tasks\": {\"a\": {\"run\": \"x\"}}}"
#define HOURLY  "{\"schedule\": \"@hourly\", " TASKS
#define DAILY   "{\"schedule\": \"@daily\", " TASKS
#define FILED   "{\"schedule\": {\"file\": \"in/*.csv\"}, " TASKS
#define BY_HAND "{" TASKS

/* 2023-11-14T22:20:00Z */
static const int64_t START_US = (int64_t)1700000400000000;
static const int64_t HOUR_US = (int64_t)3600000000;

static void setup(void)
{
    bench = (struct bench_store){0};
    bench_now_us = START_US;
    bench_open(&bench);
}

static void teardown(void)
{
    struct err err = {0};
    struct check_report report;
    EXPECT_OK(store_check(bench.store, &report, &err), &err);
    for (size_t i = 0; i < report.count; i++)
        cr_expect(false, "store check: %s: %lld", report.findings[i].rule,
                  (long long)report.findings[i].count);
    bench_close(&bench);
}

TestSuite(dag_follow, .init = setup, .fini = teardown);

static void offer_as(const char *path, const char *text, bool starts_paused)
{
    struct err err = {0};
    struct dag *dag = read_dag(text);
    struct dag_file_change change = {
        .path = path,
        .stamp = {1, 2, 3, 4},
        .hash = text,
        .parts = "[]",
        .text = text,
        .dags = &dag,
        .lines = (int[]){1},
        .dags_count = 1,
    };
    struct dag_file_batch batch = {.host = "h",
                                   .actor = "tester",
                                   .starts_paused = starts_paused,
                                   .changes = &change,
                                   .count = 1};
    struct dag_file_result result;
    EXPECT_OK(store_dag_files_save(bench.store, &batch, &result, &err), &err);
    cr_assert_not(result.is_refused);
    dag_free(dag);
}

static void offer(const char *text)
{
    offer_as("/dags/d.yaml", text, false);
}

static void take_away(const char *path)
{
    struct err err = {0};
    int64_t gone = 0;
    EXPECT_OK(store_dag_files_remove(bench.store, "h", &path, 1, &err), &err);
    EXPECT_OK(store_dag_files_settle(bench.store, "h", "tester", &gone, &err), &err);
}

static void save_from(struct version_source source, const char *text)
{
    struct err err = {0};
    struct version_ref ref;
    CLEANUP(dag_freep) struct dag *dag = read_dag(text);
    source.text = text;
    EXPECT_OK(store_version_save(bench.store, dag, &source, &ref, &err), &err);
}

static void roll_back(int64_t number)
{
    struct err err = {0};
    struct rollback_request request = {.dag_id = "d", .number = number, .actor = "ann"};
    EXPECT_OK(store_version_rollback(bench.store, &request, &err), &err);
}

static void pause_dag(bool is_paused)
{
    struct err err = {0};
    bool changed = false;
    struct pause_request request = {.dag_id = "d", .is_paused = is_paused, .actor = "ann"};
    EXPECT_OK(store_schedule_pause(bench.store, &request, &changed, &err), &err);
}

static struct schedule_info schedule(void)
{
    struct err err = {0};
    struct schedule_info info;
    EXPECT_OK(store_schedule_load(bench.store, "d", &info, &err), &err);
    return info;
}

static int64_t count(const char *from)
{
    const char *sql = arena_format(bench.arena, "SELECT count(*) FROM %s AND $1 = 0", from);
    return bench_number(&bench, sql, 0);
}

STORE_TEST(dag_follow, a_schedule_goes_with_the_file_and_comes_back_with_it)
{
    offer(HOURLY);
    cr_assert(schedule().is_offered);
    cr_assert_eq(schedule().next_us, START_US + 2 * HOUR_US / 3);
    take_away("/dags/d.yaml");
    cr_assert_not(schedule().is_offered);
    cr_assert_eq(schedule().next_us, 0);
    bench_now_us += 5 * HOUR_US;
    offer(HOURLY);
    cr_assert(schedule().is_offered);
    cr_assert_eq(schedule().next_us, START_US + 2 * HOUR_US / 3 + 5 * HOUR_US);
}

STORE_TEST(dag_follow, a_pause_outlives_the_file_and_new_dags_may_begin_with_one)
{
    offer_as("/dags/d.yaml", HOURLY, true);
    cr_assert(schedule().is_paused);
    pause_dag(false);
    take_away("/dags/d.yaml");
    offer_as("/dags/d.yaml", HOURLY, true);
    cr_assert_not(schedule().is_paused, "it was offered before");
    pause_dag(true);
    take_away("/dags/d.yaml");
    offer(HOURLY);
    cr_assert(schedule().is_paused);
    cr_assert_eq(schedule().next_us, 0);
}

STORE_TEST(dag_follow, a_rollback_takes_the_schedule_along)
{
    offer(HOURLY);
    offer(BY_HAND);
    cr_assert_eq(schedule().next_us, 0);
    roll_back(1);
    cr_assert_eq(schedule().next_us, START_US + 2 * HOUR_US / 3);
    offer(BY_HAND);
    cr_assert_neq(schedule().next_us, 0, "the file is what it was");
    take_away("/dags/d.yaml");
    roll_back(2);
    roll_back(1);
    cr_assert_eq(schedule().next_us, 0, "nobody offers it");
    offer(BY_HAND);
    cr_assert_eq(schedule().next_us, START_US + 2 * HOUR_US / 3, "back, and still rolled back");
}

STORE_TEST(dag_follow, only_a_version_that_becomes_current_is_scheduled)
{
    offer(HOURLY);
    int64_t next_us = schedule().next_us;
    save_from((struct version_source){.path = "/tmp/d.yaml"}, DAILY);
    cr_assert_eq(schedule().next_us, next_us, "another file has no say");
    take_away("/dags/d.yaml");
    save_from((struct version_source){.path = "/tmp/d.yaml"}, HOURLY);
    save_from((struct version_source){.path = "/dags/d.yaml"}, DAILY);
    cr_assert_not(schedule().is_offered, "whoever triggers it does not bring it back");
}

STORE_TEST(dag_follow, what_is_run_in_the_foreground_is_scheduled_once_somebody_offers_it)
{
    save_from((struct version_source){.path = "/d.yaml", .is_foreground = true}, HOURLY);
    cr_assert_not(schedule().is_offered);
    save_from((struct version_source){.path = "/d.yaml"}, HOURLY);
    cr_assert(schedule().is_offered);
    save_from((struct version_source){.path = "/d.yaml", .is_foreground = true}, DAILY);
    cr_assert(schedule().is_offered, "running it does not take it away");
    roll_back(1);
    cr_assert(schedule().is_offered);
    cr_assert_eq(schedule().next_us, START_US + 2 * HOUR_US / 3);
}

STORE_TEST(dag_follow, what_it_waits_for_follows_the_file)
{
    offer(FILED);
    cr_assert_eq(count("trigger_watch WHERE name = '/dags/in/*.csv'"), 1);
    take_away("/dags/d.yaml");
    cr_assert_eq(count("trigger_dag WHERE paused = 1"), 1);
    offer_as("/other/d.yaml", FILED, false);
    cr_assert_eq(count("trigger_dag WHERE paused = 0"), 1);
    cr_assert_eq(count("trigger_watch WHERE name = '/other/in/*.csv'"), 1);
    /* The same words in another folder, without ever being gone. */
    struct err err = {0};
    const char *path = "/other/d.yaml";
    EXPECT_OK(store_dag_files_remove(bench.store, "h", &path, 1, &err), &err);
    offer_as("/third/d.yaml", FILED, false);
    cr_assert_eq(count("trigger_watch WHERE name = '/third/in/*.csv'"), 1);
    cr_assert_eq(count("trigger_watch WHERE kind = 2"), 1);
    offer_as("/third/d.yaml", BY_HAND, false);
    cr_assert_eq(count("trigger_dag WHERE dag <> 0"), 0);
    roll_back(1);
    cr_assert_eq(count("trigger_watch WHERE name = '/third/in/*.csv'"), 1);
}

/* --- deleting -------------------------------------------------------------------------------- */

static bool has_dag(const struct move_table *table)
{
    const char *columns = arena_format(bench.arena, " %s ", table->columns);
    return strstr(columns, " dag ") != NULL;
}

/* Tables in which something is kept under the key of a DAG; their names, as far as there is. */
static const char *kept_of(int64_t dag)
{
    const char *names = "";
    for (const struct move_table *table = MOVE_TABLES; table->name != NULL; table++)
        if (has_dag(table) &&
            bench_number(
                &bench,
                arena_format(bench.arena, "SELECT count(*) FROM %s WHERE dag = $1", table->name),
                dag) > 0)
            names = arena_format(bench.arena, "%s%s ", names, table->name);
    return names;
}

static void plant(const char *sql)
{
    bench_sql(&bench, sql);
}

STORE_TEST(dag_follow, a_deleted_dag_leaves_nothing_behind)
{
    struct err err = {0};
    struct dag_delete_step step = {0};
    struct dag_delete_request request = {.dag_id = "d", .actor = "ann"};
    offer(FILED);
    bench_start(&bench, FILED);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    int64_t dag = schedule().dag_key;
    plant("INSERT INTO trigger_pending (id, dag, kind, source, name, state, at_us, seen)"
          " SELECT 1, id, 0, 5, 'a', 0, 0, 0 FROM dag");
    plant("INSERT INTO missed (dag, first_us, last_us, count, is_more, why, at_us) SELECT id, 1, "
          "2, 2, 0, 0, 3 FROM dag");
    plant("INSERT INTO waiting (dag, backfill, logical_at_us, run) SELECT id, 0, 5, 999 FROM dag");
    plant("INSERT INTO file_arrival (id, dag, path, mtime_us, bytes, inode, at_us, run)"
          " SELECT 1, id, '/x', 1, 1, 1, 1, 0 FROM dag");
    plant("INSERT INTO webhook (id, dag, name, token_hash, actor, created_at_us)"
          " SELECT 1, id, 'w', 'h', 'ann', 1 FROM dag");
    plant("INSERT INTO webhook_call (webhook, key, run, at_us) VALUES (1, 'k', 1, 1)");
    plant("INSERT INTO sla_miss (run, task, kind, generation, due_at_us, dag, node, map_index,"
          " noticed_at_us, ended_at_us, notified)"
          " SELECT 999, 0, 1, 0, 5, id, -1, -1, 6, 7, 0 FROM dag");
    plant("INSERT INTO backfill (id, dag, version, state, from_us, to_us, until_us, newest_first,"
          " redo, max_active, queue, params, conf, tasks, note, reason, actor, token, size,"
          " cursor_us, created_at_us) SELECT 1, id, version, 2, 0, 1, 1, 0, 0, 1, 0, '{}', '{}',"
          " '[]', '', '', 'ann', 't', 1, 0, 1 FROM dag");
    plant("INSERT INTO backfill_run (backfill, logical_at_us, run, action, outcome) VALUES (1, 5, "
          "1, 0, 2)");
    EXPECT_STR("version dag_offer run schedule waiting missed backfill trigger_dag trigger_watch "
               "trigger_pending file_arrival webhook sla_miss ",
               kept_of(dag));

    EXPECT_STATUS(STATUS_CONFLICT, store_dag_delete_step(bench.store, &request, &step, &err), &err);
    EXPECT_CONTAINS(err.text, "backfill 1 of DAG 'd' is not over");
    plant("UPDATE backfill SET state = 4");
    err = (struct err){0};
    EXPECT_OK(store_dag_delete_step(bench.store, &request, &step, &err), &err);
    cr_assert(step.is_done);

    EXPECT_STR("", kept_of(dag));
    cr_assert_eq(count("webhook_call WHERE run = 1"), 0);
    cr_assert_eq(count("backfill_run WHERE backfill = 1"), 0);
    cr_assert_eq(count("dag WHERE dag_id = 'd'"), 0);
}
