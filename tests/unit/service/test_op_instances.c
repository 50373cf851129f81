/*
 * Tasks of many runs: however a list is cut into pages, it has what all rows together have.
 */
#include "service_fixture.h"
#include "store/db.h"

enum { RUNS = 60, MANY_RUNS = 1300 };

static const char PLAIN[] = "dag: plain\n"
                            "tasks:\n"
                            "  a: { run: 'true' }\n"
                            "  b: { run: 'true' }\n"
                            "  c: { run: 'true' }\n";
static const char MAPPED[] = "dag: mapped\n"
                             "tasks:\n"
                             "  a: { run: 'true' }\n"
                             "  each: { run: 'true', needs: [a], foreach: [1, 2] }\n";

/* Tasks of two kinds of DAGs that are over in one way or another, or have not begun. */
static void make_tasks(struct world *world, struct db *db)
{
    static const char END[] =
        "UPDATE task SET state = CASE id % 3 WHEN 0 THEN $1 ELSE $2 END,"
        " started_at_us = 1000000 * id, ended_at_us = 1000000 * id + 500000 WHERE id % 5 <> 0";
    struct err err = {0};
    for (int i = 0; i < RUNS; i++)
        (void)start_run(world, "dags.yaml", i % 7 == 3 ? MAPPED : PLAIN);
    EXPECT_OK(db_do(db, &err, END, "ii", (int64_t)TASK_FAILED, (int64_t)TASK_SUCCESS), &err);
}

/* How many a walk from page to page finds, each of which tells how many there are from it on. */
static int64_t walk(struct world *world, const char *filter, int limit, int64_t wanted)
{
    char cursor[64] = "";
    int64_t found = 0;
    for (;;) {
        char request[512];
        (void)snprintf(request, sizeof request, "{%s,\"limit\":%d,\"with_total\":true%s%s%s}",
                       filter, limit, cursor[0] != '\0' ? ",\"cursor\":\"" : "", cursor,
                       cursor[0] != '\0' ? "\"" : "");
        CLEANUP(json_decrefp) json_t *answer = call_ok(world, "task.instances", request);
        int64_t total = json_get_int(answer, "total_entries", -1);
        cr_assert_eq(total, wanted - found, "%s: total %lld", request, (long long)total);
        found += (int64_t)list_size(answer, "task_instances");
        const char *next = json_get_string(answer, "cursor", NULL);
        if (next == NULL)
            return found;
        (void)snprintf(cursor, sizeof cursor, "%s", next);
    }
}

Test(op_instances, pages_of_any_size_have_what_all_rows_have)
{
    static const struct {
        const char *filter;
        const char *sql;
    } CASES[] = {
        {"\"states\":[\"success\"]", "state = 4"},
        {"\"states\":[\"failed\"]", "state = 5"},
        {"\"states\":[\"success\",\"failed\"]", "state IN (4, 5)"},
        {"\"start_from\":\"1970-01-01T00:00:50Z\"", "started_at_us >= 50000000"},
        {"\"end_to\":\"1970-01-01T00:01:40Z\",\"states\":[\"success\"]",
         "ended_at_us <= 100000000 AND state = 4"},
        {"\"duration_from\":0.5", "started_at_us > 0"},
    };
    static const int LIMITS[] = {1, 7, 40, 1000};
    _Static_assert(TASK_SUCCESS == 4 && TASK_FAILED == 5, "as in the SQL");
    struct err err = {0};
    struct world world;
    world_init(&world);
    CLEANUP(mem_freep) char *url = service_store_url(&world.service);
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    make_tasks(&world, db);

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t wanted = 0;
        const char *sql =
            arena_format(world.arena, "SELECT count(*) FROM task WHERE %s", CASES[i].sql);
        EXPECT_OK(db_get_int(db, 0, &wanted, &err, sql, ""), &err);
        cr_assert_gt(wanted, 3, "%s", sql);
        for (size_t k = 0; k < ARRAY_LEN(LIMITS); k++)
            cr_assert_eq(walk(&world, CASES[i].filter, LIMITS[k], wanted), wanted, "%s by %d",
                         CASES[i].filter, LIMITS[k]);
    }
    world_fini(&world);
}

/* Runs without one that matches are passed over, thousands of them before a page is full. */
Test(op_instances, what_few_runs_have_is_found_among_many)
{
    struct err err = {0};
    struct world world;
    world_init(&world);
    CLEANUP(mem_freep) char *url = service_store_url(&world.service);
    CLEANUP(db_closep) struct db *db = NULL;
    EXPECT_OK(db_open(url, DB_READ_WRITE, &db, &err), &err);
    for (int i = 0; i < MANY_RUNS; i++)
        (void)start_run(&world, "dags.yaml", PLAIN);
    EXPECT_OK(
        db_do(db, &err, "UPDATE task SET state = $1 WHERE id % 97 = 0", "i", (int64_t)TASK_FAILED),
        &err);

    int64_t wanted = 3 * MANY_RUNS / 97;
    cr_assert_eq(walk(&world, "\"states\":[\"failed\"]", 1000, wanted), wanted);
    cr_assert_eq(walk(&world, "\"states\":[\"failed\"]", 9, wanted), wanted);
    world_fini(&world);
}
