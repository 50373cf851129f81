#pragma once
/*
 * control_priv: changes to runs as part of something else.
 */
#include "store/control.h"

struct work;

/* Like store_clear, inside the caller's write transaction, which it leaves open. */
NODISCARD enum status clear_within(struct store *store, const struct clear_request *request,
                                   struct arena *arena, struct clear_result *out, struct err *err);

/*
 * Clear what ended in this transaction and was asked to, for each run all at once: the events are
 * those of who asked. Part of work_settle.
 */
NODISCARD enum status clear_anew(struct work *work, struct err *err);
