#include <inttypes.h>
#include <stdio.h>

#include "base/str.h"
#include "expect.h"

Test(str, questions_about_texts)
{
    cr_assert(str_equal(NULL, NULL));
    cr_assert(!str_equal(NULL, ""));
    cr_assert(!str_equal("", NULL));
    cr_assert(str_equal("a", "a"));
    cr_assert(!str_equal("a", "A"));
    cr_assert(str_starts_with("abc", ""));
    cr_assert(str_starts_with("abc", "abc"));
    cr_assert(!str_starts_with("ab", "abc"));
    cr_assert(str_ends_with("abc", ""));
    cr_assert(str_ends_with("abc", "bc"));
    cr_assert(!str_ends_with("c", "bc"));
}

Test(str, a_number_is_the_whole_text_and_within_its_bounds)
{
    static const struct {
        const char *text;
        int64_t least, most;
        bool good;
        int64_t value;
    } CASES[] = {
        {"0", 0, 0, true, 0},
        {"-0", 0, 0, true, 0},
        {"007", 0, 10, true, 7},
        {"10", 0, 10, true, 10},
        {"11", 0, 10, false, 0},
        {"-1", 0, 10, false, 0},
        {"-1", -1, 10, true, -1},
        {"9223372036854775807", INT64_MIN, INT64_MAX, true, INT64_MAX},
        {"-9223372036854775808", INT64_MIN, INT64_MAX, true, INT64_MIN},
        {"9223372036854775808", INT64_MIN, INT64_MAX, false, 0},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, false, 0},
        {"", INT64_MIN, INT64_MAX, false, 0},
        {"-", INT64_MIN, INT64_MAX, false, 0},
        {"--1", INT64_MIN, INT64_MAX, false, 0},
        {"+1", INT64_MIN, INT64_MAX, false, 0},
        {" 1", INT64_MIN, INT64_MAX, false, 0},
        {"1 ", INT64_MIN, INT64_MAX, false, 0},
        {"0x10", INT64_MIN, INT64_MAX, false, 0},
        {"1e3", INT64_MIN, INT64_MAX, false, 0},
        {"1.0", INT64_MIN, INT64_MAX, false, 0},
        {"\xd9\xa1", INT64_MIN, INT64_MAX, false, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t value = 77;
        cr_assert_eq(str_parse_i64(CASES[i].text, CASES[i].least, CASES[i].most, &value),
                     CASES[i].good, "'%s'", CASES[i].text);
        cr_assert_eq(value, CASES[i].good ? CASES[i].value : 77, "'%s'", CASES[i].text);
    }
}

Test(str, distance_counts_edits_up_to_eight)
{
    char word[66];
    memset(word, 'a', sizeof word - 1);
    word[65] = '\0';
    const struct {
        const char *a, *b;
        unsigned distance;
    } CASES[] = {
        {"", "", 0},          {"", "abc", 3},           {"abc", "", 3},
        {"abc", "abc", 0},    {"abc", "acb", 1},        {"abcd", "badc", 2},
        {"needs", "need", 1}, {"kitten", "sitting", 3}, {"abcdefghij", "klmnopqrst", 8},
        {"", "12345678", 8},  {"", "1234567", 7},       {word + 1, word + 1, 0},
        {word, word, 8},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        cr_assert_eq(str_distance(CASES[i].a, CASES[i].b), CASES[i].distance, "%s %s", CASES[i].a,
                     CASES[i].b);
        cr_assert_eq(str_distance(CASES[i].b, CASES[i].a), CASES[i].distance);
    }
}

static const char *const NAMES[] = {"needs", "run", "retries", "retry_delay"};

static const char *name_at(const void *context, size_t i)
{
    (void)context;
    return NAMES[i];
}

Test(str, nearest_is_what_was_meant_or_nothing)
{
    static const struct {
        const char *word, *wanted;
    } CASES[] = {
        {"need", "needs"},  {"nedes", "needs"},
        {"rnu", "run"},     {"retrise", "retries"},
        {"x", NULL},        {"something_else", NULL},
        {"", NULL},         {"retry_dealy", "retry_delay"},
        {"needs", "needs"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const char *got = str_nearest(CASES[i].word, ARRAY_LEN(NAMES), name_at, NULL);
        cr_assert(str_equal(got, CASES[i].wanted), "'%s' gives %s", CASES[i].word,
                  got != NULL ? got : "nothing");
    }
    cr_assert_null(str_nearest("needs", 0, name_at, NULL));
}

Test(str, columns_as_a_terminal_shows_them)
{
    static const struct {
        const char *text;
        size_t columns;
    } CASES[] = {
        {"", 0},
        {"abc", 3},
        {"\xc3\xa9", 1},                 /* é in one */
        {"e\xcc\x81", 1},                /* e and a combining acute */
        {"e\xe2\x83\x9d", 1},            /* e in a combining circle */
        {"\xe6\x97\xa5\xe6\x9c\xac", 4}, /* 日本 */
        {"\xef\xbc\xa1", 2},             /* fullwidth A */
        {"\xef\xbf\xa5", 2},             /* fullwidth yen */
        {"\xf0\x9f\x98\x80", 2},         /* grinning face */
        {"\xf0\x9f\x9a\x80", 2},         /* rocket */
        {"\xe2\x9c\x85", 2},             /* check mark button */
        {"\xe2\x9c\x93", 1},             /* check mark */
        {"\xe2\x94\x80", 1},             /* box drawing */
        {"\xed\x95\x9c", 2},             /* 한 */
        {"\xf0\xa0\x80\x80", 2},         /* U+20000 */
        {"a\xe2\x80\x8b", 1},            /* zero width space */
        {"\x80", 1},                     /* a lone continuation */
        {"\xc3", 1},                     /* cut at the end */
        {"\xe6\x97", 2},                 /* cut later: two broken bytes */
        {"\xe6\x97z", 3},
        {"\xf0\x9f\x98", 3},
        {"\xff\xfe", 2},
        {"\xf8\x88\x80\x80", 4}, /* no lead byte of any sequence */
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        cr_assert_eq(str_columns(CASES[i].text), CASES[i].columns, "case %zu: %zu, not %zu", i,
                     str_columns(CASES[i].text), CASES[i].columns);
}

Test(str, a_number_in_decimal)
{
    static const int64_t CASES[] = {0, 1, -1, 9, 10, -10, 1234567890, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char wanted[32];
        char text[INTEGER_TEXT_MAX];
        (void)snprintf(wanted, sizeof wanted, "%lld", (long long)CASES[i]);
        EXPECT_STR(wanted, str_from_i64(CASES[i], text));
    }
}
