#pragma once
/*
 * schedule_priv: a DAG's row in `schedule`, and what it waits for, follow its current version.
 * Everything here happens inside a write transaction of the caller.
 */
#include "store/schedule.h"
#include "store/version_priv.h"

/*
 * The row of a DAG that is what `current` says from here on; one that is not offered starts nothing
 * by itself. A schedule that was changed goes on from now, and a pause goes on, too.
 */
NODISCARD enum status schedule_save(struct store *store, const struct current_version *current,
                                    struct err *err);
/* Nothing of the DAG starts by itself until it is offered again. */
NODISCARD enum status schedule_withdraw(struct store *store, int64_t dag_key, struct err *err);
/* The DAG is being deleted. */
NODISCARD enum status schedule_forget(struct store *store, int64_t dag_key, struct err *err);
