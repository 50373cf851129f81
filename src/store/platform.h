#pragma once
/*
 * platform: what those who run the platform decided for all that use a store. Whoever schedules
 * writes it down when it starts; whoever asks for something keeps to it, whatever his own settings
 * say.
 */
#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"
#include "store/store.h"

struct platform_policy {
    int64_t backfill_approval;  /* a backfill with more dates waits for it; 0: nothing is said */
    const char *backfill_queue; /* of backfills that name none; empty: nothing is said */
};

NODISCARD enum status store_platform_set(struct store *store, const struct platform_policy *policy,
                                         struct err *err);
/* Texts in `arena`. */
NODISCARD enum status store_platform_load(struct store *store, struct arena *arena,
                                          struct platform_policy *out, struct err *err);
