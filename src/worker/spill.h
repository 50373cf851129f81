#pragma once
/*
 * spill: values too large for the store's rows, kept as blobs.
 *
 * The attempt is part of the key, so an attempt that lost its claim cannot overwrite what the
 * accepted one left.
 */
#include "base/json.h"
#include "blob/blob.h"
#include "store/value.h"

struct spill_key {
    int64_t run;
    int64_t task;
    int64_t attempt;
    const char *key;
};

NODISCARD enum status spill_put(struct blob *blob, const struct spill_key *key, const char *json,
                                size_t length, struct err *err);
/* The value behind a row of the value table, wherever it is kept: a new reference. */
NODISCARD enum status spill_get(struct blob *blob, const struct spill_key *key,
                                const struct value_info *value, json_t **out, struct err *err);
