/*
 * Time zones: files, and rules when the input is none. Whatever is read has spans without holes,
 * and a time on its clocks comes back from each instant that shows it.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/zone.h"

static const int64_t US_PER_SECOND = 1000000;

static void check_instants(const struct zone *zone, int64_t shown_us)
{
    struct zone_instants found = zone_local_to_utc(zone, shown_us);
    CHECK(found.count <= 2);
    for (unsigned i = 0; i < found.count; i++)
        CHECK(found.at_us[i] + zone_offset_at(zone, found.at_us[i]) * US_PER_SECOND == shown_us);
    if (found.count == 2)
        CHECK(found.at_us[0] < found.at_us[1]);
}

static void walk(const struct zone *zone, int64_t at_us)
{
    for (int i = 0; i < 50; i++) {
        struct zone_span span = zone_span_at(zone, at_us);
        CHECK(span.from_us <= at_us);
        CHECK(span.to_us > at_us);
        check_instants(zone, at_us);
        check_instants(zone, at_us + span.offset_s * US_PER_SECOND);
        if (span.to_us > at_us + INT64_C(20) * 366 * 86400 * US_PER_SECOND)
            return;
        at_us = span.to_us;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(mem_freep) char *text = mem_strndup((const char *)data, size);
    const struct zone *zone = NULL;
    struct err err = {0};
    if (zone_parse(arena, data, size, &zone, &err) != STATUS_OK &&
        zone_parse_rule(arena, text, &zone, &err) != STATUS_OK)
        return 0;
    walk(zone, INT64_C(-2000000000) * US_PER_SECOND);
    walk(zone, 0);
    walk(zone, INT64_C(4000000000) * US_PER_SECOND);
    return 0;
}
