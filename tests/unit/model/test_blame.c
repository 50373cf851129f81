/*
 * Who is blamed for a run that failed.
 */
#include "base/json.h"
#include "expect.h"
#include "model/blame.h"
#include "read_dag.h"

/* One letter for each task, in the order of the file: success, failed, upstream failed, skipped. */
static enum task_state state_of(char letter)
{
    switch (letter) {
    case 's':
        return TASK_SUCCESS;
    case 'f':
        return TASK_FAILED;
    case 'u':
        return TASK_UPSTREAM_FAILED;
    default:
        return TASK_SKIPPED;
    }
}

#define TASK(name, more) "\"" name "\": {\"run\": \"x\"" more "}"
#define NEEDS(name)      ", \"needs\": [\"" name "\"]"
#define CHAIN            TASK("a", "") ", " TASK("b", NEEDS("a")) ", " TASK("c", NEEDS("b"))
#define LEAVES           "\"verdict\": \"leaves\", "

Test(blame, those_who_failed_and_nobody_else)
{
    static const struct {
        const char *dag;
        const char *states;
        const char *blamed; /* x for each that is */
    } CASES[] = {
        {"{\"tasks\": {" CHAIN "}}", "sss", "---"},
        {"{\"tasks\": {" CHAIN "}}", "fuu", "x--"},
        {"{\"tasks\": {" CHAIN "}}", "sfu", "-x-"},
        {"{\"tasks\": {" TASK("a", "") ", " TASK("b", "") "}}", "ff", "xx"},
        /* It may fail, and what follows copes with it. */
        {"{\"tasks\": {" TASK("a", ", \"allow_failure\": true") ", " TASK(
             "b", NEEDS("a") ", \"trigger_rule\": \"all_done\"") ", " TASK("c", "") "}}",
         "fsf", "--x"},
        /* It may fail, but what follows could not run for it. */
        {"{\"tasks\": {" TASK("a", ", \"allow_failure\": true") ", " TASK("b", NEEDS("a")) "}}",
         "fu", "x-"},
        {"{\"tasks\": {" TASK("a", ", \"allow_failure\": true") ", " TASK("b", "") "}}", "ff",
         "-x"},
        /* Nothing that failed explains it. */
        {"{\"tasks\": {" TASK("a", "") ", " TASK("b", NEEDS("a")) "}}", "ku", "-x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(dag_freep) struct dag *dag = read_dag(CASES[i].dag);
        enum task_state states[8];
        bool blamed[8];
        cr_assert_eq(dag->tasks_count, strlen(CASES[i].states));
        for (size_t k = 0; k < dag->tasks_count; k++)
            states[dag_find_task(dag, (char[]){(char)('a' + k), '\0'})] =
                state_of(CASES[i].states[k]);
        blame_find(dag, states, blamed);
        for (size_t k = 0; k < dag->tasks_count; k++)
            cr_expect_eq(blamed[dag_find_task(dag, (char[]){(char)('a' + k), '\0'})],
                         CASES[i].blamed[k] == 'x', "%s: %s, task %zu", CASES[i].dag,
                         CASES[i].states, k);
    }
}

Test(blame, where_the_last_tasks_count_the_failure_before_them_is_told)
{
    CLEANUP(dag_freep) struct dag *dag = read_dag("{" LEAVES "\"tasks\": {" CHAIN "}}");
    const enum task_state hidden[] = {TASK_FAILED, TASK_SUCCESS, TASK_SUCCESS};
    const enum task_state shown[] = {TASK_FAILED, TASK_UPSTREAM_FAILED, TASK_UPSTREAM_FAILED};
    bool blamed[3];
    blame_find(dag, hidden, blamed);
    cr_expect(!blamed[0]);
    blame_find(dag, shown, blamed);
    cr_expect(blamed[0]);
    cr_expect(!blamed[1]);
    cr_expect(!blamed[2]);
}
