#include "base/strbuf.h"
#include "expect.h"
#include "model/dag.h"

Test(dag, names_are_checked_on_both_sides_of_every_rule)
{
    static const char *const GOOD[] = {"a", "0", "A-b_c.d", "9.9"};
    static const char *const BAD[] = {"",    "_a",    "-a",   ".a",       "a b", "a/b",
                                      "a\n", "a'--;", "../x", "\xC3\xA4", "a*",  "a:b"};
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++)
        cr_expect(dag_name_is_valid(GOOD[i]), "%s", GOOD[i]);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        cr_expect(!dag_name_is_valid(BAD[i]), "%s", BAD[i]);
    char longest[252];
    memset(longest, 'a', sizeof longest);
    longest[250] = '\0';
    cr_expect(dag_name_is_valid(longest));
    longest[250] = 'a';
    longest[251] = '\0';
    cr_expect(!dag_name_is_valid(longest));
}

Test(dag, tasks_and_places_are_found_by_name)
{
    struct task_def tasks[] = {{.id = "a"}, {.id = "a.b"}, {.id = "b"}, {.id = "c"}};
    struct source_place places[] = {{.path = "tasks.a.env.X", .line = 1},
                                    {.path = "tasks.a.run", .line = 2}};
    struct dag dag = {.tasks = tasks, .tasks_count = 4, .places = places, .places_count = 2};

    for (size_t i = 0; i < 4; i++)
        cr_expect_eq(dag_find_task(&dag, tasks[i].id), (int64_t)i);
    cr_expect_eq(dag_find_task(&dag, "ab"), -1);
    cr_expect_eq(dag_find_task(&dag, ""), -1);

    cr_expect_eq(dag_find_place(&dag, "tasks.a.run")->line, 2);
    cr_expect_eq(dag_find_place(&dag, "tasks.a.run.0")->line, 2);
    cr_expect_eq(dag_find_place(&dag, "tasks.a.env.X")->line, 1);
    cr_expect_null(dag_find_place(&dag, "tasks.a.env"));
    cr_expect_null(dag_find_place(&dag, "tasks.a.runner"));
}

Test(dag, freeing_nothing_is_fine)
{
    dag_free(NULL);
}
