#pragma once
/*
 * vault_priv: what the parts of the vault share.
 *
 *   vault        finding by name
 *   vault_list   what there is
 *   vault_seal   keys, and what is sealed with them
 */
#include "store/vault.h"

struct vault {
    const struct vault_sources *sources;
    struct store *store;      /* NULL: none, or not opened yet */
    char *url;                /* of a store that is opened when it is needed; NULL: `store` is it */
    bool is_opened;           /* it was, or there is none */
    struct secret_keys *keys; /* NULL: not read yet */
};

/* --- vault ----------------------------------------------------------------------------------- */

/* The value of the variable that the name has in the environment, or NULL; *out_variable is its
 * name, heap, when there is one. */
const char *vault_env(const struct vault *vault, enum vault_kind kind, const char *name,
                      char **out_variable);
/* Path of the file that a secret has, heap; NULL: there is no such folder. */
char *vault_secret_path(const struct vault *vault, const char *name);
/* From an entry of connections.yaml. */
NODISCARD enum status vault_file_connection(struct vault *vault, const char *space,
                                            const char *name, const json_t *entry,
                                            struct connection *out, struct err *err);

/* Open the store, if that is left to be done. To be called before `store` is looked at. */
NODISCARD enum status vault_reach(struct vault *vault, struct err *err);

/* --- vault_seal ------------------------------------------------------------------------------ */

/* The value of what is sealed in a row. */
NODISCARD enum status vault_open(struct vault *vault, enum vault_kind kind,
                                 const struct vault_row *row, struct secret_value *out,
                                 struct err *err);
