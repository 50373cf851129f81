#pragma once
/*
 * schedule_fields: every key of a schedule, as tables like those of dag_fields.h.
 */
#include "model/dag_fields.h"
#include "model/duration.h"
#include "model/timetable.h"
#include "model/wall.h"

enum schedule_key {
    SCHEDULE_KEY_CRON,
    SCHEDULE_KEY_EVERY,
    SCHEDULE_KEY_AT,
    SCHEDULE_KEY_TZ,
    SCHEDULE_KEY_START,
    SCHEDULE_KEY_END,
    SCHEDULE_KEY_CATCHUP,
    SCHEDULE_KEY_DST,
    SCHEDULE_KEY_GRACE,
    SCHEDULE_KEY_OVERLAP,
    SCHEDULE_KEY_DATE,
    SCHEDULE_KEY_DATASETS, /* from here on events, which others read */
    SCHEDULE_KEY_AFTER,
    SCHEDULE_KEY_FILE,
    SCHEDULE_KEY_WEBHOOK,
    SCHEDULE_KEY_COUNT
};

extern const struct field_table SCHEDULE_FIELDS; /* by key; offsets in struct timetable_policy */
extern const struct field_table DST_FIELDS;      /* offsets in struct wall_rules */
