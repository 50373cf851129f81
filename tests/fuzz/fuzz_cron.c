/*
 * Cron expressions: what parses has ticks that ascend, and the same ones backwards, also where
 * clocks change.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "fuzz.h"
#include "model/cron.h"
#include "model/wall.h"
#include "model/zone.h"

enum { TICKS = 6 };

static void walk(const struct wall *wall, int64_t from_us)
{
    int64_t ticks[TICKS];
    int64_t at_us = from_us;
    size_t count = 0;
    while (count < TICKS && wall_next(wall, at_us, &at_us)) {
        CHECK(at_us > (count > 0 ? ticks[count - 1] : from_us));
        ticks[count++] = at_us;
    }
    while (count > 1) {
        CHECK(wall_previous(wall, ticks[count - 1], &at_us));
        CHECK(at_us == ticks[--count - 1]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(mem_freep) char *text = mem_strndup((const char *)data, size);
    struct cron cron;
    struct wall wall = {.cron = &cron};
    struct err err = {0};
    size_t offset = 0;
    if (cron_parse(text, &cron, &offset, &err) != STATUS_OK) {
        CHECK(offset <= size);
        return 0;
    }
    CHECK(zone_parse_rule(arena, "CET-1CEST,M3.5.0,M10.5.0/3", &wall.zone, &err) == STATUS_OK);
    for (unsigned rules = 0; rules < 12; rules++) {
        wall.rules.gap = (enum wall_gap)(rules % 3);
        wall.rules.overlap = (enum wall_overlap)(rules / 3);
        walk(&wall, INT64_C(1774720000) * 1000000); /* a few hours before clocks go forward */
        walk(&wall, INT64_C(1792880000) * 1000000); /* and back */
    }
    return 0;
}
