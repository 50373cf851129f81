#pragma once
/*
 * daemon: `eider up`. Offers the DAG files of its folder, claims what is there to do and runs it,
 * for ever; one per home.
 *
 * Killed and started again it is the same host: its tasks ran on under the keeper and are adopted.
 */
#include "app/config.h"
#include "app/home.h"

/* Returns when it was told to stop, or with the reason why it cannot go on. */
NODISCARD enum status daemon_serve(const struct config *config, const struct home *home,
                                   const char *exe, struct err *err);
