#include "base/arena.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/cron.h"
#include "model/wall.h"
#include "model/zone.h"

static const char BERLIN[] = "CET-1CEST,M3.5.0,M10.5.0/3";

static int64_t us(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

struct question {
    const char *cron;
    const char *rule;
    struct wall_rules rules;
    const char *from; /* not included */
    const char *to;   /* included */
};

/* Hours and minutes UTC of the ticks, "00:30 01:00". Backwards must give the same. */
static void ticks(const struct question *question, struct strbuf *out)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct cron cron;
    struct wall wall = {.cron = &cron, .rules = question->rules};
    struct err err = {0};
    size_t offset = 0;
    int64_t list[64];
    size_t count = 0;
    EXPECT_OK(cron_parse(question->cron, &cron, &offset, &err), &err);
    EXPECT_OK(zone_parse_rule(arena, question->rule, &wall.zone, &err), &err);
    int64_t at_us = us(question->from);
    while (wall_next(&wall, at_us, &at_us) && at_us <= us(question->to)) {
        struct civil civil = civil_from_instant(at_us);
        strbuf_addf(out, "%s%02u:%02u", out->length > 0 ? " " : "", civil.hour, civil.minute);
        cr_assert_lt(count, ARRAY_LEN(list));
        list[count++] = at_us;
    }
    at_us = us(question->to) + 1;
    while (wall_previous(&wall, at_us, &at_us) && at_us > us(question->from)) {
        cr_assert_gt(count, 0, "%s", question->cron);
        cr_expect_eq(list[--count], at_us, "%s", question->cron);
    }
    cr_expect_eq(count, 0, "%s", question->cron);
}

/* 02:00 to 03:00 is skipped at 01:00 UTC of 29 March and repeated from 01:00 UTC of 25 October. */
Test(wall, skipped_and_repeated_times_follow_their_rule)
{
    static const struct {
        const char *cron;
        struct wall_rules rules;
        bool autumn;
        const char *ticks;
    } CASES[] = {
        {"30 2 * * *", {0}, false, "01:00"},
        {"30 2 * * *", {WALL_GAP_NEXT, 0}, false, "01:00"},
        {"30 2 * * *", {WALL_GAP_SKIP, 0}, false, ""},
        {"30 2,3 * * *", {0}, false, "01:00 01:30"},
        {"0 2,3 * * *", {0}, false, "01:00"},
        {"*/15 2 * * *", {0}, false, "01:00"},
        {"*/30 * * * *", {0}, false, "23:30 00:00 00:30 01:00 01:30 02:00 02:30 03:00"},
        {"30 * * * *", {0}, false, "23:30 00:30 01:30 02:30"},
        {"30 * * * *", {WALL_GAP_NEXT, 0}, false, "23:30 00:30 01:00 01:30 02:30"},
        {"30 2 * * *", {0}, true, "00:30"},
        {"30 2 * * *", {0, WALL_OVERLAP_FIRST}, true, "00:30"},
        {"30 2 * * *", {0, WALL_OVERLAP_SECOND}, true, "01:30"},
        {"30 2 * * *", {0, WALL_OVERLAP_BOTH}, true, "00:30 01:30"},
        {"0 2,3 * * *", {0}, true, "00:00 02:00"},
        {"0 2,3 * * *", {0, WALL_OVERLAP_SECOND}, true, "01:00 02:00"},
        {"*/30 1-3 * * *", {0}, true, "23:30 00:00 00:30 02:00 02:30"},
        {"*/30 * * * *", {0}, true, "23:30 00:00 00:30 01:00 01:30 02:00 02:30 03:00"},
        {"30 * * * *", {0, WALL_OVERLAP_FIRST}, true, "23:30 00:30 02:30"},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        CLEANUP(strbuf_fini) struct strbuf out;
        strbuf_init(&out, 1000);
        struct question question = {
            .cron = CASES[i].cron,
            .rule = BERLIN,
            .rules = CASES[i].rules,
            .from = CASES[i].autumn ? "2026-10-24T23:00:00Z" : "2026-03-28T23:00:00Z",
            .to = CASES[i].autumn ? "2026-10-25T03:00:00Z" : "2026-03-29T03:00:00Z",
        };
        ticks(&question, &out);
        cr_expect_str_eq(out.text, CASES[i].ticks, "%s in %s: %s, not %s", CASES[i].cron,
                         CASES[i].autumn ? "autumn" : "spring", out.text, CASES[i].ticks);
    }
}

Test(wall, a_day_that_begins_late_still_has_its_midnight)
{
    /* Clocks go from 23:59:59 to 01:00, as they did in Sao Paulo. */
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, 1000);
    struct question question = {
        .cron = "@daily",
        .rule = "BRT3BRST,M10.3.0/0,M2.3.0/0",
        .from = "2026-10-17T12:00:00Z",
        .to = "2026-10-19T12:00:00Z",
    };

    ticks(&question, &out);

    EXPECT_STR("03:00 02:00", out.text);
}

Test(wall, searching_ends)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct cron cron;
    struct wall wall = {.cron = &cron, .rules = {.gap = WALL_GAP_SKIP}};
    struct err err = {0};
    size_t offset = 0;
    int64_t at_us = 77;
    /* Always in the gap. */
    EXPECT_OK(cron_parse("30 2 ? 3 0L", &cron, &offset, &err), &err);
    EXPECT_OK(zone_parse_rule(arena, BERLIN, &wall.zone, &err), &err);

    cr_expect(!wall_next(&wall, us("2026-01-01"), &at_us));
    cr_expect(!wall_previous(&wall, us("2026-01-01"), &at_us));
    cr_expect_eq(at_us, 77);
    EXPECT_OK(cron_parse("* * * * *", &cron, &offset, &err), &err);
    cr_expect(!wall_next(&wall, us("9999-12-31T23:59:59Z"), &at_us));
    cr_expect(!wall_next(&wall, INT64_MAX, &at_us));
    cr_expect(!wall_previous(&wall, INT64_MIN, &at_us));
    cr_assert(wall_next(&wall, INT64_MIN, &at_us));
    cr_assert(wall_previous(&wall, INT64_MAX, &at_us));
}

Test(wall, ticks_are_strictly_after_and_before)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct cron cron;
    struct wall wall = {.cron = &cron};
    struct err err = {0};
    size_t offset = 0;
    int64_t at_us = 0;
    EXPECT_OK(cron_parse("* * * * * *", &cron, &offset, &err), &err);
    EXPECT_OK(zone_parse_rule(arena, "UTC0", &wall.zone, &err), &err);

    cr_assert(wall_next(&wall, 5000000, &at_us));
    cr_expect_eq(at_us, 6000000);
    cr_assert(wall_next(&wall, 4999999, &at_us));
    cr_expect_eq(at_us, 5000000);
    cr_assert(wall_previous(&wall, 5000000, &at_us));
    cr_expect_eq(at_us, 4000000);
    cr_assert(wall_previous(&wall, 5000001, &at_us));
    cr_expect_eq(at_us, 5000000);
    cr_assert(wall_previous(&wall, -1, &at_us));
    cr_expect_eq(at_us, -1000000);
}
