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
        "",
        "2025",
        "2025-13-01",
        "2025-02-29",
        "2025-01-15T25:00",
        "2025-01-15Tx",
        "2025-1-1",
        "2025-01-15T00:00:00+1",
        "2025-01-15 ",
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

Test(clock, how_an_instant_was_written_is_told)
{
    static const struct {
        const char *text;
        struct instant_form form;
    } CASES[] = {
        {"2025-01-15", {0, false, false}},
        {"2025-01-15T00:00", {0, false, true}},
        {"2025-01-15T00:00Z", {0, true, true}},
        {"2025-01-15T00:00+02:30", {9000, true, true}},
        {"2025-01-15T00:00:00.5-0800", {-28800, true, true}},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct instant_form form = {77, false, false};
        int64_t at_us = 0;
        cr_assert(instant_parse_form(CASES[i].text, &at_us, &form), "%s", CASES[i].text);
        cr_expect_eq(form.offset_s, CASES[i].form.offset_s, "%s", CASES[i].text);
        cr_expect_eq(form.has_offset, CASES[i].form.has_offset, "%s", CASES[i].text);
        cr_expect_eq(form.has_time, CASES[i].form.has_time, "%s", CASES[i].text);
    }
}

Test(clock, an_instant_is_written_as_a_clock_shows_it)
{
    char text[INSTANT_TEXT_MAX];
    EXPECT_STR("1970-01-01T01:00:00+01:00", instant_format_at(0, 3600, text));
    EXPECT_STR("1969-12-31T16:30:00-07:30", instant_format_at(0, -27000, text));
    EXPECT_STR("1970-01-01T00:00:00+00:00", instant_format_at(0, 0, text));
    /* Seconds of an offset cannot be written: the minutes are, and the instant stays. */
    EXPECT_STR("1970-01-01T00:53:00+00:53", instant_format_at(0, 3208, text));
}
