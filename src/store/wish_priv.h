#pragma once
/*
 * wish_priv: asking for something inside a transaction.
 */
#include "store/run_tasks_priv.h"
#include "store/wish.h"
#include "store/work.h"

/*
 * For whoever asks: STATUS_CONFLICT when something of the node runs on a living host whose program
 * is older than wishes, and would run on as if nothing had been said. `map_index`: of its instances
 * only this one; -1: all.
 */
NODISCARD enum status wish_require_owners(struct work *work, const struct run_tasks *tasks,
                                          int64_t node, int64_t map_index, struct err *err);

/*
 * Write the wish into a row whose attempt runs, or whose instances do. The last one counts; the
 * same one again changes nothing, *out_new tells. The owner hears of it after the commit. `why` is
 * JSON; NULL: the reason that the store has.
 */
NODISCARD enum status wish_ask(struct work *work, struct task_row *task, enum task_wish wish,
                               const char *why, bool *out_new, struct err *err);
