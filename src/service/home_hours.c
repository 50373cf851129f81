#include "service/home_hours.h"

#include "base/check.h"
#include "service/json_build.h"

static const int64_t HOUR_US = INT64_C(3600) * 1000000;

struct home_hours home_hours_until(int64_t now_us)
{
    return (struct home_hours){.begin_us = now_us - HOME_HOURS * HOUR_US};
}

/* Below 0: before the first; HOME_HOURS and above: after the last. */
static int64_t hour_of(const struct home_hours *hours, int64_t at_us)
{
    int64_t since_us = at_us - hours->begin_us;
    return since_us < 0 ? -1 : since_us / HOUR_US;
}

/* One more in each hour of a stretch; both ends belong to it. */
static void add_stretch(const struct home_hours *hours, int64_t *counts, int64_t from_us,
                        int64_t to_us)
{
    int64_t first = MAX(hour_of(hours, from_us), 0);
    int64_t last = MIN(hour_of(hours, to_us), (int64_t)HOME_HOURS - 1);
    for (int64_t hour = first; hour <= last; hour++)
        counts[hour]++;
}

static void add_instant(const struct home_hours *hours, int64_t *counts, int64_t at_us)
{
    int64_t hour = hour_of(hours, at_us);
    if (hour == HOME_HOURS) /* right now */
        hour--;
    if (hour >= 0 && hour < HOME_HOURS)
        counts[hour]++;
}

void home_hours_add_run(struct home_hours *hours, const struct home_hours_run *run)
{
    int64_t until_us = run->ended_at_us != 0 ? run->ended_at_us : INT64_MAX;
    int64_t started_us = run->started_at_us != 0 ? run->started_at_us : until_us;
    add_stretch(hours, hours->waited, run->created_at_us, started_us);
    if (run->started_at_us != 0)
        add_stretch(hours, hours->ran, started_us, until_us);
    if (run->ended_at_us != 0)
        add_instant(hours, hours->ended[run->state], run->ended_at_us);
}

void home_hours_add_miss(struct home_hours *hours, int64_t due_at_us)
{
    add_instant(hours, hours->late, due_at_us);
}

static json_t *list_of(const int64_t *counts)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < HOME_HOURS; i++)
        json_build_append(list, json_integer(counts[i]));
    return list;
}

json_t *home_hours_json(const struct home_hours *hours)
{
    json_t *object = json_build_object();
    json_put_instant(object, "begin", hours->begin_us);
    json_put(object, "waited", list_of(hours->waited));
    json_put(object, "ran", list_of(hours->ran));
    json_put(object, "success", list_of(hours->ended[RUN_SUCCESS]));
    json_put(object, "failed", list_of(hours->ended[RUN_FAILED]));
    json_put(object, "cancelled", list_of(hours->ended[RUN_CANCELLED]));
    json_put(object, "late", list_of(hours->late));
    return object;
}
