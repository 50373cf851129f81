#include "model/sensor.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/attempt.h"
#include "model/dag.h"
#include "model/duration.h"
#include "model/run_state.h"
#include "model/sensor_fields.h"
#include "model/zone.h"

static const int64_t US_PER_DAY = (int64_t)86400 * 1000 * 1000;

static const char *const KEYS[] = {
#define X(name, key) [SENSOR_##name] = key,
    SENSOR_KIND_MAP(X)
#undef X
};
_Static_assert(ARRAY_LEN(KEYS) == SENSOR_KIND_COUNT, "every kind has a key");

const char *sensor_kind_key(enum sensor_kind kind)
{
    CHECK(kind < SENSOR_KIND_COUNT);
    return KEYS[kind];
}

/* --- settings -------------------------------------------------------------------------------- */

static int64_t duration_of(const json_t *settings, const char *key, int64_t otherwise)
{
    int64_t ms = 0;
    const char *text = json_get_string(settings, key, NULL);
    return text != NULL && duration_parse(text, &ms) ? ms : otherwise;
}

static unsigned load_states(const json_t *list, bool of_task)
{
    unsigned states = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        unsigned bit = 0;
        const char *name = json_string_value(json_array_get(list, i));
        if (name != NULL && sensor_state_parse(name, of_task, &bit))
            states |= bit;
    }
    return states != 0 ? states : 1u << (of_task ? (unsigned)TASK_SUCCESS : (unsigned)RUN_SUCCESS);
}

void sensor_load(const json_t *settings, struct sensor *out)
{
    *out = (struct sensor){.kind = SENSOR_KIND_COUNT};
    for (enum sensor_kind kind = 0; kind < SENSOR_KIND_COUNT; kind++) {
        const char *text = json_get_string(settings, KEYS[kind], NULL);
        if (text == NULL)
            continue;
        out->kind = kind;
        out->text = text;
    }
    CHECK(out->kind < SENSOR_KIND_COUNT);
    const json_t *backoff = json_object_get(settings, "backoff");
    out->tz = json_get_string(settings, "tz", "UTC");
    out->task = json_get_string(settings, "task", NULL);
    if (!sensor_date_parse(json_get_string(settings, "date", "same"), &out->date, &out->offset_ms))
        out->date = SENSOR_DATE_SAME;
    out->states = load_states(json_object_get(settings, "states"), out->task != NULL);
    out->not_yet = json_object_get(settings, "not_yet");
    out->every_ms = duration_of(settings, "every", SENSOR_EVERY_MS);
    out->backoff = json_is_number(backoff) ? json_number_value(backoff) : 1;
    out->every_max_ms = duration_of(settings, "max_every", SENSOR_EVERY_MAX_MS);
    out->timeout_ms = duration_of(settings, "timeout", 0);
    out->soft_fail = json_get_bool(settings, "soft_fail", false);
    out->is_poke = str_equal(json_get_string(settings, "mode", NULL), "poke");
}

bool sensor_needs_slot(const struct task_def *task)
{
    if (task->kind != KIND_SENSOR)
        return false;
    return json_object_get(task->settings, KEYS[SENSOR_RUN]) != NULL ||
           str_equal(json_get_string(task->settings, "mode", NULL), "poke");
}

int64_t sensor_hold_ms(const struct task_def *task)
{
    struct sensor sensor;
    int64_t ms = 0;
    if (task->kind != KIND_SENSOR)
        return 0;
    sensor_load(task->settings, &sensor);
    if (!sensor.is_poke || sensor.timeout_ms > 0)
        return sensor.is_poke ? sensor.timeout_ms : 0;
    return sensor.kind == SENSOR_DURATION && duration_parse(sensor.text, &ms) ? ms : 0;
}

bool sensor_state_parse(const char *name, bool of_task, unsigned *out_bit)
{
    enum task_state task = TASK_NONE;
    enum run_state run = RUN_QUEUED;
    if (of_task && task_state_parse(name, &task) && task_state_is_final(task))
        *out_bit = 1u << task;
    else if (!of_task && run_state_parse(name, &run) && run_state_is_final(run))
        *out_bit = 1u << run;
    else
        return false;
    return true;
}

bool sensor_date_parse(const char *text, enum sensor_date *out, int64_t *out_offset_ms)
{
    int64_t ms = 0;
    bool is_signed = text[0] == '-' || text[0] == '+';
    if (str_equal(text, "same"))
        *out = SENSOR_DATE_SAME;
    else if (str_equal(text, "latest"))
        *out = SENSOR_DATE_LATEST;
    else if (is_signed && duration_parse(text + 1, &ms))
        *out = SENSOR_DATE_OFFSET;
    else
        return false;
    *out_offset_ms = text[0] == '-' ? -ms : ms;
    return true;
}

/* --- times ----------------------------------------------------------------------------------- */

static bool two_digits(const char *text, unsigned most, unsigned *out)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
        return false;
    *out = (unsigned)(text[0] - '0') * 10 + (unsigned)(text[1] - '0');
    return *out <= most;
}

/* As microseconds of the day. */
static bool parse_clock(const char *text, int64_t *out_us)
{
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    size_t length = strlen(text);
    if ((length != 5 && length != 8) || text[2] != ':' || !two_digits(text, 23, &hour) ||
        !two_digits(text + 3, 59, &minute))
        return false;
    if (length == 8 && (text[5] != ':' || !two_digits(text + 6, 59, &second)))
        return false;
    *out_us = ((int64_t)hour * 3600 + (int64_t)minute * 60 + second) * 1000000;
    return true;
}

bool sensor_time_parse(const char *text, const struct zone *zone, int64_t now_us, int64_t *out_us)
{
    int64_t at_us = 0;
    struct instant_form form = {0};
    if (parse_clock(text, &at_us)) {
        int64_t shown_us = now_us + (int64_t)zone_offset_at(zone, now_us) * 1000000;
        int64_t into_day_us = shown_us % US_PER_DAY;
        int64_t day_us = shown_us - into_day_us - (into_day_us < 0 ? US_PER_DAY : 0);
        *out_us = zone_local_to_utc(zone, day_us + at_us).valid_us;
        return true;
    }
    if (!instant_parse_form(text, &at_us, &form))
        return false;
    *out_us = form.has_offset ? at_us : zone_local_to_utc(zone, at_us).valid_us;
    return true;
}

int64_t sensor_interval_after_ms(int64_t before_ms, double backoff, int64_t every_max_ms)
{
    if (backoff <= 1 || before_ms >= every_max_ms)
        return before_ms;
    return (int64_t)MIN((double)before_ms * backoff, (double)every_max_ms);
}

int64_t sensor_interval_ms(const struct sensor *sensor, int64_t looks)
{
    int64_t interval_ms = sensor->every_ms;
    for (int64_t i = 0; i < looks && sensor->backoff > 1 && interval_ms < sensor->every_max_ms; i++)
        interval_ms = sensor_interval_after_ms(interval_ms, sensor->backoff, sensor->every_max_ms);
    return interval_ms;
}

/* --- how an attempt ended -------------------------------------------------------------------- */

static bool has_code(const json_t *codes, int code)
{
    if (codes == NULL)
        return code == 1 || code == 99;
    for (size_t i = 0; i < json_array_size(codes); i++)
        if (json_integer_value(json_array_get(codes, i)) == code)
            return true;
    return false;
}

bool sensor_is_not_yet(const struct task_def *task, const struct attempt_end *end)
{
    struct sensor sensor;
    if (task->kind != KIND_SENSOR || end->reason != REASON_EXIT)
        return false;
    sensor_load(task->settings, &sensor);
    return sensor.kind == SENSOR_RUN && !sensor.is_poke && has_code(sensor.not_yet, end->exit_code);
}

bool sensor_is_timeout(const struct task_def *task, const struct attempt_end *end)
{
    struct sensor sensor;
    if (task->kind != KIND_SENSOR || end->reason != REASON_TIMEOUT)
        return false;
    sensor_load(task->settings, &sensor);
    bool is_first = task->timeout_ms == 0 || sensor.timeout_ms <= task->timeout_ms;
    return sensor.is_poke && sensor.timeout_ms > 0 && is_first;
}

/* --- while it waits -------------------------------------------------------------------------- */

static bool has_target(enum sensor_kind kind)
{
    return kind == SENSOR_TIME || kind == SENSOR_DURATION || kind == SENSOR_RUN;
}

int64_t wait_due_us(enum sensor_kind kind, const struct wait_times *times)
{
    if (!has_target(kind))
        return times->deadline_us;
    return times->deadline_us != 0 ? MIN(times->target_us, times->deadline_us) : times->target_us;
}

enum wait_verdict wait_decide(enum sensor_kind kind, const struct wait_times *times, int64_t now_us)
{
    bool is_in_time = times->deadline_us == 0 || times->target_us <= times->deadline_us;
    if (has_target(kind) && is_in_time && times->target_us <= now_us)
        return kind == SENSOR_RUN ? WAIT_LOOK : WAIT_MET;
    bool is_over = times->deadline_us != 0 && times->deadline_us <= now_us;
    return is_over ? WAIT_TIMEOUT : WAIT_ON;
}
