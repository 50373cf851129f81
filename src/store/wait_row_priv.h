#pragma once
/*
 * wait_row_priv: reading rows of `wait`. Private to the store layer.
 */
#include "store/db.h"
#include "store/rows.h"
#include "store/store_priv.h"
#include "store/wait.h"

enum { WAIT_BACKOFF_UNIT = 1000 };

/* Those of these tasks that wait. */
NODISCARD enum status wait_rows_load(struct db *db, const int64_t *tasks, size_t count,
                                     struct arena *arena, struct wait_list *out, struct err *err);
NODISCARD enum status wait_rows_of_host(struct db *db, int64_t host, struct arena *arena,
                                        struct wait_list *out, struct err *err);
