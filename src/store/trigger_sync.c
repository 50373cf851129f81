/*
 * trigger_sync: the rows of what DAGs wait for follow their newest versions.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/str.h"
#include "model/limits.h"
#include "store/channel.h"
#include "store/old_rows.h"
#include "store/trigger_priv.h"

const char *trigger_kind_name(enum trigger_kind kind)
{
    static const char *const NAMES[] = {[TRIGGER_DATASET] = "dataset",
                                        [TRIGGER_RUN_END] = "run",
                                        [TRIGGER_FILE] = "file",
                                        [TRIGGER_WEBHOOK] = "webhook"};
    CHECK(kind < ARRAY_LEN(NAMES));
    return NAMES[kind];
}

struct watch {
    enum trigger_kind kind;
    const char *name;
    unsigned states;
    int64_t settle_ms;
};

struct watch_list {
    struct watch *items;
    size_t count;
    int64_t since_us; /* of those that are new */
};

static const char HAS_ROW[] = "SELECT count(*) FROM trigger_dag WHERE dag = $1";
static const char DAG_SET[] = "INSERT INTO trigger_dag (dag, keeps) VALUES ($1, $2)"
                              " ON CONFLICT (dag) DO UPDATE SET keeps = excluded.keeps,"
                              " row_version = trigger_dag.row_version + 1";
static const char WATCHES[] = "SELECT kind, name FROM trigger_watch WHERE dag = $1";
static const char WATCH_SET[] =
    "INSERT INTO trigger_watch (dag, kind, name, states, settle_ms, since_us)"
    " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (dag, kind, name) DO UPDATE SET"
    " states = excluded.states, settle_ms = excluded.settle_ms";
static const char WATCH_DROP[] =
    "DELETE FROM trigger_watch WHERE dag = $1 AND kind = $2 AND name = $3";
static const char PENDING_DROP[] =
    "DELETE FROM trigger_pending WHERE dag = $1 AND kind = $2 AND name = $3";
/* Another expression may hold for what waits already. */
static const char PENDING_AGAIN[] =
    "UPDATE trigger_pending SET seen = 0 WHERE dag = $1 AND seen <> 0";
static const char RUNS_AWAITED[] =
    "UPDATE run SET awaited = 1 WHERE state IN (0, 1) AND awaited = 0"
    " AND dag = (SELECT id FROM dag WHERE dag_id = $1)";
static const char *const FORGET[] = {
    "DELETE FROM trigger_pending WHERE dag = $1",
    "DELETE FROM trigger_watch WHERE dag = $1",
    "DELETE FROM trigger_dag WHERE dag = $1",
};
static const char PAUSED_SET[] =
    "UPDATE trigger_dag SET paused = $2, row_version = row_version + 1 WHERE dag = $1";
static const char HELD_SET[] = "UPDATE trigger_dag SET paused = $2, row_version = row_version + 1"
                               " WHERE dag = $1 AND paused <> $2";
static const char FILES_SINCE[] =
    "UPDATE trigger_watch SET since_us = $2 WHERE dag = $1 AND kind = 2 AND 0 ="
    " (SELECT keeps FROM trigger_dag WHERE dag = $1)";

enum status trigger_forget(struct store *store, int64_t dag_key, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(FORGET); i++)
        if (db_do(store->db, err, FORGET[i], "i", dag_key) != STATUS_OK)
            return err_wrap(err, "forget what the DAG waits for");
    return STATUS_OK;
}

/* --- what it is ------------------------------------------------------------------------------ */

static void add(struct watch_list *list, struct watch watch)
{
    for (size_t i = 0; i < list->count; i++) {
        struct watch *known = &list->items[i];
        if (known->kind == watch.kind && str_equal(known->name, watch.name)) {
            known->states |= watch.states;
            return;
        }
    }
    list->items[list->count++] = watch;
}

static void add_rules(struct watch_list *list, enum trigger_kind kind,
                      const struct trigger_rules *rules)
{
    for (size_t i = 0; i < rules->leaves_count; i++)
        add(list, (struct watch){
                      .kind = kind,
                      .name = rules->leaves[i]->name,
                      .states = rules->leaves[i]->states,
                  });
}

static struct watch_list list_watches(const struct triggers *triggers, const char *folder,
                                      struct arena *arena)
{
    struct watch_list list = {0};
    list.items = arena_array(arena,
                             triggers->datasets.leaves_count + triggers->after.leaves_count +
                                 triggers->files_count + triggers->webhooks_count + 1,
                             sizeof *list.items);
    add_rules(&list, TRIGGER_DATASET, &triggers->datasets);
    add_rules(&list, TRIGGER_RUN_END, &triggers->after);
    for (size_t i = 0; i < triggers->files_count; i++) {
        const char *path = triggers->files[i].path;
        if (path[0] != '/')
            path = arena_format(arena, "%s/%s", folder, path);
        add(&list, (struct watch){TRIGGER_FILE, path, 0, triggers->files[i].settle_ms});
    }
    for (size_t i = 0; i < triggers->webhooks_count; i++)
        add(&list, (struct watch){TRIGGER_WEBHOOK, triggers->webhooks[i].name,
                                  triggers->webhooks[i].takes_github, 0});
    return list;
}

/* --- making it so ---------------------------------------------------------------------------- */

static bool has_watch(const struct watch_list *list, enum trigger_kind kind, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].kind == kind && str_equal(list->items[i].name, name))
            return true;
    return false;
}

static enum status load_before(struct store *store, int64_t dag_key, struct arena *arena,
                               struct watch_list *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, WATCHES, "i", dag_key);
    size_t most = (size_t)4 * LIMIT_TRIGGERS;
    out->items = arena_array(arena, most, sizeof *out->items);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        CHECK(out->count < most);
        out->items[out->count++] = (struct watch){
            .kind = (enum trigger_kind)db_int(stmt, 0),
            .name = arena_strdup(arena, db_text(stmt, 1)),
        };
    }
    return status;
}

static enum status drop(struct store *store, int64_t dag_key, const struct watch *watch,
                        struct err *err)
{
    int64_t kind = (int64_t)watch->kind;
    if (db_do(store->db, err, WATCH_DROP, "iit", dag_key, kind, watch->name) != STATUS_OK)
        return err->code;
    return db_do(store->db, err, PENDING_DROP, "iit", dag_key, kind, watch->name);
}

/*
 * Runs know whether somebody waits for their end. Those that are being made right now are waited
 * for, and the next ones see the watch: none falls between.
 */
static enum status await_ends(struct store *store, const struct watch_list *list, struct err *err)
{
    bool is_waited = false;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != TRIGGER_RUN_END)
            continue;
        if (!is_waited && store_wait_for_ids(store, err) != STATUS_OK)
            return err->code;
        is_waited = true;
        if (db_do(store->db, err, RUNS_AWAITED, "t", list->items[i].name) != STATUS_OK)
            return err->code;
    }
    return STATUS_OK;
}

static enum status replace(struct store *store, int64_t dag_key, const struct watch_list *list,
                           struct arena *arena, struct err *err)
{
    struct watch_list before = {0};
    if (load_before(store, dag_key, arena, &before, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < before.count; i++)
        if (!has_watch(list, before.items[i].kind, before.items[i].name) &&
            drop(store, dag_key, &before.items[i], err) != STATUS_OK)
            return err->code;
    for (size_t i = 0; i < list->count; i++) {
        const struct watch *watch = &list->items[i];
        if (db_do(store->db, err, WATCH_SET, "iitiii", dag_key, (int64_t)watch->kind, watch->name,
                  (int64_t)watch->states, watch->settle_ms, list->since_us) != STATUS_OK)
            return err->code;
    }
    if (await_ends(store, list, err) != STATUS_OK)
        return err->code;
    return db_do(store->db, err, PENDING_AGAIN, "i", dag_key);
}

enum status trigger_sync(struct store *store, int64_t dag_key, const struct dag *dag,
                         const char *folder, struct err *err)
{
    CLEANUP(triggers_freep) struct triggers *triggers = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    int64_t has_row = 0;
    /* What an older program kept and this one cannot read starts nothing. */
    struct err unreadable = {0};
    bool is_read = triggers_of_dag(dag, &triggers, &unreadable) == STATUS_OK;
    if (db_get_int(store->db, 0, &has_row, err, HAS_ROW, "i", dag_key) != STATUS_OK)
        return err->code;
    if (!is_read || triggers_are_none(triggers))
        return has_row != 0 ? trigger_forget(store, dag_key, err) : STATUS_OK;
    struct watch_list list = list_watches(triggers, folder, arena);
    list.since_us = store_now_us(store);
    if (triggers->keeps_while_paused &&
        store_files_since(store, dag_key, &list.since_us, err) != STATUS_OK)
        return err->code;
    if (db_do(store->db, err, DAG_SET, "ii", dag_key, (int64_t)triggers->keeps_while_paused) !=
            STATUS_OK ||
        replace(store, dag_key, &list, arena, err) != STATUS_OK ||
        db_notify(store->db, STORE_CHANNEL_NEWS, "", err) != STATUS_OK)
        return err_wrap(err, "keep what the DAG waits for");
    return STATUS_OK;
}

enum status trigger_hold(struct store *store, int64_t dag_key, bool held, struct err *err)
{
    return db_do(store->db, err, HELD_SET, "ii", dag_key, (int64_t)held);
}

enum status trigger_set_paused(struct store *store, int64_t dag_key, bool paused, struct err *err)
{
    if (db_do(store->db, err, PAUSED_SET, "ii", dag_key, (int64_t)paused) != STATUS_OK ||
        (!paused &&
         db_do(store->db, err, FILES_SINCE, "ii", dag_key, store_now_us(store)) != STATUS_OK) ||
        db_notify(store->db, STORE_CHANNEL_NEWS, "", err) != STATUS_OK)
        return err_wrap(err, "let the DAG wait");
    return STATUS_OK;
}
