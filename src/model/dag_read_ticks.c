/*
 * dag_read_ticks: one map of a schedule: its zone and bounds, and the ticks between them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "model/dag_read_schedule_priv.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/timetable_priv.h"

static const int64_t US_PER_DAY = (int64_t)86400 * 1000 * 1000;

/* ---- dates ---- */

bool lines_parse_instant(struct reader *r, const char *key, struct placed placed, struct bound *out)
{
    const char *text = json_string_value(placed.value);
    *out = (struct bound){.placed = placed};
    if (text != NULL && instant_parse_form(text, &out->at_us, &out->form))
        return true;
    out->placed.value = NULL;
    reader_mismatch(r, placed.spot, key,
                    "a date or an instant such as 2026-01-31 or 2026-01-31T06:00:00", placed.value);
    return false;
}

/* Without an offset it is what clocks of the zone show. */
static int64_t instant_in(const struct zone *zone, const struct bound *bound)
{
    return bound->form.has_offset ? bound->at_us : zone_local_to_utc(zone, bound->at_us).valid_us;
}

/* A date alone as the last one means the whole of that day. */
static int64_t end_in(const struct zone *zone, const struct bound *bound)
{
    struct bound next_day = *bound;
    if (bound->form.has_time)
        return instant_in(zone, bound);
    next_day.at_us += US_PER_DAY;
    return instant_in(zone, &next_day) - 1;
}

/* The map's own bound, or that of the DAG; false: none. */
static bool pick_bound(struct builder *b, const struct lines *lines, enum schedule_key key,
                       const struct bound *of_dag, struct bound *out)
{
    const char *name = SCHEDULE_FIELDS.fields[key].key;
    struct placed own = lines->keys[key];
    if (own.value == NULL) {
        *out = *of_dag;
        return of_dag->placed.value != NULL;
    }
    if (of_dag->placed.value != NULL)
        reader_problem_at_key(b->r, own.spot,
                              "'%s' and the DAG's '%s_date' mean the same: keep one", name, name);
    return lines_parse_instant(b->r, name, own, out);
}

static void read_bounds(struct builder *b, struct lines *lines)
{
    struct bound start = {0};
    struct bound end = {0};
    lines->start_us = INSTANT_US_MIN;
    lines->end_us = INSTANT_US_MAX;
    lines->has_start = pick_bound(b, lines, SCHEDULE_KEY_START, &b->start, &start);
    bool has_end = pick_bound(b, lines, SCHEDULE_KEY_END, &b->end, &end);
    if (lines->has_start)
        lines->start_us = instant_in(lines->zone, &start);
    if (has_end)
        lines->end_us = end_in(lines->zone, &end);
    if (lines->has_start && has_end && lines->start_us > lines->end_us)
        reader_problem(b->r, end.placed.spot, "the schedule ends (%s) before it starts (%s)",
                       json_string_value(end.placed.value), json_string_value(start.placed.value));
}

/* ---- zone and skipped hours ---- */

static void read_zone(struct builder *b, struct lines *lines)
{
    struct placed tz = lines->keys[SCHEDULE_KEY_TZ];
    struct err err = {0};
    CHECK(zone_find(b->timetable->arena, "UTC", NULL, &lines->zone, &err) == STATUS_OK);
    if (tz.value == NULL)
        return;
    if (!json_is_string(tz.value)) {
        reader_mismatch(b->r, tz.spot, "tz", "the name of a time zone such as Europe/Berlin",
                        tz.value);
        return;
    }
    if (zone_find(b->timetable->arena, json_string_value(tz.value), b->r->zones, &lines->zone,
                  &err) != STATUS_OK)
        reader_problem(b->r, tz.spot, "'tz': %s", err.text);
}

static void read_dst(struct builder *b, struct lines *lines)
{
    struct placed dst = lines->keys[SCHEDULE_KEY_DST];
    if (dst.value == NULL)
        return;
    if (!json_is_object(dst.value)) {
        reader_mismatch(b->r, dst.spot, "dst", "a map such as {gap: next, overlap: first}",
                        dst.value);
        return;
    }
    struct spot at = {dst.value, 0};
    for (READER_EACH(dst.value, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(&DST_FIELDS, key);
        if (field == NULL)
            reader_unknown_key(b->r, &DST_FIELDS, at, key, false);
        else
            reader_field(b->r, field, at, json_object_iter_value(iter), &lines->dst);
    }
}

void lines_read_frame(struct builder *b, struct lines *lines)
{
    read_zone(b, lines);
    read_bounds(b, lines);
    read_dst(b, lines);
}

/* ---- ticks ---- */

static struct schedule *add_schedule(struct builder *b, const struct lines *lines,
                                     enum schedule_kind kind)
{
    struct timetable *timetable = b->timetable;
    if (timetable->schedules_count == LIMIT_SCHEDULES)
        return NULL; /* said where they are counted */
    struct schedule *schedule = &timetable->schedules[timetable->schedules_count++];
    *schedule = (struct schedule){
        .kind = kind,
        .zone = lines->zone,
        .dst = lines->dst,
        .start_us = lines->start_us,
        .end_us = lines->end_us,
        .anchor_us = lines->has_start ? lines->start_us : 0,
    };
    return schedule;
}

static void problem_inside(struct reader *r, struct spot spot, size_t offset, const char *text)
{
    struct source_span span = reader_span(r, spot, false);
    if (r->locator != NULL && spot.container != NULL && offset > 0)
        span = r->locator->find_inside(r->locator->context, spot.container, spot.index, offset);
    reader_problem_at(r, DIAG_ERROR, span, "cron: %s", text);
}

static void add_one_cron(struct builder *b, const struct lines *lines, struct placed placed)
{
    struct err err = {0};
    struct cron cron;
    size_t offset = 0;
    if (!json_is_string(placed.value)) {
        reader_mismatch(b->r, placed.spot, "cron", "a cron expression such as \"15 2 * * *\"",
                        placed.value);
        return;
    }
    if (cron_parse(json_string_value(placed.value), &cron, &offset, &err) != STATUS_OK) {
        problem_inside(b->r, placed.spot, offset, err.text);
        return;
    }
    struct schedule *schedule = add_schedule(b, lines, SCHEDULE_CRON);
    if (schedule != NULL)
        schedule->cron = cron;
}

void lines_add_every(struct builder *b, const struct lines *lines, struct placed placed,
                     const char *text)
{
    int64_t ms = 0;
    bool is_right = text != NULL ? duration_parse(text, &ms)
                                 : json_is_integer(placed.value) &&
                                       duration_from_seconds(json_integer_value(placed.value), &ms);
    if (!is_right || ms < 1000) {
        reader_mismatch(b->r, placed.spot, "every",
                        "a duration of at least one second such as 30s, 15m or 2h", placed.value);
        return;
    }
    struct schedule *schedule = add_schedule(b, lines, SCHEDULE_EVERY);
    if (schedule != NULL)
        schedule->every_us = ms * 1000;
}

static int compare_instants(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void lines_add_listed(struct builder *b, const struct lines *lines, struct placed placed)
{
    bool is_list = json_is_array(placed.value);
    size_t count = is_list ? json_array_size(placed.value) : 1;
    if (count == 0 || count > LIMIT_TIMESTAMPS) {
        reader_problem(b->r, placed.spot, "'at': %zu instants, expected 1 to %d", count,
                       LIMIT_TIMESTAMPS);
        return;
    }
    int64_t *items = arena_array(b->timetable->arena, count, sizeof *items);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct placed item = placed;
        struct bound bound;
        if (is_list)
            item = (struct placed){{placed.value, i}, json_array_get(placed.value, i)};
        if (lines_parse_instant(b->r, "at", item, &bound))
            items[kept++] = instant_in(lines->zone, &bound);
    }
    struct schedule *schedule = add_schedule(b, lines, SCHEDULE_AT);
    if (kept == 0 || schedule == NULL)
        return;
    qsort(items, kept, sizeof *items, compare_instants);
    schedule->at_us = items;
    for (size_t i = 0; i < kept; i++)
        if (i == 0 || items[i] != items[i - 1])
            items[schedule->at_count++] = items[i];
}

void lines_add_cron(struct builder *b, const struct lines *lines, struct placed placed)
{
    if (!json_is_array(placed.value)) {
        add_one_cron(b, lines, placed);
        return;
    }
    for (size_t i = 0; i < json_array_size(placed.value); i++)
        add_one_cron(b, lines, (struct placed){{placed.value, i}, json_array_get(placed.value, i)});
}
