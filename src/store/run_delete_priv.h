#pragma once
/*
 * run_delete_priv: a finished run goes, inside a write transaction of the caller.
 */
#include "store/store.h"

/* STATUS_NOT_FOUND, or STATUS_CONFLICT when it is not over. */
NODISCARD enum status run_delete_within(struct store *store, int64_t run, const char *actor,
                                        struct err *err);
