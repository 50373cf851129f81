#pragma once
/*
 * repeat: what others came in between of is done again.
 */
#include "store/store.h"

/*
 * Do it again while others come in between; `once` is a whole transaction. A database with one
 * writer at a time is not asked twice: it has waited already.
 */
NODISCARD enum status store_repeat(struct store *store,
                                   enum status (*once)(struct store *store, const void *context,
                                                       struct err *err),
                                   const void *context, struct err *err);
