#include "build_dag.h"
#include "expect.h"
#include "fake_host.h"

static const struct build_task TASKS[] = {{.id = "extract"},
                                          {.id = "load", .needs = "extract", .is_mapped = true}};

/* An engine that plays the same run and notes what it was asked. */
struct script {
    enum engine_verdict verdict;
    bool interrupted;
    bool fails;
    char *request;
};

static void note_request(struct script *script, const struct engine_request *request)
{
    json_t *object = json_pack("{s:i,s:s,s:b,s:i,s:b}", "source", (int)request->source, "name",
                               request->name, "record", request->record, "tasks",
                               (int)request->tasks_count, "dated", request->has_logical_date);
    if (request->params != NULL)
        json_object_set(object, "params", (json_t *)(uintptr_t)request->params);
    script->request = json_format(object);
    json_decref(object);
}

static enum status play(void *context, const struct engine_request *request,
                        const struct engine_observer *observer, struct engine_result *out_result,
                        struct err *err)
{
    struct script *script = context;
    note_request(script, request);
    if (script->fails)
        return err_set(err, STATUS_BAD_DAG, "hello.yaml:1:1: no tasks");
    struct dag *dag = build_dag("hello", TASKS, ARRAY_LEN(TASKS));
    struct engine_run run = {.dag = dag, .run_id = "manual__1", .number = 7};
    observer->run_started(observer->context, &run);
    struct engine_task task = {.map_index = -1,
                               .from = TASK_NONE,
                               .to = TASK_RUNNING,
                               .attempt = 1,
                               .at_us = 43201000000,
                               .duration_ms = -1,
                               .exit_code = -1};
    observer->task_changed(observer->context, &task);
    if (observer->log_line != NULL) {
        struct engine_log log = {.map_index = -1, .bytes = "hi\033[2J!", .length = 7};
        observer->log_line(observer->context, &log);
    }
    task.from = TASK_RUNNING;
    task.to = TASK_SUCCESS;
    task.duration_ms = 1200;
    observer->task_changed(observer->context, &task);
    observer->task_expanded(observer->context, 1, 4);
    observer->tick(observer->context, 1000000);
    task = (struct engine_task){.node = 1,
                                .map_index = 3,
                                .label = "eu",
                                .from = TASK_NONE,
                                .to = TASK_FAILED,
                                .attempt = 2,
                                .at_us = 43202000000,
                                .duration_ms = 100,
                                .reason = "exit",
                                .exit_code = 3,
                                .message = "no such table"};
    observer->task_changed(observer->context, &task);
    observer->tick(observer->context, 2000000);
    struct engine_failure failure = {.task_id = "load",
                                     .map_index = 3,
                                     .label = "eu",
                                     .state = TASK_FAILED,
                                     .attempt = 2,
                                     .reason = "exit",
                                     .message = "no such table",
                                     .exit_code = 3};
    struct engine_result result = {.dag_id = mem_strdup("hello"),
                                   .run_id = mem_strdup("manual__1"),
                                   .number = 7,
                                   .verdict = script->verdict,
                                   .interrupted = script->interrupted,
                                   .duration_ms = 2100,
                                   .counts = {[TASK_SUCCESS] = 4, [TASK_FAILED] = 1}};
    if (script->verdict != ENGINE_SUCCESS)
        engine_result_add_failure(&result, &failure);
    *out_result = result;
    build_dag_free(dag);
    return STATUS_OK;
}

static int run(struct fake_host *fake, struct script *script, const char *line)
{
    free(script->request);
    script->request = NULL;
    fake->host.engine = (struct engine){.context = script, .run = play};
    return fake_host_run(fake, line);
}

Test(cmd_run, without_a_terminal_each_change_is_a_line_and_the_end_says_what_failed)
{
    struct fake_host fake;
    struct script script = {.verdict = ENGINE_FAILED};
    fake_host_init(&fake);

    cr_expect_eq(run(&fake, &script, "run hello.yaml -p a=1"), 1);
    EXPECT_STR("run manual__1 of hello, 2 tasks\n"
               "12:00:01 running  extract\n"
               "12:00:01 success  extract in 1.2s\n"
               "12:00:02 failed   load[3 eu] in 0.1s (try 2): exit code 3: no such table\n",
               fake.err);
    EXPECT_STR("x failed  hello  run 7  in 2.1s: 4 success, 1 failed\n"
               "  x load[3 eu]: exit code 3: no such table (after 2 tries)\n"
               "    eider logs 7 load --map-index 3\n"
               "Continue with: eider retry 7\n",
               fake.out);
    EXPECT_STR("{\"dated\":false,\"name\":\"hello.yaml\",\"params\":{\"a\":\"1\"},\"record\":true,"
               "\"source\":0,\"tasks\":0}",
               script.request);

    cr_expect_eq(run(&fake, &script, "run hello.yaml -q -o json"), 1);
    EXPECT_STR("", fake.err);
    EXPECT_CONTAINS(fake.out, "\"state\": \"failed\"");
    EXPECT_CONTAINS(fake.out, "\"number\": \"7\"");
    free(script.request);
    fake_host_fini(&fake);
}

Test(cmd_run, the_verdict_is_the_exit_code)
{
    static const struct {
        struct script script;
        int code;
    } CASES[] = {
        {{.verdict = ENGINE_SUCCESS}, 0},
        {{.verdict = ENGINE_FAILED}, 1},
        {{.verdict = ENGINE_CANCELLED}, 9},
        {{.verdict = ENGINE_CANCELLED, .interrupted = true}, 130},
        {{.fails = true}, 6},
    };
    struct fake_host fake;
    fake_host_init(&fake);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct script script = CASES[i].script;
        cr_expect_eq(run(&fake, &script, "run hello.yaml"), CASES[i].code, "%zu", i);
        free(script.request);
    }
    EXPECT_CONTAINS(fake.err, "eider: hello.yaml:1:1: no tasks");
    fake_host_fini(&fake);
}

Test(cmd_run, test_and_retry_ask_the_engine_for_what_they_mean)
{
    struct fake_host fake;
    struct script script = {.verdict = ENGINE_SUCCESS};
    fake_host_init(&fake);

    cr_expect_eq(run(&fake, &script, "test hello.yaml load --date 2026-01-01"), 0);
    EXPECT_STR("{\"dated\":true,\"name\":\"hello.yaml\",\"record\":false,\"source\":0,\"tasks\":1}",
               script.request);
    EXPECT_CONTAINS(fake.err, "extract | hi?[2J!\n");
    cr_expect_eq(run(&fake, &script, "retry 7 a b"), 0);
    EXPECT_STR("{\"dated\":false,\"name\":\"7\",\"record\":true,\"source\":2,\"tasks\":2}",
               script.request);
    cr_expect_eq(run(&fake, &script, "run orders"), 0);
    EXPECT_STR("{\"dated\":false,\"name\":\"orders\",\"record\":true,\"source\":1,\"tasks\":0}",
               script.request);
    free(script.request);
    fake_host_fini(&fake);
}

Test(cmd_run, a_terminal_gets_a_live_view_and_a_dumb_one_does_not)
{
    struct fake_host fake;
    struct script script = {.verdict = ENGINE_SUCCESS};
    json_t *environment = json_pack("{s:s,s:s}", "TERM", "xterm", "LANG", "C.UTF-8");
    fake_host_init(&fake);
    fake.host.err_is_terminal = true;
    fake.environment = environment;

    cr_expect_eq(run(&fake, &script, "run hello.yaml --logs"), 0);
    EXPECT_CONTAINS(fake.err, "load [1/4]");
    EXPECT_CONTAINS(fake.err, "\033[?25l");
    EXPECT_CONTAINS(fake.err, "\033[?25h");
    EXPECT_CONTAINS(fake.err, "\033[32m");
    EXPECT_CONTAINS(fake.err, "extract | hi?[2J!\n");

    cr_expect_eq(run(&fake, &script, "run hello.yaml --no-color"), 0);
    cr_expect_null(strstr(fake.err, "\033[32m"));

    json_put_string(environment, "TERM", "dumb");
    cr_expect_eq(run(&fake, &script, "run hello.yaml"), 0);
    cr_expect_null(strchr(fake.err, '\033'));
    free(script.request);
    fake_host_fini(&fake);
    json_decref(environment);
}
