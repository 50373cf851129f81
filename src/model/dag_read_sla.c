/*
 * dag_read_sla: the `sla` of a DAG or a task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/duration.h"
#include "model/sla.h"
#include "model/zone.h"

#define OF_SLA(member) .offset = offsetof(struct sla, member)
#define SPAN           .least = 1, .most = DURATION_MS_MAX

static const struct dag_field SLA_ROWS[] = {
    {"within", NULL, FIELD_DURATION, OF_SLA(within_ms), SPAN,
     .doc = "done so long after its start"},
    {"start_within", NULL, FIELD_DURATION, OF_SLA(start_within_ms), SPAN,
     .doc = "started so long after it could have"},
    {"of_schedule", NULL, FIELD_DURATION, OF_SLA(of_schedule_ms), SPAN,
     .doc = "done so long after its schedule"},
    {"finish_by", NULL, FIELD_OWN, .doc = "done by this time of day, such as \"06:30\""},
    {"tz", "timezone", FIELD_OWN, .doc = "time zone of finish_by; default: that of the schedule"},
};
static const struct field_table SLA_TABLE = {"'sla'", ARRAY_LEN(SLA_ROWS), SLA_ROWS};

static bool is_two_digits(const char *text)
{
    return text[0] >= '0' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9';
}

/* "06:30" or "06:30:15". */
static bool parse_time_of_day(const char *text, int64_t *out_s)
{
    static const int64_t BOUNDS[] = {24, 60, 60};
    size_t length = strlen(text);
    int64_t seconds = 0;
    if (length != 5 && length != 8)
        return false;
    for (size_t i = 0; i < 3; i++) {
        const char *part = text + 3 * i;
        int64_t number = 0;
        bool is_given = 3 * i < length;
        if (is_given && (!is_two_digits(part) || (i > 0 && part[-1] != ':')))
            return false;
        if (is_given)
            number = (int64_t)(part[0] - '0') * 10 + (part[1] - '0');
        if (number >= BOUNDS[i])
            return false;
        seconds = seconds * 60 + number;
    }
    *out_s = seconds;
    return true;
}

static void read_finish_by(struct reader *r, struct spot spot, const json_t *value, struct sla *out)
{
    const char *text = json_string_value(value);
    if (text == NULL || !parse_time_of_day(text, &out->finish_by_s))
        reader_mismatch(r, spot, "finish_by", "a time of day such as \"06:30\"", value);
}

/* Of a stored version the zone is not looked for: it may not be on this machine. */
static void read_tz(struct reader *r, struct spot spot, const json_t *value, struct sla *out)
{
    struct err err = {0};
    const struct zone *zone = NULL;
    if (!json_is_string(value)) {
        reader_mismatch(r, spot, "tz", "the name of a time zone such as Europe/Berlin", value);
        return;
    }
    out->tz = arena_strdup(r->dag->arena, json_string_value(value));
    if (r->zones != NULL && zone_find(r->dag->arena, out->tz, r->zones, &zone, &err) != STATUS_OK)
        reader_problem(r, spot, "'tz': %s", err.text);
}

static void read_map(struct reader *r, const json_t *map, struct sla *out)
{
    struct spot at = {map, 0};
    for (READER_EACH(map, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(&SLA_TABLE, key);
        const json_t *value = json_object_iter_value(iter);
        if (field == NULL)
            reader_unknown_key(r, &SLA_TABLE, at, key, false);
        else if (field->type != FIELD_OWN)
            reader_field(r, field, at, value, out);
        else if (strcmp(field->key, "finish_by") == 0)
            read_finish_by(r, at, value, out);
        else
            read_tz(r, at, value, out);
    }
}

static void check(struct reader *r, struct spot spot, const struct sla *sla)
{
    bool has_time = sla->within_ms > 0 || sla->start_within_ms > 0 || sla->of_schedule_ms > 0;
    if (!has_time && sla->finish_by_s < 0)
        reader_problem(r, spot,
                       "'sla' does not say by when: add 'within', 'start_within', 'of_schedule' "
                       "or 'finish_by'");
    else if (sla->tz != NULL && sla->finish_by_s < 0)
        reader_problem(r, spot, "'tz' is for 'finish_by', which is not there");
}

bool reader_sla(struct reader *r, struct spot spot, const json_t *value, struct sla *out)
{
    size_t errors_before = r->diags->errors;
    *out = (struct sla){.finish_by_s = -1};
    if (json_is_object(value)) {
        read_map(r, value, out);
    } else {
        struct dag_field field = SLA_ROWS[0];
        field.key = "sla";
        reader_field(r, &field, spot, value, out);
    }
    if (r->diags->errors == errors_before)
        check(r, spot, out);
    return r->diags->errors == errors_before;
}
