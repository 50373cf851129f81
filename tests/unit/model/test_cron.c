#include "base/clock.h"
#include "expect.h"
#include "model/cron.h"
#include "model/limits.h"

static int64_t seconds(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us / 1000000;
}

static struct cron parse(const char *text)
{
    struct cron cron = {0};
    struct err err = {0};
    size_t offset = 0;
    enum status status = cron_parse(text, &cron, &offset, &err);
    cr_assert_eq(status, STATUS_OK, "%s: at %zu: %s", text, offset, err.text);
    return cron;
}

/* The first times at or after an instant, and the same backwards. */
Test(cron, every_documented_form_names_its_times)
{
    static const struct {
        const char *text;
        const char *from;
        const char *ticks[4];
    } CASES[] = {
        {"15 2 * * *", "2026-01-31", {"2026-01-31T02:15:00Z", "2026-02-01T02:15:00Z"}},
        {"*/20 * * * *", "2026-01-01", {"2026-01-01T00:00:00Z", "2026-01-01T00:20:00Z"}},
        {"5/20 * * * *", "2026-01-01", {"2026-01-01T00:05:00Z", "2026-01-01T00:25:00Z"}},
        {"30 15 10 * * *", "2026-01-01", {"2026-01-01T10:15:30Z", "2026-01-02T10:15:30Z"}},
        {"*/30 59 23 31 12 *", "2026-01-01", {"2026-12-31T23:59:00Z", "2026-12-31T23:59:30Z"}},
        {"0 0 * jan,JUL *", "2026-01-31", {"2026-01-31T00:00:00Z", "2026-07-01T00:00:00Z"}},
        {"0 0 1 NOV-FEB *",
         "2026-02-02",
         {"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"}},
        {"0 22-1 * * *",
         "2026-01-01T02:00:00",
         {"2026-01-01T22:00:00Z", "2026-01-01T23:00:00Z", "2026-01-02T00:00:00Z",
          "2026-01-02T01:00:00Z"}},
        /* 1 January 2026 is a Thursday. */
        {"0 0 * * FRI-MON",
         "2026-01-01",
         {"2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z",
          "2026-01-05T00:00:00Z"}},
        {"0 0 * * 5-7/2", "2026-01-01", {"2026-01-02T00:00:00Z", "2026-01-04T00:00:00Z"}},
        {"0 0 * * 7", "2026-01-01", {"2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"}},
        {"0 0 * * 7-1", "2026-01-01", {"2026-01-04T00:00:00Z", "2026-01-05T00:00:00Z"}},
        {"0 0 L * *", "2028-01-31T01:00:00", {"2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"}},
        {"0 0 L-3 * *", "2026-02-01", {"2026-02-25T00:00:00Z", "2026-03-28T00:00:00Z"}},
        {"0 0 L-30 * *", "2026-02-01", {"2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"}},
        {"0 0 ? * 5L", "2026-01-01", {"2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z"}},
        {"0 0 ? * friL", "2026-01-31", {"2026-02-27T00:00:00Z", "2026-03-27T00:00:00Z"}},
        {"0 0 ? * 1#2", "2026-01-01", {"2026-01-12T00:00:00Z", "2026-02-09T00:00:00Z"}},
        {"0 0 ? * MON#5", "2026-01-01", {"2026-03-30T00:00:00Z", "2026-06-29T00:00:00Z"}},
        {"0 0 ? * 0#1,7#2", "2026-01-01", {"2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"}},
        /* 15 February and 15 March 2026 are Sundays, 15 August is a Saturday. */
        {"0 0 15W 2,8 ?", "2026-01-01", {"2026-02-16T00:00:00Z", "2026-08-14T00:00:00Z"}},
        /* 1 August is a Saturday, 1 November a Sunday, 31 May and 31 January 2027 Sundays. */
        {"0 0 1W 8,11 ?", "2026-01-01", {"2026-08-03T00:00:00Z", "2026-11-02T00:00:00Z"}},
        {"0 0 31W * ?", "2026-05-01", {"2026-05-29T00:00:00Z", "2026-07-31T00:00:00Z"}},
        {"0 0 LW * ?", "2026-01-01", {"2026-01-30T00:00:00Z", "2026-02-27T00:00:00Z"}},
        /* Both fields leave days out: either will do. */
        {"0 0 13 * FRI", "2026-02-07", {"2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}},
        {"0 0 15 * 1L", "2026-01-01", {"2026-01-15T00:00:00Z", "2026-01-26T00:00:00Z"}},
        {"0 0 1-31 * FRI", "2026-02-07", {"2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z"}},
        {"0 0 1 * */1", "2026-02-02", {"2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"}},
        {"0 0 29 2 *", "2097-01-01", {"2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z"}},
        {"  0\t0 1  1   * ", "2026-01-02", {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}},
        {"@hourly", "2026-01-01T00:00:01", {"2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"}},
        {"@daily", "2026-01-01", {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"}},
        {"@midnight", "2026-01-01", {"2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"}},
        {"@weekly", "2026-01-01", {"2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"}},
        {"@monthly", "2026-01-02", {"2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"}},
        {"@quarterly", "2026-01-02", {"2026-04-01T00:00:00Z", "2026-07-01T00:00:00Z"}},
        {"@yearly", "2026-01-02", {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}},
        {"@annually", "2026-01-02", {"2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct cron cron = parse(CASES[i].text);
        int64_t from_s = seconds(CASES[i].from);
        int64_t until_s = from_s + (int64_t)20 * 366 * 86400;
        for (size_t k = 0; k < ARRAY_LEN(CASES[i].ticks) && CASES[i].ticks[k] != NULL; k++) {
            char text[INSTANT_TEXT_MAX];
            int64_t found_s = 0;
            int64_t back_s = 0;
            cr_assert(cron_first(&cron, from_s, until_s, &found_s), "%s", CASES[i].text);
            cr_expect_str_eq(instant_format(found_s * 1000000, text), CASES[i].ticks[k],
                             "%s: %s, not %s", CASES[i].text, text, CASES[i].ticks[k]);
            /* Nothing lies between, seen from behind. */
            cr_assert(cron_last(&cron, from_s, found_s + 1, &back_s), "%s", CASES[i].text);
            cr_expect_eq(back_s, found_s, "%s", CASES[i].text);
            cr_expect(!cron_last(&cron, from_s, found_s, &back_s), "%s", CASES[i].text);
            from_s = found_s + 1;
        }
    }
}

Test(cron, what_cannot_be_is_refused_with_its_place)
{
    static const struct {
        const char *text;
        size_t offset;
        const char *says;
    } CASES[] = {
        {"", 0, "5 fields"},
        {"* * * *", 0, "this one has 4"},
        {"15min", 0, "this one has 1; an interval is written every 15m"},
        {"0 0 1 1 * * 2026", 0, "leave the year out"},
        {"evry 5m", 0, "this one has 2; an interval is written every 15m"},
        {"0 12 1 1 * 2026", 11, "'2026' is a year"},
        {"0 12 1 1 2026", 9, "'2026' is not a day of the week"},
        {"Daily", 0, "did you mean '@daily'?"},
        {"60 * * * *", 0, "'60' is not a minute: expected 0 to 59"},
        {"0 24 * * *", 2, "'24' is not an hour"},
        {"0 0 0 * *", 4, "'0' is not a day of the month: expected 1 to 31"},
        {"0 0 32 * *", 4, "expected 1 to 31"},
        {"0 0 1 13 *", 6, "1 to 12, or JAN to DEC"},
        {"0 0 1 * 8", 8, "0 to 7"},
        {"0 0 1 FOO *", 6, "'FOO' is not a month"},
        {"0 0 1 * MO", 8, "'MO' is not a day of the week"},
        {"0 MON * * *", 2, "'MON' is not an hour"},
        {"1,,2 * * * *", 2, "something is missing"},
        {"1, * * * *", 2, "something is missing"},
        {"1- * * * *", 2, "is not a minute"},
        {"*/0 * * * *", 2, "a step"},
        {"*/ * * * *", 2, "a step"},
        {"*/61 * * * *", 2, "from 1 to 60"},
        {"-5 * * * *", 0, "'-' is not a minute"},
        {"1.5 * * * *", 1, "'.5' does not belong here"},
        {"*5 * * * *", 1, "'5' does not belong here"},
        {"? * * * *", 0, "write '*'"},
        {"0 0 ?,1 * *", 4, "'?'"},
        {"0 0 * * L", 8, "5L is the last Friday"},
        {"0 0 L-31 * *", 6, "from 0 to 30"},
        {"0 0 L-3W * *", 7, "does not belong here"},
        {"0 0 * * 1#6", 10, "from 1 to 5"},
        {"0 0 * * 1#", 10, "from 1 to 5"},
        {"0 0 15L * *", 6, "does not belong here"},
        {"0 0 30 2 *", 0, "never comes"},
        {"0 0 31 4,6,9,11 *", 0, "never comes"},
        {"0 0 31W 2 *", 0, "never comes"},
        {"@dayly", 0, "did you mean '@daily'?"},
        {"@once", 0, "'@once' is no timetable"},
        {"@continuous", 0, "'@continuous' is no timetable"},
        {"@zzzzzzzzzz", 0, "use @hourly"},
        {"99999999999999999999 * * * *", 0, "is not a minute"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct cron cron = {.seconds = 77};
        struct err err = {0};
        size_t offset = 99;
        enum status status = cron_parse(CASES[i].text, &cron, &offset, &err);
        cr_expect_eq(status, STATUS_INVALID, "%s", CASES[i].text);
        cr_expect_not_null(strstr(err.text, CASES[i].says), "%s: %s", CASES[i].text, err.text);
        cr_expect_eq(offset, CASES[i].offset, "%s: at %zu", CASES[i].text, offset);
        cr_expect_eq(cron.seconds, 77, "%s", CASES[i].text);
    }
}

Test(cron, rare_days_are_not_impossible)
{
    /* The fifth Monday of February needs 29 February on a Monday: 2044 after 2016. */
    struct cron cron = parse("0 0 ? 2 1#5");
    int64_t found_s = 0;

    cr_assert(cron_first(&cron, seconds("2016-03-01"), seconds("2099-01-01"), &found_s));
    cr_expect_eq(found_s, seconds("2044-02-29"));
    cr_expect(!cron_first(&cron, seconds("2016-03-01"), seconds("2044-02-29"), &found_s));
}

Test(cron, an_expression_has_a_longest_length)
{
    char text[LIMIT_CRON_BYTES + 2];
    struct cron cron;
    struct err err = {0};
    size_t offset = 0;
    memset(text, ' ', sizeof text);
    memcpy(text, "* * * * *", 9);
    text[LIMIT_CRON_BYTES] = '\0';
    EXPECT_OK(cron_parse(text, &cron, &offset, &err), &err);
    text[LIMIT_CRON_BYTES] = ' ';
    text[LIMIT_CRON_BYTES + 1] = '\0';
    EXPECT_STATUS(STATUS_INVALID, cron_parse(text, &cron, &offset, &err), &err);
}

Test(cron, naming_every_hour_is_about_meaning_not_spelling)
{
    static const char *const EVERY[] = {"0 * * * *", "0 */1 * * *", "5 0-23 * * *", "@hourly"};
    for (size_t i = 0; i < ARRAY_LEN(EVERY); i++) {
        struct cron cron = parse(EVERY[i]);
        cr_expect(cron_is_every_hour(&cron), "%s", EVERY[i]);
    }
    struct cron cron = parse("0 */2 * * *");
    cr_expect(!cron_is_every_hour(&cron));
}
