#include "store/sign_in.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/event_kind.h"
#include "store/account_priv.h"
#include "store/store_priv.h"

static const char BEGIN[] =
    "INSERT INTO session (hash, account, created_at_us, expires_at_us)"
    " SELECT $1, a.id, $2, $3 FROM account a WHERE a.name = $4 AND a.stamp = $5 AND a.disabled = 0";
static const char FIND[] =
    "SELECT s.expires_at_us, " ACCOUNT_COLUMNS " FROM session s JOIN account a ON a.id = s.account"
    " WHERE s.hash = $1 AND s.expires_at_us > $2 AND a.disabled = 0";
static const char END[] = "DELETE FROM session WHERE hash = $1";
static const char LINK[] =
    "INSERT INTO login_link (hash, created_at_us, expires_at_us) VALUES ($1, $2, $3)";
static const char LINK_TAKE[] = "DELETE FROM login_link WHERE hash = $1 AND expires_at_us > $2";
static const char LINKS_REMOVE[] = "DELETE FROM login_link";
static const char WHO_IS_THERE[] =
    "SELECT COUNT(*), COUNT(CASE WHEN name = $1 AND password IS NULL AND disabled = 0 THEN 1 END)"
    " FROM account";

static const char FIRST_NAME[] = "admin";

/* --- sessions -------------------------------------------------------------------------------- */

static enum status tell(struct store *store, enum event_kind kind, const char *name,
                        const char *from, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "name", name);
    json_put_string(data, "from", from);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, name, text, err);
}

struct beginning {
    const struct session_request *request;
    const char *hash;
};

static enum status begin_once(struct store *store, const void *context, struct err *err)
{
    const struct beginning *what = context;
    const struct session_request *request = what->request;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK)
        return err->code;
    int64_t now_us = store_now_us(store);
    if (db_do(db, err, BEGIN, "tiiti", what->hash, now_us, now_us + request->lasts_ms * 1000,
              request->account, request->stamp) != STATUS_OK)
        return err->code;
    if (db_changes(db) == 0)
        return err_set(err, STATUS_DENIED, "somebody has changed the user '%s': sign in again",
                       request->account);
    if (tell(store, EVENT_USER_SIGNED_IN, request->account, request->from, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_session_begin(struct store *store, const struct session_request *request,
                                char out[static SECRET_TEXT_MAX], struct err *err)
{
    char hash[SHA256_HEX_MAX];
    char text[SECRET_TEXT_MAX];
    secret_text_make("eds_", text);
    const struct beginning what = {request, secret_text_hash(text, hash)};
    if (store_repeat(store, begin_once, &what, err) != STATUS_OK)
        return err_wrap(err, "sign in");
    (void)memcpy(out, text, sizeof text);
    return STATUS_OK;
}

enum status store_session_find(struct store *store, struct arena *arena, const char *text,
                               struct account *out, int64_t *out_expires_at_us, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    char hash[SHA256_HEX_MAX];
    if (db_query(store->db, &stmt, err, FIND, "ti", secret_text_hash(text, hash),
                 store_now_us(store)) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err_wrap(err, "look for a session");
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "the session is over");
    int64_t expires_at_us = db_int(stmt, 0);
    enum status status = account_read(stmt, 1, arena, out, err);
    db_reset(stmt);
    if (status == STATUS_OK)
        *out_expires_at_us = expires_at_us;
    return status;
}

static enum status end_once(struct store *store, const void *context, struct err *err)
{
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        db_do(db, err, END, "t", (const char *)context) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_session_end(struct store *store, const char *text, struct err *err)
{
    char hash[SHA256_HEX_MAX];
    return store_repeat(store, end_once, secret_text_hash(text, hash), err);
}

struct refusal {
    const char *name;
    const char *from;
};

static enum status refuse_once(struct store *store, const void *context, struct err *err)
{
    const struct refusal *refusal = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK ||
        tell(store, EVENT_USER_REFUSED, refusal->name, refusal->from, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_sign_in_tell_refused(struct store *store, const char *name, const char *from,
                                       struct err *err)
{
    const struct refusal refusal = {name, from};
    return store_repeat(store, refuse_once, &refusal, err);
}

/* --- the first one --------------------------------------------------------------------------- */

/* Whom a link lets in: somebody new, or the one whom a link made and who has no other way in. */
enum admission { ADMISSION_NOBODY, ADMISSION_NEW, ADMISSION_SAME };

static enum status find_admission(struct store *store, enum admission *out, struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, WHO_IS_THERE, "t", FIRST_NAME) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    int64_t users = row ? db_int(stmt, 0) : 0;
    bool has_first = row && db_int(stmt, 1) > 0;
    db_reset(stmt);
    *out = users == 0 ? ADMISSION_NEW : users == 1 && has_first ? ADMISSION_SAME : ADMISSION_NOBODY;
    return STATUS_OK;
}

struct linking {
    const char *hash;
    int64_t lasts_ms;
};

static enum status link_once(struct store *store, const void *context, struct err *err)
{
    const struct linking *what = context;
    CLEANUP(db_endp) struct db *db = store->db;
    enum admission admission = ADMISSION_NOBODY;
    if (db_begin(db, err) != STATUS_OK || find_admission(store, &admission, err) != STATUS_OK)
        return err->code;
    if (admission == ADMISSION_NOBODY)
        return err_set(err, STATUS_CONFLICT, "there are users already");
    int64_t now_us = store_now_us(store);
    if (db_do(db, err, LINK, "tii", what->hash, now_us, now_us + what->lasts_ms * 1000) !=
        STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_link_make(struct store *store, int64_t lasts_ms, char out[static SECRET_TEXT_MAX],
                            struct err *err)
{
    char hash[SHA256_HEX_MAX];
    char text[SECRET_TEXT_MAX];
    secret_text_make("edl_", text);
    const struct linking what = {secret_text_hash(text, hash), lasts_ms};
    if (store_repeat(store, link_once, &what, err) != STATUS_OK)
        return err->code;
    (void)memcpy(out, text, sizeof text);
    return STATUS_OK;
}

/* Two who use a link at once: the second finds the row gone, or the name taken. */
static enum status use_once(struct store *store, const void *context, struct err *err)
{
    struct grant everything = {"*", PERMISSION_ADMIN};
    const struct grants grants = {&everything, 1};
    const struct account_change first = {
        .name = FIRST_NAME, .grants = &grants, .actor = "login link"};
    CLEANUP(db_endp) struct db *db = store->db;
    enum admission admission = ADMISSION_NOBODY;
    if (db_begin(db, err) != STATUS_OK || find_admission(store, &admission, err) != STATUS_OK ||
        db_do(db, err, LINK_TAKE, "ti", (const char *)context, store_now_us(store)) != STATUS_OK)
        return err->code;
    if (admission == ADMISSION_NOBODY || db_changes(db) == 0)
        return err_set(err, STATUS_DENIED,
                       "this link is of no use: it was used, is too old, or there are users "
                       "already; `eider users add` makes one");
    if ((admission == ADMISSION_NEW && account_insert(store, &first, err) != STATUS_OK) ||
        db_do(db, err, LINKS_REMOVE, "") != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

enum status store_link_use(struct store *store, struct arena *arena, const char *text,
                           struct account *out, struct err *err)
{
    char hash[SHA256_HEX_MAX];
    enum status status = store_repeat(store, use_once, secret_text_hash(text, hash), err);
    if (status == STATUS_CONFLICT)
        return err_set(err, STATUS_DENIED, "somebody else came first");
    if (status != STATUS_OK)
        return status;
    return store_account_load(store, arena, FIRST_NAME, out, err);
}
