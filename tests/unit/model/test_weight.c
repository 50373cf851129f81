/*
 * How priorities add up, against the plain definition.
 */
#include <string.h>

#include "base/mem.h"
#include "expect.h"
#include "model/limits.h"
#include "model/weight.h"
#include "read_dag.h"

static int64_t weight_of(const struct dag *dag, const char *task)
{
    return dag->tasks[dag_find_task(dag, task)].weight;
}

/* a -> b, c -> d -> e: d and e are reached twice and count once. */
#define DIAMOND(rule)                                                                              \
    "{\"defaults\": {\"weight_rule\": \"" rule "\"}, \"tasks\": {"                                 \
    "\"a\": {\"run\": \"x\", \"priority\": 1}, \"b\": {\"run\": \"x\", \"priority\": 10,"          \
    " \"needs\": [\"a\"]}, \"c\": {\"run\": \"x\", \"priority\": 100, \"needs\": [\"a\"]},"        \
    " \"d\": {\"run\": \"x\", \"priority\": 1000, \"needs\": [\"b\", \"c\"]},"                     \
    " \"e\": {\"run\": \"x\", \"priority\": -5, \"needs\": [\"d\"]}}}"

Test(weight, each_rule_adds_what_it_says)
{
    static const struct {
        const char *json;
        int64_t weights[5];
    } CASES[] = {
        {DIAMOND("absolute"), {1, 10, 100, 1000, -5}},
        {DIAMOND("downstream"), {1106, 1005, 1095, 995, -5}},
        {DIAMOND("upstream"), {1, 11, 101, 1111, 1106}},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *dag = read_dag(CASES[i].json);
        for (size_t node = 0; node < 5; node++)
            cr_expect_eq(dag->tasks[node].weight, CASES[i].weights[node], "%zu: %s is %lld", i,
                         dag->tasks[node].id, (long long)dag->tasks[node].weight);
    }
}

Test(weight, the_rule_of_one_task_is_its_own_and_the_default_is_absolute)
{
    CLEANUP(dag_freep)
    struct dag *dag = read_dag(
        "{\"tasks\": {\"a\": {\"run\": \"x\", \"priority\": 2, \"weight_rule\": \"downstream\"},"
        " \"b\": {\"run\": \"x\", \"priority\": 3, \"needs\": [\"a\"]}}}");
    cr_assert_eq(weight_of(dag, "a"), 5);
    cr_assert_eq(weight_of(dag, "b"), 3);
}

Test(weight, a_weight_stays_within_what_a_priority_may_be)
{
    CLEANUP(dag_freep)
    struct dag *dag = read_dag(
        "{\"defaults\": {\"weight_rule\": \"upstream\", \"priority\": 1000000}, \"tasks\": {"
        "\"a\": {\"run\": \"x\"}, \"b\": {\"run\": \"x\", \"needs\": [\"a\"]},"
        " \"m\": {\"run\": \"x\", \"priority\": -1000000},"
        " \"n\": {\"run\": \"x\", \"priority\": -1000000, \"needs\": [\"m\"]}}}");
    cr_assert_eq(weight_of(dag, "b"), LIMIT_PRIORITY);
    cr_assert_eq(weight_of(dag, "n"), -LIMIT_PRIORITY);
}

Test(weight, a_rule_that_is_none_is_a_problem)
{
    struct err err = {0};
    const char *text = "{\"tasks\": {\"a\": {\"run\": \"x\", \"weight_rule\": \"sideways\"}}}";
    CLEANUP(json_decrefp) json_t *tree = NULL;
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
    cr_assert_null(dag_read(tree, &(struct dag_read_options){.default_id = "d"}, &diags));
    cr_assert_eq(diags.errors, 1);
    EXPECT_CONTAINS(diags.items[0].text, "absolute, downstream, upstream");
}
