/*
 * dag_read_sensor: what a sensor waits for, and how.
 *
 * Canonical form: an object with one of file, time, duration, dag, run, and of the other keys
 * those that say something else than the default; `timeout` always unless there is none.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/duration.h"
#include "model/sensor.h"
#include "model/sensor_fields.h"
#include "model/template.h"

enum { EVERY_MS_LEAST = 100 };

struct sensor_draft {
    struct reader *r;
    struct placed keys[SENSOR_KEY_COUNT];
    struct sensor_common common;
    enum sensor_kind kind;
    json_t *settings;
};

/* What later versions may wait for; a hint is better than a spelling suggestion. */
static bool is_missing_kind(const char *key)
{
    static const char *const KINDS[] = {"http", "sql", "s3", "message"};
    for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
        if (strcmp(KINDS[i], key) == 0)
            return true;
    return false;
}

static void gather(struct sensor_draft *draft, const json_t *map)
{
    struct spot at = {map, 0};
    for (READER_EACH(map, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(&SENSOR_FIELDS, key);
        if (field == NULL && is_missing_kind(key)) {
            reader_problem_at_key(draft->r, at,
                                  "a sensor cannot wait for '%s' in this version: there are file, "
                                  "time, duration, dag and run",
                                  key);
            continue;
        }
        if (field == NULL) {
            reader_unknown_key(draft->r, &SENSOR_FIELDS, at, key, false);
            continue;
        }
        struct placed *placed = &draft->keys[field - SENSOR_FIELDS.fields];
        if (placed->value != NULL)
            reader_problem_at_key(
                draft->r, at, "'%s' is there twice, also by its other name: keep one", field->key);
        *placed = (struct placed){at, json_object_iter_value(iter)};
    }
}

/* Exactly one thing to wait for. */
static bool choose_kind(struct sensor_draft *draft, struct spot spot)
{
    size_t found = 0;
    for (enum sensor_kind kind = 0; kind < SENSOR_KIND_COUNT; kind++) {
        const struct placed *placed = &draft->keys[kind];
        if (placed->value == NULL)
            continue;
        if (found++ > 0)
            reader_problem_at_key(draft->r, placed->spot,
                                  "a sensor waits for one thing, and this one has '%s' already: "
                                  "use two sensors",
                                  sensor_kind_key(draft->kind));
        else
            draft->kind = kind;
    }
    if (found == 0)
        reader_problem(draft->r, spot,
                       "'sensor': say what it waits for: file, time, duration, dag or run");
    return found == 1;
}

/* --- texts ----------------------------------------------------------------------------------- */

/* A text of any kind, kept; NULL after a problem. */
static const char *read_text(struct sensor_draft *draft, enum sensor_key key, bool is_template)
{
    const struct placed *placed = &draft->keys[key];
    const char *name = SENSOR_FIELDS.fields[key].key;
    const char *text = json_string_value(placed->value);
    if (text == NULL) {
        reader_mismatch(draft->r, placed->spot, name, "a string", placed->value);
        return NULL;
    }
    if (text[strspn(text, " \t\r\n")] == '\0') {
        reader_problem(draft->r, placed->spot, "'%s' is empty", name);
        return NULL;
    }
    if (is_template)
        reader_template(draft->r, arena_strdup(draft->r->dag->arena, text), placed->spot,
                        arena_format(draft->r->dag->arena, "sensor.%s", name));
    json_put_string(draft->settings, name, text);
    return text;
}

static void check_time(struct sensor_draft *draft, const char *text)
{
    const struct zone *utc = NULL;
    struct err err = {0};
    int64_t at_us = 0;
    CHECK(zone_find(draft->r->dag->arena, "UTC", NULL, &utc, &err) == STATUS_OK);
    if (template_is_plain(text) && !sensor_time_parse(text, utc, 0, &at_us))
        reader_mismatch(draft->r, draft->keys[SENSOR_KEY_TIME].spot, "time",
                        "a time such as 06:30, or an instant such as 2026-01-31T06:00:00",
                        draft->keys[SENSOR_KEY_TIME].value);
}

/* A plain number means seconds, as elsewhere. */
static void read_duration(struct sensor_draft *draft)
{
    const struct placed *placed = &draft->keys[SENSOR_KEY_DURATION];
    char text[DURATION_TEXT_MAX];
    int64_t ms = 0;
    if (json_is_string(placed->value) && !template_is_plain(json_string_value(placed->value))) {
        (void)read_text(draft, SENSOR_KEY_DURATION, true);
        return;
    }
    bool is_right = json_is_string(placed->value)
                        ? duration_parse(json_string_value(placed->value), &ms)
                        : json_is_integer(placed->value) &&
                              duration_from_seconds(json_integer_value(placed->value), &ms);
    if (!is_right) {
        reader_mismatch(draft->r, placed->spot, "duration",
                        "a duration such as 500ms, 30s, 5m, 2h or 1d", placed->value);
        return;
    }
    json_put_string(draft->settings, "duration", duration_format(ms, text));
    if (draft->common.timeout_ms > 0 && ms > draft->common.timeout_ms)
        reader_problem(draft->r, draft->keys[SENSOR_KEY_TIMEOUT].spot,
                       "'timeout' is shorter than 'duration': it would always time out");
}

static void read_tz(struct sensor_draft *draft)
{
    const char *name = read_text(draft, SENSOR_KEY_TZ, false);
    const struct zone *zone = NULL;
    struct err err = {0};
    /* Without a reader it was checked when it was stored. */
    if (name != NULL && draft->r->zones != NULL &&
        zone_find(draft->r->dag->arena, name, draft->r->zones, &zone, &err) != STATUS_OK)
        reader_problem(draft->r, draft->keys[SENSOR_KEY_TZ].spot, "'tz': %s", err.text);
}

/* --- other DAGs ------------------------------------------------------------------------------ */

static void read_date(struct sensor_draft *draft)
{
    const struct placed *placed = &draft->keys[SENSOR_KEY_DATE];
    const char *text = json_string_value(placed->value);
    enum sensor_date date = SENSOR_DATE_SAME;
    int64_t offset_ms = 0;
    if (text == NULL || !sensor_date_parse(text, &date, &offset_ms))
        reader_mismatch(draft->r, placed->spot, "date",
                        "same, latest, or an offset with its sign such as -1d or +6h",
                        placed->value);
    else if (date != SENSOR_DATE_SAME)
        json_put_string(draft->settings, "date", text);
}

static void read_states(struct sensor_draft *draft)
{
    const struct placed *placed = &draft->keys[SENSOR_KEY_STATES];
    bool of_task = draft->keys[SENSOR_KEY_TASK].value != NULL;
    struct string_list names = {0};
    reader_texts(draft->r, "states", placed->spot, placed->value, &names);
    json_t *list = json_array();
    for (size_t i = 0; i < names.count; i++) {
        struct spot at =
            json_is_array(placed->value) ? (struct spot){placed->value, i} : placed->spot;
        unsigned bit = 0;
        if (!sensor_state_parse(names.items[i], of_task, &bit))
            reader_problem(draft->r, at, "'states': '%.60s' is no state in which a %s ends: %s",
                           names.items[i], of_task ? "task" : "run",
                           of_task ? "success, failed, skipped, upstream_failed, cancelled"
                                   : "success, failed, cancelled");
        (void)json_array_append_new(list, json_string(names.items[i]));
    }
    json_put(draft->settings, "states", list);
}

/* --- the rest -------------------------------------------------------------------------------- */

struct key_owner {
    enum sensor_key key;
    enum sensor_kind kind;
};

/* Keys that mean something for one kind only. */
static void refuse_foreign(struct sensor_draft *draft)
{
    static const struct key_owner OWNERS[] = {
        {SENSOR_KEY_TZ, SENSOR_TIME},     {SENSOR_KEY_TASK, SENSOR_DAG},
        {SENSOR_KEY_DATE, SENSOR_DAG},    {SENSOR_KEY_STATES, SENSOR_DAG},
        {SENSOR_KEY_NOT_YET, SENSOR_RUN},
    };
    for (size_t i = 0; i < ARRAY_LEN(OWNERS); i++) {
        struct placed *placed = &draft->keys[OWNERS[i].key];
        if (placed->value == NULL || OWNERS[i].kind == draft->kind)
            continue;
        reader_problem_at_key(draft->r, placed->spot, "'%s' belongs to sensors with '%s'",
                              SENSOR_FIELDS.fields[OWNERS[i].key].key,
                              sensor_kind_key(OWNERS[i].kind));
        placed->value = NULL;
    }
}

static bool has_instant(enum sensor_kind kind)
{
    return kind == SENSOR_TIME || kind == SENSOR_DURATION;
}

static void read_common(struct sensor_draft *draft)
{
    struct sensor_common *common = &draft->common;
    *common = (struct sensor_common){
        .every_ms = SENSOR_EVERY_MS,
        .backoff = 1,
        .every_max_ms = SENSOR_EVERY_MAX_MS,
        .timeout_ms = has_instant(draft->kind) ? 0 : SENSOR_TIMEOUT_MS,
    };
    for (enum sensor_key key = SENSOR_KEY_NOT_YET; key < SENSOR_KEY_COUNT; key++)
        if (draft->keys[key].value != NULL)
            reader_field(draft->r, &SENSOR_FIELDS.fields[key], draft->keys[key].spot,
                         draft->keys[key].value, common);
    if (common->every_ms < EVERY_MS_LEAST)
        reader_problem(draft->r, draft->keys[SENSOR_KEY_EVERY].spot, "'every' is at least %dms",
                       EVERY_MS_LEAST);
    if (draft->keys[SENSOR_KEY_TIMEOUT].value != NULL && common->timeout_ms == 0)
        reader_problem(draft->r, draft->keys[SENSOR_KEY_TIMEOUT].spot,
                       "'timeout' is longer than nothing; a sensor always has an end");
}

static void put_duration(json_t *settings, const char *key, int64_t ms, int64_t otherwise)
{
    char text[DURATION_TEXT_MAX];
    if (ms != otherwise)
        json_put_string(settings, key, duration_format(ms, text));
}

static void write_common(struct sensor_draft *draft)
{
    const struct sensor_common *common = &draft->common;
    json_t *settings = draft->settings;
    if (draft->keys[SENSOR_KEY_NOT_YET].value != NULL) {
        json_t *codes = json_array();
        for (size_t i = 0; i < common->not_yet.count; i++)
            (void)json_array_append_new(codes, json_integer(common->not_yet.items[i]));
        json_put(settings, "not_yet", codes);
    }
    put_duration(settings, "every", common->every_ms, SENSOR_EVERY_MS);
    put_duration(settings, "max_every", common->every_max_ms, SENSOR_EVERY_MAX_MS);
    put_duration(settings, "timeout", common->timeout_ms, 0);
    if (common->backoff > 1)
        json_put(settings, "backoff", json_real(common->backoff));
    if (common->soft_fail)
        json_put_bool(settings, "soft_fail", true);
    if (common->mode == SENSOR_MODE_POKE)
        json_put_string(settings, "mode", "poke");
}

static void read_subject(struct sensor_draft *draft)
{
    if (draft->kind == SENSOR_DURATION) {
        read_duration(draft);
        return;
    }
    const char *text = read_text(draft, (enum sensor_key)draft->kind, true);
    if (draft->kind == SENSOR_TIME && text != NULL)
        check_time(draft, text);
    if (draft->keys[SENSOR_KEY_TZ].value != NULL)
        read_tz(draft);
    if (draft->keys[SENSOR_KEY_TASK].value != NULL)
        (void)read_text(draft, SENSOR_KEY_TASK, false);
    if (draft->keys[SENSOR_KEY_DATE].value != NULL)
        read_date(draft);
    if (draft->keys[SENSOR_KEY_STATES].value != NULL)
        read_states(draft);
}

json_t *reader_sensor(struct reader *r, struct spot spot, const json_t *value)
{
    struct sensor_draft draft = {.r = r};
    if (!json_is_object(value)) {
        reader_mismatch(r, spot, "sensor", "a map such as {file: PATH, every: 30s}", value);
        return NULL;
    }
    size_t errors_before = r->diags->errors;
    gather(&draft, value);
    if (!choose_kind(&draft, spot))
        return NULL;
    draft.settings = json_object();
    reader_place(r, spot, "sensor");
    refuse_foreign(&draft);
    read_common(&draft);
    read_subject(&draft);
    write_common(&draft);
    if (r->diags->errors == errors_before)
        return draft.settings;
    json_decref(draft.settings);
    return NULL;
}
