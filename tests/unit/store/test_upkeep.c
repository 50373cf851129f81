/*
 * The store as a thing to open, check, copy and put back, and what a failed call leaves behind.
 */
#include <sys/stat.h>

#include "base/strbuf.h"
#include "model/event_kind.h"
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

TestSuite(upkeep, .init = setup, .fini = teardown);

static const char *path_in(const char *name)
{
    return arena_format(bench.arena, "%s/%s", bench.dir, name);
}

static enum status open_again(struct err *err)
{
    CLEANUP(store_closep) struct store *again = NULL;
    return store_open(
        &(struct store_options){.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock},
        &again, err);
}

STORE_TEST(upkeep, opening_again_keeps_everything)
{
    struct err err = {0};
    struct store_info before;
    struct store_info after;
    EXPECT_OK(store_describe(bench.store, &before, &err), &err);

    EXPECT_OK(open_again(&err), &err);

    EXPECT_OK(store_describe(bench.store, &after, &err), &err);
    EXPECT_STR(before.uuid, after.uuid);
    cr_assert_eq(after.schema, STORE_SCHEMA);
}

Test(upkeep, a_store_that_asks_for_a_newer_program_is_refused)
{
    struct err err = {0};
    db_bench_script(bench.url, "UPDATE store SET schema = 99, oldest_schema = 99");

    EXPECT_STATUS(STATUS_CONFLICT, open_again(&err), &err);
    EXPECT_CONTAINS(err.text, "newer eider");

    db_bench_script(bench.url, "UPDATE store SET oldest_schema = 1");
    EXPECT_OK(open_again(&err), &err);
}

Test(upkeep, a_file_that_is_no_database_is_refused_and_left_alone)
{
    if (db_bench_is_postgres())
        cr_skip_test("PostgreSQL has no file of ours");
    struct err err = {0};
    const char *path = path_in("junk.db");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 400; i++)
        (void)fputs("this is a letter, not a database\n", file);
    (void)fclose(file);
    struct store *store = NULL;

    EXPECT_STATUS(
        STATUS_CORRUPT,
        store_open(&(struct store_options){.url = arena_format(bench.arena, "sqlite:%s", path),
                                           .mode = DB_READ_WRITE},
                   &store, &err),
        &err);
    file = fopen(path, "r");
    cr_assert_eq(fgetc(file), 't');
    (void)fclose(file);
    (void)unlink(path);
    (void)unlink(path_in("junk.db.lock"));
}

/* The run's task rows as one text. */
static enum status add_row(void *context, const struct run_row *run, const struct task_row *row,
                           struct err *err)
{
    (void)run;
    (void)err;
    strbuf_addf(context, "%lld %d %lld %lld;", (long long)row->id, (int)row->state,
                (long long)row->attempt, (long long)row->row_version);
    return STATUS_OK;
}

static char *rows_text(void)
{
    struct err err = {0};
    struct strbuf text;
    strbuf_init(&text, 10000);
    EXPECT_OK(store_task_each(bench.store, bench.run.id, add_row, &text, &err), &err);
    return strbuf_take(&text);
}

Test(upkeep, a_failed_call_changed_nothing)
{
    struct err err = {0};
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}, \"c\": "
                        "{\"run\": \"x\", \"needs\": [\"a\"]}}}");
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&first.claims[0], 0);
    CLEANUP(mem_freep) char *before = rows_text();
    db_bench_script(bench.url, "ALTER TABLE event RENAME TO hidden");

    struct advance_result result = {.claims_count = 77};
    struct advance_request request = {.host = 7,
                                      .scope = bench.run.scope,
                                      .process_slots = 5,
                                      .outcomes = &outcome,
                                      .outcomes_count = 1};
    cr_assert_neq(store_advance(bench.store, &request, bench.arena, &result, &err), STATUS_OK);
    cr_assert_eq(result.claims_count, 77);
    CLEANUP(mem_freep) char *after = rows_text();
    EXPECT_STR(before, after);

    db_bench_script(bench.url, "ALTER TABLE hidden RENAME TO event");
    cr_assert(bench_advance(&bench, &outcome, 1, 5).accepted[0]);
    bench_check(&bench);
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    cr_assert_eq(stat(path, &info), 0, "%s", path);
    return info.st_mode & 07777;
}

Test(upkeep, nobody_else_may_read_the_file_and_what_belongs_to_it)
{
    if (db_bench_is_postgres())
        cr_skip_test("PostgreSQL has no file of ours");
    struct err err = {0};
    const char *path = path_in("fresh.db");
    struct store *store = NULL;
    const struct store_options options = {.url = arena_format(bench.arena, "sqlite:%s", path),
                                          .mode = DB_READ_WRITE};
    mode_t before = umask(0);
    EXPECT_OK(store_open(&options, &store, &err), &err);
    cr_assert_eq(mode_of(path), 0600);
    cr_assert_eq(mode_of(path_in("fresh.db-wal")), 0600);
    cr_assert_eq(mode_of(path_in("fresh.db-shm")), 0600);
    EXPECT_OK(store_backup(store, path_in("copy.db"), &err), &err);
    cr_assert_eq(mode_of(path_in("copy.db")), 0600);
    store_close(store);

    cr_assert_eq(chmod(path, 0640), 0);
    EXPECT_OK(store_open(&options, &store, &err), &err);
    store_close(store);
    cr_assert_eq(mode_of(path), 0640, "whoever gave it another one meant it");
    (void)umask(before);
}

Test(upkeep, a_backup_is_made_while_open_and_put_back_with_a_new_epoch)
{
    if (db_bench_is_postgres())
        cr_skip_test("PostgreSQL has no file of ours");
    struct err err = {0};
    const char *copy = path_in("copy.db");
    CLEANUP(mem_freep) char *kept = NULL;
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");

    EXPECT_OK(store_backup(bench.store, copy, &err), &err);
    EXPECT_STATUS(STATUS_CONFLICT, store_backup(bench.store, copy, &err), &err);
    EXPECT_OK(store_run_set_note(bench.store, bench.run.id, "later", "test", &err), &err);
    store_close(bench.store);
    bench.store = NULL;
    const struct restore_request request = {copy, path_in("eider.db"), "keeper", NULL};
    EXPECT_OK(store_restore(&request, &kept, &err), &err);

    struct store_options options = {.url = bench.url, .mode = DB_READ_WRITE, .now_us = bench_clock};
    EXPECT_OK(store_open(&options, &bench.store, &err), &err);
    struct store_info info;
    struct run_info run;
    EXPECT_OK(store_describe(bench.store, &info, &err), &err);
    cr_assert_eq(info.epoch, 2);
    cr_assert_eq(bench_number(&bench,
                              "SELECT count(*) FROM event WHERE kind = $1"
                              " AND actor = 'keeper'",
                              EVENT_STORE_RESTORED),
                 1);
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &run, &err), &err);
    EXPECT_STR("", run.note);
    bench_check(&bench);
    cr_assert_not_null(kept);
    cr_assert_eq(access(kept, F_OK), 0);
    cr_assert_eq(unlink(kept), 0);
    cr_assert_eq(unlink(copy), 0);
    (void)unlink(arena_format(bench.arena, "%s.lock", copy));
}

enum { RULES_MAX = 64 };

static void note_rule(const char **seen, size_t *count, const char *rule)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(seen[i], rule) == 0)
            return;
    cr_assert_lt(*count, RULES_MAX);
    seen[(*count)++] = rule;
}

/* Breaks a copy of the store and notes which rules say so; how many there are. */
static size_t break_rules(const char *plant, const char **seen, size_t *seen_count)
{
    struct err err = {0};
    const char *copy = path_in("plant.db");
    EXPECT_OK(store_backup(bench.store, copy, &err), &err);
    const char *url = arena_format(bench.arena, "sqlite:%s", copy);
    db_bench_script(url, plant);
    struct store *planted = NULL;
    struct check_report report = {0};
    EXPECT_OK(
        store_open(&(struct store_options){.url = url, .mode = DB_READ_WRITE}, &planted, &err),
        &err);
    EXPECT_OK(store_check(planted, &report, &err), &err);
    store_close(planted);
    cr_expect_gt(report.count, 0, "not found: %s", plant);
    for (size_t k = 0; k < report.count; k++)
        note_rule(seen, seen_count, report.findings[k].rule);
    (void)unlink(copy);
    (void)unlink(path_in("plant.db.lock"));
    return report.rules;
}

static const char *const PLANTS_OF_POOLS[] = {
    "INSERT INTO pool_wait VALUES (1, 1, 0, 0, 999, 1, 'default')",
    "INSERT INTO pool_wait VALUES (99, 1, 0, 0, 999, 1, 'default')",
    "INSERT INTO pool_slot VALUES (1, 1, 999, 1)",
    "INSERT INTO pool_slot SELECT 1, 1, id, attempt + 1 FROM task WHERE state = 3",
    "INSERT INTO pool_slot SELECT 1, 129, id, attempt FROM task WHERE state = 3",
    "INSERT INTO pool_slot SELECT 99, 1, id, attempt FROM task WHERE state = 3",
};

/* Each row breaks one rule between the tables; every rule is broken by some row. */
Test(upkeep, each_planted_inconsistency_is_found)
{
    if (db_bench_is_postgres())
        cr_skip_test("PostgreSQL has no file of ours");
    static const char *const PLANTS[] = {
        "INSERT INTO answered (owner, key, request, status, body, created_at_us)"
        " VALUES ('a', 'k', '', 0, '', 1)",
        "DELETE FROM ready",
        "INSERT INTO ready VALUES (1, 0, 1, 0, 0, 999, 1)",
        "DELETE FROM running",
        "INSERT INTO running VALUES (7, 999, 1)",
        "INSERT INTO timer VALUES (1, 5, 999)",
        "UPDATE task SET state = 8, due_at_us = 5 WHERE state = 0",
        "UPDATE task SET state = 10, due_at_us = 5 WHERE state = 0",
        "INSERT INTO wait (task, run, lane, host, kind, looks, since_us, every_ms, every_max_ms,"
        " backoff, subject, states) VALUES (999, 1, 1, 0, 0, 0, 0, 0, 0, 0, '', 0)",
        "INSERT INTO gate VALUES (1, 0, 999)",
        "UPDATE task SET state = 1 WHERE state = 0",
        "UPDATE run SET active = active + 5",
        "UPDATE run SET open_main = open_main + 1",
        "UPDATE run SET open_finally = open_finally - 1",
        "UPDATE task SET nonce = NULL WHERE state = 3",
        "UPDATE task SET attempt = 0 WHERE state = 3",
        "UPDATE task SET run = 999 WHERE state = 0",
        "UPDATE run SET state = 2",
        "UPDATE task SET state = 4 WHERE state = 0",
        "INSERT INTO attempt (task, attempt, generation, state, reason)"
        " SELECT id, 99, 0, 5, 1 FROM task LIMIT 1",
        "INSERT INTO dead (task, run, lane, at_us, reason, attempt) VALUES (999, 1, 1, 0, 4, 3)",
        "INSERT INTO value VALUES (999, 'k', '1', 1)",
        "INSERT INTO session VALUES ('h', 999, 0, 1)",
        "INSERT INTO token (hash, name, account, actor, created_at_us) VALUES ('h', 'n', 9, 'a', "
        "0)",
        "UPDATE run SET version = 999",
        "UPDATE dag SET filed = 999",
        "INSERT INTO dag_offer SELECT id, 999 FROM dag",
        "INSERT INTO version_file SELECT id, 'x.sh', 'nothing' FROM version",
        "CREATE TEMP TABLE other AS SELECT * FROM run;"
        " UPDATE other SET id = 998, run_id = 'x', logical_at_us = 1;"
        " INSERT INTO run SELECT * FROM other;"
        " INSERT INTO run_cause SELECT id, 0, 5, 'a', 0, 0 FROM run",
        "INSERT INTO run_cause SELECT id, 0, 5, 'a', 0, 0 FROM run;"
        " INSERT INTO trigger_pending SELECT 1, dag, 0, 5, 'a', 0, 0, 0 FROM run",
        "INSERT INTO waiting VALUES (1, 0, 5, 999)",
        "INSERT INTO past VALUES (999, 1, 998)",
        "DELETE FROM schedule",
        "INSERT INTO deadline VALUES (999, 0, 1, 0, 5)",
        "INSERT INTO sla_miss SELECT id, 0, 1, 0, 5, dag, -1, -1, 6, NULL, 0 FROM run;"
        " UPDATE run SET state = 2",
        "INSERT INTO backfill_run VALUES (99, 1, 1, 0, NULL)",
        "INSERT INTO backfill (dag, version, state, from_us, to_us, until_us, newest_first, redo,"
        " max_active, queue, params, conf, tasks, note, reason, actor, token, size, cursor_us,"
        " created_at_us, succeeded) VALUES (1, 1, 4, 0, 0, 0, 0, 0, 1, 0, '{}', '{}', '[]', '',"
        " '', 'x', 't', 1, 0, 0, 1)",
        "INSERT INTO job (id, namespace, queue, lane, handler, payload, rank, retries,"
        " retry_delay_ms, timeout_ms, finish_on_lost_lease, actor, created_at_us, ended_as)"
        " SELECT id, 'default', 1, 1, 'x', 'null', 0, 0, 0, 0, 0, 'x', 0, 5 FROM task"
        " WHERE state = 3",
        "INSERT INTO task_note VALUES (999, 1, 'x')",
        "INSERT INTO task_wish SELECT id, attempt, 'x', NULL, 5 FROM task WHERE state = 3",
        "INSERT INTO task_wish VALUES (999, 1, 'x', NULL, 5)",
        "UPDATE task SET reason = 22 WHERE state = 3",
        "INSERT INTO notice (delivery, state, at_us, due_at_us, dag_id, run, task, kind, event,"
        " target, hook, hook_key, head, incident, document)"
        " VALUES ('n', 5, 1, 1, 'd', 1, 0, 1, 1, 1, '{}', 'k', 999, 0, '{}')",
    };
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}, \"c\": "
                        "{\"run\": \"x\", \"needs\": [\"a\"]}}}");
    (void)bench_advance(&bench, NULL, 0, 1);
    bench_check(&bench);
    const char *seen[RULES_MAX];
    size_t seen_count = 0;
    size_t rules = 0;
    for (size_t i = 0; i < ARRAY_LEN(PLANTS); i++)
        rules = break_rules(PLANTS[i], seen, &seen_count);
    for (size_t i = 0; i < ARRAY_LEN(PLANTS_OF_POOLS); i++)
        rules = break_rules(PLANTS_OF_POOLS[i], seen, &seen_count);
    cr_assert_eq(seen_count, rules, "%zu of %zu rules were ever broken", seen_count, rules);
}
