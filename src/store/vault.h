#pragma once
/*
 * vault: variables, connections and secrets, wherever they come from.
 *
 * Looked for in this order, and the first place that has the name counts:
 *   1. the environment (model/env_name.h)
 *   2. files: variables.yaml, connections.yaml, and a folder with a file for each secret
 *   3. the store, in the namespace asked for
 *   4. the store, in the namespace `default`
 * A place that has it but cannot give it (a file that may not be read, a key that is missing) is a
 * failure; the next place is not asked. Values are read anew each time, keys once, and again when
 * something was sealed with a key that is not among them.
 *
 * When it has read its first secret or key, the process keeps its memory to itself (privacy.h).
 *
 * Ownership  The sources and the store are borrowed; see vault_new_at.
 * Threads    One thread at a time, that of its store.
 */
#include "base/json.h"
#include "model/connection.h"
#include "os/secret_box.h"
#include "store/vault_rows.h"

struct vault_sources {
    char *const *environment;  /* "NAME=value", closed by NULL; NULL: nothing is set */
    const json_t *variables;   /* of variables.yaml: name to any value; NULL: none */
    const json_t *connections; /* of connections.yaml: name to a URI or a map; NULL: none */
    const char *secrets_dir;   /* NULL or "": none */
    const char *key_text;      /* as in secret_keys_place */
    const char *key_file;
};

struct vault;

/* `store` NULL: there is none. */
NODISCARD struct vault *vault_new(const struct vault_sources *sources, struct store *store);
/*
 * With a store of its own, only for reading, which is opened when something is looked for in it: a
 * store that nobody asks for may be away. One that nobody made yet holds nothing.
 */
NODISCARD struct vault *vault_new_at(const struct vault_sources *sources, const char *url);
void vault_free(struct vault *vault); /* NULL is allowed */

/*
 * STATUS_NOT_FOUND names the places that were looked at. Other failures say which place has it and
 * what is wrong there; no text ever shows a part of a value.
 */
NODISCARD enum status vault_variable(struct vault *vault, const char *space, const char *name,
                                     json_t **out, struct err *err);
NODISCARD enum status vault_connection(struct vault *vault, const char *space, const char *name,
                                       struct connection *out, struct err *err);
NODISCARD enum status vault_secret(struct vault *vault, const char *space, const char *name,
                                   struct secret_value *out, struct err *err);
/* The connection as it may be shown, without need of a key; a new reference. */
NODISCARD enum status vault_connection_shown(struct vault *vault, const char *space,
                                             const char *name, json_t **out, struct err *err);
/* STATUS_OK: there is one. Nothing is opened. */
NODISCARD enum status vault_find(struct vault *vault, enum vault_kind kind, const char *space,
                                 const char *name, struct err *err);

/* --- what there is --------------------------------------------------------------------------- */

enum vault_origin { VAULT_ENVIRONMENT, VAULT_FILE, VAULT_STORE, VAULT_ORIGIN_COUNT };

const char *vault_origin_name(enum vault_origin origin); /* "environment", "file", "store" */

/*
 * Everything from every place, sorted by name and then as the places count; a new list of objects
 *
 *   name, source    from the environment the name is as far as the variable tells
 *   place           the variable or the file; null in the store
 *   namespace       in the store; null elsewhere: it counts for all
 *   value           of a variable; of a connection as it may be shown; null of a secret
 *   problem         why it cannot be used, or null
 *   key_id          of what is sealed, or null
 *   doc, updated_by, updated_at   in the store; null elsewhere
 *   hidden          something that counts more has the same name and namespace
 */
NODISCARD enum status vault_list(struct vault *vault, enum vault_kind kind, json_t **out,
                                 struct err *err);

/* --- changing what is in the store ----------------------------------------------------------- */

/*
 * Seal a value for (kind, space, name) with the first key, which is made when there is none; added
 * to `out`.
 */
NODISCARD enum status vault_seal(struct vault *vault, const struct secret_context *context,
                                 const struct secret_value *plain, struct strbuf *out,
                                 struct err *err);

/* The value of a text that was sealed for this context; statuses as secret_box_open. */
NODISCARD enum status vault_unseal(struct vault *vault, const struct secret_context *context,
                                   const char *sealed, struct secret_value *out, struct err *err);

/* What is sealed in the store, and with which keys. */
struct vault_sealed {
    size_t count;
    size_t unknown;                 /* of them, by keys that we do not have */
    char key_id[SECRET_KEY_ID_MAX]; /* one of those */
    char problem[ERR_TEXT_MAX];     /* why we have no key at all; may be empty */
};

NODISCARD enum status vault_sealed(struct vault *vault, struct vault_sealed *out, struct err *err);

struct vault_rotation {
    int64_t resealed;
    int64_t current; /* sealed with the first key already */
    int64_t failed;  /* cannot be opened: they stay as they are */
    char first_failure[ERR_TEXT_MAX];
    char key_id[SECRET_KEY_ID_MAX];
};

/*
 * Seal everything in the store anew that another key than the first has sealed. What cannot be
 * opened stays as it is and is counted. It may be stopped and begun again at any time.
 */
NODISCARD enum status vault_rotate(struct vault *vault, const char *actor,
                                   struct vault_rotation *out, struct err *err);

static inline void vault_freep(struct vault **vault)
{
    vault_free(*vault);
}
