/*
 * A year of a DAG, day by day: how its runs ended, and what is still to come.
 *
 * A day is one of the zone of the DAG's schedule, and a run belongs to the day of its logical date.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "os/zone_file.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/schedule_json.h"
#include "store/grid.h"
#include "store/schedule.h"

enum { DAYS_MAX = 366, PLANNED_MAX = 20000, YEAR_MIN = 1970, YEAR_MAX = 9998 };

static const int64_t DAY_US = INT64_C(86400) * 1000000;

struct day {
    int64_t runs[RUN_STATE_COUNT];
    int64_t planned;
};

struct calendar {
    const struct timetable *timetable; /* NULL: days of UTC */
    int64_t year;
    int64_t first_us; /* midnight of its first day, as clocks of the zone show it */
    int64_t days_count;
    struct day *days;
    int64_t counted; /* runs */
};

static int64_t new_year_us(int64_t year)
{
    const struct civil civil = {.year = year, .month = 1, .day = 1};
    return civil_to_instant(&civil);
}

/* The day an instant falls on; NULL: of another year. */
static struct day *day_of(struct calendar *calendar, int64_t at_us)
{
    int32_t offset_s =
        calendar->timetable != NULL ? timetable_offset_at(calendar->timetable, at_us) : 0;
    int64_t shown_us = at_us + (int64_t)offset_s * 1000000;
    int64_t day = (shown_us - calendar->first_us) / DAY_US;
    bool is_within = shown_us >= calendar->first_us && day < calendar->days_count;
    return is_within ? &calendar->days[day] : NULL;
}

static void add_runs(void *context, int64_t slot_us, enum run_state state, int64_t count)
{
    struct calendar *calendar = context;
    struct day *day = day_of(calendar, slot_us);
    calendar->counted += count;
    if (day != NULL)
        day->runs[state] += count;
}

/* Ticks after now; *out_until: where counting ended early, or 0. */
static void add_planned(struct calendar *calendar, int64_t now_us, int64_t *out_until)
{
    int64_t end_us = calendar->first_us + (calendar->days_count + 1) * DAY_US;
    int64_t tick_us = MAX(now_us, calendar->first_us - DAY_US);
    *out_until = 0;
    for (int64_t i = 0; timetable_next(calendar->timetable, tick_us, &tick_us); i++) {
        if (tick_us > end_us)
            return;
        if (i == PLANNED_MAX) {
            *out_until = tick_us;
            return;
        }
        struct tick_dates dates = timetable_dates(calendar->timetable, tick_us);
        struct day *day = day_of(calendar, dates.logical_at_us);
        if (day != NULL)
            day->planned++;
    }
}

static enum status read_year(struct service *service, const json_t *request,
                             struct calendar *calendar, struct err *err)
{
    int64_t this_year = civil_from_instant(service_now_us(service)).year;
    calendar->year = json_get_int(request, "year", this_year);
    if (calendar->year < YEAR_MIN || calendar->year > YEAR_MAX)
        return err_set(err, STATUS_INVALID, "'year' must be from %d to %d", YEAR_MIN, YEAR_MAX);
    calendar->first_us = new_year_us(calendar->year);
    calendar->days_count = (new_year_us(calendar->year + 1) - calendar->first_us) / DAY_US;
    return STATUS_OK;
}

/* A DAG that the store does not know has no runs. */
static enum status count_runs(struct store *store, const char *dag_id, struct calendar *calendar,
                              struct err *err)
{
    struct schedule_info info;
    struct err problem = {0};
    if (store == NULL)
        return STATUS_OK;
    enum status status = store_schedule_load(store, dag_id, &info, &problem);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    const struct grid_stretch stretch = {
        .dag_key = info.dag_key,
        .from_us = MAX(calendar->first_us - DAY_US, (int64_t)0),
        .to_us = calendar->first_us + (calendar->days_count + 1) * DAY_US,
    };
    return store_grid_count(store, &stretch, add_runs, calendar, err);
}

/* --- the answer ------------------------------------------------------------------------------ */

static void put_day(json_t *list, const struct calendar *calendar, int64_t number)
{
    const struct day *day = &calendar->days[number];
    char date[INSTANT_TEXT_MAX];
    int64_t total = 0;
    json_t *counts = json_build_object();
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        if (day->runs[state] > 0)
            json_put_int(counts, run_state_name(state), day->runs[state]);
        total += day->runs[state];
    }
    if (total == 0 && day->planned == 0) {
        json_decref(counts);
        return;
    }
    json_t *object = json_build_object();
    json_put_string(object, "date",
                    instant_format_date(calendar->first_us + number * DAY_US, date));
    json_put(object, "counts", counts);
    json_put_int(object, "total", total);
    json_put_int(object, "planned", day->planned);
    json_build_append(list, object);
}

enum status op_dag_calendar(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(timetable_freep) struct timetable *timetable = NULL;
    CLEANUP(json_decrefp) json_t *object = json_build_object();
    struct calendar calendar = {.days = arena_array(arena, DAYS_MAX, sizeof *calendar.days)};
    struct store *store = NULL;
    struct err ignored = {0};
    int64_t until_us = 0;
    if (read_year(service, request, &calendar, err) != STATUS_OK ||
        lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    /* Without the zone of its schedule, this machine has only days of UTC. */
    if (timetable_of_dag(found.dag, zone_file_read, &timetable, &ignored) == STATUS_OK)
        calendar.timetable = timetable;
    if (count_runs(store, found.dag->id, &calendar, err) != STATUS_OK)
        return err->code;
    if (timetable != NULL)
        add_planned(&calendar, service_now_us(service), &until_us);
    json_put_string(object, "dag_id", found.dag->id);
    json_put_int(object, "year", calendar.year);
    if (schedule_json_put(service, store, found.dag, object, err) != STATUS_OK)
        return err->code;
    json_t *days = json_build_array();
    for (int64_t i = 0; i < calendar.days_count; i++)
        put_day(days, &calendar, i);
    json_put_int(object, "total_entries", (int64_t)json_array_size(days));
    json_put(object, "days", days);
    json_put_bool(object, "has_more", calendar.counted >= GRID_RUNS_MAX);
    json_put_instant(object, "planned_until", until_us);
    *out = TAKE(object);
    return STATUS_OK;
}
