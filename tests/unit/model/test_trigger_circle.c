#include "base/mem.h"
#include "expect.h"
#include "model/dag_read.h"
#include "model/trigger_circle.h"

enum { DAGS_MAX = 8 };

/* "id schedule output" of each DAG; the circles that are told, each and a semicolon. */
static void expect_circles(const char *const (*rows)[3], size_t count, const char *wanted)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct circle_dag dags[DAGS_MAX];
    struct triggers *triggers[DAGS_MAX] = {0};
    struct dag *read[DAGS_MAX] = {0};
    struct err err = {0};
    for (size_t i = 0; i < count; i++) {
        CLEANUP(json_decrefp) json_t *tree = NULL;
        CLEANUP(diag_list_fini) struct diag_list diags = {0};
        const char *text =
            arena_format(arena,
                         "{\"dag\":\"%s\",\"schedule\":%s,\"tasks\":{\"t\":{\"run\":\"x\","
                         "\"outputs\":[\"%s\"]}}}",
                         rows[i][0], rows[i][1], rows[i][2]);
        EXPECT_OK(json_parse(text, strlen(text), &tree, &err), &err);
        read[i] = dag_read(tree, &(struct dag_read_options){0}, &diags);
        cr_assert_not_null(read[i]);
        EXPECT_OK(triggers_of_dag(read[i], &triggers[i], &err), &err);
        dags[i] = (struct circle_dag){read[i], triggers[i]};
    }
    struct circle_list found;
    trigger_circles(dags, count, arena, &found);
    const char *told = "";
    for (size_t i = 0; i < found.count; i++)
        told = arena_format(arena, "%s%s;", told, found.texts[i]);
    EXPECT_STR(wanted, told);
    for (size_t i = 0; i < count; i++) {
        triggers_free(triggers[i]);
        dag_free(read[i]);
    }
}

Test(trigger_circle, ends_and_datasets_make_circles)
{
    static const char *const AFTER[][3] = {{"l1", "{\"after\":\"l2\"}", "x"},
                                           {"l2", "{\"after\":\"l1\"}", "y"}};
    expect_circles(AFTER, ARRAY_LEN(AFTER), "l1 -> l2 -> l1;");
    static const char *const MIXED[][3] = {{"lead", "{\"webhook\":true}", "in"},
                                           {"a", "{\"datasets\":{\"any\":[\"in\",\"z\"]}}", "x"},
                                           {"b", "{\"datasets\":\"x\"}", "y"},
                                           {"c", "{\"after\":\"b\"}", "z"}};
    expect_circles(MIXED, ARRAY_LEN(MIXED), "a -> b -> c -> a;");
}

Test(trigger_circle, what_ends_or_waits_for_something_else_is_none)
{
    static const char *const CHAIN[][3] = {{"a", "{\"datasets\":\"in\"}", "x"},
                                           {"b", "{\"datasets\":\"x\"}", "y"},
                                           {"c", "{\"datasets\":[\"x\",\"y\"]}", "z"}};
    expect_circles(CHAIN, ARRAY_LEN(CHAIN), "");
    static const char *const HELD[][3] = {{"a", "{\"datasets\":[\"y\",\"outside\"]}", "x"},
                                          {"b", "{\"datasets\":\"x\"}", "y"}};
    expect_circles(HELD, ARRAY_LEN(HELD), "");
}

Test(trigger_circle, two_circles_are_told_apart)
{
    static const char *const TWO[][3] = {{"a", "{\"after\":\"b\"}", "1"},
                                         {"b", "{\"after\":\"a\"}", "2"},
                                         {"c", "{\"after\":\"d\"}", "3"},
                                         {"d", "{\"after\":\"c\"}", "4"}};
    expect_circles(TWO, ARRAY_LEN(TWO), "a -> b -> a;c -> d -> c;");
}
