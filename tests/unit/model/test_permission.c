/*
 * Roles and grants: words, and what is left of two of them together.
 */
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "model/permission.h"

static struct arena *arena;

static void setup(void)
{
    arena = arena_new();
}

static void teardown(void)
{
    arena_free(arena);
}

TestSuite(permission, .init = setup, .fini = teardown);

static struct grants parse(const char *text)
{
    struct err err = {0};
    struct grants grants = {0};
    EXPECT_OK(grants_parse(arena, text, &grants, &err), &err);
    return grants;
}

Test(permission, grants_are_words)
{
    static const char *const CASES[][2] = {
        {"", ""},
        {"viewer", "*=viewer"},
        {"sales=editor", "sales=editor"},
        {"  *=viewer   sales=editor ", "*=viewer sales=editor"},
        {"sales=editor sales=viewer", "sales=viewer"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct grants grants = parse(CASES[i][0]);
        cr_expect_str_eq(grants_format(arena, &grants), CASES[i][1], "%s", CASES[i][0]);
    }
}

Test(permission, what_is_no_grant_is_refused)
{
    static const char *const CASES[] = {"king",           "sales=",     "=viewer", "sales=king",
                                        "a b=viewer",     "none",       "*=none",  "ü=viewer",
                                        "sales=viewer=x", "../x=viewer"};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        struct grants grants;
        EXPECT_STATUS(STATUS_INVALID, grants_parse(arena, CASES[i], &grants, &err), &err);
    }
    char many[4 * GRANTS_MAX * 5] = "";
    for (int i = 0; i <= GRANTS_MAX; i++)
        (void)snprintf(many + strlen(many), sizeof many - strlen(many), "n%d=viewer ", i);
    struct err err = {0};
    struct grants grants;
    EXPECT_STATUS(STATUS_LIMIT, grants_parse(arena, many, &grants, &err), &err);
}

Test(permission, a_right_in_one_namespace_is_none_in_another)
{
    struct grants grants = parse("*=viewer sales=editor");
    cr_expect_eq(grants_role(grants.items, grants.count, NULL), PERMISSION_VIEWER);
    cr_expect_eq(grants_role(grants.items, grants.count, "sales"), PERMISSION_EDITOR);
    cr_expect_eq(grants_role(grants.items, grants.count, "sale"), PERMISSION_VIEWER);
    cr_expect_eq(grants_role(grants.items, grants.count, "*"), PERMISSION_VIEWER);
    cr_expect_eq(grants_role(NULL, 0, "sales"), PERMISSION_NONE);
    cr_expect_eq(grants_role(NULL, 0, NULL), PERMISSION_NONE);
}

Test(permission, two_of_them_give_what_both_give)
{
    static const struct {
        const char *one, *other, *space;
        enum permission role;
    } CASES[] = {
        {"*=admin", "sales=viewer", "sales", PERMISSION_VIEWER},
        {"*=admin", "sales=viewer", "hr", PERMISSION_NONE},
        {"*=admin", "sales=viewer", NULL, PERMISSION_NONE},
        {"sales=operator", "*=admin", "sales", PERMISSION_OPERATOR},
        {"sales=operator", "*=admin", NULL, PERMISSION_NONE},
        {"sales=admin", "hr=admin", "sales", PERMISSION_NONE},
        {"*=viewer sales=editor", "*=operator", "sales", PERMISSION_OPERATOR},
        {"*=viewer sales=editor", "*=operator", "hr", PERMISSION_VIEWER},
        {"*=viewer sales=editor", "*=operator", NULL, PERMISSION_VIEWER},
        {"*=viewer sales=editor", "*=viewer sales=admin", "sales", PERMISSION_EDITOR},
        {"", "*=admin", NULL, PERMISSION_NONE},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct grants one = parse(CASES[i].one);
        struct grants other = parse(CASES[i].other);
        struct grants both = grants_cut(arena, &one, &other);
        struct grants swapped = grants_cut(arena, &other, &one);
        cr_expect_eq(grants_role(both.items, both.count, CASES[i].space), CASES[i].role, "%s & %s",
                     CASES[i].one, CASES[i].other);
        cr_expect_eq(grants_role(swapped.items, swapped.count, CASES[i].space), CASES[i].role);
    }
}

Test(permission, names_of_our_own_parts_are_taken)
{
    static const char *const BAD[] = {"", "scheduler", "host", "a b", "-x", "a/b", "ä"};
    struct err err = {0};
    EXPECT_OK(user_check_name("anna.b-1_x", &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++)
        EXPECT_STATUS(STATUS_INVALID, user_check_name(BAD[i], &err), &err);
}
