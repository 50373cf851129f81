#pragma once
/*
 * claims: which claims the caller of a handle has.
 */
#include "library/handle_priv.h"

/* It has ended, or is another's: the caller has it no longer. */
void claims_forget(struct eider *e, int64_t task, int64_t attempt);
