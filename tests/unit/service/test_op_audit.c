#include "service_fixture.h"

static const char DAG[] = "tasks:\n"
                          "  a: { run: 'true' }\n"
                          "  b: { run: 'true', needs: [a] }\n"
                          "  c: { run: 'true', needs: [b] }\n";

static int64_t finished_run(struct world *world)
{
    static const char *const TASKS[] = {"a", "b", "c"};
    int64_t id = start_run(world, "dag.yaml", DAG);
    advance(world, id, NULL, 8);
    for (size_t i = 0; i < ARRAY_LEN(TASKS); i++) {
        struct claim claim = take_claim(world, id, TASKS[i], -1);
        struct outcome outcome = outcome_of(&claim, REASON_EXIT, 0);
        advance(world, id, &outcome, 8);
    }
    return id;
}

static const json_t *entry_at(const json_t *response, size_t i)
{
    return json_array_get(json_object_get(response, "entries"), i);
}

Test(op_audit, an_entry_says_who_did_what_to_what_and_why)
{
    struct world world;
    world_init(&world);
    int64_t id = finished_run(&world);
    char object[128];
    json_decref(call_ok(&world, "task.mark",
                        "{\"run\":\"dag\",\"task\":\"c\",\"state\":\"failed\","
                        "\"reason\":\"bad rows\"}"));

    json_t *trail = call_ok(&world, "audit.list", "{}");

    const json_t *entry = entry_at(trail, 0);
    (void)snprintf(object, sizeof object, "run %lld dag/", (long long)id);
    EXPECT_STR("tester", json_get_string(entry, "actor", ""));
    EXPECT_STR("task_marked", json_get_string(entry, "action", ""));
    EXPECT_STR("bad rows", json_get_string(entry, "reason", ""));
    EXPECT_STR("dag", json_get_string(entry, "dag_id", ""));
    EXPECT_CONTAINS(json_get_string(entry, "object", ""), object);
    EXPECT_CONTAINS(json_get_string(entry, "object", ""), " c");
    EXPECT_STR("failed", json_get_string(json_object_get(entry, "details"), "state", ""));
    cr_assert_null(json_object_get(json_object_get(entry, "details"), "reason"));
    EXPECT_STR("run_created", json_get_string(entry_at(trail, 1), "action", ""));
    json_decref(trail);
    world_fini(&world);
}

Test(op_audit, a_reason_counts_for_its_request_alone_and_is_bounded)
{
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    json_decref(
        call_ok(&world, "run.note", "{\"run\":\"dag\",\"note\":\"x\",\"reason\":\"first\"}"));
    json_decref(call_ok(&world, "run.note", "{\"run\":\"dag\",\"note\":\"y\"}"));

    json_t *trail = call_ok(&world, "audit.list", "{}");

    cr_assert(json_is_null(json_object_get(entry_at(trail, 0), "reason")));
    EXPECT_STR("first", json_get_string(entry_at(trail, 1), "reason", ""));
    json_decref(trail);
    char *reason = mem_zalloc((4 << 10) + 2, 1);
    memset(reason, 'x', (4 << 10) + 1);
    char *request = mem_format("{\"run\":\"dag\",\"note\":\"\",\"reason\":\"%s\"}", reason);
    call_fails(&world, "run.note", request, STATUS_LIMIT, "4096");
    free(request);
    free(reason);
    world_fini(&world);
}

Test(op_audit, a_clear_of_many_tasks_is_one_entry)
{
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    json_decref(call_ok(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[\"a\"]}"));

    json_t *trail = call_ok(&world, "audit.list", "{\"limit\":1}");

    cr_assert_eq(list_size(trail, "entries"), 1);
    EXPECT_STR("task_cleared", json_get_string(entry_at(trail, 0), "action", ""));
    cr_assert_eq(json_get_int(entry_at(trail, 0), "count", 0), 3);
    cr_assert_eq(json_array_size(json_object_get(entry_at(trail, 0), "objects")), 3);
    char *request =
        mem_format("{\"before\":\"%s\"}", json_get_string(entry_at(trail, 0), "id", ""));
    json_t *rest = call_ok(&world, "audit.list", request);
    cr_assert_eq(list_size(rest, "entries"), 1);
    EXPECT_STR("run_created", json_get_string(entry_at(rest, 0), "action", ""));
    free(request);
    json_decref(rest);
    json_decref(trail);
    world_fini(&world);
}

Test(op_audit, things_around_runs_are_named_and_found_by_their_dag)
{
    static const struct {
        const char *operation;
        const char *request;
        const char *object;
        const char *dag_id; /* NULL: of none */
    } CASES[] = {
        {"pool.set", "{\"name\":\"gpu\",\"slots\":2}", "pool default/gpu", NULL},
        {"queue.set", "{\"name\":\"mail\",\"priority\":3}", "queue mail", NULL},
        {"variable.set", "{\"name\":\"v\",\"value\":\"1\"}", "variable default/v", NULL},
        {"variable.delete", "{\"name\":\"v\"}", "variable default/v", NULL},
        {"limit.set", "{\"kind\":\"dag\",\"name\":\"dag\",\"max_running\":2}", "limit dag", "dag"},
        {"limit.delete", "{\"kind\":\"dag\",\"name\":\"dag\"}", "limit dag", "dag"},
        {"dag.pause", "{\"dags\":[\"dag\"]}", "dag dag", "dag"},
        {"asset.emit", "{\"uri\":\"s3://x\"}", "asset s3://x", NULL},
        {"host.drain", "{\"host\":\"here\"}", "host ", NULL},
        {"store.prune", "{}", "store", NULL},
    };
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const char *tail = strlen(CASES[i].request) > 2 ? "," : "";
        char *request = mem_format("{\"reason\":\"because\"%s%s", tail, CASES[i].request + 1);
        json_decref(call_ok(&world, CASES[i].operation, request));
        free(request);
        json_t *all = call_ok(&world, "audit.list", "{\"limit\":1}");
        json_t *of_dag = call_ok(&world, "audit.list", "{\"limit\":1,\"dag\":\"dag\"}");

        const json_t *entry = entry_at(all, 0);
        EXPECT_CONTAINS(json_get_string(entry, "object", ""), CASES[i].object);
        EXPECT_STR("because", json_get_string(entry, "reason", CASES[i].operation));
        bool is_found = json_equal(entry, entry_at(of_dag, 0));
        cr_expect_eq(is_found, CASES[i].dag_id != NULL, "%s", CASES[i].operation);
        json_decref(all);
        json_decref(of_dag);
    }
    world_fini(&world);
}

Test(op_audit, what_cannot_be_asked_is_refused)
{
    struct world world;
    world_init(&world);
    call_fails(&world, "audit.list", "{\"limit\":0}", STATUS_INVALID, "limit");
    call_fails(&world, "audit.list", "{\"from\":\"soon\"}", STATUS_INVALID, "from");
    call_fails(&world, "audit.list", "{\"run\":\"nothing\"}", STATUS_NOT_FOUND, "nothing");
    world_fini(&world);
}

Test(op_audit, a_task_has_a_note_of_its_own)
{
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    json_t *task = call_ok(&world, "task.note",
                           "{\"run\":\"dag\",\"task\":\"b\",\"note\":\"odd\","
                           "\"reason\":\"for later\"}");
    EXPECT_STR("odd", json_get_string(task, "note", ""));
    json_decref(task);

    json_t *tasks = call_ok(&world, "run.tasks", "{\"run\":\"dag\"}");
    json_t *trail = call_ok(&world, "audit.list", "{\"limit\":1}");

    EXPECT_STR("odd", json_get_string(find_row(tasks, "task_instances", "b", -1), "note", ""));
    cr_assert(json_is_null(json_object_get(find_row(tasks, "task_instances", "a", -1), "note")));
    EXPECT_STR("task_note", json_get_string(entry_at(trail, 0), "action", ""));
    EXPECT_STR("for later", json_get_string(entry_at(trail, 0), "reason", ""));
    call_fails(&world, "task.note", "{\"run\":\"dag\",\"task\":\"x\",\"note\":\"\"}",
               STATUS_NOT_FOUND, "x");
    json_decref(tasks);
    json_decref(trail);
    world_fini(&world);
}

static size_t cleared(struct world *world, const char *more)
{
    char *request = mem_format("{\"run\":\"dag\",\"tasks\":[\"b\"],\"dry_run\":true%s}", more);
    json_t *tasks = call_ok(world, "task.clear", request);
    size_t count = list_size(tasks, "task_instances");
    free(request);
    json_decref(tasks);
    return count;
}

Test(op_audit, a_clear_takes_what_a_task_needs_when_asked)
{
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    cr_assert_eq(cleared(&world, ""), 2);
    cr_assert_eq(cleared(&world, ",\"upstream\":true"), 3);
    cr_assert_eq(cleared(&world, ",\"upstream\":true,\"failed\":true"), 0);
    json_decref(
        call_ok(&world, "task.mark", "{\"run\":\"dag\",\"task\":\"c\",\"state\":\"failed\"}"));
    cr_assert_eq(cleared(&world, ",\"failed\":true"), 0);
    cr_assert_eq(cleared(&world, ",\"failed\":true,\"downstream\":true"), 1);
    world_fini(&world);
}

/* The object and the change of the newest entry. */
static const char *newest(struct world *world, struct arena *arena)
{
    json_t *trail = call_ok(world, "audit.list", "{\"limit\":1}");
    const json_t *entry = entry_at(trail, 0);
    const char *text = arena_format(arena, "%s | %s", json_get_string(entry, "object", ""),
                                    json_get_string(entry, "change", "-"));
    json_decref(trail);
    return text;
}

Test(op_audit, an_entry_says_from_what_to_what)
{
    static const struct {
        const char *operation;
        const char *request;
        const char *wanted;
    } CASES[] = {
        {"limit.set", "{\"kind\":\"dag\",\"name\":\"lim3\",\"max_running\":5}",
         "limit dag lim3 | max_running 5"},
        {"limit.set", "{\"kind\":\"dag\",\"name\":\"lim3\",\"max_running\":3}",
         "limit dag lim3 | max_running 5 -> 3"},
        {"limit.delete", "{\"kind\":\"dag\",\"name\":\"lim3\"}",
         "limit dag lim3 | max_running 3 -> none"},
        {"pool.set", "{\"name\":\"gpu\",\"slots\":2}", "pool default/gpu | slots 2"},
        {"pool.set", "{\"name\":\"gpu\",\"slots\":4}", "pool default/gpu | slots 2 -> 4"},
        {"queue.set", "{\"name\":\"slow\",\"max_running\":2}", "queue slow | max_running 0 -> 2"},
        {"task.mark", "{\"run\":\"dag\",\"task\":\"c\",\"state\":\"failed\"}",
         " c | state success -> failed"},
        {"task.clear", "{\"run\":\"dag\",\"tasks\":[\"b\"],\"upstream\":true}",
         " b | with what they need"},
    };
    struct world world;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    world_init(&world);
    (void)finished_run(&world);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_decref(call_ok(&world, CASES[i].operation, CASES[i].request));
        EXPECT_CONTAINS(newest(&world, arena), CASES[i].wanted);
    }
    world_fini(&world);
}

Test(op_audit, a_clear_is_told_by_what_was_asked_for_with_its_reason)
{
    struct world world;
    world_init(&world);
    (void)finished_run(&world);
    json_decref(call_ok(&world, "task.clear",
                        "{\"run\":\"dag\",\"tasks\":[\"b\"],\"reason\":\"late file\"}"));

    json_t *trail = call_ok(&world, "audit.list", "{\"limit\":1}");
    const json_t *entry = entry_at(trail, 0);
    const char *object = json_get_string(entry, "object", "");
    EXPECT_STR("b", object + strlen(object) - 1);
    EXPECT_STR("late file", json_get_string(entry, "reason", ""));
    cr_assert_eq(json_get_int(entry, "count", 0), 2);
    json_decref(trail);
    world_fini(&world);
}
