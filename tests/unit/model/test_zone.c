#include "base/arena.h"
#include "base/clock.h"
#include "expect.h"
#include "model/limits.h"
#include "model/zone.h"
#include "zone_bytes.h"

static int64_t us(const char *text)
{
    int64_t at_us = 0;
    cr_assert(instant_parse(text, &at_us), "%s", text);
    return at_us;
}

static void expect_instant(const char *wanted, int64_t at_us)
{
    char text[INSTANT_TEXT_MAX];
    EXPECT_STR(wanted, instant_format(at_us, text));
}

Test(zone, rules_say_when_clocks_change)
{
    static const struct {
        const char *rule;
        const char *at;
        int32_t offset_s;
    } CASES[] = {
        {"UTC0", "2026-07-01", 0},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 3600},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 7200},
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 3600},
        {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -18000},
        {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400},
        {"EST5EDT", "2026-07-01", -14400},
        /* The south: summer goes over the end of the year. */
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01", 39600},
        {"AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01", 36000},
        /* Names in <>, half hours, an offset of its own for summer. */
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-01-01", 39600},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-07-01", 37800},
        /* Days by number: J60 is 1 March in every year, 59 only in some. */
        {"AAA0BBB,J60/0,J300", "2024-02-29T23:59:59Z", 0},
        {"AAA0BBB,J60/0,J300", "2024-03-01T00:00:00Z", 3600},
        {"AAA0BBB,J60/0,J300", "2025-02-28T23:59:59Z", 0},
        {"AAA0BBB,J60/0,J300", "2025-03-01T00:00:00Z", 3600},
        {"AAA0BBB,J59/0,J300", "2024-02-28T00:00:00Z", 3600},
        {"AAA0BBB,59/0,300", "2024-02-29T00:00:00Z", 3600},
        {"AAA0BBB,59/0,300", "2025-03-01T00:00:00Z", 3600},
        {"AAA0BBB,59/0,300", "2025-02-28T23:59:59Z", 0},
        /* Times before and beyond the day. */
        {"AAA0BBB,M3.5.0/-2,M10.5.0", "2026-03-28T21:59:59Z", 0},
        {"AAA0BBB,M3.5.0/-2,M10.5.0", "2026-03-28T22:00:00Z", 3600},
        {"AAA0BBB,M3.4.4/50,M10.5.0", "2026-03-28T01:59:59Z", 0},
        {"AAA0BBB,M3.4.4/50,M10.5.0", "2026-03-28T02:00:00Z", 3600},
        /* Summer for ever. */
        {"XXX3EDT4,0/0,J365/23", "2026-01-01T03:00:00Z", -14400},
        {"XXX3EDT4,0/0,J365/23", "2026-12-31T23:59:59Z", -14400},
        {"XXX3EDT4,0/0,J365/23", "2027-01-01T05:00:00Z", -14400},
        {"XXX3EDT4,0/0,J365/23", "2026-07-01T05:00:00Z", -14400},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct zone *zone = NULL;
        struct err err = {0};
        EXPECT_OK(zone_parse_rule(arena, CASES[i].rule, &zone, &err), &err);
        int32_t offset_s = zone_offset_at(zone, us(CASES[i].at));
        cr_expect_eq(offset_s, CASES[i].offset_s, "%s at %s: %d", CASES[i].rule, CASES[i].at,
                     offset_s);
    }
}

Test(zone, what_is_no_rule_is_refused)
{
    static const char *const BAD[] = {
        "",
        "CE-1",
        "CET",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M3.5.0,M10.5.0/3,",
        "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J365",
        "CET-1CEST,J366,J365",
        "CET-1CEST,366,1",
        "CET-1CEST,M3.5.0/168,M10.5.0",
        "CET-25",
        "CET-1:60",
        "<+1-1",
        "<>-1",
        "CET-1 CEST",
        "99999999999999999999",
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
        const struct zone *zone = NULL;
        struct err err = {0};
        cr_expect_eq(zone_parse_rule(arena, BAD[i], &zone, &err), STATUS_INVALID, "%s", BAD[i]);
        cr_expect_null(zone);
    }
}

Test(zone, a_time_is_shown_never_once_or_twice)
{
    static const struct {
        const char *shown;
        const char *first;
        const char *second;
        const char *valid;
    } CASES[] = {
        {"2026-01-15T12:00:00", "2026-01-15T11:00:00Z", NULL, "2026-01-15T11:00:00Z"},
        {"2026-03-29T01:59:59", "2026-03-29T00:59:59Z", NULL, "2026-03-29T00:59:59Z"},
        {"2026-03-29T02:00:00", NULL, NULL, "2026-03-29T01:00:00Z"},
        {"2026-03-29T02:59:59", NULL, NULL, "2026-03-29T01:00:00Z"},
        {"2026-03-29T03:00:00", "2026-03-29T01:00:00Z", NULL, "2026-03-29T01:00:00Z"},
        {"2026-10-25T01:59:59", "2026-10-24T23:59:59Z", NULL, "2026-10-24T23:59:59Z"},
        {"2026-10-25T02:00:00", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z",
         "2026-10-25T00:00:00Z"},
        {"2026-10-25T03:00:00", "2026-10-25T02:00:00Z", NULL, "2026-10-25T02:00:00Z"},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};
    EXPECT_OK(zone_parse_rule(arena, "CET-1CEST,M3.5.0,M10.5.0/3", &zone, &err), &err);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct zone_instants found = zone_local_to_utc(zone, us(CASES[i].shown));
        unsigned count = (CASES[i].first != NULL) + (CASES[i].second != NULL);
        cr_assert_eq(found.count, count, "%s: %u", CASES[i].shown, found.count);
        if (count > 0)
            expect_instant(CASES[i].first, found.at_us[0]);
        if (count > 1)
            expect_instant(CASES[i].second, found.at_us[1]);
        expect_instant(CASES[i].valid, found.valid_us);
    }
}

/* Three transitions, of which the first is as long ago as the Big Bang in some files. */
static const int64_t TIMES[] = {-(INT64_C(1) << 59), 0, 1000000000};
static const uint8_t TYPES[] = {0, 1, 2};
static const int32_t OFFSETS[] = {1234, 3600, 7200};
static const struct zone_bytes_part PART = {8, 3, TIMES, TYPES, 3, OFFSETS, 0};
static const int64_t TIMES_32[] = {0, 1000000000};
static const uint8_t TYPES_32[] = {1, 2};
static const struct zone_bytes_part PART_32 = {4, 2, TIMES_32, TYPES_32, 3, OFFSETS, 0};

static enum status parse(struct arena *arena, const struct zone_bytes *bytes,
                         const struct zone **out, struct err *err)
{
    /* On the heap, so that reading past the end is seen. */
    CLEANUP(mem_freep) uint8_t *copy = mem_alloc(bytes->length + 1);
    copy = mem_resize(copy, bytes->length > 0 ? bytes->length : 1, 1);
    memcpy(copy, bytes->bytes, bytes->length);
    return zone_parse(arena, copy, bytes->length, out, err);
}

static struct zone_bytes good_file(void)
{
    struct zone_bytes bytes = {.length = 0};
    zone_bytes_part(&bytes, '3', &PART_32);
    zone_bytes_part(&bytes, '3', &PART);
    zone_bytes_add(&bytes, "\nAAA-2BBB,M3.5.0,M10.5.0/3\n", 27);
    return bytes;
}

Test(zone, a_file_has_transitions_and_then_a_rule)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};
    struct zone_bytes bytes = good_file();
    EXPECT_OK(parse(arena, &bytes, &zone, &err), &err);

    cr_expect_eq(zone_offset_at(zone, -1), 1234);
    cr_expect_eq(zone_offset_at(zone, 0), 3600);
    cr_expect_eq(zone_offset_at(zone, 999999999999999), 3600);
    cr_expect_eq(zone_offset_at(zone, us("2026-01-01")), 7200);
    cr_expect_eq(zone_offset_at(zone, us("2026-07-01")), 10800);
    struct zone_span span = zone_span_at(zone, 5);
    cr_expect_eq(span.from_us, 0);
    cr_expect_eq(span.to_us, INT64_C(1000000000) * 1000000);
    cr_expect_eq(zone_span_at(zone, -1).from_us, ZONE_NEVER_US);
    cr_expect_eq(zone_span_at(zone, span.to_us).from_us, span.to_us);
}

Test(zone, a_file_of_version_1_has_times_of_32_bits)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};
    struct zone_bytes bytes = {.length = 0};
    zone_bytes_part(&bytes, '\0', &PART_32);
    EXPECT_OK(parse(arena, &bytes, &zone, &err), &err);

    cr_expect_eq(zone_offset_at(zone, -1), 1234);
    cr_expect_eq(zone_offset_at(zone, 5), 3600);
    cr_expect_eq(zone_offset_at(zone, us("2026-07-01")), 7200);
    cr_expect_eq(zone_span_at(zone, us("2026-07-01")).to_us, ZONE_FOREVER_US);
}

Test(zone, a_file_that_is_cut_off_anywhere_is_refused)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct zone_bytes whole = good_file();
    for (size_t length = 0; length < whole.length; length++) {
        struct zone_bytes part = whole;
        const struct zone *zone = NULL;
        struct err err = {0};
        part.length = length;
        cr_expect_eq(parse(arena, &part, &zone, &err), STATUS_INVALID, "%zu bytes", length);
        cr_expect_null(zone);
    }
}

Test(zone, bytes_that_cannot_be_are_refused)
{
    static const int64_t BACKWARDS[] = {5, 4};
    static const int32_t TOO_FAR[] = {0, 26 * 3600 + 1};
    static const uint8_t BOTH[] = {0, 1};
    static const uint8_t MISSING[] = {0, 2};
    const struct {
        struct zone_bytes_part part;
        const char *says;
    } CASES[] = {
        {{4, 2, BACKWARDS, BOTH, 2, OFFSETS, 0}, "not in order"},
        {{4, 2, TIMES_32, MISSING, 2, OFFSETS, 0}, "a type that is not there"},
        {{4, 2, TIMES_32, BOTH, 2, TOO_FAR, 0}, "an offset of 93601 seconds"},
        {{4, 0, TIMES_32, BOTH, 0, OFFSETS, 0}, "header"},
        {{4, 0, TIMES_32, BOTH, 1, OFFSETS, 1}, "leap seconds"},
    };
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct zone *zone = NULL;
        struct err err = {0};
        struct zone_bytes bytes = {.length = 0};
        zone_bytes_part(&bytes, '\0', &CASES[i].part);
        EXPECT_STATUS(STATUS_INVALID, parse(arena, &bytes, &zone, &err), &err);
        EXPECT_CONTAINS(err.text, CASES[i].says);
    }
}

Test(zone, utc_needs_no_reader_and_others_do)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct zone *zone = NULL;
    struct err err = {0};

    EXPECT_OK(zone_find(arena, "UTC", NULL, &zone, &err), &err);
    cr_expect_eq(zone_offset_at(zone, us("2026-07-01")), 0);
    EXPECT_STATUS(STATUS_NOT_FOUND, zone_find(arena, "Europe/Berlin", NULL, &zone, &err), &err);
    EXPECT_OK(zone_find(arena, "Europe/Berlin", zone_bytes_read, &zone, &err), &err);
    cr_expect_eq(zone_offset_at(zone, us("2026-07-01")), 7200);
    EXPECT_STATUS(STATUS_NOT_FOUND, zone_find(arena, "Mars/Base", zone_bytes_read, &zone, &err),
                  &err);
}
