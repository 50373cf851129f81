#pragma once
/*
 * orphans: processes of attempts that lost their owner.
 *
 * Owner and keeper may die together, and a task's grandchildren may have left its process group.
 * They must be gone before the task runs again.
 */
#include "base/attrs.h"
#include "base/err.h"
#include "store/store.h"

/*
 * Kill what is left on this machine of the run's attempts whose host is dead. To be called while
 * nobody else runs the run.
 */
NODISCARD enum status orphans_kill(struct store *store, int64_t run,
                                   bool (*is_alive)(void *context, int64_t host), void *context,
                                   struct err *err);
