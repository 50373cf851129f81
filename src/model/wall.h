#pragma once
/*
 * wall: a cron expression on the clocks of a time zone. Pure.
 *
 * Clocks skip an hour in spring and repeat one in autumn. What becomes of a time in them is
 * said by struct wall_rules; times that fall on the same instant are one tick. With
 * WALL_..._AUTO an expression that names every hour follows elapsed time, so that "every 15
 * minutes" stays that: nothing for skipped times, both for repeated ones. Any other is
 * about what the clock shows: once, at the first instant after the gap, or at the first of the two.
 *
 * Tests  tests/unit/model/test_wall.c, tests/oracle
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

struct cron;
struct zone;

enum wall_gap { WALL_GAP_AUTO, WALL_GAP_NEXT, WALL_GAP_SKIP };
enum wall_overlap { WALL_OVERLAP_AUTO, WALL_OVERLAP_FIRST, WALL_OVERLAP_SECOND, WALL_OVERLAP_BOTH };

struct wall_rules {
    enum wall_gap gap;
    enum wall_overlap overlap;
};

struct wall {
    const struct cron *cron;
    const struct zone *zone;
    struct wall_rules rules;
};

/*
 * The first tick after, or the last before, an instant; neither includes it. False when there is
 * none within WALL_YEARS or the years 1 to 9999.
 */
enum { WALL_YEARS = 50 }; /* 29 February on a given weekday may be 40 years away */
NODISCARD bool wall_next(const struct wall *wall, int64_t after_us, int64_t *out_us);
NODISCARD bool wall_previous(const struct wall *wall, int64_t before_us, int64_t *out_us);
