#include "expect.h"
#include "model/diag.h"
#include "model/limits.h"

Test(diag, problems_are_kept_up_to_the_limit_and_counted_beyond)
{
    struct diag_list list = {0};

    for (int i = 0; i < LIMIT_DIAGNOSTICS; i++)
        diag_add(&list, DIAG_ERROR, 1, 1, 1, "problem %d", i);
    cr_expect(!list.truncated);
    diag_add(&list, DIAG_ERROR, 1, 1, 1, "one too many");
    diag_add(&list, DIAG_WARNING, 1, 1, 1, "another");

    cr_expect(list.truncated);
    cr_expect_eq(list.count, LIMIT_DIAGNOSTICS);
    cr_expect_eq(list.errors, LIMIT_DIAGNOSTICS + 1);
    EXPECT_STR("problem 99", list.items[99].text);
    diag_list_fini(&list);
    diag_list_fini(&list);
    cr_expect_eq(list.count, 0);
}

Test(diag, sorting_goes_by_line_then_column_and_keeps_the_order_of_equals)
{
    static const struct {
        int line;
        int column;
        const char *text;
    } ADDED[] = {{3, 1, "e"}, {1, 9, "c"}, {1, 2, "a"}, {1, 9, "d"}, {1, 2, "b"}, {0, 0, "-"}};
    struct diag_list list = {0};
    for (size_t i = 0; i < ARRAY_LEN(ADDED); i++)
        diag_add(&list, DIAG_WARNING, ADDED[i].line, ADDED[i].column, 0, "%s", ADDED[i].text);

    diag_list_sort(&list);

    char order[ARRAY_LEN(ADDED) + 1] = {0};
    for (size_t i = 0; i < list.count; i++)
        order[i] = list.items[i].text[0];
    EXPECT_STR("-abcde", order);
    cr_expect_eq(list.errors, 0);
    cr_expect_eq(list.items[0].length, 1);
    diag_list_fini(&list);
}
