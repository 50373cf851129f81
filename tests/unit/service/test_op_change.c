#include "service_fixture.h"

static const char DAG[] = "tasks:\n"
                          "  a: { run: 'true' }\n"
                          "  b: { run: 'true', needs: [a] }\n"
                          "  c: { run: 'true', needs: [b] }\n"
                          "finally:\n"
                          "  clean: { run: 'true' }\n";

static const char *state_of(struct world *world, const char *task_id)
{
    static char state[64];
    json_t *tasks = call_ok(world, "run.tasks", "{\"run\":\"dag\"}");
    (void)snprintf(state, sizeof state, "%s",
                   json_get_string(find_row(tasks, "task_instances", task_id, -1), "state", ""));
    json_decref(tasks);
    return state;
}

static const char *run_state_of(struct world *world)
{
    static char state[64];
    json_t *run = call_ok(world, "run.show", "{\"run\":\"dag\"}");
    (void)snprintf(state, sizeof state, "%s", json_get_string(run, "state", ""));
    json_decref(run);
    return state;
}

Test(op_change, a_living_owner_ends_what_runs_and_finally_tasks_stay)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);

    json_t *preview = call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"dry_run\":true}");
    cr_assert_eq(world.wakes, 0);
    EXPECT_STR("none", state_of(&world, "b"));
    json_t *run = call_ok(&world, "run.cancel", "{\"run\":\"dag\"}");

    EXPECT_STR("running", json_get_string(run, "state", ""));
    EXPECT_STR("cancel asked", json_get_string(run, "reason", ""));
    EXPECT_STR("running", state_of(&world, "a"));
    EXPECT_STR("cancelled", state_of(&world, "b"));
    EXPECT_STR("none", state_of(&world, "clean"));
    cr_assert_eq(world.wakes, 1);
    json_decref(preview);
    json_decref(run);
    world_fini(&world);
}

Test(op_change, a_run_of_a_dead_owner_ends_at_once)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    world.host_is_dead = true;

    json_t *run = call_ok(&world, "run.cancel", "{\"run\":\"dag\"}");

    EXPECT_STR("cancelled", json_get_string(run, "state", ""));
    EXPECT_STR("cancelled", state_of(&world, "clean"));
    call_fails(&world, "run.cancel", "{\"run\":\"dag\"}", STATUS_CONFLICT, "over already");
    call_fails(&world, "run.cancel", "{\"run\":\"nowhere\"}", STATUS_NOT_FOUND, "nowhere");
    json_decref(run);
    world_fini(&world);
}

Test(op_change, one_task_is_stopped_before_it_starts)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);

    json_t *run = call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"b\"}");
    EXPECT_STR("cancelled", state_of(&world, "b"));
    EXPECT_STR("upstream_failed", state_of(&world, "c"));
    EXPECT_STR("running", state_of(&world, "a"));
    json_decref(call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"b\"}"));
    call_fails(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"c\"}", STATUS_CONFLICT, "over");
    call_fails(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"bb\"}", STATUS_NOT_FOUND, "'b'");
    end_task(&world, id, "a", 0);
    end_task(&world, id, "clean", 0);
    EXPECT_STR("failed", run_state_of(&world));
    json_t *check = call_ok(&world, "store.check", "{}");
    cr_assert(json_get_bool(check, "ok", false));
    json_decref(check);
    json_decref(run);
    world_fini(&world);
}

static const json_t *stops_of(const json_t *run)
{
    const json_t *stops = json_object_get(run, "stops");
    cr_assert(json_is_array(stops));
    return stops;
}

static char *dry_stop(const char *task, const char *rest)
{
    return mem_format("{\"run\":\"dag\",\"task\":\"%s\",\"dry_run\":true%s}", task, rest);
}

Test(op_change, a_rehearsal_of_a_stop_tells_what_it_stops_and_what_it_refuses)
{
    static const struct {
        const char *task, *rest, *part;
        enum status wanted;
    } REFUSED[] = {
        {"aa", "", "'a'", STATUS_NOT_FOUND},
        {"a", "", "over already: success", STATUS_CONFLICT},
        {"b", ",\"map_index\":3", "no instance 3", STATUS_NOT_FOUND},
    };
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    end_task(&world, id, "a", 0);
    for (size_t i = 0; i < ARRAY_LEN(REFUSED); i++) {
        CLEANUP(mem_freep) char *request = dry_stop(REFUSED[i].task, REFUSED[i].rest);
        call_fails(&world, "run.cancel", request, REFUSED[i].wanted, REFUSED[i].part);
    }
    CLEANUP(mem_freep) char *of_b = dry_stop("b", "");
    CLEANUP(mem_freep) char *of_c = dry_stop("c", "");
    CLEANUP(json_decrefp) json_t *running = call_ok(&world, "run.cancel", of_b);
    CLEANUP(json_decrefp) json_t *waiting = call_ok(&world, "run.cancel", of_c);

    EXPECT_STR("b (running)", json_string_value(json_array_get(stops_of(running), 0)));
    EXPECT_STR("c (none)", json_string_value(json_array_get(stops_of(waiting), 0)));
    cr_assert_eq(json_array_size(stops_of(waiting)), 1);
    cr_assert(json_get_bool(waiting, "dry_run", false));
    EXPECT_STR("none", state_of(&world, "c"));
    cr_assert_eq(world.wakes, 0);
    CLEANUP(json_decrefp)
    json_t *real = call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"c\"}");
    EXPECT_STR("c (none)", json_string_value(json_array_get(stops_of(real), 0)));
    world_fini(&world);
}

Test(op_change, one_task_that_runs_is_stopped_by_its_owner)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);

    json_decref(call_ok(&world, "run.cancel", "{\"run\":\"dag\",\"task\":\"a\"}"));

    EXPECT_STR("running", state_of(&world, "a"));
    cr_assert_eq(world.wakes, 1);
    json_t *why = call_ok(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"a\"}");
    EXPECT_CONTAINS(json_get_string(why, "summary", ""), "is being stopped while the run goes on");
    call_fails(&world, "run.cancel", "{\"run\":\"dag\",\"map_index\":1}", STATUS_INVALID, "name");
    end_task(&world, id, "a", 1);
    end_task(&world, id, "clean", 0);
    EXPECT_STR("failed", run_state_of(&world));
    json_decref(why);
    world_fini(&world);
}

Test(op_change, a_clear_tells_what_stops_first)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    end_task(&world, id, "a", 0);

    json_t *plan =
        call_ok(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[\"a\"],\"dry_run\":true}");
    EXPECT_STR("running", state_of(&world, "b"));
    json_t *done = call_ok(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[\"a\"]}");

    const json_t *planned = find_row(plan, "task_instances", "b", -1);
    const json_t *asked = find_row(done, "task_instances", "b", -1);
    cr_assert(json_get_bool(planned, "stops_first", false));
    cr_assert(!json_get_bool(find_row(plan, "task_instances", "a", -1), "stops_first", true));
    cr_assert(json_get_bool(asked, "stops_first", false));
    EXPECT_STR("clearing", json_get_string(asked, "reason", ""));
    json_t *why = call_ok(&world, "run.explain", "{\"run\":\"dag\",\"task\":\"b\"}");
    EXPECT_CONTAINS(json_get_string(why, "summary", ""), "is being stopped and runs again then");
    json_decref(why);
    json_decref(plan);
    json_decref(done);
    world_fini(&world);
}

static int64_t failed_run(struct world *world)
{
    int64_t id = start_run(world, "dag.yaml", DAG);
    advance(world, id, NULL, 8);
    end_task(world, id, "a", 0);
    end_task(world, id, "b", 1);
    end_task(world, id, "clean", 0);
    EXPECT_STR("failed", run_state_of(world));
    return id;
}

Test(op_change, a_retry_is_planned_then_done)
{
    struct world world;
    world_init(&world);
    (void)failed_run(&world);

    json_t *plan = call_ok(&world, "run.retry", "{\"run\":\"dag\",\"tasks\":[],\"dry_run\":true}");
    cr_assert_eq(list_size(plan, "task_instances"), 3);
    cr_assert_not_null(find_row(plan, "task_instances", "b", -1));
    cr_assert_not_null(find_row(plan, "task_instances", "clean", -1));
    cr_assert_null(find_row(plan, "task_instances", "a", -1));
    EXPECT_STR("failed", run_state_of(&world));
    cr_assert_eq(world.wakes, 0);

    json_t *done = call_ok(&world, "run.retry", "{\"run\":\"dag\"}");
    EXPECT_STR("queued", json_get_string(find_row(done, "task_instances", "b", -1), "state", ""));
    EXPECT_STR("queued", run_state_of(&world));
    EXPECT_STR("success", state_of(&world, "a"));
    cr_assert_eq(world.wakes, 1);
    json_decref(plan);
    json_decref(done);
    world_fini(&world);
}

Test(op_change, the_plan_of_a_run_whose_owner_died_holds_what_is_not_over)
{
    struct world world;
    world_init(&world);
    int64_t id = start_run(&world, "dag.yaml", DAG);
    advance(&world, id, NULL, 8);
    world.host_is_dead = true;

    json_t *plan = call_ok(&world, "run.retry", "{\"run\":\"dag\",\"dry_run\":true}");

    cr_assert_eq(list_size(plan, "task_instances"), 4);
    EXPECT_STR("running", state_of(&world, "a"));
    json_decref(plan);
    world_fini(&world);
}

Test(op_change, clearing_takes_named_tasks_and_what_follows)
{
    struct world world;
    world_init(&world);
    (void)failed_run(&world);

    json_t *plan =
        call_ok(&world, "task.clear",
                "{\"run\":\"dag\",\"tasks\":[\"a\"],\"downstream\":true,\"dry_run\":true}");
    cr_assert_eq(list_size(plan, "task_instances"), 4);
    EXPECT_STR("success", state_of(&world, "a"));
    json_t *done = call_ok(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[\"a\"]}");
    EXPECT_STR("queued", state_of(&world, "a"));
    EXPECT_STR("none", state_of(&world, "b"));
    call_fails(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[]}", STATUS_INVALID, "empty");
    call_fails(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[\"cleam\"]}", STATUS_NOT_FOUND,
               "'clean'");
    call_fails(&world, "task.clear", "{\"run\":\"dag\",\"tasks\":[1]}", STATUS_INVALID,
               "list of strings");
    json_decref(plan);
    json_decref(done);
    world_fini(&world);
}

Test(op_change, a_mark_gives_a_verdict_by_hand)
{
    struct world world;
    world_init(&world);
    (void)failed_run(&world);

    json_t *task =
        call_ok(&world, "task.mark", "{\"run\":\"dag\",\"task\":\"b\",\"state\":\"success\"}");

    EXPECT_STR("success", json_get_string(task, "state", ""));
    EXPECT_STR("marked", json_get_string(task, "reason", ""));
    EXPECT_STR("queued", state_of(&world, "c"));
    cr_assert_eq(world.wakes, 1);
    static const struct {
        const char *request;
        enum status status;
        const char *part;
    } CASES[] = {
        {"{\"run\":\"dag\",\"task\":\"b\",\"state\":\"wonderful\"}", STATUS_INVALID, "skipped"},
        {"{\"run\":\"dag\",\"task\":\"b\",\"state\":\"running\"}", STATUS_INVALID, "skipped"},
        {"{\"run\":\"dag\",\"task\":\"nope\",\"state\":\"failed\"}", STATUS_NOT_FOUND, "nope"},
        {"{\"run\":\"dag\",\"task\":\"b\",\"state\":\"failed\",\"map_index\":0}", STATUS_INVALID,
         "not mapped"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        call_fails(&world, "task.mark", CASES[i].request, CASES[i].status, CASES[i].part);
    json_decref(task);
    world_fini(&world);
}

Test(op_change, notes_are_kept_and_bounded)
{
    struct world world;
    world_init(&world);
    (void)start_run(&world, "dag.yaml", DAG);
    json_t *run = call_ok(&world, "run.note", "{\"run\":\"dag\",\"note\":\"late file\"}");
    EXPECT_STR("late file", json_get_string(run, "note", ""));
    json_decref(run);
    run = call_ok(&world, "run.note", "{\"run\":\"dag\",\"note\":\"\"}");
    cr_assert(json_is_null(json_object_get(run, "note")));
    json_decref(run);

    for (int extra = 0; extra <= 1; extra++) {
        size_t length = (64 << 10) + (size_t)extra;
        char *note = mem_zalloc(length + 1, 1);
        memset(note, 'x', length);
        char *request = mem_format("{\"run\":\"dag\",\"note\":\"%s\"}", note);
        if (extra == 0)
            json_decref(call_ok(&world, "run.note", request));
        else
            call_fails(&world, "run.note", request, STATUS_LIMIT, "65536");
        free(request);
        free(note);
    }
    world_fini(&world);
}

Test(op_change, a_run_is_deleted_with_its_logs_once_it_is_over)
{
    struct world world;
    world_init(&world);
    struct err err = {0};
    char folder[128];
    (void)snprintf(folder, sizeof folder, "%s/blob", world.home);
    cr_assert_eq(mkdir(folder, 0700), 0);
    int64_t id = failed_run(&world);
    struct blob *blob = NULL;
    struct blob_handle *handle = NULL;
    struct blob_key key = {.kind = BLOB_LOG, .ids = {id, 7, 1}, .id_count = 3};
    EXPECT_OK(blob_open_directory(folder, &blob, &err), &err);
    EXPECT_OK(blob_put(blob, &key, "words", 5, &err), &err);

    json_t *preview = call_ok(&world, "run.delete", "{\"run\":\"dag\",\"dry_run\":true}");
    EXPECT_OK(blob_open(blob, &key, BLOB_READ, &handle, &err), &err);
    blob_handle_close(handle);
    json_t *run = call_ok(&world, "run.delete", "{\"run\":\"dag\"}");

    EXPECT_STR("failed", json_get_string(run, "state", ""));
    EXPECT_STATUS(STATUS_NOT_FOUND, blob_open(blob, &key, BLOB_READ, &handle, &err), &err);
    call_fails(&world, "run.show", "{\"run\":\"dag\"}", STATUS_NOT_FOUND, "no runs");
    (void)start_run(&world, "dag.yaml", DAG);
    call_fails(&world, "run.delete", "{\"run\":\"dag\"}", STATUS_CONFLICT, "stop it first");
    blob_close(blob);
    json_decref(preview);
    json_decref(run);
    world_fini(&world);
}
