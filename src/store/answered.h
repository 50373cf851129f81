#pragma once
/*
 * answered: changes that were asked for with a key, and what was answered.
 *
 * Everything here happens between store_together_begin and store_together_commit, with the change
 * itself: a change and the memory of its answer become durable at once. A key that another
 * transaction works with is waited for, so of several requests with the same key one is the first.
 */
#include <stdint.h>

#include "base/arena.h"
#include "store/store.h"

/* How long an answer is kept; after that the key is free again. */
enum { ANSWERED_KEPT_MS = 24 * 3600 * 1000 };

struct answered_key {
    const char *owner; /* who asks: keys of others are others */
    const char *key;
    const char *request; /* hash of what is asked */
};

struct answered {
    int status;       /* of HTTP; 0: not yet */
    const char *body; /* "": none */
};

/*
 * Take the key: out->status is 0 when it was free, and whoever asks does the work and ends with
 * store_answered_keep or store_answered_forget. Else it is what was answered, in the arena.
 *
 *   STATUS_CONFLICT  the key was used for another request
 *   STATUS_BUSY      nobody can say yet: ask again
 */
NODISCARD enum status store_answered_take(struct store *store, const struct answered_key *key,
                                          struct arena *arena, struct answered *out,
                                          struct err *err);
/* After a failure of these two the transaction must not be committed. */
NODISCARD enum status store_answered_keep(struct store *store, const struct answered_key *key,
                                          const struct answered *answer, struct err *err);
NODISCARD enum status store_answered_forget(struct store *store, const struct answered_key *key,
                                            struct err *err);
