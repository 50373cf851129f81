#pragma once
/*
 * trigger_json: what DAGs wait for and what runs were made of, as JSON.
 */
#include "base/arena.h"
#include "base/json.h"
#include "store/store.h"
#include "store/trigger_store.h"

/*
 * Put `waits_for`, a list of {kind, name, waiting, last, needed}, and `missing`, the same in words,
 * into the record of a DAG; nothing when it does not start by events.
 */
NODISCARD enum status trigger_json_put_state(struct store *store, const char *dag_id,
                                             json_t *object, struct err *err);
/* Put `caused_by`, a list of events, into the record of a run; nothing when none made it. */
NODISCARD enum status trigger_json_put_causes(struct store *store, int64_t run, json_t *object,
                                              struct err *err);
