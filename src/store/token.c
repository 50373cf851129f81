#include "store/token.h"

#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/secret_text.h"
#include "base/str.h"
#include "model/event_kind.h"
#include "store/account_priv.h"
#include "store/store_priv.h"

_Static_assert((int)TOKEN_TEXT_MAX == SECRET_TEXT_MAX, "a text fits");

/* Noting every use would make a write of each read. */
static const int64_t USE_GRAIN_US = INT64_C(10) * 60 * 1000000;

#define COLUMNS                                                                                    \
    "t.id, t.name, t.grants, t.queues, t.actor, t.created_at_us, t.expires_at_us, t.used_at_us,"   \
    " t.account, " ACCOUNT_COLUMNS
#define FROM " FROM token t LEFT JOIN account a ON a.id = t.account"

static const char FIND[] = "SELECT " COLUMNS FROM " WHERE t.hash = $1"
                           " AND (t.expires_at_us IS NULL OR t.expires_at_us > $2)"
                           " AND (t.account IS NULL OR a.disabled = 0)";
static const char LIST[] =
    "SELECT " COLUMNS FROM " WHERE ($1 = '' OR a.name = $1) ORDER BY t.id DESC LIMIT $2";
static const char INSERT[] =
    "INSERT INTO token (hash, name, account, grants, queues, actor, created_at_us, expires_at_us)"
    " VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id";
static const char DESCRIBE[] =
    "SELECT t.name, a.name FROM token t LEFT JOIN account a ON a.id = t.account WHERE t.id = $1";
static const char REMOVE[] = "DELETE FROM token WHERE id = $1";
static const char EXISTS[] = "SELECT count(*) FROM token WHERE id = $1";
static const char USED[] = "UPDATE token SET used_at_us = $2 WHERE id = $1";

/* --- looking --------------------------------------------------------------------------------- */

static enum status read_token(struct db_stmt *stmt, struct arena *arena, struct token *out,
                              struct err *err)
{
    struct token token = {
        .id = db_int(stmt, 0),
        .name = arena_strdup(arena, db_text(stmt, 1)),
        .is_bounded = !db_is_null(stmt, 2),
        .queues = arena_strdup_null(arena, db_text(stmt, 3)),
        .actor = arena_strdup(arena, db_text(stmt, 4)),
        .created_at_us = db_int(stmt, 5),
        .expires_at_us = db_int(stmt, 6),
        .used_at_us = db_int(stmt, 7),
        .is_owned = !db_is_null(stmt, 8),
    };
    if (token.is_bounded && grants_parse(arena, db_text(stmt, 2), &token.grants, err) != STATUS_OK)
        return err_wrap(err, "grants of token %lld", (long long)token.id);
    if (token.is_owned && db_is_null(stmt, 9))
        return err_set(err, STATUS_NOT_FOUND, "the owner of token %lld is gone",
                       (long long)token.id);
    if (token.is_owned && account_read(stmt, 9, arena, &token.owner, err) != STATUS_OK)
        return err->code;
    *out = token;
    return STATUS_OK;
}

enum status store_token_find(struct store *store, struct arena *arena, const char *text,
                             struct token *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    char hash[SHA256_HEX_MAX];
    if (db_query(store->db, &stmt, err, FIND, "ti", secret_text_hash(text, hash),
                 store_now_us(store)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for a token");
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no such token, or it has expired");
    enum status status = read_token(stmt, arena, out, err);
    db_reset(stmt);
    return status;
}

enum status store_token_exists(struct store *store, int64_t id, bool *out, struct err *err)
{
    int64_t count = 0;
    if (db_get_int(store->db, 0, &count, err, EXISTS, "i", id) != STATUS_OK)
        return err_wrap(err, "look for a token");
    *out = count > 0;
    return STATUS_OK;
}

enum status store_token_list(struct store *store, struct arena *arena, const char *owner,
                             struct token **out, size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct token *list = NULL;
    size_t count = 0;
    size_t capacity = 0;
    struct db_stmt *stmt = NULL;
    enum status status = db_query(store->db, &stmt, err, LIST, "ti", owner != NULL ? owner : "",
                                  (int64_t)TOKENS_LISTED_MAX);
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        status = read_token(stmt, arena, &list[count], err);
        if (status != STATUS_OK)
            db_reset(stmt);
        count++;
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list tokens");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

bool store_token_use_is_news(struct store *store, const struct token *token)
{
    return store_now_us(store) - token->used_at_us > USE_GRAIN_US;
}

enum status store_token_note_use(struct store *store, const struct token *token, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (!store_token_use_is_news(store, token))
        return STATUS_OK;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, USED, "ii", token->id, store_now_us(store)) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

/* --- changing -------------------------------------------------------------------------------- */

static enum status tell(struct store *store, enum event_kind kind,
                        const struct token_request *token, int64_t id, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "name", token->name);
    json_put_int(data, "token", id);
    if (token->owner != NULL)
        json_put_string(data, "owner", token->owner);
    if (token->grants != NULL)
        json_put_string(data, "grants", grants_format(arena, token->grants));
    if (token->queues != NULL)
        json_put_string(data, "queues", token->queues);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, token->actor, text, err);
}

struct making {
    const struct token_request *request;
    const char *hash;
    int64_t *id;
};

static enum status make(struct store *store, const struct making *making, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const struct token_request *request = making->request;
    struct account owner = {0};
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (request->owner != NULL &&
        store_account_load(store, arena, request->owner, &owner, err) != STATUS_OK)
        return err->code;
    const char *grants = request->grants != NULL ? grants_format(arena, request->grants) : NULL;
    if (db_query(store->db, &stmt, err, INSERT, "ttztttiz", making->hash, request->name, owner.id,
                 grants, request->queues, request->actor, store_now_us(store),
                 request->expires_at_us) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    *making->id = db_int(stmt, 0);
    db_reset(stmt);
    return tell(store, EVENT_TOKEN_ADDED, request, *making->id, err);
}

static enum status make_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || make(store, context, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_token_add(struct store *store, const struct token_request *request,
                            int64_t *out_id, char out[static TOKEN_TEXT_MAX], struct err *err)
{
    char hash[SHA256_HEX_MAX];
    char text[SECRET_TEXT_MAX];
    int64_t id = 0;
    secret_text_make(request->queues != NULL ? "edw_" : "edt_", text);
    const struct making making = {request, secret_text_hash(text, hash), &id};
    if (store_repeat(store, make_once, &making, err) != STATUS_OK)
        return err_wrap(err, "make the token '%.100s'", request->name);
    *out_id = id;
    (void)memcpy(out, text, sizeof text);
    return STATUS_OK;
}

struct removing {
    int64_t id;
    const char *owner;
    const char *actor;
};

static enum status remove_token(struct store *store, const struct removing *what, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, DESCRIBE, "i", what->id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    bool is_meant = row && (what->owner == NULL || str_equal(db_text(stmt, 1), what->owner));
    if (!is_meant) {
        if (row)
            db_reset(stmt);
        return err_set(err, STATUS_NOT_FOUND, "there is no token %lld", (long long)what->id);
    }
    const struct token_request told = {.name = arena_strdup(arena, db_text(stmt, 0)),
                                       .owner = arena_strdup_null(arena, db_text(stmt, 1)),
                                       .actor = what->actor};
    db_reset(stmt);
    if (db_do(store->db, err, REMOVE, "i", what->id) != STATUS_OK)
        return err->code;
    return tell(store, EVENT_TOKEN_REMOVED, &told, what->id, err);
}

static enum status remove_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || remove_token(store, context, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_token_remove(struct store *store, int64_t id, const char *owner,
                               const char *actor, struct err *err)
{
    const struct removing what = {id, owner, actor};
    return store_repeat(store, remove_once, &what, err);
}
