#pragma once
/*
 * old_home: what lies in a home from the time when all its stores shared its folders.
 *
 * Nothing fails because of it, unless somebody still works there: what cannot be taken over now
 * stays where it is for the next time.
 */
#include "app/home.h"
#include "store/store.h"

/*
 * STATUS_CONFLICT: a process of before works on this store in a file. Its lock is in hosts/ of the
 * home, where nobody looks any more: it would be taken for dead, and what it runs for lost.
 */
NODISCARD enum status old_home_refuse_living(const struct home *home, struct store *store,
                                             struct err *err);
/*
 * Logs and large values of `store`, from blob/ to its own place. Once; with `again` whatever was
 * done before, for what a keeper of before has written since.
 */
void old_home_take_logs(const struct home *home, struct store *store,
                        const struct home_place *place, bool again);
/*
 * What a daemon remembered in hosts/, its keeper and its journal go to the store that it was
 * working on; a journal that is there already gets the outcomes of the other one. To be called by
 * whoever holds the daemon's lock, before it looks for a keeper.
 */
void old_home_take_daemon(const struct home *home);
