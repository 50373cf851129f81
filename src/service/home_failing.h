#pragma once
/*
 * home_failing: which task made a run fail first, and what it said.
 */
#include "base/json.h"
#include "service/service.h"
#include "store/run_store.h"

/*
 * Adds task_id, map_index, label, try_number, exit_code, signal, reason and message of the task of
 * `run` that failed first; all null when none of its first tasks did. The message is the last thing
 * that the task printed, unless something better is known.
 */
NODISCARD enum status home_failing_put(struct service *service, const struct run_info *run,
                                       json_t *object, struct err *err);
