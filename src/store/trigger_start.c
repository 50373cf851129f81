/*
 * trigger_start: from what waits to runs.
 *
 *   what waits  ->  rows of a DAG are read, oldest first, under the lock of its trigger row
 *               ->  the model says how many of them make a run
 *               ->  those are deleted and kept as the causes of the run; the rest is marked as seen
 *
 * The rows that are deleted or marked are named one by one: what was committed after they were read
 * is not touched.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/id_list.h"
#include "store/trigger_priv.h"

enum {
    READ_MAX = 10000, /* rows of one DAG at a time */
    RUNS_MAX = 100,   /* of one transaction */
    SHOWN_MAX = 1000, /* updates that the conf of a run tells of */
    STARTED_CONF_BYTES = 256 << 10,
};

static const char DUE[] =
    "SELECT DISTINCT p.dag FROM trigger_pending p JOIN trigger_dag d ON d.dag = p.dag"
    " WHERE p.seen = 0 AND d.paused = 0 LIMIT $1";
static const char PENDING[] =
    "SELECT id, source, name, state, at_us, seen FROM trigger_pending WHERE dag = $1 AND kind = $2"
    " ORDER BY dag, kind, seen, id LIMIT $3";
static const char UPDATE_SHOWN[] =
    "SELECT e.extra, e.task_id, e.map_index, e.actor, r.run_id, d.dag_id FROM asset_event e"
    " LEFT JOIN run r ON r.id = e.run LEFT JOIN dag d ON d.id = r.dag WHERE e.id = $1";
static const char END_SHOWN[] =
    "SELECT run_id, conf, logical_at_us, interval_start_us, interval_end_us FROM run WHERE id = $1";
static const struct db_bulk_form TAKEN = {"DELETE FROM trigger_pending WHERE id = $1",
                                          "DELETE FROM trigger_pending WHERE id = ANY ($1)", "i",
                                          "event"};
static const struct db_bulk_form SEEN = {"UPDATE trigger_pending SET seen = 1 WHERE id = $1",
                                         "UPDATE trigger_pending SET seen = 1 WHERE id = ANY ($1)",
                                         "i", "event"};

enum status store_triggers_due(struct store *store, int64_t *dags, size_t most, size_t *out_count,
                               struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, DUE, "i", (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err))
        dags[count++] = db_int(stmt, 0);
    if (status != STATUS_OK)
        return err_wrap(err, "find what events ask for");
    *out_count = count;
    return STATUS_OK;
}

/* --- what waits ------------------------------------------------------------------------------ */

struct waiting_row {
    int64_t id;
    bool is_seen;
    struct trigger_cause cause;
};

struct waiting {
    struct waiting_row *rows; /* heap; names are in the arena */
    size_t count;
    size_t capacity;
};

static void waiting_fini(struct waiting *waiting)
{
    free(waiting->rows);
}

static int by_id(const void *a, const void *b)
{
    const struct waiting_row *x = a;
    const struct waiting_row *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Oldest first. Where there are more than can be read, what was not seen yet is among them. */
static enum status read_waiting(struct store *store, struct arena *arena, int64_t dag_key,
                                enum trigger_kind kind, struct waiting *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status =
        db_query(store->db, &stmt, err, PENDING, "iii", dag_key, (int64_t)kind, (int64_t)READ_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        out->rows = mem_grow(out->rows, &out->capacity, out->count, sizeof *out->rows);
        out->rows[out->count++] = (struct waiting_row){
            .id = db_int(stmt, 0),
            .is_seen = db_int(stmt, 5) != 0,
            .cause =
                {
                    .kind = kind,
                    .source = db_int(stmt, 1),
                    .name = arena_strdup(arena, db_text(stmt, 2)),
                    .state = (enum run_state)db_int(stmt, 3),
                    .at_us = db_int(stmt, 4),
                },
        };
    }
    if (out->count > 0)
        qsort(out->rows, out->count, sizeof *out->rows, by_id);
    return status;
}

/* The same rows as the model and as runs take them. */
struct waiting_lists {
    int64_t *ids;
    struct trigger_cause *causes;
    struct trigger_event *events;
    bool has_unseen;
};

static struct waiting_lists list_waiting(const struct waiting *waiting, struct arena *arena)
{
    size_t room = waiting->count + 1;
    struct waiting_lists lists = {
        .ids = arena_array(arena, room, sizeof *lists.ids),
        .causes = arena_array(arena, room, sizeof *lists.causes),
        .events = arena_array(arena, room, sizeof *lists.events),
    };
    for (size_t i = 0; i < waiting->count; i++) {
        const struct waiting_row *row = &waiting->rows[i];
        lists.ids[i] = row->id;
        lists.causes[i] = row->cause;
        lists.events[i] = (struct trigger_event){row->cause.name, row->cause.state};
        lists.has_unseen |= !row->is_seen;
    }
    return lists;
}

static enum status run_for_ids(struct store *store, const struct db_bulk_form *form,
                               const int64_t *ids, size_t count, struct err *err)
{
    struct db_bulk bulk;
    db_bulk_init(&bulk, form);
    for (size_t i = 0; i < count; i++)
        db_bulk_add(&bulk, ids[i]);
    enum status status = db_bulk_run(store->db, &bulk, (int64_t)count, err);
    db_bulk_fini(&bulk);
    return status;
}

/* What no leaf asks for any more is of no use; the others keep their order. */
static enum status drop_unasked(struct store *store, const struct trigger_rules *rules,
                                struct waiting *waiting, struct err *err)
{
    CLEANUP(id_list_fini) struct id_list unasked = {0};
    size_t kept = 0;
    for (size_t i = 0; i < waiting->count; i++) {
        const struct waiting_row row = waiting->rows[i];
        const struct trigger_event event = {row.cause.name, row.cause.state};
        bool is_asked = false;
        for (size_t leaf = 0; leaf < rules->leaves_count; leaf++)
            is_asked |= trigger_leaf_matches(rules->leaves[leaf], &event);
        if (is_asked)
            waiting->rows[kept++] = row;
        else
            id_list_add(&unasked, row.id);
    }
    waiting->count = kept;
    return run_for_ids(store, &TAKEN, unasked.items, unasked.count, err);
}

static enum status mark_seen(struct store *store, const struct waiting *waiting, size_t first,
                             struct err *err)
{
    CLEANUP(id_list_fini) struct id_list unseen = {0};
    for (size_t i = first; i < waiting->count; i++)
        if (!waiting->rows[i].is_seen)
            id_list_add(&unseen, waiting->rows[i].id);
    return run_for_ids(store, &SEEN, unseen.items, unseen.count, err);
}

/* --- what the run is told -------------------------------------------------------------------- */

static enum status describe_update(struct store *store, const struct trigger_cause *cause,
                                   json_t **out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, UPDATE_SHOWN, "i", cause->source) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    json_t *object = json_object();
    json_t *extra = NULL;
    struct err ignored = {0};
    const char *text = row ? db_text(stmt, 0) : NULL;
    if (text == NULL || json_parse(text, strlen(text), &extra, &ignored) != STATUS_OK)
        extra = json_object();
    json_put_id(object, "id", cause->source);
    json_put_instant(object, "timestamp", cause->at_us);
    json_put(object, "extra", extra);
    json_put_string(object, "source_task_id", row ? db_text(stmt, 1) : NULL);
    json_put_int(object, "source_map_index", row ? db_int(stmt, 2) : -1);
    json_put_string(object, "actor", row ? db_text(stmt, 3) : NULL);
    json_put_string(object, "source_run_id", row ? db_text(stmt, 4) : NULL);
    json_put_string(object, "source_dag_id", row ? db_text(stmt, 5) : NULL);
    if (row)
        db_reset(stmt);
    *out = object;
    return STATUS_OK;
}

/* The newest of them, by dataset; all of them are among the causes of the run. */
static enum status describe_updates(struct store *store, const struct trigger_cause *causes,
                                    size_t count, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *datasets = json_object();
    size_t bytes = 0;
    for (size_t i = count; i > 0 && count - i < SHOWN_MAX && bytes < STARTED_CONF_BYTES; i--) {
        const struct trigger_cause *cause = &causes[i - 1];
        json_t *update = NULL;
        if (describe_update(store, cause, &update, err) != STATUS_OK)
            return err->code;
        json_t *list = json_object_get(datasets, cause->name);
        if (list == NULL) {
            list = json_array();
            json_put(datasets, cause->name, list);
        }
        CLEANUP(mem_freep) char *text = json_format(update);
        bytes += strlen(text);
        CHECK(json_array_insert_new(list, 0, update) == 0);
    }
    *out = json_object();
    json_put(*out, "triggering_dataset_events", TAKE(datasets));
    return STATUS_OK;
}

/* The run that ended lends its date, and its conf where the schedule says so. */
static enum status describe_end(struct store *store, const struct trigger_rules *rules,
                                const struct trigger_cause *cause, struct trigger_run *run,
                                json_t *conf, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    bool passes_conf = false;
    const struct trigger_event event = {cause->name, cause->state};
    for (size_t i = 0; i < rules->leaves_count; i++)
        passes_conf |=
            rules->leaves[i]->passes_conf && trigger_leaf_matches(rules->leaves[i], &event);
    if (db_query(store->db, &stmt, err, END_SHOWN, "i", cause->source) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    json_t *object = json_object();
    json_put_string(object, "dag_id", cause->name);
    json_put_id(object, "number", cause->source);
    json_put_string(object, "state", run_state_name(cause->state));
    json_put_string(object, "run_id", row ? db_text(stmt, 0) : NULL);
    json_put_instant(object, "logical_date", row ? db_int(stmt, 2) : 0);
    CHECK(json_array_append_new(json_object_get(conf, "triggering_runs"), object) == 0);
    if (!row)
        return STATUS_OK; /* it was deleted meanwhile */
    run->logical_at_us = db_int(stmt, 2);
    run->interval_start_us = db_int(stmt, 3);
    run->interval_end_us = db_int(stmt, 4);
    CLEANUP(json_decrefp) json_t *given = NULL;
    struct err ignored = {0};
    const char *text = db_text(stmt, 1);
    if (passes_conf && json_parse(text, strlen(text), &given, &ignored) == STATUS_OK) {
        json_object_del(given, "triggering_runs");
        CHECK(json_object_update(conf, given) == 0);
    }
    db_reset(stmt);
    return STATUS_OK;
}

static enum status describe_ends(struct store *store, const struct trigger_rules *rules,
                                 struct trigger_run *run, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *conf = json_object();
    json_put(conf, "triggering_runs", json_array());
    size_t first = run->causes_count > SHOWN_MAX ? run->causes_count - SHOWN_MAX : 0;
    for (size_t i = first; i < run->causes_count; i++)
        if (describe_end(store, rules, &run->causes[i], run, conf, err) != STATUS_OK)
            return err->code;
    *out = TAKE(conf);
    return STATUS_OK;
}

/* --- runs ------------------------------------------------------------------------------------ */

struct starting {
    struct store *store;
    int64_t dag_key;
    int64_t chain_most;
    struct trigger_started *out;
};

static enum status make(struct starting *call, const struct trigger_rules *rules,
                        const struct trigger_cause *causes, size_t count, struct err *err)
{
    bool is_dataset = causes[0].kind == TRIGGER_DATASET;
    struct trigger_run run = {
        .dag_key = call->dag_key,
        .kind = is_dataset ? "dataset" : "event",
        .logical_at_us = causes[count - 1].at_us,
        .interval_start_us = causes[0].at_us,
        .interval_end_us = causes[count - 1].at_us,
        .actor = "scheduler",
        .causes = causes,
        .causes_count = count,
    };
    CLEANUP(json_decrefp) json_t *conf = NULL;
    enum status status = is_dataset ? describe_updates(call->store, causes, count, &conf, err)
                                    : describe_ends(call->store, rules, &run, &conf, err);
    if (status != STATUS_OK)
        return status;
    run.conf = conf;
    struct run_created created;
    struct err refusal = {0};
    status = trigger_check_chain(call->store, causes, count, call->chain_most, &refusal);
    if (status == STATUS_OK)
        status = trigger_make_run(call->store, &run, &created, &refusal);
    if (status == STATUS_INVALID || status == STATUS_LIMIT) {
        call->out->refused++;
        (void)snprintf(call->out->why, sizeof call->out->why, "%s", refusal.text);
        return trigger_refuse(call->store, call->dag_key, causes[count - 1].name, refusal.text,
                              call->out->dag_id, err);
    }
    if (status != STATUS_OK) {
        *err = refusal;
        return status;
    }
    call->out->runs++;
    return STATUS_OK;
}

static enum status start_kind(struct starting *call, const struct trigger_rules *rules,
                              enum trigger_kind kind, struct arena *arena, struct err *err)
{
    CLEANUP(waiting_fini) struct waiting waiting = {0};
    enum trigger_taking taking = kind == TRIGGER_DATASET ? TRIGGER_TAKE_ALL : TRIGGER_TAKE_FIRST;
    if (read_waiting(call->store, arena, call->dag_key, kind, &waiting, err) != STATUS_OK)
        return err->code;
    bool is_full = waiting.count == READ_MAX;
    if (drop_unasked(call->store, rules, &waiting, err) != STATUS_OK)
        return err->code;
    struct waiting_lists lists = list_waiting(&waiting, arena);
    size_t first = 0;
    for (size_t made = 0;; made++) {
        size_t taken =
            trigger_rules_take(rules, lists.events + first, waiting.count - first, taking);
        if (taken == 0)
            break;
        if (made == RUNS_MAX) {
            call->out->is_more = true;
            return STATUS_OK;
        }
        if (make(call, rules, lists.causes + first, taken, err) != STATUS_OK ||
            run_for_ids(call->store, &TAKEN, lists.ids + first, taken, err) != STATUS_OK)
            return err->code;
        first += taken;
    }
    call->out->is_more |= is_full && lists.has_unseen;
    return mark_seen(call->store, &waiting, first, err);
}

static enum status start_once(struct store *store, const void *context, struct err *err)
{
    struct starting *call = *(struct starting *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(triggers_freep) struct triggers *triggers = NULL;
    bool is_free = false;
    *call->out = (struct trigger_started){0};
    if (db_begin(db, err) != STATUS_OK ||
        trigger_lock(store, call->dag_key, &is_free, err) != STATUS_OK)
        return err->code;
    if (!is_free)
        return STATUS_OK;
    if (trigger_load(store, call->dag_key, &triggers, err) != STATUS_OK ||
        start_kind(call, &triggers->datasets, TRIGGER_DATASET, arena, err) != STATUS_OK ||
        start_kind(call, &triggers->after, TRIGGER_RUN_END, arena, err) != STATUS_OK ||
        db_commit(db, err) != STATUS_OK) {
        /* Somebody made a run with the id that this one would have: the next look finds another. */
        if (err->code == STATUS_CONFLICT && db_dialect(db) == DB_POSTGRES)
            err->code = STATUS_BUSY;
        return err->code;
    }
    return STATUS_OK;
}

enum status store_trigger_start(struct store *store, int64_t dag_key, int64_t chain_most,
                                struct trigger_started *out, struct err *err)
{
    struct starting *call = &(struct starting){store, dag_key, chain_most, out};
    if (store_repeat(store, start_once, &call, err) != STATUS_OK)
        return err_wrap(err, "start a run of events");
    return STATUS_OK;
}
