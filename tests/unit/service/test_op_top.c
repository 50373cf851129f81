#include "service_fixture.h"

static const char CHAIN[] = "tasks:\n"
                            "  first: { run: 'true' }\n"
                            "  second: { run: 'true', needs: [first] }\n"
                            "  third: { run: 'true', needs: [second] }\n"
                            "  side: { run: 'true', needs: [first] }\n";
static const char MAPPED[] = "tasks:\n"
                             "  each: { run: 'true', foreach: [1, 2, 3, 4] }\n"
                             "  after: { run: 'true', needs: [each] }\n";

Test(op_top, without_a_store_there_is_nothing_to_see)
{
    struct world world;
    world_init_empty(&world);
    json_t *seen = call_ok(&world, "top.overview", "{}");
    cr_assert_eq(list_size(seen, "dag_runs"), 0);
    cr_assert_eq(json_get_int(json_object_get(seen, "runs"), "running", -1), 0);
    json_decref(seen);
    call_fails(&world, "top.tasks", "{\"run\":\"1\"}", STATUS_NOT_FOUND, "no store");
    world_fini(&world);
}

Test(op_top, shows_numbers_and_runs_what_goes_on_first)
{
    struct world world;
    world_init(&world);
    int64_t one = start_run(&world, "one.yaml", CHAIN);
    int64_t two = start_run(&world, "two.yaml", "tasks: { only: { run: 'true' } }\n");
    advance(&world, two, NULL, 8);
    end_task(&world, two, "only", 1);
    advance(&world, one, NULL, 8);

    json_t *seen = call_ok(&world, "top.overview", "{}");
    const json_t *runs = json_object_get(seen, "dag_runs");
    cr_assert_eq(json_array_size(runs), 2);
    EXPECT_STR("one", json_get_string(json_array_get(runs, 0), "dag_id", ""));
    EXPECT_STR("two", json_get_string(json_array_get(runs, 1), "dag_id", ""));
    cr_assert_null(json_object_get(json_array_get(runs, 0), "params"), "nobody shows them");
    cr_assert_eq(json_get_int(json_object_get(seen, "runs"), "running", 0), 1);
    cr_assert_eq(json_get_int(json_object_get(seen, "runs"), "failed", 0), 1);
    cr_assert_eq(json_get_int(json_object_get(seen, "tasks"), "running", 0), 1);
    json_decref(seen);

    seen = call_ok(&world, "top.overview", "{\"limit\":1}");
    cr_assert_eq(list_size(seen, "dag_runs"), 1);
    json_decref(seen);
    seen = call_ok(&world, "top.overview", "{\"limit\":0,\"since\":\"2020-01-01\"}");
    cr_assert_eq(list_size(seen, "dag_runs"), 0);
    cr_assert_leq(list_size(json_object_get(seen, "throughput"), "finished"), 120);
    json_decref(seen);
    call_fails(&world, "top.overview", "{\"limit\":100000}", STATUS_INVALID, "from 0 to 1000");
    world_fini(&world);
}

static void expect_task(const json_t *seen, size_t place, const char *task_id, int64_t depth)
{
    const json_t *row = json_array_get(json_object_get(seen, "tasks"), place);
    EXPECT_STR(task_id, json_get_string(row, "task_id", ""));
    cr_assert_eq(json_get_int(row, "depth", -1), depth, "%s", task_id);
}

Test(op_top, tasks_of_a_run_are_a_tree)
{
    struct world world;
    world_init(&world);
    int64_t run = start_run(&world, "one.yaml", CHAIN);
    CLEANUP(mem_freep) char *request = request_for(run, "");

    json_t *seen = call_ok(&world, "top.tasks", request);
    expect_task(seen, 0, "first", 0);
    expect_task(seen, 1, "second", 1);
    expect_task(seen, 2, "third", 2);
    expect_task(seen, 3, "side", 1);
    EXPECT_STR("one", json_get_string(json_object_get(seen, "run"), "dag_id", ""));
    json_decref(seen);
    world_fini(&world);
}

Test(op_top, instances_are_listed_when_asked_for_those_that_matter_first)
{
    struct world world;
    world_init(&world);
    int64_t run = start_run(&world, "each.yaml", MAPPED);
    advance(&world, run, NULL, 8);
    struct claim claim = take_claim(&world, run, "each", -1);
    struct outcome expand = outcome_of(&claim, REASON_EXIT, 0);
    expand.kind = OUTCOME_EXPAND;
    expand.instances = 4;
    advance(&world, run, &expand, 8);
    claim = take_claim(&world, run, "each", 0);
    struct outcome end = outcome_of(&claim, REASON_EXIT, 0);
    advance(&world, run, &end, 8);

    CLEANUP(mem_freep) char *closed = request_for(run, "");
    json_t *seen = call_ok(&world, "top.tasks", closed);
    cr_assert_eq(list_size(seen, "tasks"), 2);
    json_decref(seen);
    CLEANUP(mem_freep) char *open = request_for(run, ",\"open\":[\"each\"],\"limit\":2");
    seen = call_ok(&world, "top.tasks", open);
    cr_assert_eq(list_size(seen, "tasks"), 4);
    expect_task(seen, 1, "each", 1);
    const json_t *row = json_array_get(json_object_get(seen, "tasks"), 1);
    cr_assert_eq(json_get_int(row, "map_index", -1), 1, "the one that succeeded comes last");
    json_decref(seen);
    CLEANUP(mem_freep) char *all = request_for(run, ",\"open\":[\"each\"]");
    seen = call_ok(&world, "top.tasks", all);
    cr_assert_eq(list_size(seen, "tasks"), 6);
    row = json_array_get(json_object_get(seen, "tasks"), 4);
    cr_assert_eq(json_get_int(row, "map_index", -1), 0);
    json_decref(seen);
    world_fini(&world);
}
