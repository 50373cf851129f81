#pragma once
/*
 * housekeeping: what keeps a fleet's store quick, done by one host at a time.
 *
 * A thread of its own, since cleaning may take long and nothing else may wait for it. It is
 * connected only while this host leads.
 *
 * Ownership  Whoever starts it stops it.
 */
#include "base/err.h"
#include "store/store.h"

struct housekeeping;

NODISCARD enum status housekeeping_start(const struct store_options *options,
                                         struct housekeeping **out, struct err *err);
/* Whether this host is the one to do it. */
void housekeeping_lead(struct housekeeping *self, bool leads);
void housekeeping_stop(struct housekeeping *self); /* NULL is allowed */
