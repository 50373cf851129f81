#pragma once
/*
 * make_room: runs of DAGs that say `overlap: replace` stop for a newer one.
 */
#include <stdbool.h>

#include "store/store.h"

/* *changed becomes true when one was asked to stop; else it stays as it is. */
NODISCARD enum status make_room(struct store *store, bool *changed, struct err *err);
