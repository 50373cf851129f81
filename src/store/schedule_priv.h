#pragma once
/*
 * schedule_priv: a DAG's row in `schedule` follows its versions.
 */
#include "store/schedule.h"
#include "store/version.h"

/*
 * The row of a DAG whose newest version is `dag` from here on. Inside the write transaction that
 * makes it so. A schedule that was changed goes on from now.
 */
NODISCARD enum status schedule_save(struct store *store, const struct dag *dag, int64_t dag_key,
                                    const struct version_source *source, struct err *err);
