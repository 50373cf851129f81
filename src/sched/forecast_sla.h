#pragma once
/*
 * forecast_sla: deadlines that a forecast misses.
 */
#include "sched/forecast.h"

/* Fills `misses` from what was recorded in the store that was played until `to_us`. */
NODISCARD enum status forecast_misses(struct store *scratch, struct arena *arena, int64_t to_us,
                                      struct forecast *out, struct err *err);
