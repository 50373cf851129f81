/*
 * dag_read_schedule: the DAG's `schedule`, with start_date, end_date and catchup, as a timetable.
 *
 *     schedule: "15 2 * * *"            text: cron expression, preset, `every 15m` or 15m
 *     schedule: {cron: .., tz: ..}      one map
 *     schedule: [.., ..]                several of both
 *
 * The keys of a map are gathered first, because what a date means depends on the zone.
 */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/dag_read_schedule_priv.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/timetable_priv.h"

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
    lines_read_frame(b, &lines);
    if (interval == NULL && duration_parse(text, &ignored))
        interval = text;
    if (interval != NULL)
        lines_add_every(b, &lines, placed, interval);
    else
        lines_add_cron(b, &lines, placed);
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
        reader_problem(b->r, spot,
                       "the schedule does not say when: add 'cron', 'every' or 'at', or what it "
                       "waits for: 'datasets', 'after', 'file' or 'webhook'");
    return ways == 1;
}

static void add_map(struct builder *b, struct placed placed)
{
    struct lines lines = {0};
    gather(b, placed.value, &lines);
    lines_read_frame(b, &lines);
    for (enum schedule_key key = SCHEDULE_KEY_CATCHUP; key <= SCHEDULE_KEY_DATE; key++)
        if (key != SCHEDULE_KEY_DST && lines.keys[key].value != NULL)
            read_policy(b, key, lines.keys[key]);
    if (!check_ways(b, &lines, placed.spot))
        return;
    struct placed every = lines.keys[SCHEDULE_KEY_EVERY];
    if (lines.keys[SCHEDULE_KEY_CRON].value != NULL)
        lines_add_cron(b, &lines, lines.keys[SCHEDULE_KEY_CRON]);
    else if (every.value != NULL)
        lines_add_every(b, &lines, every, json_string_value(every.value));
    else
        lines_add_listed(b, &lines, lines.keys[SCHEDULE_KEY_AT]);
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

/* Its dates are read with each schedule; they may contradict each other without one, too. */
static void check_dates_alone(struct builder *b)
{
    struct lines lines = {0};
    lines_read_frame(b, &lines);
}

/* It is sound, and nothing will ever come of it. */
static void warn_of_no_ticks(struct builder *b, const struct schedule_source *source)
{
    struct reader *r = b->r;
    int64_t first_us = 0;
    if (r->diags->errors > r->errors_before || b->timetable->schedules_count == 0 ||
        timetable_next(b->timetable, INSTANT_US_MIN, &first_us))
        return;
    reader_problem_at(r, DIAG_WARNING, reader_span(r, source->schedule.spot, false),
                      "the schedule has no tick between its start and its end, so it starts "
                      "nothing: look at the dates");
}

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
        (void)lines_parse_instant(r, "start_date", source->start, &b.start);
    if (source->end.value != NULL)
        (void)lines_parse_instant(r, "end_date", source->end, &b.end);
    if (source->catchup.value != NULL)
        read_policy(&b, SCHEDULE_KEY_CATCHUP, source->catchup);
    if (source->schedule.value != NULL && !json_is_null(source->schedule.value))
        add_all(&b, source->schedule);
    else
        check_dates_alone(&b);
    for (size_t i = 0; i < timetable->schedules_count; i++)
        schedule_bound(&timetable->schedules[i], timetable->policy.date);
    warn_of_no_ticks(&b, source);
    return timetable;
}

enum status timetable_of_dag(const struct dag *dag, zone_reader zones, struct timetable **out,
                             struct err *err)
{
    CLEANUP(diag_list_fini) struct diag_list diags = {0};
    struct reader reader = {.diags = &diags, .zones = zones};
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
