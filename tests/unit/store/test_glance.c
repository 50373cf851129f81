/*
 * A glance sees each kind of thing to do, and nothing where nothing is.
 */
#include "store/glance.h"
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

TestSuite(glance, .init = setup, .fini = teardown);

static struct store_glance look(void)
{
    struct err err = {0};
    struct store_glance glance;
    EXPECT_OK(store_glance(bench.store, &glance, &err), &err);
    return glance;
}

static void expect_nothing(void)
{
    struct store_glance glance = look();
    cr_assert_eq(glance.next_schedule_us, INT64_MAX);
    cr_assert_eq(glance.next_deadline_us, INT64_MAX);
    cr_assert_eq(glance.next_wait_us, INT64_MAX);
    cr_assert_eq(glance.next_message_us, INT64_MAX);
    cr_assert(!glance.has_runs && !glance.has_waiting_runs && !glance.has_waiting_tasks &&
              !glance.has_events && !glance.has_watched_files && !glance.has_backfills);
}

STORE_TEST(glance, of_an_empty_store_sees_nothing)
{
    expect_nothing();
}

Test(glance, sees_the_first_instants)
{
    db_bench_script(bench.url, "INSERT INTO deadline (run, task, kind, generation, due_at_us)"
                               " VALUES (1, 0, 0, 0, 700), (2, 0, 0, 0, 600)");
    cr_assert_eq(look().next_deadline_us, 600);

    /* A retry is a matter of those who claim. */
    db_bench_script(bench.url, "INSERT INTO timer (scope, due_at_us, task) VALUES (0, 100, 8)");
    cr_assert_eq(look().next_wait_us, INT64_MAX);
    db_bench_script(
        bench.url,
        "INSERT INTO timer (scope, due_at_us, task) VALUES (0, 500, 9);"
        "INSERT INTO wait (task, run, lane, host, kind, looks, since_us, every_ms, every_max_ms,"
        " backoff, subject, states) VALUES (9, 1, 1, 0, 0, 0, 0, 1, 1, 1000, '', 0)");
    cr_assert_eq(look().next_wait_us, 500);

    /* One that was sent is due no more. */
    db_bench_script(bench.url,
                    "INSERT INTO notice (delivery, state, at_us, due_at_us, dag_id, run, task,"
                    " kind, event, target, hook, hook_key, incident, document) VALUES"
                    " ('a', 2, 0, 100, 'd', 1, 0, 0, 0, 0, '', '', 0, ''),"
                    " ('b', 0, 0, 400, 'd', 1, 0, 0, 0, 0, '', '', 0, '')");
    cr_assert_eq(look().next_message_us, 400);
}

STORE_TEST(glance, sees_a_run_until_it_is_over)
{
    bench_start(&bench, "{\"dag\": \"d\", \"tasks\": {\"a\": {\"noop\": null}}}");
    cr_assert(look().has_runs);

    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    expect_nothing();

    db_bench_script(bench.url, "UPDATE schedule SET next_us = 300");
    cr_assert_eq(look().next_schedule_us, 300);
}

/* One that needs nothing done comes first, where there is such a one. */
Test(glance, sees_what_waits)
{
    static const char *const NOTHING[] = {
        "INSERT INTO trigger_pending (id, dag, kind, source, name, state, at_us, seen)"
        " VALUES (1, 1, 0, 1, 'x', 0, 0, 1)",
        "INSERT INTO trigger_watch (dag, kind, name, since_us) VALUES (1, 0, 'x', 0)",
    };
    for (size_t i = 0; i < ARRAY_LEN(NOTHING); i++)
        db_bench_script(bench.url, NOTHING[i]);
    expect_nothing();

    db_bench_script(bench.url, "INSERT INTO waiting (dag, backfill, logical_at_us, run)"
                               " VALUES (1, 0, 0, 1)");
    cr_assert(look().has_waiting_runs);
    db_bench_script(bench.url, "INSERT INTO past (task, run, before) VALUES (2, 1, 1)");
    cr_assert(look().has_waiting_tasks);
    db_bench_script(bench.url, "UPDATE trigger_pending SET seen = 0");
    cr_assert(look().has_events);
    db_bench_script(bench.url, "UPDATE trigger_watch SET kind = 2");
    cr_assert(look().has_watched_files);
}

/* One that waits for an approval is nothing to be done. */
Test(glance, sees_backfills_that_go_on)
{
    db_bench_script(
        bench.url,
        "INSERT INTO backfill (id, dag, version, state, from_us, to_us, until_us, newest_first,"
        " redo, max_active, queue, params, conf, tasks, note, reason, actor, token, size,"
        " cursor_us, created_at_us) VALUES (1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, '', '', '', '', '',"
        " '', '', 1, 0, 0)");
    cr_assert(!look().has_backfills);
    for (int state = 1; state <= 4; state++) {
        db_bench_script(bench.url,
                        arena_format(bench.arena, "UPDATE backfill SET state = %d", state));
        cr_assert_eq(look().has_backfills, state <= 3);
    }
}
