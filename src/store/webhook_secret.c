/*
 * webhook_secret: the tokens of webhooks, to check what was signed with them.
 */
#include <string.h>

#include "base/mem.h"
#include "store/webhook.h"
#include "store/webhook_priv.h"

static const char SECRETS[] =
    "SELECT w.token_hash, w.sealed, t.states FROM webhook w JOIN dag d ON d.id = w.dag"
    " JOIN trigger_watch t ON t.dag = w.dag AND t.kind = 3 AND t.name = w.name"
    " WHERE d.dag_id = $1 AND w.sealed IS NOT NULL ORDER BY w.id DESC LIMIT $2";
static const char SEALED[] =
    "SELECT token_hash, sealed, 0 FROM webhook WHERE sealed IS NOT NULL ORDER BY id";
static const char RESEAL[] = "UPDATE webhook SET sealed = $3 WHERE token_hash = $1 AND sealed = $2";

struct secret_context webhook_context(const char *hash)
{
    return (struct secret_context){.kind = "webhook", .space = "", .name = hash};
}

/* Read out whole: opening one may ask the store for something else. */
static enum status read_sealed(struct db_stmt *stmt, struct arena *arena,
                               struct webhook_sealed **out, size_t *out_count, struct err *err)
{
    CLEANUP(mem_freep) struct webhook_sealed *list = NULL;
    enum status status = STATUS_OK;
    size_t count = 0;
    size_t capacity = 0;
    while (db_next(stmt, &status, err)) {
        list = mem_grow(list, &capacity, count, sizeof *list);
        list[count++] = (struct webhook_sealed){
            .hash = arena_strdup(arena, db_text(stmt, 0)),
            .sealed = arena_strdup(arena, db_text(stmt, 1)),
            .takes_github = db_int(stmt, 2) != 0,
        };
    }
    *out = arena_array(arena, count + 1, sizeof **out);
    if (count > 0)
        memcpy(*out, list, count * sizeof *list);
    *out_count = count;
    return status;
}

enum status webhook_list_sealed(struct store *store, struct arena *arena,
                                struct webhook_sealed **out, size_t *out_count, struct err *err)
{
    struct db_stmt *stmt = NULL;
    if (db_query(store->db, &stmt, err, SEALED, "") != STATUS_OK ||
        read_sealed(stmt, arena, out, out_count, err) != STATUS_OK)
        return err_wrap(err, "list tokens of webhooks");
    return STATUS_OK;
}

enum status webhook_reseal(struct store *store, const struct webhook_sealed *row,
                           const char *sealed, struct err *err)
{
    if (db_do(store->db, err, RESEAL, "ttt", row->hash, row->sealed, sealed) != STATUS_OK)
        return err_wrap(err, "seal the token of a webhook anew");
    return STATUS_OK;
}

enum status store_webhook_secrets(struct store *store, struct vault *vault, struct arena *arena,
                                  const char *dag_id, struct webhook_secrets *out, struct err *err)
{
    struct webhook_sealed *sealed = NULL;
    struct db_stmt *stmt = NULL;
    struct err problem = {0};
    size_t sealed_count = 0;
    size_t count = 0;
    if (db_query(store->db, &stmt, err, SECRETS, "ti", dag_id, (int64_t)WEBHOOK_SECRETS_MAX) !=
            STATUS_OK ||
        read_sealed(stmt, arena, &sealed, &sealed_count, err) != STATUS_OK)
        return err_wrap(err, "look for webhooks of '%.60s'", dag_id);
    struct webhook_secret *list = arena_array(arena, sealed_count + 1, sizeof *list);
    for (size_t i = 0; i < sealed_count; i++) {
        const struct secret_context context = webhook_context(sealed[i].hash);
        struct secret_value token = {0};
        problem = (struct err){0};
        if (vault_unseal(vault, &context, sealed[i].sealed, &token, &problem) == STATUS_OK)
            list[count++] = (struct webhook_secret){token, sealed[i].takes_github};
    }
    if (count == 0 && sealed_count > 0) {
        *err = problem;
        return err->code;
    }
    *out = (struct webhook_secrets){list, count};
    return STATUS_OK;
}
