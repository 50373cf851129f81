#pragma once
/*
 * home_failing: which task made a run fail first, and what it said.
 */
#include "base/json.h"
#include "service/service.h"
#include "store/run_store.h"

/*
 * Adds task_id, map_index, label, try_number, exit_code and message of the task of `run` that
 * failed first; all null when none of its first tasks did. Where a task left no message, the last
 * line of its log is read if `may_read_log`; *out_read tells that it was.
 */
NODISCARD enum status home_failing_put(struct service *service, const struct run_info *run,
                                       bool may_read_log, bool *out_read, json_t *object,
                                       struct err *err);
