#pragma once
/*
 * wish_priv: asking for something inside a transaction.
 */
#include "store/wish.h"
#include "store/work.h"

/*
 * Write the wish into a row whose attempt runs, or whose instances do. The last one counts; the
 * same one again changes nothing, *out_new tells. The owner hears of it after the commit. `why` is
 * JSON; NULL: the reason that the store has.
 */
NODISCARD enum status wish_ask(struct work *work, struct task_row *task, enum task_wish wish,
                               const char *why, bool *out_new, struct err *err);
