/*
 * dag_read_schedule: the DAG's `schedule`, with start_date, end_date and catchup, as a timetable.
 *
 *     schedule: "15 2 * * *"            text: cron expression, preset, `every 15m` or 15m
 *     schedule: {cron: .., tz: ..}      one map
 *     schedule: [.., ..]                several of both
 *
 * The keys of a map are gathered first, because what a date means depends on the zone.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/schedule_fields.h"
#include "model/timetable_priv.h"

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

static const int64_t US_PER_DAY = (int64_t)86400 * 1000 * 1000;

/* ---- dates ---- */

static bool parse_instant(struct reader *r, const char *key, struct placed placed,
                          struct bound *out)
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
    return parse_instant(b->r, name, own, out);
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
    if (b->r->zones == NULL && !b->r->zones_needed)
        return;
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

static void add_cron(struct builder *b, const struct lines *lines, struct placed placed)
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

static void add_every(struct builder *b, const struct lines *lines, struct placed placed,
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

static void add_listed(struct builder *b, const struct lines *lines, struct placed placed)
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
        if (parse_instant(b->r, "at", item, &bound))
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

static void add_cron_or_list(struct builder *b, const struct lines *lines, struct placed placed)
{
    if (!json_is_array(placed.value)) {
        add_cron(b, lines, placed);
        return;
    }
    for (size_t i = 0; i < json_array_size(placed.value); i++)
        add_cron(b, lines, (struct placed){{placed.value, i}, json_array_get(placed.value, i)});
}

/* ---- policy ---- */

static void read_catchup(struct builder *b, struct placed placed, struct timetable_policy *policy)
{
    const char *text = json_string_value(placed.value);
    policy->window_ms = 0;
    if (json_is_boolean(placed.value))
        policy->catchup = json_is_true(placed.value) ? CATCHUP_ALL : CATCHUP_NONE;
    else if (str_equal(text, "none"))
        policy->catchup = CATCHUP_NONE;
    else if (str_equal(text, "latest"))
        policy->catchup = CATCHUP_LATEST;
    else if (str_equal(text, "all"))
        policy->catchup = CATCHUP_ALL;
    else if (text != NULL && duration_parse(text, &policy->window_ms))
        policy->catchup = CATCHUP_WINDOW;
    else
        reader_mismatch(b->r, placed.spot, "catchup", "none, latest, all or a window such as 3d",
                        placed.value);
}

static bool same_policy(const struct timetable_policy *a, const struct timetable_policy *b)
{
    return a->catchup == b->catchup && a->window_ms == b->window_ms && a->grace_ms == b->grace_ms &&
           a->overlap == b->overlap && a->date == b->date;
}

/* One key of the policy, which holds for the DAG: other schedules may only say the same. */
static void read_policy(struct builder *b, enum schedule_key key, struct placed placed)
{
    const struct dag_field *field = &SCHEDULE_FIELDS.fields[key];
    struct timetable_policy *policy = &b->timetable->policy;
    struct timetable_policy before = *policy;
    if (key == SCHEDULE_KEY_CATCHUP)
        read_catchup(b, placed, policy);
    else
        reader_field(b->r, field, placed.spot, placed.value, policy);
    if ((b->policy_given >> key & 1u) != 0 && !same_policy(policy, &before))
        reader_problem_at_key(b->r, placed.spot,
                              "'%s' differs from what was said before, but it holds for all "
                              "schedules of the DAG: say it once",
                              field->key);
    b->policy_given |= UINT64_C(1) << key;
}

/* ---- maps and texts ---- */

static const char *after_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || text[length] != ' ')
        return NULL;
    text += length;
    return text + strspn(text, " ");
}

static void add_text(struct builder *b, struct placed placed)
{
    const char *text = json_string_value(placed.value);
    const char *interval = after_word(text, "every");
    struct lines lines = {0};
    int64_t ignored = 0;
    read_zone(b, &lines);
    read_bounds(b, &lines);
    if (interval == NULL && duration_parse(text, &ignored))
        interval = text;
    if (interval != NULL)
        add_every(b, &lines, placed, interval);
    else
        add_cron(b, &lines, placed);
}

static void gather(struct builder *b, const json_t *map, struct lines *lines)
{
    struct spot at = {map, 0};
    for (READER_EACH(map, iter, at)) {
        const char *key = json_object_iter_key(iter);
        const struct dag_field *field = dag_field_find(&SCHEDULE_FIELDS, key);
        if (field == NULL) {
            reader_unknown_key(b->r, &SCHEDULE_FIELDS, at, key, false);
            continue;
        }
        struct placed *placed = &lines->keys[field - SCHEDULE_FIELDS.fields];
        if (placed->value != NULL)
            reader_problem_at_key(b->r, at, "'%s' is there twice, also by its other name: keep one",
                                  field->key);
        *placed = (struct placed){at, json_object_iter_value(iter)};
    }
}

/* True when the map says when, in one way. */
static bool check_ways(struct builder *b, const struct lines *lines, struct spot spot)
{
    unsigned ways = 0;
    bool has_event = false;
    for (unsigned key = SCHEDULE_KEY_CRON; key <= SCHEDULE_KEY_AT; key++) {
        if (lines->keys[key].value != NULL && ways++ == 1)
            reader_problem_at_key(b->r, lines->keys[key].spot,
                                  "'cron', 'every' and 'at' are different schedules: make a list "
                                  "of maps");
    }
    for (unsigned key = SCHEDULE_KEY_DATASETS; key < SCHEDULE_KEY_COUNT; key++)
        has_event |= lines->keys[key].value != NULL;
    if (ways == 0 && !has_event)
        reader_problem(b->r, spot, "the schedule does not say when: add 'cron', 'every' or 'at'");
    return ways == 1;
}

static void add_map(struct builder *b, struct placed placed)
{
    struct lines lines = {0};
    gather(b, placed.value, &lines);
    read_zone(b, &lines);
    read_bounds(b, &lines);
    read_dst(b, &lines);
    for (enum schedule_key key = SCHEDULE_KEY_CATCHUP; key <= SCHEDULE_KEY_DATE; key++)
        if (key != SCHEDULE_KEY_DST && lines.keys[key].value != NULL)
            read_policy(b, key, lines.keys[key]);
    if (!check_ways(b, &lines, placed.spot))
        return;
    struct placed every = lines.keys[SCHEDULE_KEY_EVERY];
    if (lines.keys[SCHEDULE_KEY_CRON].value != NULL)
        add_cron_or_list(b, &lines, lines.keys[SCHEDULE_KEY_CRON]);
    else if (every.value != NULL)
        add_every(b, &lines, every, json_string_value(every.value));
    else
        add_listed(b, &lines, lines.keys[SCHEDULE_KEY_AT]);
}

static void add_one(struct builder *b, struct placed placed)
{
    if (json_is_string(placed.value))
        add_text(b, placed);
    else if (json_is_object(placed.value))
        add_map(b, placed);
    else
        reader_mismatch(b->r, placed.spot, "schedule",
                        "a cron expression, a preset, an interval or a map", placed.value);
}

/* Schedules that a value may hold, lists of cron expressions included. */
static size_t count_lines(const json_t *value)
{
    size_t total = 0;
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        const json_t *list = json_object_get(item, "cron");
        total += json_is_array(list) ? json_array_size(list) : 1;
    }
    return total;
}

static void add_all(struct builder *b, struct placed placed)
{
    size_t count = count_lines(placed.value);
    b->timetable->schedules = arena_array(b->timetable->arena, MIN(count, (size_t)LIMIT_SCHEDULES),
                                          sizeof *b->timetable->schedules);
    if (count > LIMIT_SCHEDULES)
        reader_problem(b->r, placed.spot, "%zu schedules, at most %d", count, LIMIT_SCHEDULES);
    if (!json_is_array(placed.value)) {
        add_one(b, placed);
        return;
    }
    for (size_t i = 0; i < json_array_size(placed.value); i++)
        add_one(b, (struct placed){{placed.value, i}, json_array_get(placed.value, i)});
}

/* ---- the whole ---- */

struct timetable *reader_timetable(struct reader *r, const struct schedule_source *source)
{
    struct arena *arena = arena_new();
    struct timetable *timetable = arena_alloc(arena, sizeof *timetable);
    *timetable = (struct timetable){
        .arena = arena,
        .policy.grace_ms = (int64_t)5 * 60 * 1000,
    };
    struct builder b = {.r = r, .timetable = timetable};
    if (source->start.value != NULL)
        (void)parse_instant(r, "start_date", source->start, &b.start);
    if (source->end.value != NULL)
        (void)parse_instant(r, "end_date", source->end, &b.end);
    if (source->catchup.value != NULL)
        read_policy(&b, SCHEDULE_KEY_CATCHUP, source->catchup);
    if (source->schedule.value != NULL && !json_is_null(source->schedule.value))
        add_all(&b, source->schedule);
    for (size_t i = 0; i < timetable->schedules_count; i++)
        schedule_bound(&timetable->schedules[i], timetable->policy.date);
    return timetable;
}

enum status timetable_of_dag(const struct dag *dag, zone_reader zones, struct timetable **out,
                             struct err *err)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct reader reader = {.diags = &diags, .zones = zones, .zones_needed = true};
    struct schedule_source source = {
        .schedule.value = json_object_get(dag->rest, "schedule"),
        .start.value = json_object_get(dag->rest, "start_date"),
        .end.value = json_object_get(dag->rest, "end_date"),
        .catchup.value = json_object_get(dag->rest, "catchup"),
    };
    struct timetable *timetable = reader_timetable(&reader, &source);
    if (diags.errors > 0) {
        timetable_free(timetable);
        return err_set(err, STATUS_INVALID, "schedule of DAG '%s': %s", dag->id,
                       diags.items[0].text);
    }
    *out = timetable;
    return STATUS_OK;
}
