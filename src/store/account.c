#include "store/account.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/event_kind.h"
#include "store/account_priv.h"
#include "store/store_priv.h"

static const char LOAD[] = "SELECT " ACCOUNT_COLUMNS " FROM account a WHERE a.name = $1";
static const char LIST[] = "SELECT " ACCOUNT_COLUMNS " FROM account a ORDER BY a.name";
static const char ANY[] = "SELECT count(*) FROM (SELECT 1 FROM account LIMIT 1) found";
static const char INSERT[] =
    "INSERT INTO account (name, password, grants, disabled, stamp, actor, created_at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6, $5)";
static const char UPDATE[] =
    "UPDATE account SET password = coalesce($2, password), grants = coalesce($3, grants),"
    " disabled = CASE WHEN $4 < 0 THEN disabled ELSE $4 END,"
    " stamp = CASE WHEN stamp < $5 THEN $5 ELSE stamp + 1 END WHERE name = $1";
static const char END_SESSIONS[] =
    "DELETE FROM session WHERE account = (SELECT id FROM account WHERE name = $1)";
static const char REMOVE_TOKENS[] =
    "DELETE FROM token WHERE account = (SELECT id FROM account WHERE name = $1)";
static const char REMOVE[] = "DELETE FROM account WHERE name = $1";

/* --- looking --------------------------------------------------------------------------------- */

enum status account_read(struct db_stmt *stmt, int column, struct arena *arena, struct account *out,
                         struct err *err)
{
    struct account account = {
        .id = db_int(stmt, column),
        .name = arena_strdup(arena, db_text(stmt, column + 1)),
        .password = arena_strdup_null(arena, db_text(stmt, column + 2)),
        .is_disabled = db_int(stmt, column + 4) != 0,
        .stamp = db_int(stmt, column + 5),
        .actor = arena_strdup(arena, db_text(stmt, column + 6)),
        .created_at_us = db_int(stmt, column + 7),
    };
    if (grants_parse(arena, db_text(stmt, column + 3), &account.grants, err) != STATUS_OK)
        return err_wrap(err, "grants of '%s'", account.name);
    *out = account;
    return STATUS_OK;
}

static enum status not_there(const char *name, struct err *err)
{
    return err_set(err, STATUS_NOT_FOUND, "there is no user '%.100s'", name);
}

enum status store_account_load(struct store *store, struct arena *arena, const char *name,
                               struct account *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, LOAD, "t", name) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for the user '%.100s'", name);
    if (!row)
        return not_there(name, err);
    enum status status = account_read(stmt, 0, arena, out, err);
    db_reset(stmt);
    return status;
}

enum status store_account_list(struct store *store, struct arena *arena, struct account **out,
                               size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct account *list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LIST, "");
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        status = account_read(stmt, 0, arena, &list[count], err);
        if (status != STATUS_OK)
            db_reset(stmt);
        count++;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list users");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

enum status store_account_any(struct store *store, bool *out, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, ANY, "") != STATUS_OK)
        return err_wrap(err, "look for users");
    *out = count > 0;
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

static enum status tell(struct store *store, enum event_kind kind,
                        const struct account_change *change, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "name", change->name);
    if (change->grants != NULL)
        json_put_string(data, "grants", grants_format(arena, change->grants));
    if (change->password != NULL)
        json_put_bool(data, "password", true);
    if (change->disabled != NULL)
        json_put_bool(data, "disabled", *change->disabled);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, change->actor, text, err);
}

enum status account_insert(struct store *store, const struct account_change *change,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *grants = change->grants != NULL ? grants_format(arena, change->grants) : "";
    bool is_disabled = change->disabled != NULL && *change->disabled;
    if (db_do(store->db, err, INSERT, "tttiit", change->name, change->password, grants,
              (int64_t)is_disabled, store_now_us(store), change->actor) != STATUS_OK)
        return err->code;
    return tell(store, EVENT_USER_ADDED, change, err);
}

static enum status add_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || account_insert(store, context, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_account_add(struct store *store, const struct account_change *change,
                              struct err *err)
{
    if (user_check_name(change->name, err) != STATUS_OK)
        return err->code;
    enum status status = store_repeat(store, add_once, change, err);
    if (status == STATUS_CONFLICT)
        return err_set(err, status, "there is a user '%s' already", change->name);
    return status == STATUS_OK ? status : err_wrap(err, "add the user '%s'", change->name);
}

static enum status set_once(struct store *store, const void *context, struct err *err)
{
    const struct account_change *change = context;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    const char *grants = change->grants != NULL ? grants_format(arena, change->grants) : NULL;
    int64_t disabled = change->disabled == NULL ? -1 : *change->disabled;
    bool ends_sessions = change->password != NULL || disabled > 0;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, UPDATE, "tttii", change->name, change->password, grants, disabled,
              store_now_us(store)) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return not_there(change->name, err);
    if ((ends_sessions && db_do(db, err, END_SESSIONS, "t", change->name) != STATUS_OK) ||
        tell(store, EVENT_USER_CHANGED, change, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_account_set(struct store *store, const struct account_change *change,
                              struct err *err)
{
    if (store_repeat(store, set_once, change, err) != STATUS_OK)
        return err_wrap(err, "change the user '%.100s'", change->name);
    return STATUS_OK;
}

static enum status remove_once(struct store *store, const void *context, struct err *err)
{
    const struct account_change *what = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, END_SESSIONS, "t", what->name) != STATUS_OK ||
        db_do(db, err, REMOVE_TOKENS, "t", what->name) != STATUS_OK ||
        db_do(db, err, REMOVE, "t", what->name) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return not_there(what->name, err);
    if (tell(store, EVENT_USER_REMOVED, what, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_account_remove(struct store *store, const char *name, const char *actor,
                                 struct err *err)
{
    const struct account_change what = {.name = name, .actor = actor};
    return store_repeat(store, remove_once, &what, err);
}
