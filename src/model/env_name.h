#pragma once
/*
 * env_name: variables, connections and secrets in the environment. Pure.
 *
 * The name in upper case, with '-' and '.' as '_': connection "db.main-ro" is
 * EIDER_CONN_DB_MAIN_RO. Names that differ only in that share a variable. Airflow's
 * AIRFLOW_CONN_NAME and AIRFLOW_VAR_NAME count where ours is not set.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"

enum env_kind { ENV_VARIABLE, ENV_CONNECTION, ENV_SECRET, ENV_KIND_COUNT };

/*
 * The names to look for, heap, the one that counts first; out_names[i] is NULL where there is none.
 * False: no such name can come from the environment, since it is empty, has characters that a
 * variable cannot have, or is used otherwise (EIDER_SECRET_KEY, EIDER_SECRET_KEY_FILE).
 */
enum { ENV_NAMES = 2 };
NODISCARD bool env_names(enum env_kind kind, const char *name, char *out_names[ENV_NAMES]);

/*
 * The other way round, for listing: "EIDER_VAR_API_URL" is variable "api_url", heap; NULL: it is
 * none of ours. Which of "api-url", "api.url" and "api_url" is meant cannot be known.
 */
NODISCARD char *env_name_parse(const char *variable, enum env_kind *out_kind);
