#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/backfill.h"
#include "model/dag.h"
#include "zone_bytes.h"

static int64_t us(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

static struct timetable *make(const char *keys)
{
    CLEANUP(json_decrefp) json_t *rest = NULL;
    struct err err = {0};
    struct timetable *timetable = NULL;
    EXPECT_OK(json_parse(keys, strlen(keys), &rest, &err), &err);
    struct dag dag = {.id = "d", .rest = rest};
    EXPECT_OK(timetable_of_dag(&dag, zone_bytes_read, &timetable, &err), &err);
    return timetable;
}

#define DAILY  "{\"schedule\":\"0 0 * * *\"}"
#define STARTS "{\"schedule\":{\"cron\":\"0 0 * * *\",\"date\":\"interval_start\"}}"

/* The dates of a range, without the year and the time. */
static void expect_dates(const char *keys, const char *from, const char *to, const char *until,
                         bool newest_first, const char *wanted)
{
    CLEANUP(timetable_freep) struct timetable *timetable = make(keys);
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 1000);
    const struct backfill_range range = {.timetable = timetable,
                                         .from_us = us(from),
                                         .to_us = us(to),
                                         .until_us = us(until),
                                         .newest_first = newest_first};
    int64_t cursor_us = backfill_first_cursor(&range);
    int64_t count = 0;
    struct tick_dates dates;
    while (backfill_next(&range, &cursor_us, &dates)) {
        char text[INSTANT_TEXT_MAX];
        strbuf_addf(&out, "%s%.5s", count++ > 0 ? " " : "",
                    instant_format(dates.logical_at_us, text) + 5);
        cr_expect(dates.interval_end_us <= us(until));
    }
    cr_expect_str_eq(out.text, wanted, "%s: %s, not %s", keys, out.text, wanted);
    cr_expect_eq(backfill_count(&range, 100), count);
    int64_t most = count - 1;
    if (count > 1)
        cr_expect_eq(backfill_count(&range, most - 1), most, "counting stops");
}

Test(backfill, a_range_has_the_dates_of_its_ticks_in_both_orders)
{
    static const struct {
        const char *keys;
        const char *from;
        const char *to;
        const char *until;
        const char *oldest_first;
        const char *newest_first;
    } CASES[] = {
        {DAILY, "2026-01-01", "2026-01-03", "2026-06-01", "01-01 01-02 01-03", "01-03 01-02 01-01"},
        {DAILY, "2026-01-01T00:00:01Z", "2026-01-03", "2026-06-01", "01-02 01-03", "01-03 01-02"},
        {DAILY, "2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", "2026-06-01", "", ""},
        {DAILY, "2026-01-03", "2026-01-01", "2026-06-01", "", ""},
        /* What is not due has no run. */
        {DAILY, "2026-01-01", "2026-01-09", "2026-01-02T12:00:00Z", "01-01 01-02", "01-02 01-01"},
        /* A date at the start of its interval is due a tick later. */
        {STARTS, "2026-01-01", "2026-01-03", "2026-06-01", "01-01 01-02 01-03",
         "01-03 01-02 01-01"},
        {STARTS, "2026-01-01", "2026-01-03", "2026-01-03T12:00:00Z", "01-01 01-02", "01-02 01-01"},
        {"{}", "2026-01-01", "2026-01-03", "2026-06-01", "", ""},
        {"{\"schedule\":{\"cron\":\"0 0 * * *\",\"start\":\"2026-01-02\",\"end\":\"2026-01-03\"}}",
         "2026-01-01", "2026-01-09", "2026-06-01", "01-02 01-03", "01-03 01-02"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        expect_dates(CASES[i].keys, CASES[i].from, CASES[i].to, CASES[i].until, false,
                     CASES[i].oldest_first);
        expect_dates(CASES[i].keys, CASES[i].from, CASES[i].to, CASES[i].until, true,
                     CASES[i].newest_first);
    }
}

Test(backfill, what_goes_on_is_never_redone)
{
    static const enum backfill_action WANTED[REDO_COUNT][RUN_STATE_COUNT] = {
        [REDO_NONE] = {ACTION_KEEP, ACTION_KEEP, ACTION_KEEP, ACTION_KEEP, ACTION_KEEP},
        [REDO_FAILED] = {[RUN_QUEUED] = ACTION_KEEP,
                         [RUN_RUNNING] = ACTION_KEEP,
                         [RUN_SUCCESS] = ACTION_KEEP,
                         [RUN_FAILED] = ACTION_REDO,
                         [RUN_CANCELLED] = ACTION_REDO},
        [REDO_ALL] = {[RUN_QUEUED] = ACTION_KEEP,
                      [RUN_RUNNING] = ACTION_KEEP,
                      [RUN_SUCCESS] = ACTION_REDO,
                      [RUN_FAILED] = ACTION_REDO,
                      [RUN_CANCELLED] = ACTION_REDO},
    };
    for (enum backfill_redo redo = 0; redo < REDO_COUNT; redo++)
        for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
            cr_expect_eq(backfill_decide(redo, state), WANTED[redo][state], "%s, %s",
                         backfill_redo_name(redo), run_state_name(state));
}

Test(backfill, only_the_listed_changes_can_be_made)
{
    static const enum backfill_state NO = BACKFILL_STATE_COUNT;
    const enum backfill_state wanted[VERB_COUNT][BACKFILL_STATE_COUNT] = {
        [VERB_APPROVE] = {BACKFILL_RUNNING, NO, NO, NO, NO, NO, NO},
        [VERB_PAUSE] = {NO, BACKFILL_PAUSED, NO, NO, NO, NO, NO},
        [VERB_RESUME] = {NO, NO, BACKFILL_RUNNING, NO, NO, NO, NO},
        [VERB_CANCEL] = {BACKFILL_CANCELLED, BACKFILL_CANCELLING, BACKFILL_CANCELLING,
                         BACKFILL_CANCELLING, NO, NO, NO},
    };
    for (enum backfill_verb verb = 0; verb < VERB_COUNT; verb++) {
        for (enum backfill_state from = 0; from < BACKFILL_STATE_COUNT; from++) {
            enum backfill_state to = NO;
            bool can = backfill_verb_leads(verb, from, &to);
            cr_expect_eq(to, wanted[verb][from], "%s from %s", backfill_verb_name(verb),
                         backfill_state_name(from));
            cr_expect_eq(can, wanted[verb][from] != NO);
        }
    }
}

Test(backfill, every_name_is_read_as_it_is_written)
{
    for (enum backfill_state i = 0; i < BACKFILL_STATE_COUNT; i++) {
        enum backfill_state state = BACKFILL_STATE_COUNT;
        cr_expect(backfill_state_parse(backfill_state_name(i), &state) && state == i);
    }
    for (enum backfill_redo i = 0; i < REDO_COUNT; i++) {
        enum backfill_redo redo = REDO_COUNT;
        cr_expect(backfill_redo_parse(backfill_redo_name(i), &redo) && redo == i);
    }
    for (enum backfill_verb i = 0; i < VERB_COUNT; i++) {
        enum backfill_verb verb = VERB_COUNT;
        cr_expect(backfill_verb_parse(backfill_verb_name(i), &verb) && verb == i);
    }
    enum backfill_redo redo;
    cr_expect_not(backfill_redo_parse("some", &redo));
}

Test(backfill, the_verdict_is_that_of_its_own_runs)
{
    cr_expect_eq(backfill_verdict(BACKFILL_RUNNING, 0, 0), BACKFILL_SUCCESS);
    cr_expect_eq(backfill_verdict(BACKFILL_RUNNING, 1, 0), BACKFILL_FAILED);
    cr_expect_eq(backfill_verdict(BACKFILL_PAUSED, 0, 1), BACKFILL_FAILED);
    cr_expect_eq(backfill_verdict(BACKFILL_CANCELLING, 0, 0), BACKFILL_CANCELLED);
}

Test(backfill, an_estimate_counts_rounds)
{
    cr_expect_eq(backfill_estimate_ms(0, 4, 1000), 0);
    cr_expect_eq(backfill_estimate_ms(4, 4, 1000), 1000);
    cr_expect_eq(backfill_estimate_ms(5, 4, 1000), 2000);
    cr_expect_eq(backfill_estimate_ms(INT64_MAX, 1, 1000), INT64_MAX);
}
