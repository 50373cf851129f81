/*
 * What the finish-and-claim transaction promises.
 */
#include "base/strbuf.h"
#include "store/advance.h"
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

TestSuite(advance, .init = setup, .fini = teardown);

STORE_TEST(advance, a_chain_runs_in_order_one_commit_per_hop)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\": "
                        "[\"a\"]}, \"c\": {\"run\": \"x\", \"needs\": [\"b\"]}}}");

    struct advance_result result = bench_advance(&bench, NULL, 0, 4);
    for (int64_t node = 0; node < 3; node++) {
        cr_assert_eq(result.claims_count, 1);
        cr_assert_eq(result.claims[0].node, node);
        struct outcome outcome = bench_outcome(&result.claims[0], 0);
        result = bench_advance(&bench, &outcome, 1, 4);
        cr_assert(result.accepted[0]);
    }
    cr_assert_eq(result.runs_count, 1);
    cr_assert_eq(result.runs[0].state, RUN_SUCCESS);
}

STORE_TEST(advance, a_late_or_repeated_or_forged_outcome_changes_nothing)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct advance_result first = bench_advance(&bench, NULL, 0, 1);
    struct outcome good = bench_outcome(&first.claims[0], 0);
    struct outcome forged = good;
    forged.nonce.bytes[0] ^= 1;
    forged.end.exit_code = 9;
    struct outcome stale = good;
    stale.attempt++;
    struct outcome unknown = good;
    unknown.task += 1000;

    struct outcome batch[] = {forged, stale, unknown, good, good};
    struct advance_result result = bench_advance(&bench, batch, ARRAY_LEN(batch), 1);

    cr_assert(!result.accepted[0]);
    cr_assert(!result.accepted[1]);
    cr_assert(!result.accepted[2]);
    cr_assert(result.accepted[3]);
    cr_assert(!result.accepted[4]);
    EXPECT_STATE(&bench, "a", "success");
}

STORE_TEST(advance, a_claimed_task_is_not_claimed_again)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}}}");

    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 1);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 5).claims_count, 1);
    cr_assert_eq(bench_advance(&bench, NULL, 0, 5).claims_count, 0);
}

STORE_TEST(advance, urgent_work_is_claimed_first)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", "
                        "\"priority\": 9}, \"c\": {\"run\": \"x\", \"priority\": 5}}}");

    struct advance_result result = bench_advance(&bench, NULL, 0, 2);

    cr_assert_eq(result.claims_count, 2);
    EXPECT_STR("b", bench.dag->tasks[result.claims[0].node].id);
    EXPECT_STR("c", bench.dag->tasks[result.claims[1].node].id);
}

STORE_TEST(advance, a_failure_cascades_and_says_why)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\": [\"a\"]},"
                " \"c\": {\"run\": \"x\", \"needs\": [\"b\"]}, \"d\": {\"run\": \"x\", \"needs\":"
                " [\"b\"], \"trigger_rule\": \"all_done\"}}}");
    struct bench_script script[] = {{.task = "a", .exit_code = 3}, {0}};

    cr_assert_eq(bench_drain(&bench, script, 4), RUN_FAILED);

    EXPECT_STATE(&bench, "a", "failed");
    EXPECT_STATE(&bench, "b", "upstream_failed");
    EXPECT_STATE(&bench, "c", "upstream_failed");
    EXPECT_STATE(&bench, "d", "success");
    cr_assert_eq(bench_row(&bench, "b", -1).reason, REASON_UPSTREAM);
}

STORE_TEST(advance, retries_wait_for_their_time_and_keep_old_attempts)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 2, \"retry_delay\": 10}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome failure = bench_outcome(&result.claims[0], 1);

    result = bench_advance(&bench, &failure, 1, 1);
    cr_assert_eq(result.claims_count, 0, "not before its time");
    EXPECT_STATE(&bench, "a", "up_for_retry");
    cr_assert_geq(result.next_due_us, bench_now_us + 10 * 1000000);
    bench_now_us = result.next_due_us - 1;
    cr_assert_eq(bench_advance(&bench, NULL, 0, 1).claims_count, 0);
    bench_now_us++;
    result = bench_advance(&bench, NULL, 0, 1);

    cr_assert_eq(result.claims_count, 1);
    cr_assert_eq(result.claims[0].attempt, 2);
    struct outcome success = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &success, 1, 1);
    cr_assert_eq(bench_row(&bench, "a", -1).failures, 1);
}

STORE_TEST(advance, a_spent_budget_fails)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 2, \"retry_delay\": 1}}}");
    struct bench_script script[] = {{.task = "a", .exit_code = 1}, {0}};

    cr_assert_eq(bench_drain(&bench, script, 1), RUN_FAILED);
    cr_assert_eq(bench_row(&bench, "a", -1).attempt, 3);
}

STORE_TEST(advance, exit_codes_mean_what_the_task_says)
{
    bench_start(&bench,
                "{\"tasks\": {\"skips\": {\"run\": \"x\"}, \"after\": {\"run\": \"x\", \"needs\": "
                "[\"skips\"]}, \"own\": {\"run\": \"x\", \"exit\": {\"skip\": [7]}}}}");
    struct bench_script script[] = {
        {.task = "skips", .exit_code = 99}, {.task = "own", .exit_code = 7}, {0}};

    cr_assert_eq(bench_drain(&bench, script, 4), RUN_SUCCESS);
    EXPECT_STATE(&bench, "skips", "skipped");
    EXPECT_STATE(&bench, "after", "skipped");
    EXPECT_STATE(&bench, "own", "skipped");
}

STORE_TEST(advance, a_choice_skips_what_it_did_not_choose_but_not_what_follows_the_chosen)
{
    bench_start(&bench,
                "{\"tasks\": {\"pick\": {\"branch\": [{\"if\": \"{{ true }}\", \"then\": [\"x\"]},"
                " {\"else\": [\"y\"]}]}, \"x\": {\"run\": \"x\", \"needs\": [\"pick\"]},"
                " \"y\": {\"run\": \"x\", \"needs\": [\"pick\"]},"
                " \"join\": {\"run\": \"x\", \"needs\": [\"pick\", \"x\", \"y\"], "
                "\"trigger_rule\": \"none_failed_min_one_success\"}}}");
    struct bench_script script[] = {{.task = "pick", .chosen = "x"}, {0}};

    cr_assert_eq(bench_drain(&bench, script, 4), RUN_SUCCESS);
    EXPECT_STATE(&bench, "x", "success");
    EXPECT_STATE(&bench, "y", "skipped");
    EXPECT_STATE(&bench, "join", "success");
    cr_assert_eq(bench_row(&bench, "y", -1).reason, REASON_NOT_CHOSEN);
}

STORE_TEST(advance, a_mapped_task_fans_out_bounded_and_its_instances_are_parents_one_by_one)
{
    bench_start(&bench,
                "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"max_parallel\": 3},"
                " \"r\": {\"run\": \"x\", \"needs\": [\"m\"]},"
                " \"one\": {\"run\": \"x\", \"needs\": [\"m\"], \"trigger_rule\": "
                "\"one_success\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 10);
    struct outcome expand = bench_outcome(&result.claims[0], 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 5;

    result = bench_advance(&bench, &expand, 1, 10);
    cr_assert_eq(result.claims_count, 3, "max_parallel");
    EXPECT_STATE(&bench, "m", "deferred");
    struct outcome first = bench_outcome(&result.claims[0], 0);
    struct outcome rest[2] = {bench_outcome(&result.claims[1], 0),
                              bench_outcome(&result.claims[2], 0)};
    result = bench_advance(&bench, &first, 1, 10);
    cr_assert_eq(result.claims_count, 2, "the next instance, and the early dependant");
    EXPECT_STATE(&bench, "one", "running");
    EXPECT_STATE(&bench, "r", "none");
    struct outcome more[2] = {bench_outcome(&result.claims[0], 0),
                              bench_outcome(&result.claims[1], 0)};
    result = bench_advance(&bench, rest, 2, 10);
    struct outcome last = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, more, 2, 10);
    result = bench_advance(&bench, &last, 1, 10);
    EXPECT_STATE(&bench, "m", "success");
    EXPECT_STATE(&bench, "r", "running");
}

STORE_TEST(advance, a_mapped_task_over_nothing_is_skipped)
{
    bench_start(&bench, "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1]},"
                        " \"r\": {\"run\": \"x\", \"needs\": [\"m\"], \"trigger_rule\": "
                        "\"none_failed\"}}}");
    struct bench_script script[] = {{.task = "m", .expand = 0}, {0}};

    cr_assert_eq(bench_drain(&bench, script, 4), RUN_SUCCESS);
    EXPECT_STATE(&bench, "m", "skipped");
    EXPECT_STATE(&bench, "r", "success");
}

STORE_TEST(advance, a_failed_instance_fails_its_task_and_fail_fast_drops_the_rest)
{
    bench_start(&bench,
                "{\"tasks\": {\"m\": {\"run\": \"x\", \"foreach\": [1], \"max_parallel\": 1,"
                " \"fail_fast\": true}, \"n\": {\"run\": \"x\", \"foreach\": [1]}}}");
    struct bench_script script[] = {{.task = "m", .expand = 9, .failing_index = 2},
                                    {.task = "n", .expand = 4, .failing_index = 2},
                                    {0}};

    cr_assert_eq(bench_drain(&bench, script, 4), RUN_FAILED);
    EXPECT_STATE(&bench, "m", "failed");
    EXPECT_STATE(&bench, "n", "failed");
    cr_assert_eq(bench_row(&bench, "m", -1).counts.success, 1);
    cr_assert_eq(bench_row(&bench, "m", -1).counts.failed, 8);
    cr_assert_eq(bench_row(&bench, "n", -1).counts.success, 3);
}

STORE_TEST(advance, finally_tasks_run_last_whatever_happened_and_can_fail_the_run)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\": "
                        "[\"a\"]}}, \"finally\": {\"clean\": {\"run\": \"x\"}, \"tell\": {\"run\": "
                        "\"x\", \"needs\": [\"clean\"]}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 9);
    cr_assert_eq(result.claims_count, 1);
    struct outcome failure = bench_outcome(&result.claims[0], 1);

    result = bench_advance(&bench, &failure, 1, 9);
    cr_assert_eq(result.claims_count, 1);
    EXPECT_STR("clean", bench.dag->tasks[result.claims[0].node].id);
    struct outcome done = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &done, 1, 9);
    cr_assert_eq(result.runs_count, 0);
    done = bench_outcome(&result.claims[0], 0);
    result = bench_advance(&bench, &done, 1, 9);
    cr_assert_eq(result.runs[0].state, RUN_FAILED);
}

STORE_TEST(advance, allow_failure_keeps_the_run_green_and_leaves_decide_when_asked)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\", \"allow_failure\": true}}}");
    struct bench_script script[] = {{.task = "a", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, script, 1), RUN_SUCCESS);

    bench_start(&bench,
                "{\"dag\": \"leaves\", \"verdict\": \"leaves\", \"tasks\": {\"a\": {\"run\": "
                "\"x\"}, \"b\": {\"run\": \"x\", \"needs\": [\"a\"], \"trigger_rule\": "
                "\"all_done\"}}}");
    cr_assert_eq(bench_drain(&bench, script, 1), RUN_SUCCESS);
}

STORE_TEST(advance, a_teardown_runs_when_its_setup_did_even_if_the_work_failed)
{
    static const char DAG[] =
        "{\"tasks\": {\"up\": {\"run\": \"x\", \"setup\": true}, \"work\": {\"run\": \"x\", "
        "\"needs\": [\"up\"]}, \"down\": {\"run\": \"x\", \"needs\": [\"work\"], \"teardown\": "
        "[\"up\"]}}}";
    bench_start(&bench, DAG);
    struct bench_script work_fails[] = {{.task = "work", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, work_fails, 1), RUN_FAILED);
    EXPECT_STATE(&bench, "down", "success");

    bench_start(&bench, DAG);
    struct bench_script setup_fails[] = {{.task = "up", .exit_code = 1}, {0}};
    cr_assert_eq(bench_drain(&bench, setup_fails, 1), RUN_FAILED);
    EXPECT_STATE(&bench, "down", "upstream_failed");
}

STORE_TEST(advance, a_returned_task_is_claimable_at_once_and_uses_no_retry)
{
    bench_start(&bench, "{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome back = bench_outcome(&result.claims[0], 0);
    back.kind = OUTCOME_RETURN;

    (void)bench_advance(&bench, &back, 1, 0);
    EXPECT_STATE(&bench, "a", "queued");
    result = bench_advance(&bench, NULL, 0, 1);
    cr_assert_eq(result.claims[0].attempt, 2);
    cr_assert_eq(bench_row(&bench, "a", -1).failures, 0);
    struct outcome done = bench_outcome(&result.claims[0], 0);
    (void)bench_advance(&bench, &done, 1, 1);
}

STORE_TEST(advance, a_wide_fan_in_counts_every_parent_once)
{
    struct strbuf json;
    strbuf_init(&json, 1 << 20);
    strbuf_add(&json, "{\"tasks\": {");
    for (int i = 0; i < 500; i++)
        strbuf_addf(&json, "\"p%d\": {\"noop\": null}, ", i);
    strbuf_add(&json, "\"z\": {\"noop\": null, \"needs\": [");
    for (int i = 0; i < 500; i++)
        strbuf_addf(&json, "%s\"p%d\"", i > 0 ? "," : "", i);
    strbuf_add(&json, "]}}}");
    bench_start(&bench, json.text);
    strbuf_fini(&json);

    cr_assert_eq(bench_drain(&bench, NULL, 33), RUN_SUCCESS);
    cr_assert_eq(bench_row(&bench, "z", -1).counts.success, 500);
}

STORE_TEST(advance, values_appear_with_success_only)
{
    bench_start(&bench,
                "{\"tasks\": {\"a\": {\"run\": \"x\", \"retries\": 1, \"retry_delay\": 1}}}");
    struct advance_result result = bench_advance(&bench, NULL, 0, 1);
    struct outcome_value value = {.key = "k", .json = "41", .bytes = 2};
    struct outcome failure = bench_outcome(&result.claims[0], 1);
    failure.values = &value;
    failure.values_count = 1;
    result = bench_advance(&bench, &failure, 1, 1);
    cr_assert_eq(result.changes_count, 1);
    bench_now_us = result.next_due_us;
    result = bench_advance(&bench, NULL, 0, 1);
    value.json = "42";
    struct outcome success = bench_outcome(&result.claims[0], 0);
    success.values = &value;
    success.values_count = 1;

    (void)bench_advance(&bench, &success, 1, 1);
    bench_check(&bench);
}

STORE_TEST(advance, a_run_never_has_more_active_tasks_than_it_allows)
{
    bench_start(&bench, "{\"max_active_tasks\": 2, \"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": "
                        "{\"run\": \"x\"}, \"c\": {\"run\": \"x\"}, \"m\": {\"run\": \"x\", "
                        "\"foreach\": [1]}}}");
    struct bench_script script[] = {{.task = "m", .expand = 5}, {0}};
    struct advance_result result = bench_advance(&bench, NULL, 0, 10);
    cr_assert_eq(result.claims_count, 2);
    EXPECT_STATE(&bench, "c", "scheduled");
    struct outcome outcomes[2] = {bench_play(&bench, script, &result.claims[0]),
                                  bench_play(&bench, script, &result.claims[1])};

    result = bench_advance(&bench, outcomes, 2, 10);
    cr_assert_eq(result.claims_count, 2);
    for (int round = 0; result.runs_count == 0; round++) {
        cr_assert_leq(result.claims_count, 2);
        cr_assert_lt(round, 20);
        struct outcome next[2];
        for (size_t i = 0; i < result.claims_count; i++)
            next[i] = bench_play(&bench, script, &result.claims[i]);
        result = bench_advance(&bench, next, result.claims_count, 10);
    }
    cr_assert_eq(result.runs[0].state, RUN_SUCCESS);
}
