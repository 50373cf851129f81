#pragma once
/*
 * schedule_json: what is to be said of a DAG's schedule, whether the store knows the DAG or not.
 */
#include "base/arena.h"
#include "model/dag.h"
#include "model/timetable.h"
#include "service/service.h"

/* Members is_paused, is_scheduled and next_run. `store` may be NULL. */
NODISCARD enum status schedule_json_put(const struct service *service, struct store *store,
                                        const struct dag *dag, json_t *object, struct err *err);
/* How many of its runs go and wait, and what was missed last: for one DAG at a time. */
NODISCARD enum status schedule_json_put_more(struct store *store, const struct dag *dag,
                                             json_t *object, struct err *err);
/* Dates of the tick, and what clocks of its zone show. */
NODISCARD json_t *schedule_json_tick(const struct timetable *timetable, int64_t tick_us);
/* Stretches of missed ticks, newest first; an empty list for a DAG that the store does not know. */
NODISCARD enum status schedule_json_missed(struct store *store, const char *dag_id, size_t most,
                                           json_t **out, struct err *err);
