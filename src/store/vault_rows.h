#pragma once
/*
 * vault_rows: variables, connections and secrets that are kept in the store.
 *
 * Rows as they lie there: what is secret in them is sealed text, which is neither made nor
 * opened here; vault.h does that. Every change is an event without values.
 */
#include "base/arena.h"
#include "model/env_name.h"
#include "store/store.h"

enum vault_kind {
    VAULT_VARIABLE = ENV_VARIABLE,
    VAULT_CONNECTION = ENV_CONNECTION,
    VAULT_SECRET = ENV_SECRET,
    VAULT_KIND_COUNT = ENV_KIND_COUNT
};

/* "variable", "connection", "secret" */
const char *vault_kind_name(enum vault_kind kind);

/* Where names are looked for that a namespace of its own does not have. */
extern const char VAULT_DEFAULT_SPACE[];

struct vault_row {
    const char *space;
    const char *name;
    const char *value;  /* variable: its text; connection: JSON without secrets; secret: NULL */
    const char *sealed; /* NULL: nothing in it is secret */
    const char *doc;    /* or NULL */
    const char *actor;  /* who changed it last */
    int64_t updated_at_us;
};

struct vault_change {
    enum vault_kind kind;
    const char *space;
    const char *name;
    const char *value;  /* as in vault_row */
    const char *sealed; /* the same */
    const char *doc;    /* NULL: stays as it is */
    const char *actor;
};

/* STATUS_INVALID: there can be none of this name, and why. */
NODISCARD enum status vault_check_name(enum vault_kind kind, const char *space, const char *name,
                                       struct err *err);

/* Make it, or change it. Doing it again changes nothing more. */
NODISCARD enum status store_vault_set(struct store *store, const struct vault_change *change,
                                      struct err *err);
/* STATUS_NOT_FOUND: there is none in exactly this namespace. */
NODISCARD enum status store_vault_delete(struct store *store, const struct vault_change *what,
                                         struct err *err);

struct vault_name {
    enum vault_kind kind;
    const char *space;
    const char *name;
    bool only_there; /* the namespace `default` does not stand in */
};

/* STATUS_NOT_FOUND: there is none. Texts are in the arena. */
NODISCARD enum status store_vault_load(struct store *store, struct arena *arena,
                                       const struct vault_name *name, struct vault_row *out,
                                       struct err *err);
/* By name, then namespace. */
NODISCARD enum status store_vault_list(struct store *store, struct arena *arena,
                                       enum vault_kind kind, struct vault_row **out,
                                       size_t *out_count, struct err *err);

/*
 * The same sealed anew, unless somebody has set or deleted it meanwhile: then *out_done is false
 * and nothing happens. When it was changed last, and by whom, stays as it is.
 */
NODISCARD enum status store_vault_reseal(struct store *store, enum vault_kind kind,
                                         const struct vault_row *row, const char *sealed,
                                         bool *out_done, struct err *err);
/* Tell of that in the journal, once for all of them. */
NODISCARD enum status store_vault_tell_resealed(struct store *store, int64_t count,
                                                const char *key_id, const char *actor,
                                                struct err *err);
