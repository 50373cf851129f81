#pragma once
/*
 * sensor_fields: every key of a sensor, as a table like those of dag_fields.h.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/dag.h"
#include "model/dag_fields.h"

#define SENSOR_EVERY_MS     ((int64_t)60 * 1000)
#define SENSOR_EVERY_MAX_MS ((int64_t)60 * 60 * 1000)
#define SENSOR_TIMEOUT_MS   ((int64_t)60 * 60 * 1000)

/* What it waits for comes first, in the order of enum sensor_kind. */
enum sensor_key {
    SENSOR_KEY_FILE,
    SENSOR_KEY_TIME,
    SENSOR_KEY_DURATION,
    SENSOR_KEY_DAG,
    SENSOR_KEY_RUN,
    SENSOR_KEY_TZ,
    SENSOR_KEY_TASK,
    SENSOR_KEY_DATE,
    SENSOR_KEY_STATES,
    SENSOR_KEY_NOT_YET,
    SENSOR_KEY_EVERY,
    SENSOR_KEY_BACKOFF,
    SENSOR_KEY_MAX_EVERY,
    SENSOR_KEY_TIMEOUT,
    SENSOR_KEY_SOFT_FAIL,
    SENSOR_KEY_MODE,
    SENSOR_KEY_COUNT
};

enum sensor_mode { SENSOR_MODE_DEFER, SENSOR_MODE_RESCHEDULE, SENSOR_MODE_POKE };

/* What the rows that are not FIELD_OWN are read into. */
struct sensor_common {
    struct exit_codes not_yet;
    int64_t every_ms;
    double backoff;
    int64_t every_max_ms;
    int64_t timeout_ms;
    bool soft_fail;
    enum sensor_mode mode;
};

extern const struct field_table SENSOR_FIELDS; /* by enum sensor_key; offsets in sensor_common */
