/* Hooks of whoever runs the place, beside those of DAGs. */
#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/house_hooks.h"
#include "model/watch.h"

static json_t *parse(const char *text)
{
    struct err err = {0};
    json_t *map = NULL;
    EXPECT_OK(json_parse(text, strlen(text), &map, &err), &err);
    return map;
}

static struct house_hooks *read_hooks(const char *text)
{
    struct err err = {0};
    struct house_hooks *hooks = NULL;
    CLEANUP(json_decrefp) json_t *map = parse(text);
    EXPECT_OK(house_hooks_read(map, &hooks, &err), &err);
    return hooks;
}

static struct dag *read_dag(const char *text)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    CLEANUP(json_decrefp) json_t *tree = parse(text);
    struct dag *dag = dag_read(tree, &(struct dag_read_options){.default_id = "demo"}, &diags);
    cr_assert_not_null(dag, "%s", diags.count > 0 ? diags.items[0].text : "");
    return dag;
}

static size_t of_run(const struct dag *dag, enum hook_event event)
{
    return dag->watch != NULL ? dag->watch->run.hooks[event].count : 0;
}

static size_t of_task(const struct dag *dag, size_t node, enum hook_event event)
{
    const struct watch *watch = dag->watch != NULL ? dag->watch->tasks[node] : NULL;
    return watch != NULL ? watch->hooks[event].count : 0;
}

static const char ALL[] = "{\"on_failure\": [{\"slack\": \"ops\"}, {\"command\": \"page\"}],"
                          " \"tasks\": {\"on_retry\": {\"webhook\": \"https://x/\"}},"
                          " \"namespaces\": {\"finance\": {\"on_success\": {\"slack\": \"money\"},"
                          "  \"tasks\": {\"on_skip\": {\"slack\": \"money\"}}}}}";

Test(house_hooks, they_are_added_to_dags_with_and_without_their_own)
{
    struct house_hooks *hooks = read_hooks(ALL);
    struct dag *plain = read_dag("{\"tasks\": {\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\"}}}");
    struct dag *own = read_dag("{\"on_failure\": {\"slack\": \"own\"}, \"tasks\": {\"a\":"
                               " {\"run\": \"x\", \"on_retry\": {\"command\": \"y\"}, \"sla\":"
                               " \"1h\"}, \"b\": {\"run\": \"x\"}}}");
    house_hooks_add(hooks, plain);
    house_hooks_add(hooks, own);

    cr_assert_eq(of_run(plain, HOOK_FAILURE), 2);
    cr_assert_eq(of_run(plain, HOOK_SUCCESS), 0, "that is another namespace's");
    cr_assert_eq(of_task(plain, 0, HOOK_RETRY), 1);
    cr_assert_eq(of_task(plain, 1, HOOK_RETRY), 1);
    cr_assert_eq(of_task(plain, 1, HOOK_FAILURE), 0, "that is about runs");
    cr_assert_eq(of_run(own, HOOK_FAILURE), 3);
    cr_assert_eq(of_task(own, 0, HOOK_RETRY), 2);
    cr_assert_eq(of_task(own, 1, HOOK_RETRY), 1);
    cr_assert(own->watch->tasks[0]->has_sla);
    cr_assert(own->watch->has_sla);
    dag_free(plain);
    dag_free(own);
    house_hooks_free(hooks);
}

Test(house_hooks, a_namespace_has_its_own_and_those_of_all)
{
    struct house_hooks *hooks = read_hooks(ALL);
    struct dag *dag =
        read_dag("{\"namespace\": \"finance\", \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    house_hooks_add(hooks, dag);

    cr_assert_eq(of_run(dag, HOOK_SUCCESS), 1);
    cr_assert_eq(of_run(dag, HOOK_FAILURE), 2);
    cr_assert_eq(of_task(dag, 0, HOOK_SKIP), 1);
    cr_assert_eq(of_task(dag, 0, HOOK_RETRY), 1);
    dag_free(dag);
    house_hooks_free(hooks);
}

Test(house_hooks, one_that_a_dag_has_itself_is_told_once)
{
    struct house_hooks *hooks = read_hooks("{\"on_failure\": {\"slack\": \"ops\"}}");
    struct dag *dag = read_dag("{\"on_failure\": [{\"slack\": \"ops\"}, {\"slack\": \"own\"}],"
                               " \"tasks\": {\"a\": {\"run\": \"x\"}}}");
    house_hooks_add(hooks, dag);
    cr_assert_eq(of_run(dag, HOOK_FAILURE), 2);
    dag_free(dag);
    house_hooks_free(hooks);
}

Test(house_hooks, retries_and_skips_are_those_of_tasks)
{
    struct house_hooks *hooks = read_hooks("{\"on_retry\": {\"slack\": \"ops\"}, \"tasks\":"
                                           " {\"on_retry\": {\"slack\": \"more\"}}}");
    struct dag *dag = read_dag("{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    house_hooks_add(hooks, dag);
    cr_assert_eq(of_run(dag, HOOK_RETRY), 0);
    cr_assert_eq(dag->watch->tasks[0]->hooks[HOOK_RETRY].count, 2);
    dag_free(dag);
    house_hooks_free(hooks);
}

Test(house_hooks, none_change_nothing)
{
    struct dag *dag = read_dag("{\"tasks\": {\"a\": {\"run\": \"x\"}}}");
    struct house_hooks *hooks = read_hooks("{}");
    cr_assert_null(hooks);
    house_hooks_add(NULL, dag);
    cr_assert_null(dag->watch);
    hooks = read_hooks("{\"namespaces\": {\"other\": {\"on_failure\": {\"slack\": \"x\"}}}}");
    house_hooks_add(hooks, dag);
    cr_assert_null(dag->watch);
    house_hooks_free(hooks);
    dag_free(dag);
}

Test(house_hooks, mistakes_are_told_with_their_key)
{
    static const struct {
        const char *text;
        const char *wanted;
    } CASES[] = {
        {"{\"on_failur\": {\"slack\": \"x\"}}", "did you mean 'on_failure'"},
        {"{\"on_failure\": {\"slak\": \"x\"}}", "slak"},
        {"{\"on_failure\": {\"webhook\": {}}}", "either 'url' or 'connection'"},
        {"{\"tasks\": {\"on_retry\": {\"email\": \"nobody\"}}}", "hooks.tasks: "},
        {"{\"tasks\": {\"tasks\": {}}}", "hooks.tasks: unknown key 'tasks'"},
        {"{\"namespaces\": {\"a\": {\"on_skip\": 3}}}", "namespaces.a: "},
        {"{\"namespaces\": {\"a b\": {}}}", "namespace"},
        {"{\"namespaces\": []}", "namespaces: a map"},
        {"{\"namespaces\": {\"a\": {\"namespaces\": {}}}}", "unknown key 'namespaces'"},
        {"{\"on_failure\": {\"slack\": {\"text\": \"{{ nobody }}\"}}}", "nobody"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct house_hooks *hooks = NULL;
        CLEANUP(json_decrefp) json_t *map = parse(CASES[i].text);
        EXPECT_STATUS(STATUS_INVALID, house_hooks_read(map, &hooks, &err), &err);
        cr_expect_neq(strstr(err.text, CASES[i].wanted), NULL, "%s: %s", CASES[i].text, err.text);
        cr_assert_null(hooks);
    }
}

Test(house_hooks, people_see_who_is_told_but_not_the_address)
{
    CLEANUP(json_decrefp) json_t *map = parse(ALL);
    CLEANUP(mem_freep) char *shown = house_hooks_shown(map);
    cr_assert_str_eq(shown, "on_failure: slack command; tasks.on_retry: webhook;"
                            " finance.on_success: slack; finance.tasks.on_skip: slack");
}
