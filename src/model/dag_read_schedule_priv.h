#pragma once
/*
 * dag_read_schedule_priv: what the two halves of reading a schedule share: policy and form
 * (dag_read_schedule.c), and the ticks of one map (dag_read_ticks.c).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "model/dag_read_priv.h"
#include "model/schedule_fields.h"
#include "model/wall.h"

/* A date or an instant as it was written, before a zone says which. */
struct bound {
    struct placed placed;
    int64_t at_us;
    struct instant_form form;
};

struct builder {
    struct reader *r;
    struct timetable *timetable;
    struct bound start, end; /* of the DAG */
    uint64_t policy_given;   /* bit of each schedule_key that a map gave */
};

/* One map, or what stands for one. */
struct lines {
    struct placed keys[SCHEDULE_KEY_COUNT];
    const struct zone *zone;
    struct wall_rules dst;
    int64_t start_us;
    int64_t end_us;
    bool has_start;
};

/* A date or an instant; false after a problem, in which `key` names it, and *out has no value. */
bool lines_parse_instant(struct reader *r, const char *key, struct placed placed,
                         struct bound *out);
/* Zone, bounds and rules for skipped hours, out of the gathered keys. */
void lines_read_frame(struct builder *b, struct lines *lines);

/* Add the schedules of a key to the timetable. */
void lines_add_cron(struct builder *b, const struct lines *lines, struct placed placed);
/* `text` is the duration; NULL: the value is a number of seconds. */
void lines_add_every(struct builder *b, const struct lines *lines, struct placed placed,
                     const char *text);
void lines_add_listed(struct builder *b, const struct lines *lines, struct placed placed);
