#pragma once
/*
 * dag_standing: what the store says about a DAG beside its meaning.
 */
#include "base/json.h"
#include "service/service.h"
#include "store/version.h"

/* Members dag_version, is_active, is_rolled_back, has_import_errors and status. */
void dag_standing_put(json_t *object, const struct version_info *info, bool is_broken);
/* Member last_run, null where there was none; `store` may be NULL. */
NODISCARD enum status dag_standing_put_last_run(const struct service *service, struct store *store,
                                                const char *dag_id, json_t *object,
                                                struct err *err);
