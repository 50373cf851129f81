#include "expect.h"
#include "model/duration.h"

Test(duration, every_documented_form_is_parsed_and_the_shortest_is_written)
{
    static const struct {
        const char *text;
        int64_t ms;
        const char *shortest;
    } CASES[] = {
        {"500ms", 500, "500ms"},
        {"30s", 30000, "30s"},
        {"5m", 300000, "5m"},
        {"2h", 7200000, "2h"},
        {"1d", 86400000, "1d"},
        {"1w", 604800000, "1w"},
        {"1h30m", 5400000, "1h30m"},
        {"90m", 5400000, "1h30m"},
        {"1w2d3h4m5s6ms", 788645006, "1w2d3h4m5s6ms"},
        {"0s", 0, "0s"},
        {"0ms", 0, "0s"},
        {"007s", 7000, "7s"},
        {"36600d", 36600LL * 86400000, "5228w4d"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t ms = -1;
        char text[DURATION_TEXT_MAX];
        cr_assert(duration_parse(CASES[i].text, &ms), "%s", CASES[i].text);
        cr_expect_eq(ms, CASES[i].ms, "%s is %lld", CASES[i].text, (long long)ms);
        EXPECT_STR(CASES[i].shortest, duration_format(ms, text));
    }
}

Test(duration, what_is_no_duration_is_refused_and_leaves_the_output_alone)
{
    static const char *const BAD[] = {
        "",
        "5",
        "s",
        "-5s",
        "+5s",
        "1.5h",
        "5 s",
        " 5s",
        "5s ",
        "5x",
        "5S",
        "1m1h",
        "1h1h",
        "1hm",
        "99999999999999999999s",
        "9223372036854775807w",
        "36601d",
        "5minutes",
        "1h30",
    };
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        int64_t ms = 77;
        cr_expect(!duration_parse(BAD[i], &ms), "%s", BAD[i]);
        cr_expect_eq(ms, 77, "%s", BAD[i]);
    }
}

Test(duration, bare_numbers_are_seconds_within_bounds)
{
    int64_t ms = 77;

    cr_expect(!duration_from_seconds(-1, &ms));
    cr_expect(!duration_from_seconds(DURATION_MS_MAX / 1000 + 1, &ms));
    cr_expect(!duration_from_seconds(INT64_MAX, &ms));
    cr_expect_eq(ms, 77);
    cr_expect(duration_from_seconds(0, &ms));
    cr_expect_eq(ms, 0);
    cr_expect(duration_from_seconds(DURATION_MS_MAX / 1000, &ms));
    cr_expect_eq(ms, DURATION_MS_MAX);
}

Test(duration, formatting_and_parsing_agree)
{
    char text[DURATION_TEXT_MAX];
    for (int64_t ms = 1; ms < DURATION_MS_MAX; ms = ms * 3 + 7) {
        int64_t again = 0;
        cr_assert(duration_parse(duration_format(ms, text), &again), "%s", text);
        cr_assert_eq(again, ms, "%s", text);
    }
}

Test(size, sizes_are_parsed_and_written_with_the_largest_exact_unit)
{
    static const struct {
        const char *text;
        int64_t bytes;
        const char *shortest;
    } CASES[] = {
        {"0", 0, "0"},
        {"512", 512, "512"},
        {"512B", 512, "512"},
        {"64MiB", 64LL << 20, "64MiB"},
        {"10MB", 10000000, "10MB"},
        {"1GiB", 1LL << 30, "1GiB"},
        {"1024", 1024, "1KiB"},
        {"2Gi", 2LL << 30, "2GiB"},
        {"3M", 3LL << 20, "3MiB"},
        {"1kB", 1000, "1kB"},
        {"1KB", 1000, "1kB"},
        {"1500", 1500, "1500"},
        {"8388607TiB", 8388607LL << 40, "8388607TiB"},
        {"9223372036854775807", INT64_MAX, "9223372036854775807"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t bytes = -1;
        char text[DURATION_TEXT_MAX];
        cr_assert(size_parse(CASES[i].text, &bytes), "%s", CASES[i].text);
        cr_expect_eq(bytes, CASES[i].bytes, "%s", CASES[i].text);
        EXPECT_STR(CASES[i].shortest, size_format(bytes, text));
    }
}

Test(size, what_is_no_size_is_refused)
{
    static const char *const BAD[] = {"",     "MiB",  "-1",         "1.5MiB",
                                      "1 MB", "1mib", "8388608TiB", "9223372036854775808",
                                      "1MB2", "1XB"};
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        int64_t bytes = 77;
        cr_expect(!size_parse(BAD[i], &bytes), "%s", BAD[i]);
        cr_expect_eq(bytes, 77, "%s", BAD[i]);
    }
}
