#include "model/sensor_fields.h"

#include "model/duration.h"

static const char *const MODE_NAMES[] = {"defer", "reschedule", "poke"};
static const struct field_choices MODE_CHOICES = {ARRAY_LEN(MODE_NAMES), MODE_NAMES};
_Static_assert(SENSOR_MODE_POKE + 1 == ARRAY_LEN(MODE_NAMES), "a name for each");

#define OF(member) .offset = offsetof(struct sensor_common, member)

/* clang-format off */
static const struct dag_field ROWS[SENSOR_KEY_COUNT] = {
    [SENSOR_KEY_FILE] = {"file", NULL, FIELD_OWN,
        .doc = "a path, or a pattern with `*`, `?` or `[..]` of which one match is enough; relative to"
               " the DAG file"},
    [SENSOR_KEY_TIME] = {"time", NULL, FIELD_OWN,
        .doc = "a time of the day on which it became ready, such as 06:30, or an instant"},
    [SENSOR_KEY_DURATION] = {"duration", NULL, FIELD_OWN,
        .doc = "that long after the task became ready"},
    [SENSOR_KEY_DAG] = {"dag", "external_dag_id", FIELD_OWN,
        .doc = "a run of that DAG, or its `task`, has ended"},
    [SENSOR_KEY_RUN] = {"run", "command", FIELD_OWN,
        .doc = "a shell command: exit 0 means it is there, a code of `not_yet` that it is not"},
    [SENSOR_KEY_TZ] = {"tz", "timezone", FIELD_OWN, .doc = "time zone of `time`; default UTC"},
    [SENSOR_KEY_TASK] = {"task", "external_task_id", FIELD_OWN, .doc = "of `dag`: this task of it"},
    [SENSOR_KEY_DATE] = {"date", NULL, FIELD_OWN,
        .doc = "of `dag`: which run: `same` logical date, `latest`, or an offset such as -1d; default"
               " same"},
    [SENSOR_KEY_STATES] = {"states", "allowed_states", FIELD_OWN,
        .doc = "of `dag`: the states that count; default success"},
    [SENSOR_KEY_NOT_YET] = {"not_yet", NULL, FIELD_CODES, OF(not_yet),
        .doc = "of `run`: exit codes after which it looks again; default 1 and 99"},
    [SENSOR_KEY_EVERY] = {"every", "poke_interval", FIELD_DURATION, OF(every_ms),
        .most = DURATION_MS_MAX, .doc = "between two looks; default 60s"},
    [SENSOR_KEY_BACKOFF] = {"backoff", NULL, FIELD_NUMBER, OF(backoff), .least = 1, .most = 100,
        .doc = "each interval is so many times the one before; default 1"},
    [SENSOR_KEY_MAX_EVERY] = {"max_every", NULL, FIELD_DURATION, OF(every_max_ms),
        .most = DURATION_MS_MAX, .doc = "the longest interval with `backoff`; default 1h"},
    [SENSOR_KEY_TIMEOUT] = {"timeout", NULL, FIELD_DURATION, OF(timeout_ms),
        .most = DURATION_MS_MAX,
        .doc = "how long it may wait in all; default 1h, for `time` and `duration` none"},
    [SENSOR_KEY_SOFT_FAIL] = {"soft_fail", NULL, FIELD_FLAG, OF(soft_fail),
        .doc = "a timeout skips the task instead of failing it"},
    [SENSOR_KEY_MODE] = {"mode", NULL, FIELD_CHOICE, OF(mode), .choices = &MODE_CHOICES,
        .doc = "`defer` waits without a slot (also: `reschedule`), `poke` keeps one; default defer"},
};
/* clang-format on */

const struct field_table SENSOR_FIELDS = {"sensor", ARRAY_LEN(ROWS), ROWS};
