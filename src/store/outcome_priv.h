#pragma once
/*
 * outcome_priv: applying one outcome inside the advance transaction.
 */
#include "store/advance.h"
#include "store/work.h"

/* *out_accepted is false for an outcome of a claim that does not hold the attempt any more. */
NODISCARD enum status outcome_apply(struct work *work, const struct outcome *outcome,
                                    bool *out_accepted, struct err *err);
