/*
 * trigger_state: what DAGs wait for and what runs were made of, for people.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "store/trigger_priv.h"

enum { MISSING_MAX = 4000 };

static const char STATE_ROW[] =
    "SELECT t.dag, t.paused, t.keeps FROM trigger_dag t JOIN dag d ON d.id = t.dag"
    " WHERE d.dag_id = $1";
static const char NEEDS[] =
    "SELECT w.kind, w.name, count(p.id), coalesce(max(p.at_us), 0) FROM trigger_watch w"
    " LEFT JOIN trigger_pending p ON p.dag = w.dag AND p.kind = w.kind AND p.name = w.name"
    " WHERE w.dag = $1 GROUP BY w.kind, w.name ORDER BY w.kind, w.name";
static const char WAITERS[] =
    "SELECT d.dag_id, t.paused, (SELECT count(*) FROM trigger_pending p WHERE p.dag = w.dag"
    " AND p.kind = 0 AND p.name = w.name) FROM trigger_watch w JOIN dag d ON d.id = w.dag"
    " JOIN trigger_dag t ON t.dag = w.dag WHERE w.kind = 0 AND w.name = $1 ORDER BY d.dag_id";
static const char WAITING[] = "SELECT name, state FROM trigger_pending WHERE dag = $1 AND kind = $2"
                              " GROUP BY name, state";
static const char CAUSES[] =
    "SELECT c.kind, c.name, c.state, c.at_us, e.task_id, e.map_index, e.actor, e.extra,"
    " CASE WHEN c.kind = 1 THEN c.source ELSE e.run END AS number, r.run_id, d.dag_id"
    " FROM run_cause c LEFT JOIN asset_event e ON c.kind = 0 AND e.id = c.source"
    " LEFT JOIN run r ON r.id = CASE WHEN c.kind = 1 THEN c.source ELSE e.run END"
    " LEFT JOIN dag d ON d.id = r.dag"
    " WHERE c.run = $1 ORDER BY c.at_us, c.kind, c.source LIMIT $2";

static enum status read_needs(struct store *store, struct arena *arena, int64_t dag_key,
                              struct trigger_state *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    size_t capacity = 0;
    struct trigger_need *needs = NULL;
    enum status status = db_query(store->db, &stmt, err, NEEDS, "i", dag_key);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        needs = mem_grow(needs, &capacity, out->needs_count, sizeof *needs);
        needs[out->needs_count++] = (struct trigger_need){
            .kind = (enum trigger_kind)db_int(stmt, 0),
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .waiting = db_int(stmt, 2),
            .last_us = db_int(stmt, 3),
            .is_needed = db_int(stmt, 0) >= TRIGGER_FILE,
        };
    }
    out->needs = arena_array(arena, out->needs_count + 1, sizeof *out->needs);
    if (out->needs_count > 0)
        memcpy(out->needs, needs, out->needs_count * sizeof *needs);
    mem_freep(&needs);
    return status;
}

static enum status read_happened(struct store *store, int64_t dag_key, enum trigger_kind kind,
                                 const struct trigger_rules *rules, bool *happened, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, WAITING, "ii", dag_key, (int64_t)kind);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        const struct trigger_event event = {db_text(stmt, 0), (enum run_state)db_int(stmt, 1)};
        for (size_t i = 0; i < rules->leaves_count; i++)
            happened[i] |= trigger_leaf_matches(rules->leaves[i], &event);
    }
    return status;
}

static void note_wanted(struct trigger_state *state, enum trigger_kind kind, const char *name)
{
    for (size_t i = 0; i < state->needs_count; i++)
        if (state->needs[i].kind == kind && str_equal(state->needs[i].name, name))
            state->needs[i].is_needed = true;
}

/* What is found out about one DAG. */
struct looking {
    struct store *store;
    int64_t dag_key;
    struct trigger_state state;
    struct strbuf words;
};

static enum status find_missing(struct looking *look, enum trigger_kind kind,
                                const struct trigger_rules *rules, struct err *err)
{
    struct strbuf *words = &look->words;
    CLEANUP(mem_freep) bool *happened = mem_zalloc(rules->leaves_count + 1, sizeof *happened);
    CLEANUP(mem_freep) bool *wanted = mem_zalloc(rules->leaves_count + 1, sizeof *wanted);
    if (rules->root == NULL)
        return STATUS_OK;
    if (read_happened(look->store, look->dag_key, kind, rules, happened, err) != STATUS_OK)
        return err->code;
    trigger_rules_wanted(rules, happened, wanted);
    for (size_t i = 0; i < rules->leaves_count; i++)
        if (wanted[i])
            note_wanted(&look->state, kind, rules->leaves[i]->name);
    if (words->length > 0 && !trigger_expr_holds(rules->root, happened))
        strbuf_add(words, ", or ");
    if (kind == TRIGGER_RUN_END && !trigger_expr_holds(rules->root, happened))
        strbuf_add(words, "the end of ");
    trigger_rules_describe(rules, happened, words);
    return STATUS_OK;
}

static enum status look_at(struct looking *look, struct arena *arena, const char *dag_id,
                           struct err *err)
{
    CLEANUP(triggers_freep) struct triggers *triggers = NULL;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(look->store->db, &stmt, err, STATE_ROW, "t", dag_id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "DAG '%s' does not start by events", dag_id);
    look->dag_key = db_int(stmt, 0);
    look->state = (struct trigger_state){
        .paused = db_int(stmt, 1) != 0,
        .keeps = db_int(stmt, 2) != 0,
    };
    db_reset(stmt);
    if (trigger_load(look->store, look->dag_key, &triggers, err) != STATUS_OK ||
        read_needs(look->store, arena, look->dag_key, &look->state, err) != STATUS_OK ||
        find_missing(look, TRIGGER_DATASET, &triggers->datasets, err) != STATUS_OK ||
        find_missing(look, TRIGGER_RUN_END, &triggers->after, err) != STATUS_OK ||
        trigger_refusal_load(look->store, arena, look->dag_key, &look->state.refusal, err) !=
            STATUS_OK)
        return err_wrap(err, "what DAG '%s' waits for", dag_id);
    return STATUS_OK;
}

enum status store_trigger_state(struct store *store, struct arena *arena, const char *dag_id,
                                struct trigger_state *out, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    struct looking look = {.store = store};
    if (db_begin_read(db, err) != STATUS_OK)
        return err->code;
    strbuf_init(&look.words, MISSING_MAX);
    enum status status = look_at(&look, arena, dag_id, err);
    if (status == STATUS_OK) {
        *out = look.state;
        out->missing = look.words.length > 0 ? arena_strdup(arena, look.words.text) : NULL;
    }
    strbuf_fini(&look.words);
    return status;
}

enum status store_trigger_waiters(struct store *store, struct arena *arena, const char *uri,
                                  struct trigger_waiter **out, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    CLEANUP(mem_freep) struct trigger_waiter *list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, WAITERS, "t", uri);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct trigger_waiter){
            .dag_id = arena_strdup(arena, db_text(stmt, 0)),
            .paused = db_int(stmt, 1) != 0,
            .waiting = db_int(stmt, 2),
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "who waits for '%s'", uri);
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

static const char DAGS[] = "SELECT d.version, v.path FROM trigger_dag t JOIN dag d ON d.id = t.dag"
                           " JOIN version v ON v.id = d.version WHERE d.active <> 0"
                           " ORDER BY d.dag_id LIMIT $1";

enum status store_trigger_dags(struct store *store, struct arena *arena, size_t most,
                               struct trigger_dag_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct trigger_dag *items = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, DAGS, "i", (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        items = mem_grow(items, &capacity, count, sizeof *items);
        items[count++] = (struct trigger_dag){
            .version = db_int(stmt, 0),
            .path = arena_strdup(arena, db_text(stmt, 1)),
        };
    }
    *out = (struct trigger_dag_list){arena_array(arena, count + 1, sizeof *items), count};
    if (count > 0)
        memcpy(out->items, items, count * sizeof *items);
    mem_freep(&items);
    return status == STATUS_OK ? STATUS_OK : err_wrap(err, "list DAGs that events start");
}

enum status store_run_causes(struct store *store, struct arena *arena, int64_t run, size_t most,
                             struct cause_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    struct cause_info *list = arena_array(arena, most + 1, sizeof *list);
    size_t count = 0;
    enum status status = db_query(store->db, &stmt, err, CAUSES, "ii", run, (int64_t)most);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        CHECK(count < most);
        list[count++] = (struct cause_info){
            .kind = (enum trigger_kind)db_int(stmt, 0),
            .name = arena_strdup(arena, db_text(stmt, 1)),
            .state = (enum run_state)db_int(stmt, 2),
            .at_us = db_int(stmt, 3),
            .task_id = arena_strdup_null(arena, db_text(stmt, 4)),
            .map_index = db_is_null(stmt, 5) ? -1 : db_int(stmt, 5),
            .actor = arena_strdup_null(arena, db_text(stmt, 6)),
            .extra = arena_strdup_null(arena, db_text(stmt, 7)),
            .run = db_int(stmt, 8),
            .run_id = arena_strdup_null(arena, db_text(stmt, 9)),
            .dag_id = arena_strdup_null(arena, db_text(stmt, 10)),
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "what run %lld was made of", (long long)run);
    *out = (struct cause_list){list, count};
    return STATUS_OK;
}
