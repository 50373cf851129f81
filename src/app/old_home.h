#pragma once
/*
 * old_home: what lies in a home from the time when all its stores shared its folders.
 *
 * Nothing fails because of it: what cannot be taken over now stays where it is for the next time.
 */
#include "app/home.h"
#include "store/store.h"

/*
 * Logs and large values of `store`, from blob/ to its own place. Once; with `again` whatever was
 * done before, for what a keeper of before has written since.
 */
void old_home_take_logs(const struct home *home, struct store *store,
                        const struct home_place *place, bool again);
/*
 * What a daemon remembered in hosts/, its keeper and its journal go to the store that it was
 * working on. To be called by whoever holds the daemon's lock, before it looks for a keeper.
 */
void old_home_take_daemon(const struct home *home);
