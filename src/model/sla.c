#include "model/sla.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "model/dag_read_priv.h"
#include "model/zone.h"

static const char *const KIND_NAMES[] = {
#define X(name, text) [SLA_##name] = text,
    SLA_KIND_MAP(X)
#undef X
};

static const int64_t US_PER_S = 1000000;
static const int64_t US_PER_DAY = INT64_C(86400) * 1000000;

const char *sla_kind_name(enum sla_kind kind)
{
    CHECK(kind < SLA_KIND_COUNT);
    return KIND_NAMES[kind];
}

bool sla_of(const json_t *rest, struct arena *arena, struct sla *out)
{
    const json_t *value = json_object_get(rest, "sla");
    struct diag_list diags = {0};
    struct dag holder = {.arena = arena};
    struct reader r = {.dag = &holder, .diags = &diags, .current = CURRENT_DAG};
    if (value == NULL)
        return false;
    bool is_read = reader_sla(&r, (struct spot){0}, value, out);
    diag_list_fini(&diags);
    return is_read;
}

static const char *zone_of_map(const json_t *schedule)
{
    return json_get_string(schedule, "tz", json_get_string(schedule, "timezone", NULL));
}

const char *sla_schedule_zone(const json_t *dag_rest)
{
    const json_t *schedule = json_object_get(dag_rest, "schedule");
    const char *name = zone_of_map(schedule);
    for (size_t i = 0; name == NULL && i < json_array_size(schedule); i++)
        name = zone_of_map(json_array_get(schedule, i));
    return name != NULL ? name : "UTC";
}

bool sla_schedule_us(const char *run_kind, int64_t interval_end_us, int64_t created_at_us,
                     int64_t *out_us)
{
    if (str_equal(run_kind, "backfill"))
        return false;
    *out_us = str_equal(run_kind, "scheduled") ? interval_end_us : created_at_us;
    return true;
}

int64_t sla_next_time_of_day(const struct zone *zone, int64_t seconds, int64_t after_us)
{
    int64_t shown_us = after_us + zone_offset_at(zone, after_us) * US_PER_S;
    int64_t into_day_us = ((shown_us % US_PER_DAY) + US_PER_DAY) % US_PER_DAY;
    int64_t wanted_us = shown_us - into_day_us + seconds * US_PER_S;
    /* Where a clock goes back over midnight the day before may show it once more. */
    for (int64_t day = -1;; day++) {
        struct zone_instants instants = zone_local_to_utc(zone, wanted_us + day * US_PER_DAY);
        if (instants.valid_us > after_us)
            return instants.valid_us;
        if (instants.count == 2 && instants.at_us[1] > after_us)
            return instants.at_us[1];
    }
}
