#pragma once
/*
 * listen: waiting for what other processes of a fleet tell through the database (channel.h).
 */
#include "store/store.h"

/* Hear of work and of wishes to stop. On an embedded store there is nothing to hear. */
NODISCARD enum status store_listen(struct store *store, struct err *err);
/* Until something was heard, `wake_fd` (-1: none) is readable, or the time is up. */
NODISCARD enum status store_wait(struct store *store, int wake_fd, int64_t timeout_ms,
                                 bool *out_heard, struct err *err);
