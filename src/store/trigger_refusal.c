/*
 * trigger_refusal: events that asked for a run which could not be made.
 *
 * Each is an event row. Which was the last of a DAG is kept with the DAG, so that nobody has to
 * look for it among all that happened since.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/trigger_priv.h"

static const char ADD[] =
    "INSERT INTO event (at_us, kind, actor, data) VALUES ($1, $2, 'scheduler', $3) RETURNING id";
static const char SET[] = "UPDATE trigger_dag SET refused = $2 WHERE dag = $1";
static const char LAST[] = "SELECT e.at_us, e.data FROM trigger_dag t JOIN event e ON"
                           " e.id = t.refused WHERE t.dag = $1 AND e.kind = $2";

enum status trigger_refuse(struct store *store, int64_t dag_key, const char *what, const char *why,
                           char out_dag_id[static LIMIT_ID_BYTES + 1], struct err *err)
{
    const struct dag *dag = NULL;
    int64_t version = 0;
    int64_t event = 0;
    if (trigger_newest(store, dag_key, &version, &dag, err) != STATUS_OK)
        return err->code;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "dag_id", dag->id);
    json_put(data, "what", json_text(what, strlen(what)));
    json_put(data, "why", json_text(why, strlen(why)));
    CLEANUP(mem_freep) char *text = json_format(data);
    if (db_get_int(store->db, 0, &event, err, ADD, "iit", store_now_us(store),
                   (int64_t)EVENT_TRIGGER_REFUSED, text) != STATUS_OK ||
        db_do(store->db, err, SET, "ii", dag_key, event) != STATUS_OK)
        return err_wrap(err, "keep what was refused");
    (void)snprintf(out_dag_id, LIMIT_ID_BYTES + 1, "%s", dag->id);
    return STATUS_OK;
}

enum status trigger_refusal_load(struct store *store, struct arena *arena, int64_t dag_key,
                                 const struct trigger_refusal **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    CLEANUP(json_decrefp) json_t *data = NULL;
    struct err unreadable = {0};
    bool row = false;
    if (db_query(store->db, &stmt, err, LAST, "ii", dag_key, (int64_t)EVENT_TRIGGER_REFUSED) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for what was refused");
    *out = NULL;
    if (!row)
        return STATUS_OK;
    const char *text = db_text(stmt, 1);
    if (json_parse(text, strlen(text), &data, &unreadable) == STATUS_OK) {
        struct trigger_refusal *refusal = arena_alloc(arena, sizeof *refusal);
        *refusal = (struct trigger_refusal){
            .at_us = db_int(stmt, 0),
            .what = arena_strdup(arena, json_get_string(data, "what", "")),
            .why = arena_strdup(arena, json_get_string(data, "why", "")),
        };
        *out = refusal;
    }
    db_reset(stmt);
    return STATUS_OK;
}
