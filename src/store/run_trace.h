#pragma once
/*
 * run_trace: the traces that runs belong to because something that is traced asked for them.
 * Other runs have no row: their trace follows from their number (model/span.h).
 */
#include "model/span.h"
#include "store/store.h"

struct work;

/* In the transaction that makes the run. Private to the store layer. */
NODISCARD enum status run_trace_keep(struct work *work, int64_t run, const char *traceparent,
                                     struct err *err);
/* "" when the run has none. */
NODISCARD enum status store_run_trace(struct store *store, int64_t run,
                                      char out[static TRACEPARENT_MAX], struct err *err);
