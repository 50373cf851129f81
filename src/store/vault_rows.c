#include "store/vault_rows.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/dag.h"
#include "model/event_kind.h"
#include "model/limits.h"
#include "store/store_priv.h"

const char VAULT_DEFAULT_SPACE[] = "default";

/* What each kind's table is asked; every row that comes back has the columns of struct vault_row.
 */
struct kind_sql {
    const char *name;
    const char *plural;
    const char *load;
    const char *list;
    const char *set;
    const char *delete;
    const char *reseal; /* NULL: nothing in it is ever sealed */
    enum event_kind was_set;
    enum event_kind was_deleted;
};

#define ROWS(columns, table)                                                                       \
    "SELECT namespace, name, " columns ", doc, actor, updated_at_us FROM " table
#define LOAD(columns, table)                                                                       \
    ROWS(columns, table)                                                                           \
    " WHERE name = $1 AND namespace IN ($2, $3)"                                                   \
    " ORDER BY CASE WHEN namespace = $2 THEN 0 ELSE 1 END"
#define LIST(columns, table) ROWS(columns, table) " ORDER BY name, namespace"
#define KEEP(table)                                                                                \
    "doc = coalesce(excluded.doc, " table ".doc), actor = excluded.actor,"                         \
    " updated_at_us = excluded.updated_at_us"
#define DELETE(table) "DELETE FROM " table " WHERE namespace = $1 AND name = $2"
#define RESEAL(table)                                                                              \
    "UPDATE " table " SET sealed = $3 WHERE namespace = $1 AND name = $2 AND sealed = $4"

/* clang-format off */
static const struct kind_sql KINDS[VAULT_KIND_COUNT] = {
    [VAULT_VARIABLE] = {
        "variable", "variables",
        LOAD("value, CAST(NULL AS TEXT)", "variable"), LIST("value, CAST(NULL AS TEXT)", "variable"),
        "INSERT INTO variable (namespace, name, value, doc, actor, updated_at_us)"
        " VALUES ($1, $2, $3, $4, $5, $6)"
        " ON CONFLICT (namespace, name) DO UPDATE SET value = excluded.value, " KEEP("variable"),
        DELETE("variable"), NULL, EVENT_VARIABLE_SET, EVENT_VARIABLE_DELETED},
    [VAULT_CONNECTION] = {
        "connection", "connections",
        LOAD("shown, sealed", "connection"), LIST("shown, sealed", "connection"),
        "INSERT INTO connection (namespace, name, shown, doc, actor, updated_at_us, sealed)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (namespace, name) DO UPDATE"
        " SET shown = excluded.shown, sealed = excluded.sealed, " KEEP("connection"),
        DELETE("connection"), RESEAL("connection"),
        EVENT_CONNECTION_SET, EVENT_CONNECTION_DELETED},
    [VAULT_SECRET] = {
        "secret", "secrets",
        LOAD("CAST(NULL AS TEXT), sealed", "secret"), LIST("CAST(NULL AS TEXT), sealed", "secret"),
        "INSERT INTO secret (namespace, name, sealed, doc, actor, updated_at_us)"
        " VALUES ($1, $2, $3, $4, $5, $6)"
        " ON CONFLICT (namespace, name) DO UPDATE SET sealed = excluded.sealed, " KEEP("secret"),
        DELETE("secret"), RESEAL("secret"), EVENT_SECRET_SET, EVENT_SECRET_DELETED},
};
/* clang-format on */

const char *vault_kind_name(enum vault_kind kind)
{
    CHECK(kind < VAULT_KIND_COUNT);
    return KINDS[kind].name;
}

enum status vault_check_name(enum vault_kind kind, const char *space, const char *name,
                             struct err *err)
{
    const char *const texts[] = {space, name};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!dag_name_is_valid(texts[i]))
            return err_set(err, STATUS_INVALID, "'%.100s' cannot be the name of a %s: %s", texts[i],
                           i == 0 ? "namespace" : KINDS[kind].name, DAG_NAME_RULE);
    }
    char *variables[ENV_NAMES] = {NULL};
    bool is_free = env_names((enum env_kind)kind, name, variables);
    for (size_t i = 0; i < ENV_NAMES; i++)
        mem_freep(&variables[i]);
    if (!is_free && kind == VAULT_SECRET)
        return err_set(err, STATUS_INVALID,
                       "no secret can be called '%s': its variable EIDER_SECRET_KEY or "
                       "EIDER_SECRET_KEY_FILE is the key itself",
                       name);
    return STATUS_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

static struct vault_row read_row(struct db_stmt *stmt, struct arena *arena)
{
    return (struct vault_row){
        .space = arena_strdup(arena, db_text(stmt, 0)),
        .name = arena_strdup(arena, db_text(stmt, 1)),
        .value = arena_strdup_null(arena, db_text(stmt, 2)),
        .sealed = arena_strdup_null(arena, db_text(stmt, 3)),
        .doc = arena_strdup_null(arena, db_text(stmt, 4)),
        .actor = arena_strdup(arena, db_text(stmt, 5)),
        .updated_at_us = db_int(stmt, 6),
    };
}

enum status store_vault_load(struct store *store, struct arena *arena,
                             const struct vault_name *name, struct vault_row *out, struct err *err)
{
    const struct kind_sql *kind = &KINDS[name->kind];
    const char *other = name->only_there ? name->space : VAULT_DEFAULT_SPACE;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, kind->load, "ttt", name->name, name->space, other) !=
            STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for the %s '%s'", kind->name, name->name);
    if (!row)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no %s '%.100s' in the store (namespace '%.100s')", kind->name,
                       name->name, name->space);
    *out = read_row(stmt, arena);
    db_reset(stmt);
    return STATUS_OK;
}

enum status store_vault_list(struct store *store, struct arena *arena, enum vault_kind kind,
                             struct vault_row **out, size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct vault_row *rows = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, KINDS[kind].list, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        rows = mem_grow(rows, &capacity, count, sizeof *rows);
        rows[count++] = read_row(stmt, arena);
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list %s", KINDS[kind].plural);
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, rows, count * sizeof **out);
    *out_count = count;
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

static enum status tell(struct store *store, enum event_kind event,
                        const struct vault_change *change, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "namespace", change->space);
    json_put_string(data, "name", change->name);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, event, change->actor, text, err);
}

static enum status write_row(struct store *store, const struct vault_change *change,
                             struct err *err)
{
    const char *sql = KINDS[change->kind].set;
    int64_t now_us = store_now_us(store);
    if (change->kind == VAULT_CONNECTION)
        return db_do(store->db, err, sql, "tttttit", change->space, change->name, change->value,
                     change->doc, change->actor, now_us, change->sealed);
    const char *content = change->kind == VAULT_SECRET ? change->sealed : change->value;
    return db_do(store->db, err, sql, "ttttti", change->space, change->name, content, change->doc,
                 change->actor, now_us);
}

static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct vault_change *change = context;
    const struct kind_sql *kind = &KINDS[change->kind];
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || write_row(store, change, err) != STATUS_OK ||
        tell(store, kind->was_set, change, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_vault_set(struct store *store, const struct vault_change *change, struct err *err)
{
    if (vault_check_name(change->kind, change->space, change->name, err) != STATUS_OK)
        return err->code;
    if (change->value != NULL && strlen(change->value) > LIMIT_SECRET_BYTES)
        return err_set(err, STATUS_LIMIT, "the %s '%s' has more than %d bytes",
                       KINDS[change->kind].name, change->name, LIMIT_SECRET_BYTES);
    if (store_repeat(store, set_once, change, err) != STATUS_OK)
        return err_wrap(err, "set the %s '%s'", KINDS[change->kind].name, change->name);
    return STATUS_OK;
}

static enum status delete_once(struct store *store, const void *context, struct err *err)
{
    const struct vault_change *what = context;
    const struct kind_sql *kind = &KINDS[what->kind];
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, kind->delete, "tt", what->space, what->name) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_NOT_FOUND,
                       "there is no %s '%.100s' in the namespace '%.100s' of the store", kind->name,
                       what->name, what->space);
    if (tell(store, kind->was_deleted, what, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_vault_delete(struct store *store, const struct vault_change *what,
                               struct err *err)
{
    return store_repeat(store, delete_once, what, err);
}

struct resealing {
    enum vault_kind kind;
    const struct vault_row *row;
    const char *sealed;
    bool *done;
};

static enum status reseal_once(struct store *store, const void *context, struct err *err)
{
    const struct resealing *what = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, KINDS[what->kind].reseal, "tttt", what->row->space, what->row->name,
              what->sealed, what->row->sealed) != STATUS_OK)
        return err->code;
    *what->done = db_changes(db) > 0;
    return db_commit(db, err);
}

enum status store_vault_reseal(struct store *store, enum vault_kind kind,
                               const struct vault_row *row, const char *sealed, bool *out_done,
                               struct err *err)
{
    CHECK(KINDS[kind].reseal != NULL);
    bool done = false;
    struct resealing what = {.kind = kind, .row = row, .sealed = sealed, .done = &done};
    if (store_repeat(store, reseal_once, &what, err) != STATUS_OK)
        return err_wrap(err, "seal the %s '%s' anew", KINDS[kind].name, row->name);
    *out_done = done;
    return STATUS_OK;
}

struct resealed {
    int64_t count;
    const char *key_id;
    const char *actor;
};

static enum status tell_resealed_once(struct store *store, const void *context, struct err *err)
{
    const struct resealed *what = context;
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_int(data, "count", what->count);
    json_put_string(data, "key_id", what->key_id);
    CLEANUP(mem_freep) char *text = json_format(data);
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        store_tell(store, EVENT_SECRETS_ROTATED, what->actor, text, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_vault_tell_resealed(struct store *store, int64_t count, const char *key_id,
                                      const char *actor, struct err *err)
{
    struct resealed what = {.count = count, .key_id = key_id, .actor = actor};
    return store_repeat(store, tell_resealed_once, &what, err);
}
