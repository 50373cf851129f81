#pragma once
/*
 * sla_json: how a DAG keeps its deadlines, as JSON.
 */
#include "base/json.h"
#include "store/deadline.h"

/* A new reference. */
NODISCARD json_t *sla_json(const struct sla_record *record);

/* Put the record of a DAG's last runs under "sla", null when it has no deadlines. */
NODISCARD enum status sla_json_put(struct store *store, const char *dag_id, json_t *object,
                                   struct err *err);
