/*
 * What each kind of task asks for, with a renderer that only marks what it was given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"
#include "model/dag_read.h"
#include "model/limits.h"
#include "tasks/task_plan.h"

static struct arena *arena;
static struct dag *dag;

/* "T" stays, "yes" is true, "no" is false, "bad" fails; as text, each is put in <>. */
static enum status fake_text(void *context, const char *field, const char *text, const char **out,
                             struct err *err)
{
    (void)context;
    if (strstr(text, "bad") != NULL)
        return err_set(err, STATUS_INVALID, "%s is bad", field);
    *out = arena_format(arena, "<%s>", text);
    return STATUS_OK;
}

static enum status fake_value(void *context, const char *field, const char *text, json_t **out,
                              struct err *err)
{
    (void)context;
    if (strstr(text, "bad") != NULL)
        return err_set(err, STATUS_INVALID, "%s is bad", field);
    *out = json_boolean(strstr(text, "yes") != NULL || strstr(text, "true") != NULL);
    return STATUS_OK;
}

static const struct renderer FAKE = {.text = fake_text, .value = fake_value};

static void teardown(void)
{
    dag_free(dag);
    arena_free(arena);
}

TestSuite(task_plan, .fini = teardown);

/* A plan of task `t`; `body` is its definition. Every DAG also has `a` and `b` after it. */
static enum status plan_in(const char *dir, const char *body, struct task_plan *out,
                           struct err *err)
{
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    if (arena == NULL)
        arena = arena_new();
    char *text = arena_format(arena,
                              "{\"dag\":\"d\",\"tasks\":{\"t\":{%s},\"a\":{\"noop\":null,"
                              "\"needs\":[\"t\"]},\"b\":{\"noop\":null,\"needs\":[\"t\"]}}}",
                              body);
    EXPECT_OK(json_parse(text, strlen(text), &tree, err), err);
    dag_free(dag);
    dag = dag_read(tree, &(struct dag_read_options){.default_id = NULL}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "no DAG");
    return task_plan_make(
        &(struct plan_request){
            .arena = arena,
            .dag = dag,
            .task = &dag->tasks[dag_find_task(dag, "t")],
            .dag_dir = dir,
            .script_path = "/scratch/s",
            .renderer = &FAKE,
        },
        out, err);
}

static void expect_argv(const struct task_plan *plan, const char *wanted)
{
    const char *words = "";
    for (const char *const *word = plan->argv; *word != NULL; word++)
        words = arena_format(arena, "%s%s|", words, *word);
    EXPECT_STR(wanted, words);
}

Test(task_plan, kinds_that_start_a_process)
{
    static const struct {
        const char *body, *argv, *script;
    } CASES[] = {
        {"\"run\":\"echo {{ ds }}\"", "/bin/sh|-c|<echo {{ ds }}>|", NULL},
        {"\"run\":[\"prog\",\"{{ ds }}\",\"\"]", "<prog>|<{{ ds }}>|<>|", NULL},
        {"\"script\":\"print(1)\"", "</bin/sh>|/scratch/s|", "<print(1)>"},
        {"\"script\":\"x\",\"interpreter\":\"python3\",\"args\":[\"-v\",\"{{ ds }}\"]",
         "<python3>|/scratch/s|<-v>|<{{ ds }}>|", "<x>"},
        {"\"script\":\"x\",\"interpreter\":[\"env\",\"perl\"]", "<env>|<perl>|/scratch/s|", "<x>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct task_plan plan;
        EXPECT_OK(plan_in("/dags", CASES[i].body, &plan, &err), &err);
        cr_assert(plan.is_process);
        cr_assert(!plan.is_choice);
        expect_argv(&plan, CASES[i].argv);
        cr_assert_eq(plan.script == NULL, CASES[i].script == NULL);
        if (plan.script != NULL)
            EXPECT_STR(CASES[i].script, plan.script);
    }
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, length, file), length);
    cr_assert_eq(fclose(file), 0);
}

Test(task_plan, a_script_file_is_run_as_it_is)
{
    static const char TEXT[] = "#!/bin/sh\n{{ bad }}\n";
    static const char BODY[] = "\"script\":{\"file\":\"s.sh\"},\"interpreter\":\"perl\"";
    struct err err = {0};
    struct task_plan plan = {.script = "as it was"};
    char dir[] = "/tmp/eider-plan-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    char path[64];
    /* The fake renderer puts the name in <>. */
    (void)snprintf(path, sizeof path, "%s/<s.sh>", dir);

    EXPECT_STATUS(STATUS_NOT_FOUND, plan_in(dir, BODY, &plan, &err), &err);
    EXPECT_CONTAINS(err.text, "script file: ");
    EXPECT_CONTAINS(err.text, path);
    EXPECT_STR("as it was", plan.script);

    write_file(path, TEXT, sizeof TEXT - 1);
    EXPECT_OK(plan_in(dir, BODY, &plan, &err), &err);
    cr_assert(plan.is_process);
    EXPECT_STR(TEXT, plan.script);
    expect_argv(&plan, "<perl>|/scratch/s|");

    EXPECT_STATUS(STATUS_INVALID,
                  plan_in(dir, "\"script\":{\"file\":\"{{ dag_run.conf.bad }}\"}", &plan, &err),
                  &err);
    EXPECT_CONTAINS(err.text, "script.file is bad");
    (void)unlink(path);
    (void)rmdir(dir);
}

Test(task_plan, a_script_file_has_a_largest_size)
{
    struct err err = {0};
    struct task_plan plan;
    char dir[] = "/tmp/eider-plan-XXXXXX";
    cr_assert_not_null(mkdtemp(dir));
    char path[64];
    (void)snprintf(path, sizeof path, "%s/<s>", dir);
    char *bytes = malloc(LIMIT_TEMPLATE_BYTES + 1);
    cr_assert_not_null(bytes);
    memset(bytes, '#', LIMIT_TEMPLATE_BYTES + 1);

    write_file(path, bytes, LIMIT_TEMPLATE_BYTES);
    EXPECT_OK(plan_in(dir, "\"script\":{\"file\":\"s\"}", &plan, &err), &err);
    cr_assert_eq(strlen(plan.script), LIMIT_TEMPLATE_BYTES);
    write_file(path, bytes, LIMIT_TEMPLATE_BYTES + 1);
    EXPECT_STATUS(STATUS_LIMIT, plan_in(dir, "\"script\":{\"file\":\"s\"}", &plan, &err), &err);
    free(bytes);
    (void)unlink(path);
    (void)rmdir(dir);
}

Test(task_plan, kinds_that_end_at_once)
{
    static const struct {
        const char *body;
        bool is_choice;
        const char *chosen;
    } CASES[] = {
        {"\"noop\":null", false, ""},
        {"\"branch\":[{\"if\":\"{{ dag_run.conf.no }}\",\"then\":\"a\"},{\"else\":\"b\"}]", true,
         "b "},
        {"\"branch\":[{\"if\":\"{{ dag_run.conf.yes }}\",\"then\":[\"b\",\"a\"]},{\"else\":\"b\"}]",
         true, "b a "},
        {"\"branch\":[{\"if\":\"{{ dag_run.conf.no }}\",\"then\":\"a\"}]", true, ""},
        {"\"branch\":[{\"if\":\"{{ dag_run.conf.yes }}\",\"then\":\"a\"},{\"if\":\"{{ "
         "dag_run.conf.bad }}\",\"then\":"
         "\"b\"}]",
         true, "a "},
        {"\"short_circuit\":\"{{ dag_run.conf.yes }}\"", true, "a b "},
        {"\"short_circuit\":\"{{ dag_run.conf.no }}\"", true, ""},
        {"\"short_circuit\":true", true, "a b "},
        {"\"short_circuit\":false", true, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct task_plan plan;
        EXPECT_OK(plan_in("/dags", CASES[i].body, &plan, &err), &err);
        cr_assert(!plan.is_process);
        cr_assert_eq(plan.end.reason, REASON_RESULT);
        cr_assert_eq(plan.end.result, TASK_SUCCESS);
        cr_assert_eq(plan.is_choice, CASES[i].is_choice, "%s", CASES[i].body);
        const char *chosen = "";
        for (size_t k = 0; k < plan.chosen_count; k++)
            chosen = arena_format(arena, "%s%s ", chosen, dag->tasks[plan.chosen[k]].id);
        EXPECT_STR(CASES[i].chosen, chosen);
    }
}

Test(task_plan, a_template_that_fails_leaves_the_plan_alone)
{
    static const char *const BODIES[] = {
        "\"run\":\"{{ dag_run.conf.bad }}\"",
        "\"run\":[\"x\",\"{{ dag_run.conf.bad }}\"]",
        "\"script\":\"{{ dag_run.conf.bad }}\"",
        "\"script\":\"x\",\"args\":[\"{{ dag_run.conf.bad }}\"]",
        "\"branch\":[{\"if\":\"{{ dag_run.conf.bad }}\",\"then\":\"a\"}]",
        "\"short_circuit\":\"{{ dag_run.conf.bad }}\"",
    };
    for (size_t i = 0; i < ARRAY_LEN(BODIES); i++) {
        struct err err = {0};
        struct task_plan plan = {.chosen_count = 77};
        EXPECT_STATUS(STATUS_INVALID, plan_in("/dags", BODIES[i], &plan, &err), &err);
        EXPECT_CONTAINS(err.text, "is bad");
        cr_assert_eq(plan.chosen_count, 77);
    }
}

Test(task_plan, what_the_format_offers_is_what_can_be_run)
{
    for (enum task_kind kind = 0; kind < KIND_COUNT; kind++)
        cr_assert_eq(task_plan_knows(kind), task_kind_is_available(kind), "%s",
                     task_kind_key(kind));
}
