/*
 * What people and recovery may do to runs.
 */
#include "model/event_kind.h"
#include "store/control.h"
#include "store/task_cancel.h"
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

TestSuite(control, .init = setup, .fini = teardown);

static const char CHAIN[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", "
                            "\"needs\": [\"a\"]}, \"c\": {\"run\": \"x\", \"needs\": [\"b\"]}}}";

static int64_t clear(const bool *nodes, int64_t map_index)
{
    struct err err = {0};
    struct clear_result result;
    struct clear_request request = {
        .run = bench.run.id, .nodes = nodes, .map_index = map_index, .actor = "test"};
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &result, &err), &err);
    return result.count;
}

static void cancel(bool finally_too)
{
    struct err err = {0};
    struct cancel_request request = {
        .run = bench.run.id, .cause = CANCEL_ASKED, .finally_too = finally_too, .actor = "test"};
    EXPECT_OK(store_run_cancel(bench.store, &request, &err), &err);
}

static bool nobody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return false;
}

static bool everybody_lives(void *context, int64_t host)
{
    (void)context;
    (void)host;
    return true;
}

static int64_t recover(bool (*is_alive)(void *, int64_t))
{
    struct err err = {0};
    int64_t lost = -1;
    EXPECT_OK(store_recover(bench.store, bench.run.id, is_alive, NULL, &lost, &err), &err);
    return lost;
}

STORE_TEST(control, a_cancel_spares_what_runs_and_ends_the_rest)
{
    bench_start(&bench, CHAIN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);

    cancel(false);
    EXPECT_STATE(&bench, "a", "running");
    EXPECT_STATE(&bench, "b", "cancelled");
    EXPECT_STATE(&bench, "c", "cancelled");
    struct outcome ended = bench_outcome(&result.claims[0], 0);
    ended.end.reason = REASON_CANCELLED;
    result = bench_advance(&bench, &ended, 1, 1);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
}

STORE_TEST(control, finally_tasks_run_after_a_cancel_unless_nobody_is_left)
{
    static const char DAG[] = "{\"tasks\": {\"a\": {\"run\": \"x\"}}, \"finally\": {\"z\": "
                              "{\"run\": \"x\"}}}";
    bench_start(&bench, DAG);
    cancel(false);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_CANCELLED);
    EXPECT_STATE(&bench, "z", "success");

    bench_start(&bench, DAG);
    cancel(true);
    EXPECT_STATE(&bench, "z", "cancelled");
}

STORE_TEST(control, a_cancel_of_a_mapped_task_drops_instances_without_rows)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}, \"r\": {\"run\": "
                        "\"x\", \"needs\": [\"m\"]}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 1000;
    result = bench_advance(&bench, &expand, 1, 2);
    cr_assert_eq(result.claims_count, 2);

    cancel(false);
    struct outcome ended[2] = {bench_outcome(&result.claims[0], 0),
                               bench_outcome(&result.claims[1], 0)};
    result = bench_advance(&bench, ended, 2, 2);
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
    EXPECT_STATE(&bench, "m", "cancelled");
    EXPECT_STATE(&bench, "r", "cancelled");
}

STORE_TEST(control, a_finished_run_cannot_be_cancelled)
{
    bench_start(&bench, CHAIN);
    (void)bench_drain(&bench, NULL, 1);
    struct err err = {0};
    struct cancel_request request = {.run = bench.run.id, .cause = CANCEL_ASKED, .actor = "test"};

    EXPECT_STATUS(STATUS_CONFLICT, store_run_cancel(bench.store, &request, &err), &err);
}

STORE_TEST(control, clear_lets_what_failed_and_everything_after_it_run_again)
{
    bench_start(&bench, CHAIN);
    struct bench_script fails[] = {{.task = "b", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);

    cr_assert_eq(clear(NULL, -1), 2);
    EXPECT_STATE(&bench, "a", "success");
    EXPECT_STATE(&bench, "b", "queued");
    EXPECT_STATE(&bench, "c", "none");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    struct task_row b = bench_row(&bench, "b", -1);
    cr_assert_eq(b.attempt, 2, "attempts keep counting");
    cr_assert_eq(b.generation, 1);
    cr_assert_eq(bench_row(&bench, "a", -1).attempt, 1, "a was not run again");
}

STORE_TEST(control, clear_restarts_the_retry_budget)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 1, \"retry_delay\": 1}}}");
    struct bench_script fails[] = {{.task = "a", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    cr_assert_eq(clear(NULL, -1), 1);

    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    cr_assert_eq(bench_row(&bench, "a", -1).attempt, 4);
}

STORE_TEST(control, clear_of_failed_instances_keeps_the_others)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}, \"r\": {\"run\": "
                        "\"x\", \"needs\": [\"m\"]}}}");
    struct bench_script fails[] = {{.task = "m", .expand = 4, .failing_index = 3}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 2), RUN_FAILED);
    EXPECT_STATE(&bench, "r", "upstream_failed");

    (void)clear(NULL, -1);
    cr_assert_eq(bench_drain(&bench, NULL, 2), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "m", 2).attempt, 2);
    cr_assert_eq(bench_row(&bench, "m", 1).attempt, 1);
    EXPECT_STATE(&bench, "m", "success");
    EXPECT_STATE(&bench, "r", "success");
}

STORE_TEST(control, clear_of_an_upstream_task_expands_again)
{
    bench_start(&bench, "{\"tasks\": {\"l\": {\"run\": \"x\"}, \"m\": {\"run\": \"x\", \"needs\": "
                        "[\"l\"], \"foreach\": [1]}}}");
    struct bench_script first[] = {{.task = "m", .expand = 4}, {0}};
    cr_assert_eq(bench_drain(&bench, first, 2), RUN_SUCCESS);
    bool nodes[2] = {true, false};
    (void)clear(nodes, -1);

    struct bench_script second[] = {{.task = "m", .expand = 2}, {0}};
    cr_assert_eq(bench_drain(&bench, second, 2), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "m", -1).counts.total, 2);
}

STORE_TEST(control, clear_keeps_the_choice_of_a_branch_that_stands)
{
    bench_start(&bench,
                "{\"tasks\": {\"pick\": {\"branch\": [{\"if\": \"{{ true }}\", \"then\": [\"x\"]},"
                " {\"else\": [\"y\"]}]}, \"x\": {\"run\": \"x\", \"needs\": [\"pick\"]}, \"other\":"
                " {\"run\": \"x\"}, \"y\": {\"run\": \"x\", \"needs\": [\"pick\", \"other\"], "
                "\"trigger_rule\": \"all_done\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    struct bench_script script[] = {
        {.task = "pick", .chosen = "x"}, {.task = "other", .exit_code = 1}, {0}};
    struct outcome outcomes[2];
    struct outcome_value chosen = {.key = "chosen", .json = "[\"x\"]", .bytes = 5};
    for (size_t i = 0; i < 2; i++) {
        outcomes[i] = bench_play(&bench, script, &result.claims[i]);
        if (outcomes[i].is_choice) {
            outcomes[i].values = &chosen;
            outcomes[i].values_count = 1;
        }
    }
    result = bench_advance(&bench, outcomes, 2, 2);
    struct outcome x = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &x, 1, 2);
    cr_assert_eq(result.runs[0].state, RUN_FAILED);

    (void)clear(NULL, -1);
    cr_assert_eq(bench_drain(&bench, NULL, 2), RUN_SUCCESS);
    EXPECT_STATE(&bench, "y", "skipped");
}

static int64_t events_of_run(enum event_kind kind)
{
    char sql[128];
    (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM event WHERE run = $1 AND kind = %d",
                   (int)kind);
    return bench_number(&bench, sql, bench.run.id);
}

STORE_TEST(control, clear_of_nothing_changes_nothing)
{
    bench_start(&bench, CHAIN);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    static const char VERSION[] = "SELECT row_version FROM run WHERE id = $1";
    int64_t before = bench_number(&bench, VERSION, bench.run.id);

    cr_assert_eq(clear(NULL, -1), 0);
    cr_assert_eq(bench_number(&bench, VERSION, bench.run.id), before);
    cr_assert_eq(events_of_run(EVENT_RUN_REOPENED), 0);
    cr_assert_eq(events_of_run(EVENT_RUN_ENDED), 1);
}

STORE_TEST(control, clear_of_a_mapped_task_whose_instances_succeeded_leaves_it_alone)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}}}");
    struct bench_script script[] = {{.task = "m", .expand = 2}, {0}};
    cr_assert_eq(bench_drain(&bench, script, 2), RUN_SUCCESS);

    cr_assert_eq(clear((const bool[]){true}, -1), 0);

    EXPECT_STATE(&bench, "m", "success");
    cr_assert_eq(events_of_run(EVENT_RUN_REOPENED), 0);
}

STORE_TEST(control, a_run_that_ends_again_at_once_says_so)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\":"
                        " [\"a\"], \"trigger_rule\": \"all_failed\"}}}");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    EXPECT_STATE(&bench, "b", "skipped");

    cr_assert_eq(clear((const bool[]){false, true}, -1), 1);
    EXPECT_STATE(&bench, "b", "skipped");
    cr_assert_eq(events_of_run(EVENT_RUN_REOPENED), 1);
    cr_assert_eq(events_of_run(EVENT_RUN_ENDED), 2);
}

STORE_TEST(control, clear_runs_setups_and_finally_tasks_again)
{
    bench_start(&bench,
                "{\"tasks\": {\"up\": {\"run\": \"x\", \"setup\": true}, \"work\": {\"run\":"
                " \"x\", \"needs\": [\"up\"]}, \"down\": {\"run\": \"x\", \"needs\": "
                "[\"work\"], \"teardown\": [\"up\"]}}, \"finally\": {\"z\": {\"run\": "
                "\"x\"}}}");
    struct bench_script fails[] = {{.task = "work", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    (void)clear(NULL, -1);

    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "up", -1).attempt, 2);
    cr_assert_eq(bench_row(&bench, "down", -1).attempt, 2);
    cr_assert_eq(bench_row(&bench, "z", -1).attempt, 2);
}

STORE_TEST(control, a_running_task_is_not_cleared)
{
    bench_start(&bench, CHAIN);
    (void)bench_advance(&bench, NULL, 0, 1);
    struct err err = {0};
    bool nodes[3] = {true, false, false};
    struct clear_result result;
    struct clear_request request = {
        .run = bench.run.id, .nodes = nodes, .map_index = -1, .actor = "test"};

    EXPECT_STATUS(STATUS_CONFLICT, store_clear(bench.store, &request, bench.arena, &result, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "'a' is running");
}

STORE_TEST(control, a_task_marked_by_hand_lets_the_rest_go_on)
{
    bench_start(&bench, CHAIN);
    struct bench_script fails[] = {{.task = "a", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    struct err err = {0};
    struct mark_request mark = {
        .run = bench.run.id, .node = 0, .map_index = -1, .state = TASK_SUCCESS, .actor = "test"};

    EXPECT_OK(store_mark(bench.store, &mark, &err), &err);
    EXPECT_STATE(&bench, "a", "success");
    EXPECT_STATE(&bench, "b", "queued");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
}

STORE_TEST(control, a_dead_owner_is_recorded_and_its_task_is_claimable_again)
{
    bench_start(&bench, CHAIN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome late = bench_outcome(&result.claims[0], 0);

    cr_assert_eq(recover(everybody_lives), 0);
    cr_assert_eq(recover(nobody_lives), 1);
    cr_assert_eq(recover(nobody_lives), 0, "a second sweep finds nothing");
    EXPECT_STATE(&bench, "a", "queued");
    result = bench_advance(&bench, &late, 1, 0);
    cr_assert(!result.accepted[0], "the old owner cannot write any more");
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
    struct task_row a = bench_row(&bench, "a", -1);
    cr_assert_eq(a.losses, 1);
    cr_assert_eq(a.failures, 0);
    cr_assert_eq(a.attempt, 2);
}

STORE_TEST(control, a_task_that_keeps_losing_its_owner_is_put_aside)
{
    bench_start(&bench, CHAIN);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 1);
        cr_assert_eq(recover(nobody_lives), 1);
    }

    EXPECT_STATE(&bench, "a", "failed");
    cr_assert_eq(bench_row(&bench, "a", -1).reason, REASON_LOST_OWNER);
    EXPECT_STATE(&bench, "b", "upstream_failed");
}

STORE_TEST(control, a_task_cancelled_while_it_waits_for_its_retry_can_be_cleared)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 2, \"retry_delay\": 10}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome failure = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &failure, 1, 0);
    cancel(false);
    EXPECT_STATE(&bench, "a", "cancelled");

    cr_assert_eq(clear(NULL, -1), 1);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);

    cr_assert_eq(bench_row(&bench, "a", -1).attempt, 2);
}

STORE_TEST(control, a_run_that_others_ended_is_told_to_its_worker)
{
    bench_start(&bench, CHAIN);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 0).runs_count, 0);
    cancel(true);

    struct advance_result result = bench_advance(&bench, NULL, 0, 1);

    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].run, bench.run.id);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
}

STORE_TEST(control, what_was_let_through_waits_again_when_its_parent_is_cleared)
{
    bench_start(&bench, CHAIN);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome good = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &good, 1, 0);
    EXPECT_STATE(&bench, "b", "queued");

    cr_assert_eq(clear((bool[]){true, false, false}, -1), 2);

    EXPECT_STATE(&bench, "a", "queued");
    EXPECT_STATE(&bench, "b", "none");
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
}

STORE_TEST(control, a_cleared_mapped_task_leaves_no_old_instance_to_run)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"retries\": 1,"
                        " \"retry_delay\": 5}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome outcome = bench_outcome(&result.claims[0], 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 2;
    result = bench_advance(&bench, &outcome, 1, 1);
    outcome = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &outcome, 1, 0);
    struct err err = {0};
    struct clear_result cleared;
    struct clear_request request = {.run = bench.run.id,
                                    .nodes = (bool[]){true},
                                    .map_index = -1,
                                    .whole = true,
                                    .actor = "test"};

    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &cleared, &err), &err);

    struct bench_script script[] = {{.task = "m", .expand = 3}, {0}};
    cr_assert_eq(bench_drain(&bench, script, 4), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "m", 2).attempt, 1);
}

STORE_TEST(control, a_mapped_task_is_expanded_anew_when_its_parent_runs_again)
{
    bench_start(&bench, "{\"tasks\": {\"p\": {\"run\": \"x\"}, \"m\": {\"run\": \"x\", \"foreach\":"
                        " [1], \"needs\": [\"p\"], \"trigger_rule\": \"all_done\"}}}");
    struct bench_script bad[] = {
        {.task = "p", .exit_code = 1}, {.task = "m", .expand = 2, .failing_index = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, bad, 4), RUN_FAILED);

    (void)clear(NULL, -1);

    EXPECT_STATE(&bench, "p", "queued");
    EXPECT_STATE(&bench, "m", "none");
    struct bench_script good[] = {{.task = "m", .expand = 3}, {0}};
    cr_assert_eq(bench_drain(&bench, good, 4), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "m", -1).counts.total, 3);
}

static const char WITH_FINALLY[] =
    "{\"tasks\": {\"a\": {\"run\": \"x\"}}, \"finally\": {\"y\": {\"run\": \"x\"}, \"z\": {\"run\":"
    " \"x\", \"needs\": [\"y\"], \"trigger_rule\": \"one_failed\"}}}";

STORE_TEST(control, finally_tasks_wait_again_for_what_is_cleared)
{
    bench_start(&bench, WITH_FINALLY);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome bad = bench_outcome(&result.claims[0], 1);
    (void)bench_advance(&bench, &bad, 1, 0);
    EXPECT_STATE(&bench, "y", "queued");

    (void)clear(NULL, -1);

    EXPECT_STATE(&bench, "y", "none");
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
}

STORE_TEST(control, no_finally_task_starts_early_because_another_was_cancelled)
{
    struct err err = {0};
    bench_start(&bench, WITH_FINALLY);
    struct task_cancel_request request = {
        .run = bench.run.id, .node = 1, .map_index = -1, .actor = "test"};

    EXPECT_OK(store_task_cancel(bench.store, &request, &err), &err);

    EXPECT_STATE(&bench, "y", "cancelled");
    EXPECT_STATE(&bench, "z", "none");
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
    EXPECT_STATE(&bench, "z", "success");
}

static void mark(int64_t node, int64_t map_index, enum task_state state)
{
    struct err err = {0};
    struct mark_request request = {
        .run = bench.run.id, .node = node, .map_index = map_index, .state = state, .actor = "test"};
    EXPECT_OK(store_mark(bench.store, &request, &err), &err);
}

STORE_TEST(control, marking_its_failed_instance_decides_a_mapped_task_again)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]}, \"r\": {\"run\": "
                        "\"x\", \"needs\": [\"m\"]}}, \"finally\": {\"z\": {\"run\": \"x\"}}}");
    struct bench_script bad[] = {{.task = "m", .expand = 3, .failing_index = 2}, {0}};
    cr_assert_eq(bench_drain(&bench, bad, 4), RUN_FAILED);

    mark(0, 1, TASK_SUCCESS);

    EXPECT_STATE(&bench, "m", "success");
    EXPECT_STATE(&bench, "r", "queued");
    EXPECT_STATE(&bench, "z", "none");
    cr_assert_eq(bench_drain(&bench, NULL, 4), RUN_SUCCESS);
}

STORE_TEST(control, a_mark_does_not_make_a_stopped_run_succeed)
{
    bench_start(&bench, CHAIN);
    cancel(true);

    mark(0, -1, TASK_SUCCESS);

    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
}

STORE_TEST(control, a_run_that_is_being_stopped_is_not_cleared)
{
    struct err err = {0};
    struct clear_result result;
    bench_start(&bench, CHAIN);
    (void)bench_advance(&bench, NULL, 0, 1);
    cancel(false);
    struct clear_request request = {.run = bench.run.id, .map_index = -1, .actor = "test"};

    EXPECT_STATUS(STATUS_CONFLICT, store_clear(bench.store, &request, bench.arena, &result, &err),
                  &err);

    cr_assert_eq(recover(nobody_lives), 1);
    EXPECT_OK(store_clear(bench.store, &request, bench.arena, &result, &err), &err);
    cr_assert_eq(bench_drain(&bench, NULL, 1), RUN_SUCCESS);
}

STORE_TEST(control, cleared_instances_keep_to_max_parallel)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"max_parallel\": "
                        "2}}}");
    struct bench_script expand[] = {{.task = "m", .expand = 6, .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, expand, 4), RUN_FAILED);
    cr_assert_eq(clear(NULL, -1), 6);

    struct advance_result result = bench_advance(&bench, NULL, 0, 8);
    cr_assert_eq(result.claims_count, 2);
    cr_assert_eq(recover(nobody_lives), 2);
    result = bench_advance(&bench, NULL, 0, 8);
    for (int done = 0; done < 6; done += 2) {
        cr_assert_eq(result.claims_count, 2);
        struct outcome outcomes[] = {bench_outcome(&result.claims[0], 0),
                                     bench_outcome(&result.claims[1], 0)};
        result = bench_advance(&bench, outcomes, 2, 8);
    }
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_SUCCESS);
}

STORE_TEST(control, a_run_that_is_stopped_is_not_timed_out_as_well)
{
    struct err err = {0};
    bench_start(&bench, CHAIN);
    (void)bench_advance(&bench, NULL, 0, 1);
    cancel(false);
    struct cancel_request timeout = {.run = bench.run.id, .cause = CANCEL_TIMEOUT, .actor = "test"};

    EXPECT_OK(store_run_cancel(bench.store, &timeout, &err), &err);

    cr_assert_eq(recover(nobody_lives), 1);
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_CANCELLED);
}

STORE_TEST(control, a_deleted_run_leaves_nothing_but_the_event_that_tells)
{
    bench_start(&bench, "{\"tasks\": {\"l\": {\"run\": \"x\"}, \"m\": {\"run\": \"x\", \"needs\": "
                        "[\"l\"], \"foreach\": [1]}}}");
    struct bench_script script[] = {{.task = "m", .expand = 4}, {0}};
    (void)bench_drain(&bench, script, 2);
    bool nodes[2] = {true, false};
    (void)clear(nodes, -1); /* leaves a superseded expansion behind */
    (void)bench_drain(&bench, script, 2);
    struct err err = {0};

    EXPECT_OK(store_run_delete(bench.store, bench.run.id, "test", &err), &err);
    struct db *db = NULL;
    EXPECT_OK(db_open(bench.url, DB_READ_ONLY, &db, &err), &err);
    int64_t left = -1;
    EXPECT_OK(db_get_int(db, -1, &left, &err,
                         "SELECT (SELECT count(*) FROM task) + (SELECT count(*) FROM attempt)"
                         " + (SELECT count(*) FROM value) + (SELECT count(*) FROM block)"
                         " + (SELECT count(*) FROM run)"
                         " + (SELECT count(*) FROM event WHERE run > 0)",
                         ""),
              &err);
    db_close(db);
    cr_assert_eq(left, 1);
}

static struct run_info run_now(void)
{
    struct err err = {0};
    struct run_info info;
    EXPECT_OK(store_run_load(bench.store, bench.arena, bench.run.id, &info, &err), &err);
    return info;
}

#define MINUTE_US ((int64_t)60000000)

STORE_TEST(control, a_run_that_was_over_starts_anew_and_one_that_goes_keeps_its_start)
{
    bench_start(&bench, CHAIN);
    struct bench_script fails[] = {{.task = "b", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    bench_now_us += 11 * MINUTE_US;

    (void)clear(NULL, -1);
    cr_assert_eq(run_now().state, RUN_QUEUED);
    cr_assert_eq(run_now().started_at_us, 0);
    bench_now_us += MINUTE_US;
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    int64_t restarted_us = bench_now_us;
    cr_assert_eq(run_now().started_at_us, restarted_us, "waiting is no part of it");
    struct outcome ended = bench_outcome(&result.claims[0], 1);
    bench_now_us += MINUTE_US;
    (void)bench_advance(&bench, &ended, 1, 0);
    cr_assert_eq(run_now().ended_at_us - run_now().started_at_us, MINUTE_US);

    (void)clear(NULL, -1);
    (void)bench_advance(&bench, NULL, 0, 1);
    restarted_us = bench_now_us;
    bench_now_us += MINUTE_US;
    bool only_a[] = {true, false, false};
    struct err err = {0};
    struct clear_result cleared;
    struct clear_request request = {
        .run = bench.run.id, .nodes = only_a, .map_index = -1, .actor = "test"};
    EXPECT_STATUS(STATUS_CONFLICT, store_clear(bench.store, &request, bench.arena, &cleared, &err),
                  &err);
    cr_assert_eq(run_now().started_at_us, restarted_us);
}

STORE_TEST(control, a_task_cleared_in_a_run_that_goes_leaves_its_start)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 2);
    int64_t started_us = bench_now_us;
    struct outcome ended = bench_outcome(&result.claims[0], 1);
    bench_now_us += MINUTE_US;
    (void)bench_advance(&bench, &ended, 1, 0);

    (void)clear(NULL, -1);
    cr_assert_eq(run_now().state, RUN_RUNNING);
    cr_assert_eq(run_now().started_at_us, started_us);
}

STORE_TEST(control, a_mark_after_which_nothing_runs_leaves_the_time_of_the_run)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct bench_script fails[] = {{.task = "a", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    struct run_info before = run_now();
    bench_now_us += 11 * MINUTE_US;

    struct err err = {0};
    struct mark_request request = {
        .run = bench.run.id, .node = 0, .map_index = -1, .state = TASK_SUCCESS, .actor = "test"};
    EXPECT_OK(store_mark(bench.store, &request, &err), &err);
    cr_assert_eq(run_now().state, RUN_SUCCESS);
    cr_assert_eq(run_now().started_at_us, before.started_at_us);
    cr_assert_eq(run_now().ended_at_us, before.ended_at_us);
}

STORE_TEST(control, a_reopened_run_has_its_timeout_anew)
{
    bench_start(&bench, "{\"timeout\": \"1m\", \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct bench_script fails[] = {{.task = "a", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, fails, 1), RUN_FAILED);
    bench_now_us += 11 * MINUTE_US;
    (void)clear(NULL, -1);
    (void)bench_advance(&bench, NULL, 0, 1);
    bench_sql(&bench, "UPDATE run SET scope = 0"); /* as one of a daemon's */

    struct err err = {0};
    int64_t ids[1];
    size_t count = 0;
    int64_t next_us = 0;
    EXPECT_OK(store_runs_overdue(bench.store, ids, 1, &count, &next_us, &err), &err);
    cr_assert_eq(count, 0);
    cr_assert_eq(next_us, bench_now_us + MINUTE_US);
}
