#pragma once
/*
 * sla: by when a run or a task should have started or be done. Pure.
 *
 *     sla: 2h                               done within two hours of its start
 *     sla: {within: 2h, finish_by: "06:30"} several; each is a deadline of its own
 *
 *   within        of its start: of a task the first attempt, of a mapped task each instance
 *   start_within  started so long after its schedule; of a task, after it could have started
 *   of_schedule   done so long after its schedule
 *   finish_by     done by this time of day, the first after its schedule; on the clocks of `tz`,
 *                 else of the DAG's schedule, else UTC
 *
 * "Its schedule" is the tick of a scheduled run and the making of any other; a backfill, which is
 * late by nature, has only what counts from its start. `sla` is kept as it was written (dag->rest,
 * task->rest); a file in which it cannot be read is refused by dag_read, at the place of the
 * mistake.
 *
 * Tests  tests/unit/model/test_sla.c
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/json.h"

struct arena;
struct zone;

/* Stored as a number: add at the end only. */
#define SLA_KIND_MAP(X)                                                                            \
    X(START_WITHIN, "start_within")                                                                \
    X(WITHIN, "within")                                                                            \
    X(OF_SCHEDULE, "of_schedule")                                                                  \
    X(FINISH_BY, "finish_by")

enum sla_kind {
#define X(name, text) SLA_##name,
    SLA_KIND_MAP(X)
#undef X
        SLA_KIND_COUNT
};

/* Times that are 0 were not given; finish_by_s is -1 then. */
struct sla {
    int64_t start_within_ms;
    int64_t within_ms;
    int64_t of_schedule_ms;
    int64_t finish_by_s; /* since midnight */
    const char *tz;      /* NULL: that of the schedule */
};

const char *sla_kind_name(enum sla_kind kind); /* "finish_by" */

/* `sla` among the keys that a DAG or a task keeps; false: there is none. Texts in the arena. */
NODISCARD bool sla_of(const json_t *rest, struct arena *arena, struct sla *out);

/* The zone of a DAG's schedule, by the keys it keeps; "UTC" when none is named. */
const char *sla_schedule_zone(const json_t *dag_rest);

/* What the schedule of a run is; false: nothing counts from it. */
NODISCARD bool sla_schedule_us(const char *run_kind, int64_t interval_end_us, int64_t created_at_us,
                               int64_t *out_us);

/* The first instant after `after_us` at which clocks of the zone show that time of day. */
int64_t sla_next_time_of_day(const struct zone *zone, int64_t seconds, int64_t after_us);
