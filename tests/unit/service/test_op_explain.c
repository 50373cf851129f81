#include "service_fixture.h"

static const char DAG[] = "tasks:\n"
                          "  bad: { run: 'true', retries: 1, retry_delay: 90s }\n"
                          "  good: { run: 'true' }\n"
                          "  mid: { run: 'true', needs: [bad, good] }\n"
                          "  last: { run: 'true', needs: [mid] }\n"
                          "finally:\n"
                          "  clean: { run: 'true' }\n";
static const char CHOICE[] = "tasks:\n"
                             "  choose: { branch: [ { if: '{{ true }}', then: [left] },"
                             " { else: [right] } ] }\n"
                             "  left: { run: 'true', needs: [choose], if: '{{ false }}' }\n"
                             "  right: { run: 'true', needs: [choose] }\n"
                             "  end: { run: 'true', needs: [left] }\n";
static const char MAPPED[] = "tasks:\n"
                             "  each: { run: 'true', foreach: [1, 2], max_parallel: 1 }\n"
                             "  after: { run: 'true', needs: [each] }\n";

/* The row of one task, and parts that its explanation must contain. */
static void expect_because(struct world *world, const char *task_id, const char *part,
                           const char *change)
{
    char *request = mem_format("{\"run\":\"dag\",\"task\":\"%s\"}", task_id);
    json_t *response = call_ok(world, "run.explain", request);
    const json_t *row = find_row(response, "tasks", task_id, -1);
    cr_assert_not_null(row, "%s is explained", task_id);
    EXPECT_CONTAINS(json_get_string(row, "because", ""), part);
    EXPECT_CONTAINS(json_get_string(response, "summary", ""), part);
    EXPECT_CONTAINS(json_get_string(row, "change", ""), change);
    json_decref(response);
    free(request);
}

Test(op_explain, waiting_queued_running_and_retried_tasks)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    fixture_now_us += 7000000;
    expect_because(&world, "bad", "ready to start for 7 s", "slot");
    expect_because(&world, "good", "1 task comes before it", "slot");
    expect_because(&world, "mid", "2 of 2 parents not over: 'bad' is queued, 'good' is queued",
                   "its parents are over");
    expect_because(&world, "clean", "after everything else; 4 tasks are not over", "the last");

    advance(&world, id, NULL, 8);
    fixture_now_us += 3000000;
    expect_because(&world, "bad", "runs for 3 s, attempt 1, owned by process 4711 on here",
                   "eider stop");
    expect_because(&world, "mid", "'bad' is running for 3 s", "");
    end_task(&world, id, "good", 0);
    end_task(&world, id, "bad", 7);
    expect_because(&world, "mid", "1 of 2 parents not over: 'bad' is up_for_retry; 1 succeeded",
                   "that parent");
    expect_because(&world, "bad", "attempt 1 failed (exit code 7: it went wrong); retry 1 of 1 in",
                   "by itself");

    json_t *all = call_ok(&world, "run.explain", "{\"run\":\"dag\"}");
    EXPECT_CONTAINS(json_get_string(all, "summary", ""), "is running: 3 waiting, 1 success");
    cr_assert_null(find_row(all, "tasks", "good", -1), "what succeeded is not in question");
    cr_assert_eq(list_size(all, "tasks"), 4);
    const json_t *waits = json_object_get(find_row(all, "tasks", "mid", -1), "waits_for");
    cr_assert_eq(json_array_size(waits), 1);
    EXPECT_STR("bad", json_string_value(json_array_get(waits, 0)));
    json_decref(all);
    world_fini(&world);
}

Test(op_explain, a_dead_owner_is_said_with_the_way_out)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    world.host_is_dead = true;

    expect_because(&world, "bad", "its owner is dead (process 4711 on here)", "eider retry");
    expect_because(&world, "mid", "nobody works on the run", "continues the run");
    json_t *all = call_ok(&world, "run.explain", "{\"run\":\"dag\"}");
    EXPECT_CONTAINS(json_get_string(all, "summary", ""),
                    "its owner is dead. To change it: `eider retry");
    json_decref(all);

    json_t *retried = call_ok(&world, "run.retry", "{\"run\":\"dag\"}");
    json_decref(retried);
    expect_because(&world, "bad", "lost its owner 1 times (lost_owner)", "eider retry");
    json_t *one = call_ok(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"bad\"}");
    const json_t *attempts = json_object_get(find_row(one, "tasks", "bad", -1), "attempts");
    EXPECT_STR("lost_owner", json_get_string(json_array_get(attempts, 0), "reason", ""));
    json_decref(one);
    world_fini(&world);
}

Test(op_explain, failures_lead_back_to_where_they_began)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    end_task(&world, id, "good", 0);
    end_task(&world, id, "bad", 7);
    fixture_now_us += (int64_t)100 * 1000000;
    advance(&world, id, NULL, 8);
    end_task(&world, id, "bad", 7);

    expect_because(&world, "bad", "exit code 7: it went wrong, after 2 attempts", "eider mark");
    expect_because(&world, "mid", "'bad' is failed (rule all_success)", "mend 'bad'");
    expect_because(&world, "last", "it began with 'bad', which is failed (exit code 7",
                   "mend 'bad'");
    json_t *one = call_ok(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"last\"}");
    EXPECT_STR("bad", json_get_string(find_row(one, "tasks", "last", -1), "caused_by", ""));
    json_decref(one);
    expect_because(&world, "good", "it succeeded", "");
    call_fails(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"lst\"}", STATUS_NOT_FOUND,
               "'last'");
    call_fails(&world, "run.explain", "{\"run\":\"dag\",\"map_index\":1}", STATUS_INVALID,
               "needs a task");
    call_fails(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"bad\",\"map_index\":1}",
               STATUS_INVALID, "not mapped");
    world_fini(&world);
}

Test(op_explain, choices_conditions_and_their_consequences)
{
    struct world world;
    world_init(&world);
    struct err err = {0};
    int64_t id = start_run(&world, "dag.yaml", CHOICE);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "choose", -1);
    struct run_info info;
    const struct dag *dag = NULL;
    EXPECT_OK(store_run_load(world.store, world.arena, id, &info, &err), &err);
    EXPECT_OK(store_version_dag(world.store, info.version, &dag, &err), &err);
    uint32_t chosen = (uint32_t)dag_find_task(dag, "left");
    struct outcome outcome = outcome_of(&claim, REASON_RESULT, -1);
    outcome.is_choice = true;
    outcome.chosen = &chosen;
    outcome.chosen_count = 1;
    advance(&world, id, &outcome, 8);
    claim = take_claim(&world, id, "left", -1);
    outcome = outcome_of(&claim, REASON_CONDITION, -1);
    outcome.end.result = TASK_SKIPPED;
    advance(&world, id, &outcome, 8);

    expect_because(&world, "right", "'choose' did not choose it", "");
    expect_because(&world, "left", "its condition was false (if: {{ false }})",
                   "eider tasks clear");
    expect_because(&world, "end", "it began with 'left', which is skipped", "");
    world_fini(&world);
}

Test(op_explain, mapped_tasks_by_their_instances)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", MAPPED);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "each", -1);
    struct outcome outcome = outcome_of(&claim, REASON_NONE, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = 2;
    advance(&world, id, &outcome, 1);
    advance(&world, id, NULL, 1);

    expect_because(&world, "each", "0 of 2 instances are over", "last instance");
    expect_because(&world, "after", "'each' is deferred (0 of 2 instances over)", "");
    json_t *one =
        call_ok(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"each\",\"map_index\":0}");
    cr_assert_eq(list_size(one, "tasks"), 1);
    EXPECT_CONTAINS(json_get_string(one, "summary", ""), "'each' [0] is running");
    json_decref(one);
    json_t *cancelled =
        call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"reason\":\"wrong date\"}");
    EXPECT_STR("tester", json_get_string(cancelled, "stopped_by", ""));
    EXPECT_STR("wrong date", json_get_string(cancelled, "stop_reason", ""));
    cr_assert_not_null(json_get_string(cancelled, "stopped_at", NULL));
    json_decref(cancelled);
    expect_because(&world, "after", "stopped before it started, by tester at ", "eider retry");
    expect_because(&world, "after", ": wrong date", "eider retry");
    json_t *explained = call_ok(&world, "run.explain", "{\"run\":\"dag\"}");
    EXPECT_CONTAINS(json_get_string(explained, "summary", ""), "by tester at ");
    json_decref(explained);
    world_fini(&world);
}
