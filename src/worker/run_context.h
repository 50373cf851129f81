#pragma once
/*
 * run_context: what the worker must know of a run to prepare its tasks.
 *
 * Read once per run through the worker's own read connection and kept while the run has
 * tasks in flight here. Values of tasks are read when a template asks for them.
 *
 * Threads  The loop's thread only.
 */
#include "base/arena.h"
#include "base/idmap.h"
#include "base/json.h"
#include "blob/blob.h"
#include "store/advance.h"
#include "store/run_store.h"
#include "store/run_trace.h"
#include "store/store.h"
#include "store/vault.h"

/* What every run context reads from; borrowed. */
struct run_source {
    struct store *store; /* read-only */
    struct blob *blob;
    struct vault *vault; /* NULL: no variables, connections and secrets */
    const char *store_uuid;
    bool is_traced; /* tasks are told the trace that they are part of */
};

struct run_context {
    const struct run_source *source;
    struct arena *arena;
    struct run_info info;
    const struct dag *dag;
    const char *dag_dir; /* folder of the DAG file */
    json_t *params;
    json_t *conf;
    char above[TRACEPARENT_MAX]; /* the trace that asked for the run, or "" */
    struct idmap *items;         /* mapped task's row id to its list of items, struct run_items */
};

NODISCARD enum status run_context_new(const struct run_source *source, int64_t run,
                                      struct run_context **out, struct err *err);
/* The same for many, ids ascending and each once; added to `into` by id, unless they are gone. */
NODISCARD enum status run_context_new_many(const struct run_source *source, const int64_t *ids,
                                           size_t count, struct idmap *into, struct err *err);
void run_context_free(struct run_context *context); /* NULL is allowed */

/* Item of the instance that was claimed: borrowed. After a clear the list is read anew. */
NODISCARD enum status run_context_item(struct run_context *context, const struct claim *claim,
                                       const json_t **out, struct err *err);

/*
 * The value `key` of a task: of a mapped one, a list over its instances without the skipped ones.
 * A new reference; STATUS_NOT_FOUND says what is missing.
 */
NODISCARD enum status run_context_value(struct run_context *context, const char *task_id,
                                        const char *key, json_t **out, struct err *err);
/* The same from another DAG: from its run for the same date, or the last one before. */
NODISCARD enum status run_context_value_of_dag(struct run_context *context, const char *dag_id,
                                               const char *task_id, const char *key, json_t **out,
                                               struct err *err);
/* All values of a task as an object. */
NODISCARD enum status run_context_values(struct run_context *context, const char *task_id,
                                         json_t **out, struct err *err);

/* The key under which a mapped task keeps its items. */
#define RUN_CONTEXT_ITEMS_KEY "__items"
