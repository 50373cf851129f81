#pragma once
/*
 * config: what the outside says: settings, variables, connections and handlers.
 *
 * Settings from flags, environment, the project's eider.yaml, the user's file. What files say of
 * variables and connections is in variables.yaml and connections.yaml beside eider.yaml; the rest
 * of what there is of them is found by the vault. The project's file is looked for here and in the
 * folders above. Handlers of plain jobs stand in the project's file.
 */
#include "base/json.h"
#include "model/house_hooks.h"
#include "model/settings.h"
#include "os/secret_box.h"
#include "store/vault.h"

struct config {
    struct settings settings;
    json_t *variables;              /* of files */
    json_t *connections;            /* the same */
    struct secret_value secret_key; /* EIDER_SECRET_KEY, which is taken out of the environment */
    struct vault_sources vault;     /* borrows all of these */
    json_t *handlers;               /* see handler_config.h */
    struct house_hooks *hooks;      /* of all DAGs; NULL: none */
};

NODISCARD enum status config_load(const json_t *flags, struct config *out, struct err *err);
void config_fini(struct config *config); /* twice is fine */
