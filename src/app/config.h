#pragma once
/*
 * config: what the outside says: settings, variables, connections and handlers.
 *
 * Settings from flags, environment, the project's eider.yaml, the user's file. Variables from
 * EIDER_VAR_NAME and variables.yaml, connections from EIDER_CONN_NAME (a URL or JSON) and
 * connections.yaml, both files beside eider.yaml; the environment wins. The project's file is
 * looked for here and in the folders above. Handlers of plain jobs stand in the project's file.
 */
#include "base/json.h"
#include "model/settings.h"

struct config {
    struct settings settings;
    json_t *variables;
    json_t *connections;
    json_t *handlers; /* see handler_config.h */
};

NODISCARD enum status config_load(const json_t *flags, struct config *out, struct err *err);
void config_fini(struct config *config); /* twice is fine */

/* "postgres://user:pass@host:5432/db?x=y" as host, port, login, password, schema, conn_type, extra.
 */
NODISCARD json_t *config_connection_from_url(const char *url);
