#include "base/mem.h"
#include "expect.h"
#include "model/limits.h"
#include "model/pattern.h"

Test(pattern, useful_patterns_are_taken_and_match)
{
    static const struct {
        const char *pattern, *subject;
        bool found;
    } CASES[] = {
        {"^[a-z]{2,5}$", "abc", true},
        {"^[a-z]{2,5}$", "a", false},
        {"^[^@]+@[^@]+\\.[a-z]+$", "a@b.de", true},
        {"^([0-9]{1,3}\\.){3}[0-9]{1,3}$", "10.0.0.1", true},
        {"^(a|b)+(c(d)?)*$", "abccd", true},
        {"^[]{+*]$", "{", true},
        {"\\(\\{\\*\\+", "({*+", true},
        {"^[[:alpha:]]+$", "ab", true},
        {"[a-z]{1,1500}", "q", true},
        {"", "x", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(pattern_fini) struct pattern pattern = {0};
        struct err err = {0};
        bool found = !CASES[i].found;
        EXPECT_OK(pattern_init(&pattern, CASES[i].pattern, &err), &err);
        EXPECT_OK(pattern_find(&pattern, CASES[i].subject, NULL, 0, &found, &err), &err);
        cr_expect_eq(found, CASES[i].found, "%s", CASES[i].pattern);
    }
}

Test(pattern, costly_patterns_are_refused)
{
    static const char *const BAD[] = {
        "a**",
        "a*+",
        "(a{99}){99}",
        "a{2001}",
        "a{1500}b{1500}",
        "(a)\\1",
        "a{99999999999}",
        "(((((((((((a+)+)+)+)+)+)+)+)+)+)+",
        "((((((((((((((((((a))))))))))))))))))",
        "(",
        "[",
        "a{",
    };
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        CLEANUP(pattern_fini) struct pattern pattern = {0};
        struct err err = {0};
        cr_expect_neq(pattern_init(&pattern, BAD[i], &err), STATUS_OK, "%s", BAD[i]);
        cr_expect_gt(strlen(err.text), (size_t)0, "%s", BAD[i]);
    }
}

Test(pattern, lengths_are_bounded)
{
    char text[PATTERN_BYTES_MAX + 2];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    CLEANUP(pattern_fini) struct pattern pattern = {0};
    struct err err = {0};
    EXPECT_STATUS(STATUS_LIMIT, pattern_init(&pattern, text, &err), &err);
    EXPECT_OK(pattern_init(&pattern, text + 1, &err), &err);

    CLEANUP(mem_freep) char *subject = mem_alloc(LIMIT_VALUE_INLINE_BYTES + 2);
    memset(subject, 'b', LIMIT_VALUE_INLINE_BYTES + 1);
    subject[LIMIT_VALUE_INLINE_BYTES + 1] = '\0';
    bool found = true;
    EXPECT_STATUS(STATUS_LIMIT, pattern_find(&pattern, subject, NULL, 0, &found, &err), &err);
    EXPECT_OK(pattern_find(&pattern, subject + 1, NULL, 0, &found, &err), &err);
    cr_expect_not(found);
}
