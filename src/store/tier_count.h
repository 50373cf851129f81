#pragma once
/*
 * tier_count: how many tasks of a tier run. A tier is named by versions of DAGs, not by rows, so it
 * is asked of those that have something running. Private to the store layer.
 */
#include "store/store_priv.h"

/* Without the tasks of `gone`, where the database is PostgreSQL; elsewhere there must be none. */
NODISCARD enum status tier_count(struct store *store, const char *tier, const int64_t *gone,
                                 size_t gone_count, int64_t *out, struct err *err);
