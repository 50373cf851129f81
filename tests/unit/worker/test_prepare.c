/*
 * From a claim to what must be done.
 */
#include "model/limits.h"
#include "worker_bench.h"

static struct worker_bench bench;

static void setup(void)
{
    worker_bench_open(&bench);
}

static void teardown(void)
{
    worker_bench_close(&bench);
}

TestSuite(prepare, .init = setup, .fini = teardown);

static const char *outside(const char *name)
{
    return strcmp(name, "HOME") == 0 ? "/home/x" : strcmp(name, "SHOWN") == 0 ? "s" : NULL;
}

static const struct task_api *api; /* that tasks are told of */

static struct prepared prepare_claim(const struct claim *claim)
{
    struct prepared out;
    prepare_attempt(bench.run, claim,
                    &(struct prepare_options){.scratch_dir = "/scratch",
                                              .blob_root = "/blobs",
                                              .output_bytes = 1000,
                                              .get_env = outside,
                                              .api = api},
                    bench.store.arena, &out);
    return out;
}

static struct prepared prepare_task(const char *body)
{
    run_context_free(bench.run);
    bench.run = NULL;
    worker_bench_start(
        &bench, arena_format(bench.store.arena, "{\"tasks\":{\"t\":{\"run\":\"x\",%s}}}", body));
    struct claim claim = worker_bench_claim(&bench, "t");
    return prepare_claim(&claim);
}

Test(prepare, conditions_and_lists_decide_at_once)
{
    static const struct {
        const char *body;
        bool is_process;
        enum outcome_kind kind;
        enum reason reason;
        int64_t instances;
        const char *detail;
    } CASES[] = {
        {"\"if\":true", true, OUTCOME_END, REASON_NONE, 0, NULL},
        {"\"if\":\"{{ 1 == 1 }}\"", true, OUTCOME_END, REASON_NONE, 0, NULL},
        {"\"if\":\"{{ 1 == 2 }}\"", false, OUTCOME_END, REASON_CONDITION, 0, "condition is false"},
        {"\"if\":\"{{ conf.nope }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0, "nope"},
        {"\"foreach\":[1,2,3]", false, OUTCOME_EXPAND, REASON_NONE, 3, NULL},
        {"\"foreach\":\"{{ range(4) }}\"", false, OUTCOME_EXPAND, REASON_NONE, 4, NULL},
        {"\"foreach\":[]", false, OUTCOME_END, REASON_EMPTY, 0, "empty"},
        {"\"foreach\":\"{{ true }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0,
         "gave true where a list is needed"},
        {"\"foreach\":\"{{ 5 }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0, "a number"},
        {"\"foreach\":\"{{ none }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0, "null"},
        {"\"foreach\":\"{{ conf }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0, "a map"},
        {"\"foreach\":\"a{{ ds }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0, "a text"},
        {"\"matrix\":{\"a\":[1,2],\"b\":[1,2,3]}", false, OUTCOME_EXPAND, REASON_NONE, 6, NULL},
        {"\"workdir\":\"{{ conf.nope }}\"", false, OUTCOME_END, REASON_TEMPLATE_ERROR, 0,
         "workdir of task 't'"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct prepared got = prepare_task(CASES[i].body);
        cr_assert_eq(got.is_process, CASES[i].is_process, "%s: %s", CASES[i].body,
                     got.outcome.detail != NULL ? got.outcome.detail : "");
        cr_assert_eq(got.outcome.kind, CASES[i].kind, "%s: %s", CASES[i].body,
                     got.outcome.detail != NULL ? got.outcome.detail : "");
        cr_assert_eq(got.outcome.end.reason, CASES[i].reason, "%s: %s", CASES[i].body,
                     reason_name(got.outcome.end.reason));
        cr_assert_eq(got.outcome.instances, CASES[i].instances, "%s", CASES[i].body);
        if (CASES[i].detail != NULL)
            EXPECT_CONTAINS(got.outcome.detail, CASES[i].detail);
    }
}

Test(prepare, combinations_turn_the_last_key_fastest)
{
    struct prepared got = prepare_task("\"matrix\":{\"a\":[1,2],\"b\":[\"x\",\"y\"]}");

    EXPECT_STR("[{\"a\":1,\"b\":\"x\"},{\"a\":1,\"b\":\"y\"},{\"a\":2,\"b\":\"x\"},"
               "{\"a\":2,\"b\":\"y\"}]",
               got.outcome.values[0].json);
    EXPECT_STR(RUN_CONTEXT_ITEMS_KEY, got.outcome.values[0].key);
}

Test(prepare, a_process_gets_exactly_the_environment_that_is_documented)
{
    struct prepared got = prepare_task(
        "\"env\":{\"A\":\"{{ ds }}\",\"LANG\":\"own\"},\"env_pass\":[\"SHOWN\",\"A\",\"GONE\"],"
        "\"workdir\":\"sub/{{ task.id }}\",\"limits\":{\"cpu\":\"1500ms\"}");
    static const char *const WANTED[] = {"A=",
                                         "LANG=own",
                                         "SHOWN=s",
                                         "HOME=/home/x",
                                         "PATH=/usr/local/bin:/usr/bin:/bin",
                                         "EIDER_DAG_ID=d",
                                         "EIDER_RUN_ID=manual__",
                                         "EIDER_TASK_ID=t",
                                         "EIDER_MAP_INDEX=-1",
                                         "EIDER_TRY_NUMBER=1",
                                         "EIDER_LOGICAL_DATE=",
                                         "EIDER_DATA_INTERVAL_START=",
                                         "EIDER_DATA_INTERVAL_END=",
                                         "EIDER_IDEMPOTENCY_KEY=",
                                         "EIDER_PARAMS={}",
                                         "EIDER_OUTPUTS=/scratch/"};

    cr_assert(got.is_process, "%s", got.outcome.detail);
    size_t count = 0;
    while (got.process.env[count] != NULL)
        count++;
    cr_assert_eq(count, ARRAY_LEN(WANTED));
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(strncmp(got.process.env[i], WANTED[i], strlen(WANTED[i])), 0, "%s, not %s",
                     got.process.env[i], WANTED[i]);
    EXPECT_STR("//sub/t", got.process.workdir);
    cr_assert_eq(got.process.limits.cpu_s, 2);
    cr_assert_eq(got.process.output_bytes, 1000);
    EXPECT_STR("/abs", prepare_task("\"workdir\":\"/abs\"").process.workdir);
}

static const char *env_of(const struct prepared *prepared, const char *name)
{
    const char *found = NULL;
    size_t length = strlen(name);
    for (const char *const *at = prepared->process.env; *at != NULL; at++) {
        if (strncmp(*at, name, length) != 0 || (*at)[length] != '=')
            continue;
        cr_assert_null(found, "%s twice", name);
        found = *at + length + 1;
    }
    return found;
}

Test(prepare, a_task_is_told_of_the_api_and_its_token_is_a_secret)
{
    api = &(const struct task_api){.url = (char[]){"http://127.0.0.1:1"}, .key = {{1, 2, 3}}};
    struct prepared got = prepare_task("\"env\":{\"A\":\"b\"}");
    struct task_token token = {0};

    EXPECT_STR("http://127.0.0.1:1", env_of(&got, "EIDER_API"));
    cr_assert(task_token_parse(env_of(&got, "EIDER_TOKEN"), &token));
    struct task_token wanted =
        task_token_make(&api->key, got.outcome.task, got.outcome.attempt, &got.outcome.nonce);
    EXPECT_STR(wanted.proof, token.proof);
    cr_assert_eq(token.task, got.outcome.task);
    cr_assert_eq(token.attempt, got.outcome.attempt);
    EXPECT_STR(wanted.proof, got.process.secrets[0]);
    cr_assert_null(got.process.secrets[1]);
}

Test(prepare, a_task_with_a_token_or_a_server_of_its_own_gets_none_of_ours)
{
    static const char *const BODIES[] = {"\"env\":{\"EIDER_TOKEN\":\"own\"}",
                                         "\"env\":{\"EIDER_API\":\"http://own\"}"};
    api = &(const struct task_api){.url = (char[]){"http://127.0.0.1:1"}, .key = {{1, 2, 3}}};
    for (size_t i = 0; i < ARRAY_LEN(BODIES); i++) {
        struct prepared got = prepare_task(BODIES[i]);
        const char *token = env_of(&got, "EIDER_TOKEN");
        const char *url = env_of(&got, "EIDER_API");
        cr_assert(token == NULL || strcmp(token, "own") == 0, "%s", token);
        cr_assert(url == NULL || strcmp(url, "http://own") == 0, "%s", url);
        cr_assert((token == NULL) != (url == NULL));
        cr_assert_null(got.process.secrets);
    }
}

static const char *idempotency_key(const struct claim *claim)
{
    struct prepared got = prepare_claim(claim);
    for (const char *const *at = got.process.env; *at != NULL; at++)
        if (strncmp(*at, "EIDER_IDEMPOTENCY_KEY=", 22) == 0)
            return *at;
    return "";
}

Test(prepare, the_idempotency_key_is_the_same_for_every_attempt_of_a_generation)
{
    worker_bench_start(&bench, "{\"tasks\":{\"t\":{\"run\":\"x\"},\"u\":{\"run\":\"x\"}}}");
    struct claim first = worker_bench_claim(&bench, "t");
    struct claim second = first;
    second.attempt = 2;
    second.nonce.bytes[0] = 9;
    struct claim cleared = first;
    cleared.generation++;
    struct claim other = worker_bench_claim(&bench, "u");

    const char *key = idempotency_key(&first);

    EXPECT_STR(key, idempotency_key(&second));
    cr_assert_str_neq(key, idempotency_key(&cleared));
    cr_assert_str_neq(key, idempotency_key(&other));
}

Test(prepare, many_items_are_spilled_and_found_again)
{
    struct prepared got = prepare_task("\"foreach\":\"{{ range(30000) }}\",\"label\":\"n{{ item "
                                       "}}\"");
    cr_assert_eq(got.outcome.instances, 30000, "%s", got.outcome.detail);
    cr_assert_null(got.outcome.values[0].json);
    cr_assert_gt(got.outcome.values[0].bytes, LIMIT_VALUE_INLINE_BYTES);

    struct advance_result result = bench_advance(&bench.store, NULL, 0, 1);
    struct outcome outcome = got.outcome;
    outcome.nonce = result.claims[0].nonce;
    result = bench_advance(&bench.store, &outcome, 1, 1);
    cr_assert_eq(result.claims_count, 1);
    struct prepared instance = prepare_claim(&result.claims[0]);

    cr_assert(instance.is_process, "%s", instance.outcome.detail);
    EXPECT_STR("n0", instance.label);
    struct claim beyond = result.claims[0];
    beyond.map_index = 30000;
    EXPECT_CONTAINS(prepare_claim(&beyond).outcome.detail, "no item 30000");
}

Test(prepare, more_items_than_are_allowed_fail_the_task)
{
    json_t *many = json_array();
    for (int i = 0; i < LIMIT_INSTANCES; i++)
        (void)json_array_append_new(many, json_integer(1));
    json_put(bench.variables, "many", many);
    static const char FOREACH[] = "\"foreach\":\"{{ var.json.many }}\"";
    struct prepared got = prepare_task(FOREACH);
    cr_assert_eq(got.outcome.kind, OUTCOME_EXPAND, "%s", got.outcome.detail);
    cr_assert_eq(got.outcome.instances, LIMIT_INSTANCES);

    (void)json_array_append_new(many, json_integer(1));
    got = prepare_task(FOREACH);
    cr_assert_eq(got.outcome.kind, OUTCOME_END);
    cr_assert_eq(got.outcome.end.reason, REASON_LIMIT);
    EXPECT_CONTAINS(got.outcome.detail, "gave 100001 items, at most 100000");
}

/* Lists as long as the format allows in a file: the product is what counts. */
static json_t *axis(size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(list, json_integer(0));
    return list;
}

Test(prepare, a_matrix_has_a_largest_number_of_combinations)
{
    static const struct {
        size_t a, b;
        enum outcome_kind kind;
    } CASES[] = {{400, 250, OUTCOME_EXPAND}, {401, 250, OUTCOME_END}, {400, 251, OUTCOME_END}};
    worker_bench_start(&bench, "{\"tasks\":{\"t\":{\"run\":\"x\",\"matrix\":{\"a\":[1]}}}}");
    struct claim claim = worker_bench_claim(&bench, "t");
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        /* A file with too many is refused; a stored version may come from elsewhere. */
        struct task_def *task = &((struct dag *)(uintptr_t)bench.run->dag)->tasks[0];
        json_decref(task->matrix);
        task->matrix = json_pack("{s:o, s:o}", "a", axis(CASES[i].a), "b", axis(CASES[i].b));

        struct prepared got = prepare_claim(&claim);

        cr_assert_eq(got.outcome.kind, CASES[i].kind, "case %zu: %s", i, got.outcome.detail);
        if (CASES[i].kind == OUTCOME_EXPAND)
            cr_assert_eq(got.outcome.instances, LIMIT_INSTANCES);
        else
            EXPECT_CONTAINS(got.outcome.detail, "matrix of task 't' has more than 100000");
    }
}

/* --- places ---------------------------------------------------------------------------------- */

/* Line 10 for a member of a task, one more for each element of a list; texts begin there. */
static struct source_span fake_place(const void *context, const json_t *container, size_t index,
                                     bool of_key)
{
    (void)context;
    (void)of_key;
    return (struct source_span){.line = json_is_array(container) ? 20 + (int)index : 10,
                                .column = 5};
}

static struct source_span fake_inside(const void *context, const json_t *container, size_t index,
                                      size_t offset)
{
    (void)offset;
    return fake_place(context, container, index, false);
}

static bool fake_below(const void *context, const json_t *container, size_t index)
{
    (void)context;
    (void)index;
    return json_is_object(container);
}

/* A run of the task `t`, whose version came from /dags/d.yaml with places. */
static struct prepared prepare_located(const char *body)
{
    static const struct dag_locator LOCATOR = {
        .find = fake_place, .find_inside = fake_inside, .is_below = fake_below};
    struct err err = {0};
    struct version_ref ref;
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    const char *text = arena_format(bench.store.arena,
                                    "{\"dag\":\"l\",\"tasks\":{\"t\":{%s},\"u\":{\"noop\":null,"
                                    "\"needs\":[\"t\"]}}}",
                                    body);
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.locator = &LOCATOR}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    struct version_source source = {.path = "/dags/d.yaml", .text = text};
    EXPECT_OK(store_version_save(bench.store.store, dag, &source, &ref, &err), &err);
    dag_free(dag);
    struct run_request request = {.version = ref.version,
                                  .kind = "manual",
                                  .params = "{}",
                                  .conf = "{}",
                                  .note = "",
                                  .actor = "test",
                                  .scope = -1};
    struct run_created run;
    EXPECT_OK(store_run_create(bench.store.store, &request, &run, &err), &err);
    run_context_free(bench.run);
    bench.run = NULL;
    EXPECT_OK(run_context_new(&bench.source, run.id, &bench.run, &err), &err);
    struct claim claim = worker_bench_claim(&bench, "t");
    return prepare_claim(&claim);
}

Test(prepare, a_template_error_names_the_file_and_the_line)
{
    static const struct {
        const char *body;
        const char *start;
    } CASES[] = {
        {"\"run\":\"{{ conf.nope }}\"", "/dags/d.yaml:11: run of task 't': "},
        {"\"run\":\"one\\ntwo {{ conf.nope }}\"", "/dags/d.yaml:12: run of task 't': "},
        {"\"run\":[\"one\",\"{{ conf.nope }}\"]", "/dags/d.yaml:21: run.1 of task 't': "},
        {"\"script\":\"\\n\\n{{ conf.nope }}\"", "/dags/d.yaml:13: script.text of task 't': "},
        {"\"script\":\"x\",\"args\":[\"a\",\"b\",\"{{ conf.nope }}\"]",
         "/dags/d.yaml:22: script.args.2 of task 't': "},
        {"\"run\":\"x\",\"env\":{\"A\":\"{{ conf.nope }}\"}",
         "/dags/d.yaml:11: env.A of task 't': "},
        {"\"branch\":[{\"if\":\"{{ conf.nope }}\",\"then\":\"u\"}]",
         "/dags/d.yaml:11: branch.0.if of task 't': "},
        {"\"run\":\"x\",\"foreach\":\"{{ conf.nope }}\"", "/dags/d.yaml:11: foreach of task 't': "},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct prepared got = prepare_located(CASES[i].body);
        cr_assert_eq(got.outcome.end.reason, REASON_TEMPLATE_ERROR, "%s", CASES[i].body);
        cr_assert_eq(strncmp(got.outcome.detail, CASES[i].start, strlen(CASES[i].start)), 0,
                     "%s: %s", CASES[i].body, got.outcome.detail);
    }
}

Test(prepare, outputs_are_rendered_before_the_start_and_only_where_there_are_any)
{
    struct prepared many = prepare_task("\"outputs\":[\"s3://{{ ds }}\",\"b\"]");
    cr_assert(many.is_process);
    cr_assert_eq(many.outcome.datasets_count, 2);
    EXPECT_STR("s3://2023-11-14", many.outcome.datasets[0]);
    EXPECT_STR("b", many.outcome.datasets[1]);
    cr_assert_eq(prepare_task("\"outputs\":\"one\"").outcome.datasets_count, 1);
    cr_assert_eq(prepare_task("\"if\":true").outcome.datasets_count, 0);
    cr_assert_eq(prepare_task("\"if\":false,\"outputs\":\"one\"").outcome.datasets_count, 0);
    struct prepared wrong = prepare_task("\"outputs\":\"{{ 'a b' }}\"");
    cr_assert(!wrong.is_process);
    cr_assert_eq(wrong.outcome.datasets_count, 0);
    EXPECT_CONTAINS(wrong.outcome.detail, "cannot be a dataset");
}

static bool has_env(const struct prepared *prepared, const char *entry)
{
    for (const char *const *at = prepared->process.env; *at != NULL; at++)
        if (strcmp(*at, entry) == 0)
            return true;
    return false;
}

static char *secret_environment[] = {(char[]){"EIDER_SECRET_TOK=tok-value"},
                                     (char[]){"EIDER_CONN_WH=pg://u:wh-pass@h"}, NULL};

Test(prepare, what_a_task_is_given_in_secret_goes_with_it)
{
    bench.sources.environment = secret_environment;

    struct prepared got = prepare_task("\"workdir\":\"/{{ conn.wh.host }}\","
                                       "\"env\":{\"T\":\"x{{ secrets.tok }}\",\"P\":\"p\"}");

    cr_assert(got.is_process, "%s", got.outcome.detail);
    cr_expect(has_env(&got, "T=xtok-value"));
    EXPECT_STR("/h", got.process.workdir);
    const char *const *secrets = got.process.secrets;
    cr_assert_not_null(secrets);
    EXPECT_STR("wh-pass", secrets[0]);
    EXPECT_STR("tok-value", secrets[1]);
    cr_expect_null(secrets[2]);
    prepared_wipe(&got);
    cr_expect_eq(secrets[1][0], '\0');
    cr_expect_null(got.process.secrets);
}

Test(prepare, a_task_without_secrets_has_none_to_hide)
{
    bench.sources.environment = secret_environment;
    struct prepared got = prepare_task("\"env\":{\"T\":\"{{ var.value.region }}\"}");
    cr_assert(got.is_process);
    cr_expect_null(got.process.secrets);
    prepared_wipe(&got);
    cr_expect(has_env(&got, "T=eu"));
}

Test(prepare, what_a_template_complains_of_shows_no_secret)
{
    bench.sources.environment = secret_environment;
    struct prepared got =
        prepare_task("\"env\":{\"A\":\"{{ secrets.tok }}\",\"B\":\"{{ {'a': 1}[secrets.tok] }}\"}");
    cr_assert(!got.is_process);
    cr_expect_eq(got.outcome.end.reason, REASON_TEMPLATE_ERROR);
    cr_expect_null(strstr(got.outcome.detail, "tok-value"), "%s", got.outcome.detail);
    EXPECT_CONTAINS(got.outcome.detail, "***");
    cr_expect_null(got.process.secrets);
}
