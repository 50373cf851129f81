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
    " (SELECT q.name FROM queue q WHERE q.id = r.queue AND r.queue > 0), d.namespace,"             \
    " (SELECT count(*) FROM task_note n WHERE n.run = r.id)"
#define RUN_JOINED " JOIN dag d ON d.id = r.dag JOIN version v ON v.id = r.version"

/* Texts are borrowed until the next step, or copied when there is an arena. */
void run_info_read(struct db_stmt *stmt, struct arena *arena, struct run_info *out);

/*
 * Runs that are there, asked for in a transaction; their rows may be taken when that is over. Where
 * a question takes no time nothing is asked, and *out stays NULL.
 */
NODISCARD enum status run_infos_ask(struct db *db, const int64_t *ids, size_t count,
                                    struct db_stmt **out, struct err *err);
/* Each to its place among the ids; those that were lost on the way are left alone. */
void run_infos_take(struct db_stmt *stmt, struct arena *arena, const int64_t *ids, size_t count,
                    struct run_info *out);
