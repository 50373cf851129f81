#pragma once
/*
 * host_work: is there somebody who would work off a run?
 */
#include <stdbool.h>

#include "store/store.h"

/*
 * A daemon with the role of a worker that lives: by its lease, or, when it has none, as `is_alive`
 * says (NULL: it does).
 */
NODISCARD enum status store_has_worker(struct store *store,
                                       bool (*is_alive)(void *context, int64_t host), void *context,
                                       bool *out, struct err *err);
