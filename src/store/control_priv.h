#pragma once
/*
 * control_priv: changes to runs as part of something else.
 */
#include "store/control.h"

/* Like store_clear, inside the caller's write transaction, which it leaves open. */
NODISCARD enum status clear_within(struct store *store, const struct clear_request *request,
                                   struct arena *arena, struct clear_result *out, struct err *err);
