#pragma once
/*
 * vacuum: tables whose rows come and go must not fill with what is gone.
 *
 * Work passes through a few narrow tables in moments. On PostgreSQL each passage leaves a dead row
 * behind that claims must step over until it is removed, and the server's own cleaning comes too
 * seldom for that.
 */
#include <stdbool.h>

#include "store/store.h"

enum { VACUUM_DEAD_ROWS = 20000 };

/* Whether some table has that many: never elsewhere. */
NODISCARD enum status store_vacuum_is_due(struct store *store, bool *out, struct err *err);
/* Clean the tables that need it; nothing to do elsewhere. Outside transactions. */
NODISCARD enum status store_vacuum(struct store *store, struct err *err);
