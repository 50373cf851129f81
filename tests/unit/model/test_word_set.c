#include <stdlib.h>

#include "expect.h"
#include "model/word_set.h"

Test(word_set, is_sorted_and_has_each_word_once)
{
    static const struct {
        const char *text, *set;
    } CASES[] = {
        {"", ""},       {"a", "a"},
        {"b,a", "a b"}, {" b, a,b ,,\tc\n", "a b c"},
        {",, ,", ""},   {"gpu big", "big gpu"},
        {"a,a,a", "a"}, {"ab,a", "a ab"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char *set = word_set_parse(CASES[i].text);
        EXPECT_STR(CASES[i].set, set);
        free(set);
    }
}

Test(word_set, has_whole_words_only)
{
    cr_expect(word_set_has("big gpu", "gpu"));
    cr_expect(word_set_has("big gpu", "big"));
    cr_expect(!word_set_has("big gpu", "bi"));
    cr_expect(!word_set_has("big gpu", "pu"));
    cr_expect(!word_set_has("", "a"));
}

Test(word_set, is_part_of_a_set_that_has_all_its_words)
{
    cr_expect(word_set_is_part("", "a b"));
    cr_expect(word_set_is_part("b", "a b"));
    cr_expect(word_set_is_part("a c", "a b c"));
    cr_expect(!word_set_is_part("a d", "a b c"));
    cr_expect(!word_set_is_part("ab", "a b"));
}
