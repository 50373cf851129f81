#pragma once
/*
 * run_query_priv: how the files that ask for runs read a row. Private to the store layer.
 */
#include "store/run_store.h"

struct db_stmt;

#define RUN_COLUMNS                                                                                \
    "r.id, r.dag, r.version, v.number, d.dag_id, r.run_id, r.namespace, r.kind, v.path, r.state,"  \
    " r.scope, r.logical_at_us, r.interval_start_us, r.interval_end_us, r.params, r.conf, r.note," \
    " r.actor, r.first_task, r.cancel_asked, r.open_main, r.open_finally, r.failures,"             \
    " r.created_at_us, r.started_at_us, r.ended_at_us, r.admission, r.backfill,"                   \
    " (SELECT q.name FROM queue q WHERE q.id = r.queue AND r.queue > 0), d.namespace"
#define RUN_JOINED " JOIN dag d ON d.id = r.dag JOIN version v ON v.id = r.version"

/* Texts are borrowed until the next step, or copied when there is an arena. */
void run_info_read(struct db_stmt *stmt, struct arena *arena, struct run_info *out);

/* A run that is there, asked for in a transaction; its row may be taken when that is over. */
NODISCARD enum status run_info_ask(struct db *db, int64_t id, struct db_stmt **out,
                                   struct err *err);
/* Nothing is taken if it was lost on the way. */
void run_info_take(struct db_stmt *stmt, struct arena *arena, struct run_info *out);
