#include "store/answered.h"

#include "base/str.h"
#include "store/store_priv.h"

/* A key that is too old is as good as free, whether or not its row was removed already. */
static const char TAKE_KEY[] =
    "INSERT INTO answered (owner, key, request, status, body, created_at_us)"
    " VALUES ($1, $2, $3, 0, '', $4) ON CONFLICT (owner, key) DO UPDATE SET"
    " request = excluded.request, status = 0, body = '', created_at_us = excluded.created_at_us"
    " WHERE answered.created_at_us < $5 RETURNING status";
static const char FIND[] =
    "SELECT request, status, body FROM answered WHERE owner = $1 AND key = $2";
static const char KEEP[] =
    "UPDATE answered SET status = $3, body = $4 WHERE owner = $1 AND key = $2";
static const char FORGET[] = "DELETE FROM answered WHERE owner = $1 AND key = $2";

static enum status take(struct store *store, const struct answered_key *key, bool *out,
                        struct err *err)
{
    struct db_stmt *stmt = NULL;
    int64_t now_us = store_now_us(store);
    if (db_query(store->db, &stmt, err, TAKE_KEY, "tttii", key->owner, key->key, key->request,
                 now_us, now_us - (int64_t)ANSWERED_KEPT_MS * 1000) != STATUS_OK ||
        db_step(stmt, out, err) != STATUS_OK)
        return err->code;
    if (*out)
        db_reset(stmt);
    return STATUS_OK;
}

/* What is found is durable, or was done earlier in this transaction. */
static enum status find(struct store *store, const struct answered_key *key, struct arena *arena,
                        struct answered *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, FIND, "tt", key->owner, key->key) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    bool is_same = row && str_equal(db_text(stmt, 0), key->request);
    *out = (struct answered){.body = ""};
    if (is_same)
        *out = (struct answered){.status = (int)db_int(stmt, 1),
                                 .body = arena_strdup(arena, db_text(stmt, 2))};
    if (row)
        db_reset(stmt);
    if (row && !is_same)
        return err_set(err, STATUS_CONFLICT, "the key was used for another request");
    if (out->status == 0)
        return err_set(err, STATUS_BUSY, "the key was let go of just now; try again");
    return STATUS_OK;
}

enum status store_answered_take(struct store *store, const struct answered_key *key,
                                struct arena *arena, struct answered *out, struct err *err)
{
    bool is_free = false;
    if (take(store, key, &is_free, err) != STATUS_OK)
        return err_wrap(err, "take a key");
    if (!is_free)
        return find(store, key, arena, out, err);
    *out = (struct answered){.body = ""};
    return STATUS_OK;
}

enum status store_answered_keep(struct store *store, const struct answered_key *key,
                                const struct answered *answer, struct err *err)
{
    if (db_do(store->db, err, KEEP, "ttit", key->owner, key->key, (int64_t)answer->status,
              answer->body) != STATUS_OK)
        return err_wrap(err, "keep an answer");
    if (db_changes(store->db) != 1)
        return err_set(err, STATUS_BUSY, "the key is gone; try again");
    return STATUS_OK;
}

enum status store_answered_forget(struct store *store, const struct answered_key *key,
                                  struct err *err)
{
    if (db_do(store->db, err, FORGET, "tt", key->owner, key->key) != STATUS_OK)
        return err_wrap(err, "let go of a key");
    return STATUS_OK;
}
