#include "service_fixture.h"

static const char CHAIN[] = "params: { region: { type: string, default: eu } }\n"
                            "tasks:\n"
                            "  first: { run: 'true', retries: 2, retry_delay: 10s }\n"
                            "  second: { run: 'true', needs: [first] }\n"
                            "finally:\n"
                            "  clean: { run: 'true' }\n";
static const char MAPPED[] = "tasks:\n"
                             "  each: { run: 'true', foreach: [1, 2, 3] }\n"
                             "  after: { run: 'true', needs: [each] }\n";

Test(op_run, without_a_store_lists_are_empty_and_the_rest_says_how_to_make_one)
{
    struct world world;
    world_init_empty(&world);
    static const char *const LISTS[][2] = {
        {"run.list", "dag_runs"}, {"run.active", "task_instances"}, {"dag.list", "dags"}};
    static const char *const OTHERS[] = {"run.show",   "run.tasks",  "run.explain", "run.cancel",
                                         "run.values", "run.delete", "log.read",    "run.retry"};

    for (size_t i = 0; i < ARRAY_LEN(LISTS); i++) {
        json_t *response = call_ok(&world, LISTS[i][0], "{}");
        cr_assert_eq(list_size(response, LISTS[i][1]), 0);
        json_decref(response);
    }
    for (size_t i = 0; i < ARRAY_LEN(OTHERS); i++)
        call_fails(&world, OTHERS[i], "{\"run\":\"1\"}", STATUS_NOT_FOUND, "`eider run` makes one");
    call_fails(&world, "run.note", "{\"run\":\"1\",\"note\":\"\"}", STATUS_NOT_FOUND, "no store");
    char path[128];
    (void)snprintf(path, sizeof path, "%s/eider.db", world.home);
    cr_assert_neq(access(path, F_OK), 0, "no operation makes a store");
    world_fini(&world);
}

/* From page to page, one run on each, until there is no cursor any more; " NUMBER NUMBER". */
static char *walk(struct world *world, const char *order)
{
    CLEANUP(mem_freep) char *cursor = NULL;
    char *seen = mem_strdup("");
    for (;;) {
        CLEANUP(mem_freep) char *from = cursor != NULL ? mem_format("\"%s\"", cursor) : NULL;
        CLEANUP(mem_freep)
        char *request =
            mem_format("{\"limit\":1,\"order_by\":\"%s\",\"with_total\":true%s%s}", order,
                       from != NULL ? ",\"cursor\":" : "", from != NULL ? from : "");
        CLEANUP(json_decrefp) json_t *page = call_ok(world, "run.list", request);
        const json_t *run = json_array_get(json_object_get(page, "dag_runs"), 0);
        CLEANUP(mem_freep) char *before = seen;
        seen = mem_format("%s %s", before, json_get_string(run, "number", "none"));
        cr_assert_eq(json_get_int(page, "total_entries", 0), 3, "of all pages");
        if (json_is_null(json_object_get(page, "cursor")))
            return seen;
        mem_freep(&cursor);
        cursor = mem_strdup(json_get_string(page, "cursor", ""));
    }
}

Test(op_run, a_cursor_goes_on_behind_the_page_whatever_is_new)
{
    struct world world;
    world_init(&world);
    long long one = start_run(&world, "one.yaml", CHAIN);
    long long two = start_run(&world, "two.yaml", CHAIN);
    long long three = start_run(&world, "three.yaml", CHAIN);
    CLEANUP(mem_freep) char *back = mem_format(" %lld %lld %lld", three, two, one);
    CLEANUP(mem_freep) char *forth = mem_format(" %lld %lld %lld", one, two, three);
    CLEANUP(mem_freep) char *newest_first = walk(&world, "-id");
    CLEANUP(mem_freep) char *oldest_first = walk(&world, "id");
    EXPECT_STR(back, newest_first);
    EXPECT_STR(forth, oldest_first);

    json_t *page = call_ok(&world, "run.list", "{\"limit\":2}");
    CLEANUP(mem_freep)
    char *next = mem_format("{\"cursor\":\"%s\"}", json_get_string(page, "cursor", ""));
    (void)start_run(&world, "four.yaml", CHAIN);
    json_t *rest = call_ok(&world, "run.list", next);
    cr_assert_eq(list_size(rest, "dag_runs"), 1, "what is new is not before it");
    json_decref(page);
    json_decref(rest);
    call_fails(&world, "run.list", "{\"cursor\":\"1\",\"order_by\":\"-start_date\"}",
               STATUS_INVALID, "by id");
    call_fails(&world, "run.list", "{\"cursor\":\"x\"}", STATUS_INVALID, "no cursor");
    page = call_ok(&world, "run.list", "{\"limit\":1,\"order_by\":\"-start_date\"}");
    cr_assert(json_is_null(json_object_get(page, "cursor")));
    json_decref(page);
    world_fini(&world);
}

Test(op_run, runs_are_listed_newest_first_with_filters)
{
    struct world world;
    world_init(&world);
    int64_t one = start_run(&world, "one.yaml", CHAIN);
    int64_t two = start_run(&world, "two.yaml", MAPPED);
    advance(&world, one, NULL, 8);
    end_task(&world, one, "first", 0);

    json_t *all = call_ok(&world, "run.list", "{}");
    const json_t *newest = json_array_get(json_object_get(all, "dag_runs"), 0);
    const json_t *oldest = json_array_get(json_object_get(all, "dag_runs"), 1);
    cr_assert_eq(list_size(all, "dag_runs"), 2);
    EXPECT_STR("two", json_get_string(newest, "dag_id", ""));
    char number[32];
    (void)snprintf(number, sizeof number, "%lld", (long long)two);
    EXPECT_STR(number, json_get_string(newest, "number", ""));
    EXPECT_STR("queued", json_get_string(newest, "state", ""));
    EXPECT_STR("running", json_get_string(oldest, "state", ""));
    cr_assert_eq(json_get_int(json_object_get(oldest, "counts"), "success", 0), 1);
    cr_assert_eq(json_get_int(json_object_get(oldest, "counts"), "running", 0), 1);
    cr_assert_eq(json_get_int(oldest, "tasks_total", 0), 3);
    cr_assert_null(json_object_get(json_object_get(oldest, "counts"), "failed"));
    EXPECT_STR("eu", json_get_string(json_object_get(oldest, "params"), "region", ""));

    static const struct {
        const char *request;
        size_t count;
    } CASES[] = {
        {"{\"dag\":\"one\"}", 1},
        {"{\"state\":\"running\"}", 1},
        {"{\"state\":\"failed\"}", 0},
        {"{\"limit\":1}", 1},
        {"{\"limit\":0}", 0},
        {"{\"limit\":5,\"offset\":1}", 1},
        {"{\"limit\":5,\"offset\":2}", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *some = call_ok(&world, "run.list", CASES[i].request);
        cr_assert_eq(list_size(some, "dag_runs"), CASES[i].count, "%s", CASES[i].request);
        json_decref(some);
    }
    call_fails(&world, "run.list", "{\"state\":\"faild\"}", STATUS_INVALID, "'failed'");
    call_fails(&world, "run.list", "{\"dag\":\"none\"}", STATUS_NOT_FOUND, "no DAG 'none'");
    call_fails(&world, "run.list", "{\"limit\":-1}", STATUS_INVALID, "'limit'");
    call_fails(&world, "run.list", "{\"limit\":100001}", STATUS_INVALID, "100000");
    json_decref(all);
    world_fini(&world);
}

Test(op_run, a_run_is_found_by_number_by_name_and_by_dag)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "chain.yaml", CHAIN);
    char *by_number = request_for(id, "");
    json_t *run = call_ok(&world, "run.show", by_number);
    char *by_name = mem_format("{\"run\":\"chain/%s\"}", json_get_string(run, "dag_run_id", ""));
    json_t *named = call_ok(&world, "run.show", by_name);
    json_t *latest = call_ok(&world, "run.show", "{\"run\":\"chain\"}");

    cr_assert(json_equal(run, named));
    cr_assert(json_equal(run, latest));
    call_fails(&world, "run.show", "{\"run\":\"chian\"}", STATUS_NOT_FOUND, "chain");
    call_fails(&world, "run.show", "{\"run\":\"chain/nope\"}", STATUS_NOT_FOUND, "nope");
    call_fails(&world, "run.show", "{\"run\":\"\"}", STATUS_INVALID, "empty");
    call_fails(&world, "run.show", "{\"run\":\"x'; --\"}", STATUS_NOT_FOUND, "x'; --");
    call_fails(&world, "run.show", "{}", STATUS_INVALID, "'run' is missing");
    json_decref(run);
    json_decref(named);
    json_decref(latest);
    free(by_number);
    free(by_name);
    world_fini(&world);
}

Test(op_run, tasks_have_attempts_outcomes_and_owners)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "chain.yaml", CHAIN);
    char *request = request_for(id, "");
    advance(&world, id, NULL, 8);
    end_task(&world, id, "first", 3);

    json_t *tasks = call_ok(&world, "run.tasks", request);
    const json_t *first = find_row(tasks, "task_instances", "first", -1);
    cr_assert_eq(list_size(tasks, "task_instances"), 3);
    EXPECT_STR("up_for_retry", json_get_string(first, "state", ""));
    EXPECT_STR("exit", json_get_string(first, "reason", ""));
    EXPECT_STR("it went wrong", json_get_string(first, "message", ""));
    cr_assert_eq(json_get_int(first, "exit_code", -1), 3);
    cr_assert_eq(json_get_int(first, "try_number", -1), 1);
    cr_assert_eq(json_get_int(first, "max_tries", -1), 2);
    cr_assert_eq(json_get_int(first, "retries_left", -1), 1);
    cr_assert(json_is_string(json_object_get(first, "next_retry")));
    cr_assert_eq(json_get_int(find_row(tasks, "task_instances", "second", -1), "try_number", -1),
                 0);
    json_decref(tasks);

    fixture_now_us += 60000000;
    advance(&world, id, NULL, 8);
    fixture_now_us += 2000000;
    json_t *active = call_ok(&world, "run.active", "{}");
    const json_t *running = find_row(active, "task_instances", "first", -1);
    cr_assert_eq(list_size(active, "task_instances"), 1);
    EXPECT_STR("here", json_get_string(running, "hostname", ""));
    cr_assert_eq(json_get_int(running, "pid", 0), 4711);
    cr_assert(json_get_bool(running, "owner_alive", false));
    cr_assert_float_eq(json_number_value(json_object_get(running, "duration")), 2.0, 0.001);
    json_decref(active);

    world.host_is_dead = true;
    json_t *run = call_ok(&world, "run.show", request);
    EXPECT_CONTAINS(json_get_string(run, "reason", ""), "owner is dead");
    json_decref(run);
    free(request);

    request = request_for(id, ",\"state\":\"none\"");
    json_t *waiting = call_ok(&world, "run.tasks", request);
    cr_assert_eq(list_size(waiting, "task_instances"), 2);
    json_decref(waiting);
    free(request);
    request = request_for(id, ",\"task\":\"secnd\"");
    call_fails(&world, "run.tasks", request, STATUS_NOT_FOUND, "'second'");
    free(request);
    request = request_for(id, ",\"state\":\"runing\"");
    call_fails(&world, "run.tasks", request, STATUS_INVALID, "'running'");
    free(request);
    world_fini(&world);
}

static void expand(struct world *world, int64_t run, int64_t instances)
{
    struct claim claim = take_claim(world, run, "each", -1);
    struct outcome outcome = outcome_of(&claim, REASON_NONE, 0);
    outcome.kind = OUTCOME_EXPAND;
    outcome.instances = instances;
    advance(world, run, &outcome, 8);
    advance(world, run, NULL, 8);
}

Test(op_run, instances_of_mapped_tasks_count_one_by_one)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "mapped.yaml", MAPPED);
    char *request = request_for(id, "");
    advance(&world, id, NULL, 8);
    expand(&world, id, 3);
    struct claim claim = take_claim(&world, id, "each", 1);
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
    outcome.label = "the second";
    advance(&world, id, &outcome, 0);

    json_t *tasks = call_ok(&world, "run.tasks", request);
    json_t *run = call_ok(&world, "run.show", request);
    cr_assert_eq(list_size(tasks, "task_instances"), 5);
    const json_t *whole = find_row(tasks, "task_instances", "each", -1);
    const json_t *second = find_row(tasks, "task_instances", "each", 1);
    cr_assert_eq(json_get_int(json_object_get(whole, "instances"), "success", 0), 1);
    cr_assert_eq(json_get_int(json_object_get(whole, "instances"), "total", 0), 3);
    EXPECT_STR("success", json_get_string(second, "state", ""));
    EXPECT_STR("the second", json_get_string(second, "label", ""));
    cr_assert_eq(json_get_int(run, "tasks_total", 0), 4, "three instances and a task");
    cr_assert_eq(json_get_int(json_object_get(run, "counts"), "running", 0), 2);
    json_decref(tasks);
    json_decref(run);
    free(request);
    world_fini(&world);
}

Test(op_run, values_are_shown_and_spilled_ones_only_by_size)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "chain.yaml", CHAIN);
    advance(&world, id, NULL, 8);
    struct claim claim = take_claim(&world, id, "first", -1);
    struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
    struct outcome_value values[] = {
        {.key = "answer", .json = "42", .bytes = 2},
        {.key = "large", .json = NULL, .bytes = 100000},
        {.key = "__items", .json = "[]", .bytes = 2},
    };
    outcome.values = values;
    outcome.values_count = ARRAY_LEN(values);
    advance(&world, id, &outcome, 0);

    json_t *all = call_ok(&world, "run.values", "{\"run\":\"chain\"}");
    cr_assert_eq(list_size(all, "values"), 2, "what is the program's own is not shown");
    const json_t *answer = json_array_get(json_object_get(all, "values"), 0);
    const json_t *large = json_array_get(json_object_get(all, "values"), 1);
    cr_assert_eq(json_integer_value(json_object_get(answer, "value")), 42);
    cr_assert(json_get_bool(large, "spilled", false));
    cr_assert_eq(json_get_int(large, "bytes", 0), 100000);
    cr_assert(json_is_null(json_object_get(large, "value")));
    json_decref(all);
    json_t *one =
        call_ok(&world, "run.values", "{\"run\":\"chain\",\"task\":\"first\",\"key\":\"answer\"}");
    cr_assert_eq(list_size(one, "values"), 1);
    json_decref(one);
    call_fails(&world, "run.values", "{\"run\":\"chain\",\"task\":\"first\",\"key\":\"no\"}",
               STATUS_NOT_FOUND, "'no'");
    call_fails(&world, "run.values", "{\"run\":\"chain\",\"task\":\"frist\"}", STATUS_NOT_FOUND,
               "'first'");
    call_fails(&world, "run.values", "{\"run\":\"chain\",\"map_index\":1}", STATUS_INVALID,
               "needs a task");
    world_fini(&world);
}
