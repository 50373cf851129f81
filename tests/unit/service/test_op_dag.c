#include "service_fixture.h"

static const char ORDERS[] = "# orders\n"
                             "dag: orders\n"
                             "title: Orders\n"
                             "owner: shop\n"
                             "tags: [tier1, daily]\n"
                             "timeout: 90m\n"
                             "params: { region: { type: string, enum: [eu, us], default: eu } }\n"
                             "tasks:\n"
                             "  load: { run: 'echo {{ params.region }}', retries: 2,"
                             " env: { KEY: v } }\n"
                             "  part: { run: 'true', needs: [load], foreach: [1, 2] }\n"
                             "finally:\n"
                             "  tidy: { noop: {} }\n";
static const char TWO[] = "dag: first\ntasks: { a: { run: 'true' } }\n"
                          "---\ndag: second\ntags: [tier1]\ntasks: { b: { run: 'true' } }\n";
static const char BROKEN[] =
    "tasks:\n  a: { run: 'true', needs: [loda] }\n  load: { run: 'true' }\n";

static char *write_file(struct world *world, const char *name, const char *text)
{
    char *path = mem_format("%s/%s", world->home, name);
    FILE *file = fopen(path, "we");
    cr_assert_not_null(file);
    (void)fputs(text, file);
    (void)fclose(file);
    return path;
}

static json_t *call_file(struct world *world, const char *name, const char *path, const char *rest)
{
    char *request = mem_format("{\"file\":\"%s\"%s}", path, rest);
    json_t *response = call_ok(world, name, request);
    free(request);
    return response;
}

static void file_fails(struct world *world, const char *name, const char *path, const char *rest,
                       enum status status, const char *part)
{
    char *request = mem_format("{\"file\":\"%s\"%s}", path, rest);
    call_fails(world, name, request, status, part);
    free(request);
}

Test(op_dag, a_file_is_shown_without_a_store)
{
    struct world world;
    world_init_empty(&world);
    char *path = write_file(&world, "orders.yaml", ORDERS);
    char *two = write_file(&world, "two.yaml", TWO);
    char *broken = write_file(&world, "broken.yaml", BROKEN);

    json_t *dag = call_file(&world, "dag.show", path, "");
    EXPECT_STR("orders", json_get_string(dag, "dag_id", ""));
    EXPECT_STR("shop", json_get_string(dag, "owner", ""));
    cr_assert_eq(json_get_int(dag, "tasks_total", 0), 3);
    cr_assert_eq(json_array_size(json_object_get(dag, "tags")), 2);
    cr_assert_float_eq(json_number_value(json_object_get(dag, "timeout")), 5400, 0.01);
    cr_assert_not_null(json_object_get(json_object_get(dag, "params"), "region"));
    cr_assert(json_is_null(json_object_get(dag, "last_run")));
    json_decref(dag);

    json_t *task = call_file(&world, "task.show", path, ",\"task\":\"part\"");
    EXPECT_STR("run", json_get_string(task, "operator", ""));
    EXPECT_STR("load", json_string_value(json_array_get(json_object_get(task, "needs"), 0)));
    cr_assert(json_get_bool(task, "is_mapped", false));
    json_decref(task);
    json_t *tasks = call_file(&world, "task.list", path, "");
    cr_assert_eq(list_size(tasks, "tasks"), 3);
    EXPECT_STR("load",
               json_get_string(json_array_get(json_object_get(tasks, "tasks"), 0), "task_id", ""));
    json_decref(tasks);
    json_t *source = call_file(&world, "dag.source", path, "");
    EXPECT_STR(ORDERS, json_get_string(source, "text", ""));
    json_decref(source);
    json_t *second = call_file(&world, "dag.show", two, ",\"dag\":\"second\"");
    EXPECT_STR("second", json_get_string(second, "dag_id", ""));
    json_decref(second);

    file_fails(&world, "task.show", path, ",\"task\":\"laod\"", STATUS_NOT_FOUND, "'load'");
    file_fails(&world, "dag.show", two, "", STATUS_INVALID, "first, second");
    file_fails(&world, "dag.show", two, ",\"dag\":\"secnd\"", STATUS_NOT_FOUND, "'second'");
    file_fails(&world, "dag.show", broken, "", STATUS_BAD_DAG, "broken.yaml:2:");
    file_fails(&world, "dag.show", "/nowhere.yaml", "", STATUS_NOT_FOUND, "nowhere.yaml");
    call_fails(&world, "dag.show", "{}", STATUS_INVALID, "name a DAG");
    call_fails(&world, "dag.show", "{\"dag\":\"orders\"}", STATUS_NOT_FOUND, "no store");
    free(path);
    free(two);
    free(broken);
    world_fini(&world);
}

Test(op_dag, dags_of_the_store_and_of_the_folder_are_one_list)
{
    struct world world;
    world_init(&world);
    char *folder = mem_format("%s/dags", world.home);
    cr_assert_eq(mkdir(folder, 0700), 0);
    world.service.dags = folder;
    free(write_file(&world, "dags/two.yaml", TWO));
    free(write_file(&world, "dags/orders.yaml", ORDERS));
    free(write_file(&world, "dags/broken.yaml", BROKEN));
    int64_t id = start_run(&world, "/srv/orders.yaml", ORDERS);
    advance(&world, id, NULL, 8);

    json_t *all = call_ok(&world, "dag.list", "{}");
    cr_assert_eq(list_size(all, "dags"), 3, "each once, broken ones not");
    const json_t *orders = json_array_get(json_object_get(all, "dags"), 1); /* first, orders, .. */
    EXPECT_STR("orders", json_get_string(orders, "dag_id", ""));
    EXPECT_STR("running", json_get_string(json_object_get(orders, "last_run"), "state", ""));
    cr_assert_eq(json_get_int(orders, "dag_version", 0), 1);
    json_decref(all);
    json_t *tagged = call_ok(&world, "dag.list", "{\"tag\":\"daily\"}");
    cr_assert_eq(list_size(tagged, "dags"), 1);
    json_decref(tagged);
    json_t *first = call_ok(&world, "dag.show", "{\"dag\":\"first\"}");
    EXPECT_CONTAINS(json_get_string(first, "file", ""), "dags/two.yaml");
    json_decref(first);
    json_t *kept = call_ok(&world, "dag.source", "{\"dag\":\"orders\"}");
    EXPECT_STR(ORDERS, json_get_string(kept, "text", ""));
    EXPECT_STR("/srv/orders.yaml", json_get_string(kept, "file", ""));
    json_decref(kept);
    call_fails(&world, "dag.show", "{\"dag\":\"ordres\"}", STATUS_NOT_FOUND, "orders");
    free(folder);
    world_fini(&world);
}

/* The ids of a list, one after the other. */
static void expect_ids(struct world *world, const char *request, const char *ids, int64_t total)
{
    CLEANUP(strbuf_fini) struct strbuf got;
    strbuf_init(&got, 1000);
    json_t *page = call_ok(world, "dag.list", request);
    const json_t *dags = json_object_get(page, "dags");
    for (size_t i = 0; i < json_array_size(dags); i++)
        strbuf_addf(&got, "%s%s", i > 0 ? " " : "",
                    json_get_string(json_array_get(dags, i), "dag_id", ""));
    EXPECT_STR(ids, got.text != NULL ? got.text : "");
    cr_assert_eq(json_get_int(page, "total_entries", -1), total, "%s", request);
    json_decref(page);
}

Test(op_dag, pages_of_dags_go_both_ways_wherever_the_dags_are)
{
    struct world world;
    world_init(&world);
    char *folder = mem_format("%s/dags", world.home);
    cr_assert_eq(mkdir(folder, 0700), 0);
    world.service.dags = folder;
    free(write_file(&world, "dags/two.yaml", TWO));
    (void)start_run(&world, "/srv/orders.yaml", ORDERS);
    (void)start_run(&world, "/srv/z.yaml", "dag: zebra\ntasks: { a: { noop: {} } }\n");

    expect_ids(&world, "{}", "first orders second zebra", 4);
    expect_ids(&world, "{\"order_by\":\"-dag_id\"}", "zebra second orders first", 4);
    expect_ids(&world, "{\"offset\":1,\"limit\":2}", "orders second", 4);
    expect_ids(&world, "{\"offset\":1,\"limit\":2,\"order_by\":\"-dag_id\"}", "second orders", 4);
    expect_ids(&world, "{\"offset\":3,\"limit\":9,\"order_by\":\"-dag_id\"}", "first", 4);
    expect_ids(&world, "{\"offset\":4,\"limit\":9,\"order_by\":\"-dag_id\"}", "", 4);
    expect_ids(&world, "{\"limit\":0}", "", 4);
    expect_ids(&world, "{\"tags\":[\"tier1\"],\"limit\":1,\"order_by\":\"-dag_id\"}", "second", 2);
    expect_ids(&world, "{\"pattern\":\"E\",\"paused\":false,\"offset\":1,\"order_by\":\"-dag_id\"}",
               "second orders", 3);
    call_fails(&world, "dag.list", "{\"order_by\":\"owner\"}", STATUS_INVALID, "-dag_id");
    free(folder);
    world_fini(&world);
}

Test(op_dag, a_dag_is_drawn_in_every_format_and_a_run_with_its_states)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "orders.yaml", ORDERS);
    static const char *const FORMATS[][2] = {
        {"text", "load"}, {"dot", "digraph"}, {"mermaid", "flowchart"}, {"svg", "<svg"}};
    advance(&world, id, NULL, 8);
    end_task(&world, id, "load", 0);
    for (size_t i = 0; i < ARRAY_LEN(FORMATS); i++) {
        char *request =
            mem_format("{\"dag\":\"orders\",\"format\":\"%s\",\"width\":80}", FORMATS[i][0]);
        json_t *plain = call_ok(&world, "dag.graph", request);
        EXPECT_CONTAINS(json_get_string(plain, "text", ""), FORMATS[i][1]);
        free(request);
        request = mem_format("{\"run\":\"orders\",\"format\":\"%s\",\"width\":80}", FORMATS[i][0]);
        json_t *states = call_ok(&world, "dag.graph", request);
        cr_assert_str_neq(json_get_string(plain, "text", ""), json_get_string(states, "text", ""),
                          "%s shows states", FORMATS[i][0]);
        json_decref(plain);
        json_decref(states);
        free(request);
    }
    call_fails(&world, "dag.graph", "{\"dag\":\"orders\",\"format\":\"svgg\"}", STATUS_INVALID,
               "'svg'");
    call_fails(&world, "dag.graph", "{\"dag\":\"orders\",\"width\":-1}", STATUS_INVALID, "width");
    call_fails(&world, "dag.graph", "{\"run\":\"nope\"}", STATUS_NOT_FOUND, "nope");
    world_fini(&world);
}

Test(op_dag, files_are_validated_with_every_problem_and_its_line)
{
    struct world world;
    world_init_empty(&world);
    char *folder = mem_format("%s/d", world.home);
    cr_assert_eq(mkdir(folder, 0700), 0);
    free(write_file(&world, "d/broken.yaml", BROKEN));
    free(write_file(&world, "d/two.yaml", TWO));
    char *request = mem_format("{\"paths\":[\"%s\"]}", folder);

    json_t *response = call_ok(&world, "dag.validate", request);
    cr_assert_eq(json_get_int(response, "errors", 0), 1);
    cr_assert_eq(list_size(response, "files"), 2);
    const json_t *broken = json_array_get(json_object_get(response, "files"), 0);
    const json_t *two = json_array_get(json_object_get(response, "files"), 1);
    const json_t *problem = json_array_get(json_object_get(broken, "problems"), 0);
    cr_assert_not(json_get_bool(broken, "ok", true));
    EXPECT_CONTAINS(json_get_string(problem, "message", ""), "load");
    EXPECT_STR("  a: { run: 'true', needs: [loda] }", json_get_string(problem, "source", ""));
    cr_assert_eq(json_get_int(problem, "line", 0), 2);
    cr_assert(json_get_bool(two, "ok", false));
    cr_assert_eq(json_get_int(two, "tasks_total", 0), 2);
    cr_assert_eq(json_array_size(json_object_get(two, "dags")), 2);
    json_decref(response);

    response = call_ok(&world, "dag.validate", "{\"texts\":{\"x.yaml\":\"tasks: 1\"}}");
    cr_assert_gt(json_get_int(response, "errors", 0), 0);
    json_decref(response);
    call_fails(&world, "dag.validate", "{}", STATUS_INVALID, "'paths'");
    call_fails(&world, "dag.validate", "{\"texts\":{\"x\":1}}", STATUS_INVALID, "string");
    call_fails(&world, "dag.validate", "{\"paths\":[\"/nowhere.yaml\"]}", STATUS_NOT_FOUND,
               "nowhere.yaml");
    free(request);
    free(folder);
    world_fini(&world);
}
