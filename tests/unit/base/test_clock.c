#include "base/clock.h"
#include "expect.h"

Test(clock, instants_are_parsed_in_every_documented_form)
{
    static const struct {
        const char *text;
        int64_t at_us;
    } CASES[] = {
        {"1970-01-01", 0},
        {"2025-01-15", 1736899200000000},
        {"2025-01-15T00:00:00Z", 1736899200000000},
        {"2025-01-15 02:00:00+02:00", 1736899200000000},
        {"2025-01-15T00:00:00.25Z", 1736899200250000},
        {"2024-02-29T23:59", 1709251140000000},
        {"1969-12-31T23:59:59Z", -1000000},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t at_us = -1;
        cr_expect(instant_parse(CASES[i].text, &at_us), "%s", CASES[i].text);
        cr_expect_eq(at_us, CASES[i].at_us, "%s", CASES[i].text);
    }
}

Test(clock, what_is_no_instant_is_refused_and_leaves_the_output_alone)
{
    static const char *const BAD[] = {
        "", "2025", "2025-13-01", "2025-02-29", "2025-01-15T25:00", "2025-01-15Tx", "2025-1-1",
        "2025-01-15T00:00:00+1", "2025-01-15 ",
    };
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        int64_t at_us = 77;
        cr_expect(!instant_parse(BAD[i], &at_us), "%s", BAD[i]);
        cr_expect_eq(at_us, 77);
    }
}

Test(clock, formatting_and_parsing_agree_over_centuries)
{
    char text[INSTANT_TEXT_MAX];
    for (int64_t at_us = -60000000000000000; at_us < 60000000000000000; at_us += 86399999999937) {
        int64_t again = 0;
        cr_assert(instant_parse(instant_format(at_us, text), &again), "%s", text);
        cr_assert_eq(again, at_us, "%s", text);
    }
}
