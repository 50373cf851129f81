#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag.h"
#include "model/timetable.h"
#include "zone_bytes.h"

static int64_t us(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

/* The timetable of a DAG with these keys, a JSON object. */
static struct timetable *make(const char *keys)
{
    CLEANUP(json_decrefp) json_t *rest = NULL;
    struct err err = {0};
    struct timetable *timetable = NULL;
    EXPECT_OK(json_parse(keys, strlen(keys), &rest, &err), &err);
    struct dag dag = {.id = "d", .rest = rest};
    enum status status = timetable_of_dag(&dag, zone_bytes_read, &timetable, &err);
    cr_assert_eq(status, STATUS_OK, "%s: %s", keys, err.text);
    return timetable;
}

static void add_instant(struct strbuf *out, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    strbuf_addf(out, "%s%s", out->length > 0 ? " " : "", instant_format(at_us, text));
}

/* At most three ticks after an instant; backwards must give the same. */
static void expect_ticks(const char *keys, const char *after, const char *wanted)
{
    CLEANUP(timetable_freep) struct timetable *timetable = make(keys);
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 1000);
    int64_t list[3];
    size_t count = 0;
    int64_t at_us = us(after);
    while (count < 3 && timetable_next(timetable, at_us, &at_us)) {
        add_instant(&out, at_us);
        list[count++] = at_us;
    }
    cr_expect_str_eq(out.text, wanted, "%s: %s, not %s", keys, out.text, wanted);
    for (at_us++; count > 0; count--) {
        cr_assert(timetable_previous(timetable, at_us, &at_us), "%s", keys);
        cr_expect_eq(at_us, list[count - 1], "%s", keys);
    }
}

Test(timetable, every_kind_of_schedule_has_its_ticks)
{
    static const struct {
        const char *keys;
        const char *after;
        const char *ticks;
    } CASES[] = {
        {"{}", "2026-01-01", ""},
        {"{\"schedule\":null}", "2026-01-01", ""},
        {"{\"schedule\":{\"after\":\"other\"}}", "2026-01-01", ""},
        {"{\"schedule\":\"15 2 * * *\"}", "2026-01-01",
         "2026-01-01T02:15:00Z 2026-01-02T02:15:00Z 2026-01-03T02:15:00Z"},
        {"{\"schedule\":\"every 7h\"}", "1970-01-01",
         "1970-01-01T07:00:00Z 1970-01-01T14:00:00Z 1970-01-01T21:00:00Z"},
        {"{\"schedule\":\"90m\"}", "1969-12-31T23:00:00Z",
         "1970-01-01T00:00:00Z 1970-01-01T01:30:00Z 1970-01-01T03:00:00Z"},
        {"{\"schedule\":{\"every\":86400,\"start\":\"2026-01-01T05:00:00Z\"}}", "2026-01-03",
         "2026-01-03T05:00:00Z 2026-01-04T05:00:00Z 2026-01-05T05:00:00Z"},
        /* An interval is counted from its start, which is a tick. */
        {"{\"schedule\":{\"every\":\"1d\",\"start\":\"2026-01-01T05:00:00Z\"}}", "2020-01-01",
         "2026-01-01T05:00:00Z 2026-01-02T05:00:00Z 2026-01-03T05:00:00Z"},
        /* Clocks do not matter to it: in summer it is an hour later on them. */
        {"{\"schedule\":{\"every\":\"1d\",\"tz\":\"Europe/Berlin\",\"start\":\"2026-03-28\"}}",
         "2026-03-28", "2026-03-28T23:00:00Z 2026-03-29T23:00:00Z 2026-03-30T23:00:00Z"},
        {"{\"schedule\":{\"cron\":\"0 0 * * *\",\"tz\":\"Europe/Berlin\"}}", "2026-03-28",
         "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z 2026-03-30T22:00:00Z"},
        {"{\"schedule\":{\"at\":[\"2026-02-01\",\"2026-01-15T10:00:00+01:00\",\"2026-02-01\"]}}",
         "2026-01-01", "2026-01-15T09:00:00Z 2026-02-01T00:00:00Z"},
        {"{\"schedule\":{\"at\":\"2026-07-01T06:00\",\"tz\":\"Europe/Berlin\"}}", "2026-01-01",
         "2026-07-01T04:00:00Z"},
        /* Several: in order, what falls together once. */
        {"{\"schedule\":[\"0 6 * * *\",{\"cron\":\"0 7 * * *\",\"tz\":\"Europe/Berlin\"},\"0 9 * * "
         "*\"]}",
         "2026-01-01", "2026-01-01T06:00:00Z 2026-01-01T09:00:00Z 2026-01-02T06:00:00Z"},
        {"{\"schedule\":{\"cron\":[\"0 6 * * *\",\"0 18 * * *\"]}}", "2026-01-01",
         "2026-01-01T06:00:00Z 2026-01-01T18:00:00Z 2026-01-02T06:00:00Z"},
        /* Bounds are included; a date alone as the end is that whole day. */
        {"{\"schedule\":\"@daily\",\"start_date\":\"2026-01-05\",\"end_date\":\"2026-01-06\"}",
         "2026-01-01", "2026-01-05T00:00:00Z 2026-01-06T00:00:00Z"},
        {"{\"schedule\":{\"cron\":\"0 12 * * *\",\"start\":\"2026-01-05\",\"end\":\"2026-01-06\"}}",
         "2026-01-01", "2026-01-05T12:00:00Z 2026-01-06T12:00:00Z"},
        {"{\"schedule\":{\"cron\":\"0 12 * * "
         "*\",\"start\":\"2026-01-05\",\"end\":\"2026-01-06T11:59:59Z\"}}",
         "2026-01-01", "2026-01-05T12:00:00Z"},
        /* A date without an offset is what clocks of the zone show. */
        {"{\"schedule\":{\"cron\":\"0 * * * "
         "*\",\"tz\":\"Europe/Berlin\",\"start\":\"2026-07-01\",\"end\":\"2026-07-01T01:00\"}}",
         "2026-01-01", "2026-06-30T22:00:00Z 2026-06-30T23:00:00Z"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        expect_ticks(CASES[i].keys, CASES[i].after, CASES[i].ticks);
}

Test(timetable, bounds_are_about_the_logical_date)
{
    /* With the date at the start of the interval, the run for 5 January comes on the 6th. */
    expect_ticks("{\"schedule\":{\"cron\":\"@daily\",\"date\":\"interval_start\",\"start\":\"2026-"
                 "01-05\",\"end\":\"2026-01-06\"}}",
                 "2026-01-01", "2026-01-06T00:00:00Z 2026-01-07T00:00:00Z");
    expect_ticks("{\"schedule\":{\"every\":\"6h\",\"date\":\"interval_start\",\"start\":\"2026-01-"
                 "05T03:00:00Z\"}}",
                 "2026-01-01", "2026-01-05T09:00:00Z 2026-01-05T15:00:00Z 2026-01-05T21:00:00Z");
}

static void expect_dates(const char *keys, const char *tick, const char *wanted)
{
    CLEANUP(timetable_freep) struct timetable *timetable = make(keys);
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 1000);
    struct tick_dates dates = timetable_dates(timetable, us(tick));
    add_instant(&out, dates.interval_start_us);
    add_instant(&out, dates.interval_end_us);
    add_instant(&out, dates.logical_at_us);
    cr_expect_str_eq(out.text, wanted, "%s: %s, not %s", keys, out.text, wanted);
}

Test(timetable, the_interval_of_a_tick_begins_at_the_tick_before)
{
    expect_dates("{\"schedule\":\"0 0 * * 1\"}", "2026-01-12",
                 "2026-01-05T00:00:00Z 2026-01-12T00:00:00Z 2026-01-12T00:00:00Z");
    expect_dates("{\"schedule\":{\"cron\":\"0 0 * * 1\",\"date\":\"interval_start\"}}",
                 "2026-01-12", "2026-01-05T00:00:00Z 2026-01-12T00:00:00Z 2026-01-05T00:00:00Z");
    /* The first tick reaches back beyond the start. */
    expect_dates("{\"schedule\":{\"cron\":\"@daily\",\"start\":\"2026-01-12\"}}", "2026-01-12",
                 "2026-01-11T00:00:00Z 2026-01-12T00:00:00Z 2026-01-12T00:00:00Z");
    expect_dates("{\"schedule\":{\"cron\":\"@daily\",\"start\":\"2026-01-12\",\"date\":\"interval_"
                 "start\"}}",
                 "2026-01-13", "2026-01-12T00:00:00Z 2026-01-13T00:00:00Z 2026-01-12T00:00:00Z");
    /* Of a list, the first has nothing before it. */
    expect_dates("{\"schedule\":{\"at\":[\"2026-01-12\",\"2026-01-20\"]}}", "2026-01-12",
                 "2026-01-12T00:00:00Z 2026-01-12T00:00:00Z 2026-01-12T00:00:00Z");
    expect_dates("{\"schedule\":{\"at\":[\"2026-01-12\",\"2026-01-20\"]}}", "2026-01-20",
                 "2026-01-12T00:00:00Z 2026-01-20T00:00:00Z 2026-01-20T00:00:00Z");
    /* Of several schedules, whichever ticked last. */
    expect_dates("{\"schedule\":[\"0 6 * * *\",\"0 9 * * *\"]}", "2026-01-12T09:00:00Z",
                 "2026-01-12T06:00:00Z 2026-01-12T09:00:00Z 2026-01-12T09:00:00Z");
}

Test(timetable, a_run_by_hand_has_the_last_complete_interval)
{
    CLEANUP(timetable_freep) struct timetable *daily = make("{\"schedule\":\"@daily\"}");
    CLEANUP(timetable_freep) struct timetable *none = make("{}");

    struct tick_dates dates = timetable_dates_by_hand(daily, us("2026-01-12T15:00:00Z"));
    cr_expect_eq(dates.logical_at_us, us("2026-01-12T15:00:00Z"));
    cr_expect_eq(dates.interval_start_us, us("2026-01-11"));
    cr_expect_eq(dates.interval_end_us, us("2026-01-12"));
    dates = timetable_dates_by_hand(daily, us("2026-01-12"));
    cr_expect_eq(dates.interval_end_us, us("2026-01-12"));
    dates = timetable_dates_by_hand(none, 5);
    cr_expect_eq(dates.logical_at_us, 5);
    cr_expect_eq(dates.interval_start_us, 5);
    cr_expect_eq(dates.interval_end_us, 5);
}

/* ---- decisions ---- */

/* Every hour; the cursor stands at 00:00 and it is now this late. */
static struct due decide(const char *rest, const char *cursor, const char *now, size_t room,
                         struct strbuf *out)
{
    CLEANUP(mem_freep)
    char *keys = mem_format("{\"schedule\":{\"cron\":\"0 * * * *\"%s}}", rest);
    CLEANUP(timetable_freep) struct timetable *timetable = make(keys);
    int64_t runs[16];
    struct due due;
    cr_assert_leq(room, ARRAY_LEN(runs));
    timetable_due(timetable, us(cursor), us(now), runs, room, &due);
    strbuf_init(out, 1000);
    for (size_t i = 0; i < due.runs_count; i++) {
        struct civil civil = civil_from_instant(runs[i]);
        strbuf_addf(out, "%s%02u", i > 0 ? " " : "", civil.hour);
    }
    return due;
}

Test(timetable, missed_ticks_run_as_the_policy_says)
{
    static const struct {
        const char *rest;
        const char *now; /* the cursor is at 00:00 */
        const char *runs;
        size_t missed;
        const char *cursor;
    } CASES[] = {
        {"", "00:59:59", "", 0, "00:00:00"},
        {"", "01:00:00", "01", 0, "01:00:00"},
        /* The grace of five minutes, to the second. */
        {"", "01:05:00", "01", 0, "01:00:00"},
        {"", "01:05:01", "", 1, "01:00:00"},
        {"", "05:02:00", "05", 4, "05:00:00"},
        {"", "05:30:00", "", 5, "05:00:00"},
        {",\"grace\":\"2h\"", "05:30:00", "04 05", 3, "05:00:00"},
        {",\"grace\":\"0s\"", "05:00:00", "05", 4, "05:00:00"},
        {",\"grace\":\"0s\"", "05:00:02", "05", 4, "05:00:00"},
        {",\"grace\":\"0s\"", "05:00:03", "", 5, "05:00:00"},
        {",\"catchup\":\"latest\"", "05:30:00", "05", 4, "05:00:00"},
        {",\"catchup\":\"latest\",\"grace\":\"2h\"", "05:30:00", "04 05", 3, "05:00:00"},
        {",\"catchup\":\"all\"", "05:30:00", "01 02 03 04 05", 0, "05:00:00"},
        {",\"catchup\":true", "05:30:00", "01 02 03 04 05", 0, "05:00:00"},
        {",\"catchup\":false", "05:30:00", "", 5, "05:00:00"},
        {",\"catchup\":\"3h\"", "05:30:00", "03 04 05", 2, "05:00:00"},
        {",\"catchup\":\"3h\"", "05:00:00", "02 03 04 05", 1, "05:00:00"},
        {",\"catchup\":\"1s\"", "05:04:00", "05", 4, "05:00:00"},
        {",\"start\":\"2026-01-01T04:00:00Z\",\"catchup\":\"all\"", "05:30:00", "04 05", 0,
         "05:00:00"},
        {",\"end\":\"2026-01-01T02:00:00Z\",\"catchup\":\"latest\"", "05:30:00", "02", 1,
         "02:00:00"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(strbuf_fini) struct strbuf runs;
        CLEANUP(mem_freep) char *now = mem_format("2026-01-01T%sZ", CASES[i].now);
        CLEANUP(mem_freep) char *cursor = mem_format("2026-01-01T%sZ", CASES[i].cursor);
        struct due due = decide(CASES[i].rest, "2026-01-01", now, 16, &runs);
        cr_expect_str_eq(runs.text, CASES[i].runs, "%zu: %s at %s: %s, not %s", i, CASES[i].rest,
                         CASES[i].now, runs.text, CASES[i].runs);
        cr_expect_eq(due.missed.count, CASES[i].missed, "%zu: %zu missed", i, due.missed.count);
        cr_expect_eq(due.cursor_us, us(cursor), "%zu", i);
        cr_expect(!due.is_more);
        cr_expect(!due.missed.is_more);
    }
}

Test(timetable, missed_ticks_are_named)
{
    CLEANUP(strbuf_fini) struct strbuf runs;

    struct due due = decide("", "2026-01-01", "2026-01-03T00:30:00Z", 16, &runs);

    cr_expect_eq(due.missed.count, 48);
    cr_expect_eq(due.missed.first_us, us("2026-01-01T01:00:00Z"));
    cr_expect_eq(due.missed.last_us, us("2026-01-03"));
}

Test(timetable, a_decision_is_bounded_and_goes_on_from_its_cursor)
{
    CLEANUP(strbuf_fini) struct strbuf first;
    CLEANUP(strbuf_fini) struct strbuf second;
    char cursor[INSTANT_TEXT_MAX];

    struct due due =
        decide(",\"catchup\":\"all\"", "2026-01-01", "2026-01-01T05:30:00Z", 3, &first);
    EXPECT_STR("01 02 03", first.text);
    cr_expect(due.is_more);
    due = decide(",\"catchup\":\"all\"", instant_format(due.cursor_us, cursor),
                 "2026-01-01T05:30:00Z", 3, &second);
    EXPECT_STR("04 05", second.text);
    cr_expect(!due.is_more);
}

Test(timetable, a_clock_that_goes_back_makes_nothing_due_and_moves_no_cursor)
{
    CLEANUP(strbuf_fini) struct strbuf runs;

    struct due due =
        decide(",\"catchup\":\"all\"", "2026-01-01T05:00:00Z", "2026-01-01T02:00:00Z", 3, &runs);

    EXPECT_STR("", runs.text);
    cr_expect_eq(due.missed.count, 0);
    cr_expect_eq(due.cursor_us, us("2026-01-01T05:00:00Z"));
}

Test(timetable, counting_what_was_missed_for_years_stops_early)
{
    CLEANUP(timetable_freep) struct timetable *timetable = make("{\"schedule\":\"every 1s\"}");
    int64_t runs[1];
    struct due due;

    timetable_due(timetable, us("2020-01-01"), us("2026-01-01"), runs, 1, &due);

    cr_expect_eq(due.missed.count, TIMETABLE_MISSED_MAX);
    cr_expect(due.missed.is_more);
    cr_expect_eq(due.missed.first_us, us("2020-01-01T00:00:01Z"));
    cr_expect_eq(due.missed.last_us, us("2025-12-31T23:54:59Z"));
    cr_expect_eq(runs[0], us("2025-12-31T23:55:00Z"));
    cr_expect(due.is_more);
}

Test(timetable, a_new_dag_begins_where_its_policy_says)
{
    static const struct {
        const char *rest;
        const char *cursor; /* it is 2026-01-10T12:00:00Z */
    } CASES[] = {
        {"", "2026-01-10T12:00:00Z"},
        {",\"catchup\":\"all\"", "2026-01-10T12:00:00Z"},
        {",\"start\":\"2026-01-03\"", "2026-01-10T12:00:00Z"},
        {",\"start\":\"2026-01-03\",\"catchup\":\"all\"", "2026-01-02T23:59:59.999999Z"},
        {",\"start\":\"2026-02-03\",\"catchup\":\"all\"", "2026-01-10T12:00:00Z"},
        {",\"start\":\"2026-01-03\",\"catchup\":\"latest\"", "2026-01-09T23:59:59.999999Z"},
        {",\"start\":\"2026-01-03\",\"catchup\":\"2d\"", "2026-01-08T11:59:59.999999Z"},
        {",\"start\":\"2026-01-03\",\"catchup\":\"30d\"", "2026-01-02T23:59:59.999999Z"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(mem_freep)
        char *keys = mem_format("{\"schedule\":{\"cron\":\"@daily\"%s}}", CASES[i].rest);
        CLEANUP(timetable_freep) struct timetable *timetable = make(keys);
        char text[INSTANT_TEXT_MAX];
        int64_t cursor_us = timetable_first_cursor(timetable, us("2026-01-10T12:00:00Z"));
        cr_expect_str_eq(instant_format(cursor_us, text), CASES[i].cursor, "%s: %s, not %s", keys,
                         text, CASES[i].cursor);
    }
}

Test(timetable, runs_are_named_after_kind_and_logical_date)
{
    char text[TIMETABLE_RUN_ID_MAX];
    EXPECT_STR("scheduled__2025-01-15T00:00:00+00:00",
               timetable_run_id("scheduled", us("2025-01-15"), text));
    EXPECT_STR("backfill__2025-01-15T00:00:00.500000+00:00",
               timetable_run_id("backfill", us("2025-01-15T00:00:00.5Z"), text));
}

Test(timetable, the_rest_of_the_policy_is_read)
{
    CLEANUP(timetable_freep) struct timetable *usual = make("{\"schedule\":\"@daily\"}");
    cr_expect_eq(usual->policy.grace_ms, 300000);
    cr_expect_eq(usual->policy.overlap, OVERLAP_QUEUE);
    CLEANUP(timetable_freep)
    struct timetable *other = make("{\"schedule\":{\"cron\":\"@daily\",\"overlap\":\"replace\","
                                   "\"grace\":\"1m\",\"datasets\":[\"x\"]}}");
    cr_expect_eq(other->policy.grace_ms, 60000);
    cr_expect_eq(other->policy.overlap, OVERLAP_REPLACE);
    cr_expect_eq(other->schedules_count, 1);
}

Test(timetable, a_zone_that_is_gone_is_an_error)
{
    CLEANUP(json_decrefp)
    json_t *rest = json_pack("{s:{s:s,s:s}}", "schedule", "cron", "@daily", "tz", "Mars/Base");
    struct dag dag = {.id = "d", .rest = rest};
    struct timetable *timetable = NULL;
    struct err err = {0};
    EXPECT_STATUS(STATUS_INVALID, timetable_of_dag(&dag, zone_bytes_read, &timetable, &err), &err);
    EXPECT_STR("schedule of DAG 'd': 'tz': there is no time zone 'Mars/Base'", err.text);
    EXPECT_STATUS(STATUS_INVALID, timetable_of_dag(&dag, NULL, &timetable, &err), &err);
}
