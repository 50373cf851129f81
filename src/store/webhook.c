#include "store/webhook.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sha256.h"
#include "model/limits.h"
#include "store/trigger_priv.h"
#include "store/version.h"
#include "store/webhook_priv.h"

enum { TOKEN_BYTES = 24, FIRE_TRIES = 5, NONCE_BYTES = 16, SEALED_MAX = 4096 };

static const int64_t MINUTE_US = INT64_C(60000000);

#define IS_ASKED                                                                                   \
    "(SELECT count(*) FROM trigger_watch t WHERE t.dag = w.dag AND t.kind = 3 AND t.name = "       \
    "w.name)"

static const char ASKED[] =
    "SELECT count(*) FROM trigger_watch WHERE dag = $1 AND kind = 3 AND name = $2";
static const char INSERT[] =
    "INSERT INTO webhook (dag, name, token_hash, actor, created_at_us, sealed)"
    " VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";
static const char LIST[] =
    "SELECT w.id, d.dag_id, w.name, w.actor, w.created_at_us, w.used_at_us, w.calls, " IS_ASKED
    " FROM webhook w JOIN dag d ON d.id = w.dag WHERE ($1 = '' OR d.dag_id = $1)"
    " AND " SEEN("$2", "d.namespace") " ORDER BY d.dag_id, w.id";
static const char DESCRIBE[] =
    "SELECT d.dag_id, w.name FROM webhook w JOIN dag d ON d.id = w.dag WHERE w.id = $1";
static const char DELETE_CALLS[] = "DELETE FROM webhook_call WHERE webhook = $1";
static const char DELETE[] = "DELETE FROM webhook WHERE id = $1";
static const char BY_TOKEN[] =
    "SELECT w.id, w.dag, w.name, d.dag_id, " IS_ASKED
    ", d.active, w.paced_us FROM webhook w JOIN dag d ON d.id = w.dag WHERE w.token_hash = $1";
static const char BY_KEY[] = "SELECT run FROM webhook_call WHERE webhook = $1 AND key = $2";
static const char CALL_ADD[] =
    "INSERT INTO webhook_call (webhook, key, run, at_us) VALUES ($1, $2, $3, $4)";
static const char USED[] =
    "UPDATE webhook SET used_at_us = $2, calls = calls + 1, paced_us = $3 WHERE id = $1";

static void format_hex(const unsigned char *bytes, size_t count, char *out)
{
    for (size_t i = 0; i < count; i++)
        CHECK(snprintf(out + 2 * i, 3, "%02x", bytes[i]) == 2);
}

/* --- tokens ---------------------------------------------------------------------------------- */

static enum status tell(struct store *store, enum event_kind kind, const char *actor,
                        const char *dag_id, const char *name, struct err *err)
{
    CLEANUP(json_decrefp) json_t *data = json_object();
    json_put_string(data, "dag_id", dag_id);
    json_put_string(data, "name", name);
    CLEANUP(mem_freep) char *text = json_format(data);
    return store_tell(store, kind, actor, text, err);
}

struct making {
    const struct webhook_request *request;
    int64_t dag_key;
    const char *hash;
    const char *sealed; /* or NULL */
    int64_t id;
};

static enum status make(struct store *store, struct making *making, struct err *err)
{
    const struct webhook_request *request = making->request;
    struct db_stmt *stmt = NULL;
    bool row = false;
    int64_t asked = 0;
    if (db_get_int(store->db, 0, &asked, err, ASKED, "it", making->dag_key, request->name) !=
        STATUS_OK)
        return err->code;
    if (asked == 0)
        return err_set(err, STATUS_CONFLICT,
                       "DAG '%s' does not wait for a webhook '%s': its schedule needs "
                       "'webhook: %s'",
                       request->dag_id, request->name, request->name);
    if (db_query(store->db, &stmt, err, INSERT, "itttit", making->dag_key, request->name,
                 making->hash, request->actor, store_now_us(store), making->sealed) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    CHECK(row);
    making->id = db_int(stmt, 0);
    db_reset(stmt);
    return tell(store, EVENT_WEBHOOK_CREATED, request->actor, request->dag_id, request->name, err);
}

static enum status make_once(struct store *store, const void *context, struct err *err)
{
    struct making *making = *(struct making *const *)context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || make(store, making, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status seal(const struct webhook_request *request, const char *token, const char *hash,
                        struct strbuf *out, struct err *err)
{
    const struct secret_context context = webhook_context(hash);
    if (request->vault == NULL)
        return STATUS_OK;
    struct secret_value plain = secret_value_new(token, strlen(token));
    enum status status = vault_seal(request->vault, &context, &plain, out, err);
    secret_value_fini(&plain);
    return status;
}

enum status store_webhook_create(struct store *store, const struct webhook_request *request,
                                 int64_t *out_id, char token[static WEBHOOK_TOKEN_MAX],
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct version_info version;
    unsigned char bytes[TOKEN_BYTES];
    char text[WEBHOOK_TOKEN_MAX] = "ewh_";
    char hash[SHA256_HEX_MAX];
    CLEANUP(strbuf_fini) struct strbuf sealed;
    strbuf_init(&sealed, SEALED_MAX);
    if (store_version_newest(store, arena, request->dag_id, &version, err) != STATUS_OK)
        return err->code;
    rng_bytes(bytes, sizeof bytes);
    format_hex(bytes, sizeof bytes, text + strlen(text));
    (void)sha256_hex(text, strlen(text), hash);
    if (seal(request, text, hash, &sealed, err) != STATUS_OK)
        return err_wrap(err, "make a webhook");
    struct making *making = &(struct making){request, version.dag_key, hash,
                                             request->vault != NULL ? sealed.text : NULL, 0};
    if (store_repeat(store, make_once, &making, err) != STATUS_OK)
        return err_wrap(err, "make a webhook");
    *out_id = making->id;
    memcpy(token, text, sizeof text);
    return STATUS_OK;
}

enum status store_webhook_list(struct store *store, struct arena *arena, const char *dag_id,
                               struct webhook_info **out, size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct webhook_info *list = NULL;
    struct db_stmt *stmt = NULL;
    size_t count = 0;
    size_t capacity = 0;
    enum status status = db_query(store->db, &stmt, err, LIST, "tt", dag_id != NULL ? dag_id : "",
                                  store_sight(store));
    while (status == STATUS_OK && db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct webhook_info){
            .id = db_int(stmt, 0),
            .dag_id = arena_strdup(arena, db_text(stmt, 1)),
            .name = arena_strdup(arena, db_text(stmt, 2)),
            .actor = arena_strdup(arena, db_text(stmt, 3)),
            .created_at_us = db_int(stmt, 4),
            .used_at_us = db_int(stmt, 5),
            .calls = db_int(stmt, 6),
            .is_asked = db_int(stmt, 7) > 0,
        };
    }
    if (status != STATUS_OK)
        return err_wrap(err, "list webhooks");
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return STATUS_OK;
}

enum status store_webhook_delete(struct store *store, int64_t id, const char *actor,
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(db_endp) struct db *db = store->db;
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_begin(db, err) != STATUS_OK ||
        db_query(db, &stmt, err, DESCRIBE, "i", id) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_NOT_FOUND, "there is no webhook %lld", (long long)id);
    const char *dag_id = arena_strdup(arena, db_text(stmt, 0));
    const char *name = arena_strdup(arena, db_text(stmt, 1));
    db_reset(stmt);
    if (tell(store, EVENT_WEBHOOK_DELETED, actor, dag_id, name, err) != STATUS_OK ||
        db_do(db, err, DELETE_CALLS, "i", id) != STATUS_OK ||
        db_do(db, err, DELETE, "i", id) != STATUS_OK || db_commit(db, err) != STATUS_OK)
        return err_wrap(err, "delete webhook %lld", (long long)id);
    return STATUS_OK;
}

/* --- calls ----------------------------------------------------------------------------------- */

struct firing {
    const char *hash;
    const char *key;
    const json_t *conf;
    int64_t rate;
    struct webhook_answer *out;
};

/* What the token stands for. */
struct target {
    int64_t id;
    int64_t dag_key;
    char dag_id[LIMIT_ID_BYTES + 1];
    char name[LIMIT_ID_BYTES + 1];
    bool is_asked;
    bool is_active;
    int64_t paced_us; /* when its calls so far are paid for */
};

static enum status find_target(struct store *store, const char *hash, struct target *out,
                               struct err *err)
{
    struct db_stmt *stmt = NULL;
    bool row = false;
    if (db_query(store->db, &stmt, err, BY_TOKEN, "t", hash) != STATUS_OK ||
        db_step(stmt, &row, err) != STATUS_OK)
        return err->code;
    if (!row)
        return err_set(err, STATUS_DENIED, "no webhook has this token");
    *out = (struct target){
        .id = db_int(stmt, 0),
        .dag_key = db_int(stmt, 1),
        .is_asked = db_int(stmt, 4) > 0,
        .is_active = db_int(stmt, 5) != 0,
        .paced_us = db_int(stmt, 6),
    };
    (void)snprintf(out->name, sizeof out->name, "%s", db_text(stmt, 2));
    (void)snprintf(out->dag_id, sizeof out->dag_id, "%s", db_text(stmt, 3));
    db_reset(stmt);
    return STATUS_OK;
}

/* Every call costs its part of a minute, and a minute may be owed. */
static enum status keep_pace(const struct firing *firing, struct target *target, int64_t now_us,
                             struct err *err)
{
    if (firing->rate == 0)
        return STATUS_OK;
    int64_t paid_us = MAX(target->paced_us, now_us) + MINUTE_US / firing->rate;
    if (paid_us - now_us > MINUTE_US) {
        firing->out->wait_ms = (paid_us - now_us - MINUTE_US) / 1000 + 1;
        return err_set(err, STATUS_LIMIT, "DAG '%s' takes %lld calls a minute by this webhook",
                       target->dag_id, (long long)firing->rate);
    }
    target->paced_us = paid_us;
    return STATUS_OK;
}

static enum status make_run(struct store *store, const struct firing *firing,
                            const struct target *target, struct err *err)
{
    int64_t now_us = store_now_us(store);
    const struct trigger_cause cause = {TRIGGER_WEBHOOK, target->id, target->name, RUN_QUEUED,
                                        now_us};
    const struct trigger_run run = {
        .dag_key = target->dag_key,
        .kind = "event",
        .conf = firing->conf,
        .logical_at_us = now_us,
        .interval_start_us = now_us,
        .interval_end_us = now_us,
        .actor = "webhook",
        .causes = &cause,
        .causes_count = 1,
    };
    struct run_created created;
    if (trigger_make_run(store, &run, &created, err) != STATUS_OK ||
        db_do(store->db, err, CALL_ADD, "itii", target->id, firing->key, created.id, now_us) !=
            STATUS_OK ||
        db_do(store->db, err, USED, "iii", target->id, now_us, target->paced_us) != STATUS_OK)
        return err->code;
    *firing->out = (struct webhook_answer){created.id, true, 0};
    return STATUS_OK;
}

/* Under the lock of the DAG's row: of two calls with one key the second sees the first. */
static enum status fire(struct store *store, const struct firing *firing, struct err *err)
{
    struct target target = {0};
    bool is_free = false;
    int64_t run = 0;
    if (find_target(store, firing->hash, &target, err) != STATUS_OK ||
        trigger_lock(store, target.dag_key, &is_free, err) != STATUS_OK ||
        db_get_int(store->db, 0, &run, err, BY_KEY, "it", target.id, firing->key) != STATUS_OK)
        return err->code;
    if (run != 0) {
        *firing->out = (struct webhook_answer){run, false, 0};
        return STATUS_OK;
    }
    if (!target.is_asked)
        return err_set(err, STATUS_CONFLICT, "DAG '%s' does not wait for a webhook '%s' any more",
                       target.dag_id, target.name);
    if (!target.is_active)
        return err_set(err, STATUS_CONFLICT, "DAG '%s' is inactive: its file is gone",
                       target.dag_id);
    if (!is_free)
        return err_set(err, STATUS_CONFLICT, "DAG '%s' is paused", target.dag_id);
    if (keep_pace(firing, &target, store_now_us(store), err) != STATUS_OK)
        return err->code;
    return make_run(store, firing, &target, err);
}

static enum status fire_once(struct store *store, const void *context, struct err *err)
{
    const struct firing *firing = context;
    CLEANUP(db_endp) struct db *db = store->db;
    if (db_begin(db, err) != STATUS_OK || fire(store, firing, err) != STATUS_OK)
        return err->code;
    return db_commit(db, err);
}

static enum status read_body(const struct webhook_call *call, json_t **out, struct err *err)
{
    if (call->body_bytes > LIMIT_WEBHOOK_BYTES)
        return err_set(err, STATUS_LIMIT, "the body has %zu bytes, at most %d", call->body_bytes,
                       LIMIT_WEBHOOK_BYTES);
    if (call->body_bytes == 0) {
        *out = json_object();
        return STATUS_OK;
    }
    json_t *body = NULL;
    struct err problem = {0};
    if (json_parse(call->body, call->body_bytes, &body, &problem) != STATUS_OK)
        return err_set(err, STATUS_INVALID, "cannot read the body: %s", problem.text);
    if (!json_is_object(body)) {
        json_t *conf = json_object();
        json_put(conf, "body", body);
        body = conf;
    }
    *out = body;
    return STATUS_OK;
}

enum status store_webhook_fire(struct store *store, const struct webhook_call *call,
                               struct webhook_answer *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *conf = NULL;
    char hash[SHA256_HEX_MAX];
    unsigned char bytes[NONCE_BYTES];
    char nonce[2 * NONCE_BYTES + 2] = "~";
    struct webhook_answer answer = {0};
    if (call->key != NULL && (call->key[0] == '\0' || strlen(call->key) > WEBHOOK_KEY_MAX))
        return err_set(err, STATUS_INVALID, "a key has 1 to %d bytes", WEBHOOK_KEY_MAX);
    if (read_body(call, &conf, err) != STATUS_OK)
        return err->code;
    rng_bytes(bytes, sizeof bytes);
    format_hex(bytes, sizeof bytes, nonce + 1);
    (void)sha256_hex(call->token, strlen(call->token), hash);
    /* Without a key the call has one of its own, so that a lost answer can be asked for again. */
    const struct firing firing = {hash, call->key != NULL ? call->key : nonce, conf, call->rate,
                                  &answer};
    enum status status = STATUS_UNKNOWN;
    for (int tries = 0; status == STATUS_UNKNOWN && tries < FIRE_TRIES; tries++)
        status = store_repeat(store, fire_once, &firing, err);
    out->wait_ms = answer.wait_ms;
    if (status != STATUS_OK)
        return err_wrap(err, "webhook");
    if (call->key == NULL)
        answer.is_new = true;
    *out = answer;
    return STATUS_OK;
}
