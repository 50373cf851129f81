#include "store/space.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "store/account.h"
#include "store/store_priv.h"

/* clang-format off */
#define IN_USE(table)  " UNION SELECT namespace AS name FROM " table
#define COUNTED(table) ", (SELECT count(*) FROM " table " x WHERE x.namespace = n.name)"
#define OWN_POOLS      "pool WHERE kind = 0 AND removed = 0"

static const char LIST[] =
    "SELECT n.name, s.doc, s.actor, s.created_at_us" COUNTED("dag")
    ", (SELECT count(*) FROM " OWN_POOLS " AND namespace = n.name)"
    COUNTED("variable") COUNTED("connection") COUNTED("secret")
    " FROM (SELECT name FROM namespace UNION SELECT 'default'"
    IN_USE("dag") IN_USE(OWN_POOLS) IN_USE("variable") IN_USE("connection") IN_USE("secret")
    ") n LEFT JOIN namespace s ON s.name = n.name ORDER BY n.name";
/* clang-format on */
static const char INSERT[] =
    "INSERT INTO namespace (name, doc, actor, created_at_us) VALUES ($1, $2, $3, $4)";
static const char REMOVE[] = "DELETE FROM namespace WHERE name = $1";

enum status store_space_list(struct store *store, struct arena *arena, struct space **out,
                             size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct space *list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LIST, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct space){
            .name = arena_strdup(arena, db_text(stmt, 0)),
            .is_made = !db_is_null(stmt, 2),
            .doc = arena_strdup_null(arena, db_text(stmt, 1)),
            .actor = arena_strdup_null(arena, db_text(stmt, 2)),
            .created_at_us = db_int(stmt, 3),
            .dags = db_int(stmt, 4),
            .pools = db_int(stmt, 5),
            .variables = db_int(stmt, 6),
            .connections = db_int(stmt, 7),
            .secrets = db_int(stmt, 8),
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list namespaces");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

static enum status tell(struct store *store, enum event_kind kind,
                        const struct space_change *change, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "name", change->name);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, change->actor, text, err);
}

static enum status add_once(struct store *store, const void *context, struct err *err)
{
    const struct space_change *change = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, INSERT, "ttti", change->name, change->doc, change->actor,
              store_now_us(store)) != STATUS_OK ||
        tell(store, EVENT_NAMESPACE_ADDED, change, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_space_add(struct store *store, const struct space_change *change, struct err *err)
{
    if (!dag_name_is_valid(change->name))
        return err_set(err, STATUS_INVALID, "'%.100s' cannot be the name of a namespace: %s",
                       change->name, DAG_NAME_RULE);
    enum status status = store_repeat(store, add_once, change, err);
    if (status == STATUS_CONFLICT)
        return err_set(err, status, "there is a namespace '%s' already", change->name);
    return status == STATUS_OK ? status : err_wrap(err, "add the namespace '%s'", change->name);
}

/* STATUS_CONFLICT names what is in the way. */
static enum status look_what_is_left(struct store *store, const struct space_change *change,
                                     struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct space *spaces = NULL;
    struct account *accounts = NULL;
    size_t spaces_count = 0;
    size_t accounts_count = 0;
    if (store_space_list(store, arena, &spaces, &spaces_count, err) != STATUS_OK ||
        store_account_list(store, arena, &accounts, &accounts_count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < spaces_count; i++) {
        const struct space *space = &spaces[i];
        int64_t named = space->variables + space->connections + space->secrets;
        if (str_equal(space->name, change->name) && space->dags + space->pools + named > 0)
            return err_set(err, STATUS_CONFLICT,
                           "the namespace '%s' has %lld DAGs, %lld pools and %lld variables, "
                           "connections and secrets: remove them first",
                           change->name, (long long)space->dags, (long long)space->pools,
                           (long long)named);
    }
    for (size_t i = 0; i < accounts_count; i++)
        for (size_t j = 0; j < accounts[i].grants.count; j++)
            if (str_equal(accounts[i].grants.items[j].space, change->name))
                return err_set(err, STATUS_CONFLICT,
                               "the user '%s' has a grant in the namespace '%s': take it back "
                               "first",
                               accounts[i].name, change->name);
    return STATUS_OK;
}

static enum status remove_once(struct store *store, const void *context, struct err *err)
{
    const struct space_change *change = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || look_what_is_left(store, change, err) != STATUS_OK ||
        db_do(db, err, REMOVE, "t", change->name) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_NOT_FOUND, "nobody made a namespace '%.100s'", change->name);
    if (tell(store, EVENT_NAMESPACE_REMOVED, change, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_space_remove(struct store *store, const struct space_change *change,
                               struct err *err)
{
    return store_repeat(store, remove_once, change, err);
}
