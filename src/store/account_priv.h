#pragma once
/*
 * account_priv: what the modules of accounts, tokens and sessions share.
 */
#include "store/account.h"
#include "store/db.h"

/* Of `account a`; account_read takes them from a column on. */
#define ACCOUNT_COLUMNS                                                                            \
    "a.id, a.name, a.password, a.grants, a.disabled, a.stamp, a.actor, a.created_at_us"

NODISCARD enum status account_read(struct db_stmt *stmt, int column, struct arena *arena,
                                   struct account *out, struct err *err);
/* Inside a write transaction. */
NODISCARD enum status account_insert(struct store *store, const struct account_change *change,
                                     struct err *err);
