#pragma once
/*
 * reconcile: what the store says we hold against what we have. Pure.
 */
#include "base/arena.h"
#include "store/advance.h"

struct reconcile_item {
    int64_t task;
    int64_t attempt;
    struct nonce nonce;
};

struct reconcile_result {
    size_t *unknown; /* places in `held`: the store gave it to us and we know nothing of it */
    size_t unknown_count;
    size_t *foreign; /* places in `ours`: the store does not give it to us (any more) */
    size_t foreign_count;
};

/* An attempt is the same when task, number and nonce are. Results are in `arena`. */
void reconcile(const struct claim *held, size_t held_count, const struct reconcile_item *ours,
               size_t ours_count, struct arena *arena, struct reconcile_result *out);
