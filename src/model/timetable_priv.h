#pragma once
/*
 * timetable_priv: one line of a timetable.
 */
#include <stdint.h>

#include "model/cron.h"
#include "model/timetable.h"
#include "model/wall.h"

enum schedule_kind { SCHEDULE_CRON, SCHEDULE_EVERY, SCHEDULE_AT };

struct schedule {
    enum schedule_kind kind;
    struct cron cron;
    const struct zone *zone;
    struct wall_rules dst;
    int64_t every_us;
    int64_t anchor_us; /* one of the ticks of an interval */
    int64_t *at_us;    /* listed, ascending, each once */
    size_t at_count;
    int64_t start_us; /* bounds of the logical date, both included */
    int64_t end_us;
    int64_t first_us; /* the same for its ticks */
    int64_t last_us;
};

/* Find the bounds of the ticks, once the rule for dates is known. */
void schedule_bound(struct schedule *schedule, enum date_rule date);
