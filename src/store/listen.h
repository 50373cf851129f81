#pragma once
/*
 * listen: waiting for what other processes of a fleet tell through the database (channel.h).
 */
#include "store/store.h"

/* Whether there is ever something to hear: not on an embedded store. */
bool store_can_listen(const struct store *store);
NODISCARD enum status store_listen_for_work(struct store *store, struct err *err);
NODISCARD enum status store_listen_for_news(struct store *store, struct err *err);
NODISCARD enum status store_listen_for_notices(struct store *store, struct err *err);
NODISCARD enum status store_listen_for_stops(struct store *store, struct err *err);
/* Until something was heard, `wake_fd` (-1: none) is readable, or the time is up. */
NODISCARD enum status store_wait(struct store *store, int wake_fd, int64_t timeout_ms,
                                 bool *out_heard, struct err *err);
