#pragma once
/*
 * housekeeping: what keeps a fleet's store quick, done by one host at a time.
 *
 * A thread of its own, since cleaning takes a while and neither claims nor renewals may wait for
 * it. Whoever has a connection anyway sees that it is needed (store/vacuum.h) and asks for it.
 *
 * Ownership  Whoever starts it stops it; the spare store must outlive it.
 */
#include "base/err.h"
#include "store/spare.h"

struct housekeeping;

NODISCARD enum status housekeeping_start(struct spare *spare, struct housekeeping **out,
                                         struct err *err);
/* Clean up soon. NULL is allowed. */
void housekeeping_clean(struct housekeeping *self);
void housekeeping_stop(struct housekeeping *self); /* NULL is allowed */
