#include <stdlib.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/limits.h"
#include "zone_bytes.h"

/* What is said of a file without places: the tests of spec/ cover where. */
static struct dag *read_tree(json_t *tree, struct diag_list *diags)
{
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = NULL}, diags);
    json_decref(tree);
    return dag;
}

static json_t *parse(const char *text)
{
    json_t *tree = NULL;
    struct err err = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    return tree;
}

static void expect_first(json_t *tree, const char *wanted)
{
    struct diag_list diags = {0};
    struct dag *dag = read_tree(tree, &diags);
    cr_assert_null(dag);
    cr_assert_gt(diags.count, 0);
    EXPECT_STR(wanted, diags.items[0].text);
    cr_expect_eq(diags.items[0].line, 0);
    diag_list_fini(&diags);
}

Test(dag_read, a_tree_without_places_is_read_too)
{
    expect_first(parse("5"), "a DAG is a map with 'tasks'");
    expect_first(parse("{\"tasks\":{\"a\":{\"noop\":null}}}"),
                 "the DAG has no id: add 'dag: NAME'");
    expect_first(parse("{\"dag\":\"x\",\"tasks\":{\"a\":{\"run\":\"{{ nope }}\"}}}"),
                 "template: unknown name 'nope'");
    expect_first(parse("{\"dag\":\"x\",\"tasks\":{\"a\":{\"run\":\"{{ \"}}}"),
                 "template: the text ends inside of {{ ..: }} is missing");
}

/* `count` tasks; each with the JSON that `body` prints for it. */
static json_t *many_tasks(size_t count, const char *last)
{
    json_t *tasks = json_object();
    for (size_t i = 0; i < count; i++) {
        char id[32];
        cr_assert_gt(snprintf(id, sizeof id, "t%zu", i), 0);
        json_put(tasks, id, parse(i + 1 == count ? last : "{\"noop\":null}"));
    }
    json_t *tree = json_object();
    json_put_string(tree, "dag", "x");
    json_put(tree, "tasks", tasks);
    return tree;
}

Test(dag_read, the_number_of_tasks_is_bounded)
{
    struct diag_list diags = {0};
    CLEANUP(dag_freep)
    struct dag *dag = read_tree(many_tasks(LIMIT_TASKS, "{\"noop\":{}}"), &diags);
    cr_assert_not_null(dag);
    cr_expect_eq(dag->tasks_count, LIMIT_TASKS);
    diag_list_fini(&diags);

    expect_first(many_tasks(LIMIT_TASKS + 1, "{\"noop\":{}}"), "more than 100000 tasks in one DAG");
}

Test(dag_read, the_number_of_edges_is_bounded)
{
    /* 3,000 tasks that each need a group of 3,000 are nine million edges in a small file. */
    json_t *tree = many_tasks(3000, "{\"noop\":null}");
    json_t *inner = json_object_get(tree, "tasks");
    json_t *outer = json_object();
    for (size_t i = 0; i < 3000; i++) {
        char id[32];
        cr_assert_gt(snprintf(id, sizeof id, "u%zu", i), 0);
        json_put(outer, id, parse("{\"noop\":null,\"needs\":[\"g\"]}"));
    }
    json_t *groups = json_object();
    json_t *group = json_object();
    json_put(group, "tasks", json_incref(inner));
    json_put(groups, "g", group);
    json_put(tree, "groups", groups);
    json_put(tree, "tasks", outer);
    expect_first(tree, "more than 4194304 dependencies in one DAG");
}

Test(dag_read, foreach_and_matrix_are_bounded_on_both_sides)
{
    static const struct {
        size_t a;
        size_t b;
        bool fits;
    } CASES[] = {{1000, 100, true}, {1000, 101, false}, {100001, 1, false}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        json_t *tree = many_tasks(1, "{\"noop\":null,\"matrix\":{\"a\":[],\"b\":[]}}");
        json_t *task = json_object_get(json_object_get(tree, "tasks"), "t0");
        json_t *matrix = json_object_get(task, "matrix");
        for (size_t k = 0; k < CASES[i].a; k++)
            (void)json_array_append_new(json_object_get(matrix, "a"), json_integer(0));
        for (size_t k = 0; k < CASES[i].b; k++)
            (void)json_array_append_new(json_object_get(matrix, "b"), json_integer(0));
        struct diag_list diags = {0};
        struct dag *dag = read_tree(tree, &diags);
        cr_expect_eq(dag != NULL, CASES[i].fits);
        if (!CASES[i].fits)
            EXPECT_STR("'matrix': more than 100000 combinations", diags.items[0].text);
        dag_free(dag);
        diag_list_fini(&diags);
    }
}

Test(dag_read, groups_may_nest_as_deep_as_a_file)
{
    struct strbuf text;
    strbuf_init(&text, 1 << 16);
    for (int i = 0; i < 40; i++)
        strbuf_add(&text, "{\"groups\":{\"g\":");
    strbuf_add(&text, "{\"tasks\":{\"a\":{\"noop\":null},\"b\":{\"noop\":null,\"needs\":\"a\"}}}");
    for (int i = 0; i < 40; i++)
        strbuf_add(&text, "}}");
    json_t *tree = parse(text.text);
    json_put_string(tree, "dag", "x");
    struct diag_list diags = {0};
    CLEANUP(dag_freep) struct dag *dag = read_tree(tree, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "");
    cr_expect_eq(dag->tasks_count, 2);
    cr_expect_eq(strlen(dag->tasks[0].group), 40 * 2 - 1);
    cr_expect_eq(dag->tasks[1].needs.items[0], 0);
    strbuf_fini(&text);
    diag_list_fini(&diags);
}

Test(dag_read, thousands_of_mistakes_are_counted_and_the_first_kept)
{
    json_t *tree = many_tasks(1, "{\"noop\":null}");
    json_t *tasks = json_object_get(tree, "tasks");
    for (size_t i = 0; i < 5000; i++) {
        char id[32];
        cr_assert_gt(snprintf(id, sizeof id, "bad %zu", i), 0);
        json_put(tasks, id, json_integer(1));
    }
    struct diag_list diags = {0};
    cr_expect_null(read_tree(tree, &diags));
    cr_expect_eq(diags.errors, 5000);
    cr_expect_eq(diags.count, LIMIT_DIAGNOSTICS);
    cr_expect(diags.truncated);
    diag_list_fini(&diags);
}

Test(dag_read, inherited_values_are_shared_but_not_mixed)
{
    static const char TEXT[] =
        "{\"dag\":\"x\",\"defaults\":{\"sla\":\"1h\",\"env\":{\"A\":\"1\"}},\"tasks\":{"
        "\"a\":{\"noop\":null,\"cache\":true},\"b\":{\"noop\":null,\"sla\":\"2h\"},"
        "\"c\":{\"noop\":null,\"env\":{\"B\":\"2\"}}}}";
    struct diag_list diags = {0};
    CLEANUP(dag_freep) struct dag *dag = read_tree(parse(TEXT), &diags);
    cr_assert_not_null(dag);
    EXPECT_STR("1h", json_get_string(dag->tasks[0].rest, "sla", ""));
    cr_expect(json_get_bool(dag->tasks[0].rest, "cache", false));
    EXPECT_STR("2h", json_get_string(dag->tasks[1].rest, "sla", ""));
    cr_expect_null(json_object_get(dag->tasks[1].rest, "cache"));
    EXPECT_STR("1h", json_get_string(dag->tasks[2].rest, "sla", ""));
    cr_expect_eq(dag->tasks[0].env_count, 1);
    cr_expect_eq(dag->tasks[2].env_count, 2);
    cr_expect_eq(diags.count, 1, "a warning for the key that nothing acts on");
    diag_list_fini(&diags);
}

Test(dag_read, a_schedule_is_checked_only_where_zones_are_known)
{
    static const char TEXT[] = "{\"dag\":\"x\",\"schedule\":{\"cron\":\"@daily\",\"tz\":\"Mars\"},"
                               "\"tasks\":{\"a\":{\"noop\":null}}}";
    struct dag_read_options options = {.default_id = NULL};
    struct diag_list diags = {0};
    CLEANUP(json_decrefp) json_t *tree = parse(TEXT);

    struct dag *stored = dag_read(tree, &options, &diags);
    cr_assert_not_null(stored);
    dag_free(stored);
    options.zones = zone_bytes_read;
    cr_expect_null(dag_read(tree, &options, &diags));
    diag_list_fini(&diags);
}
