#pragma once
/*
 * account: people who may use the API, what each may do where, and how their passwords are known.
 *
 * Every change is an event that says who made it; hashes are never among what is told.
 */
#include "base/arena.h"
#include "model/permission.h"
#include "store/store.h"

/* Texts are in the arena it was read with. */
struct account {
    int64_t id;
    const char *name;
    const char *password; /* argon2id; NULL: nobody signs in by one */
    struct grants grants;
    bool is_disabled;
    int64_t stamp; /* rises with every change; never comes again, not even for a new one */
    const char *actor;
    int64_t created_at_us;
};

struct account_change {
    const char *name;
    const char *password;        /* its hash; NULL: stays as it is, or none */
    const struct grants *grants; /* NULL: stay as they are, or none */
    const bool *disabled;        /* NULL: stays as it is, or no */
    const char *actor;
};

/* STATUS_CONFLICT: there is one of that name. */
NODISCARD enum status store_account_add(struct store *store, const struct account_change *change,
                                        struct err *err);
/*
 * A new password or being disabled ends all sessions.
 *
 *   STATUS_NOT_FOUND  there is none of that name
 */
NODISCARD enum status store_account_set(struct store *store, const struct account_change *change,
                                        struct err *err);
/* With tokens and sessions. STATUS_NOT_FOUND: there is none of that name. */
NODISCARD enum status store_account_remove(struct store *store, const char *name, const char *actor,
                                           struct err *err);

/* STATUS_NOT_FOUND: there is none of that name. */
NODISCARD enum status store_account_load(struct store *store, struct arena *arena, const char *name,
                                         struct account *out, struct err *err);
/* By name. */
NODISCARD enum status store_account_list(struct store *store, struct arena *arena,
                                         struct account **out, size_t *out_count, struct err *err);
/* Whether there is anybody. */
NODISCARD enum status store_account_any(struct store *store, bool *out, struct err *err);
