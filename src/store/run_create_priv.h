#pragma once
/*
 * run_create_priv: runs that come into being as part of something else, such as the move of a
 * schedule's cursor.
 */
#include "store/run_store.h"

/*
 * Inside the caller's write transaction. STATUS_CONFLICT: there is a run with this id, or a
 * scheduled one or a backfill's for this date; nothing was changed by the call then, but on
 * PostgreSQL the transaction is of no more use.
 */
NODISCARD enum status run_create_within(struct store *store, const struct run_request *requests,
                                        size_t count, struct run_created *out, struct err *err);
