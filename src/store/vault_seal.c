/*
 * vault_seal: the keys of a vault, and what is sealed with them.
 */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/str.h"
#include "os/privacy.h"
#include "store/vault_priv.h"
#include "store/webhook_priv.h"

/* --- keys ------------------------------------------------------------------------------------ */

static enum status load_keys(struct vault *vault, bool make, struct secret_keys **out,
                             struct err *err)
{
    const struct secret_keys_place place = {
        .text = vault->sources->key_text,
        .file = vault->sources->key_file,
        .make = make,
    };
    if (secret_keys_load(&place, out, err) != STATUS_OK)
        return err->code;
    privacy_begin();
    return STATUS_OK;
}

/* That the key is not there does not mean that the value is not. */
static void tell_from_missing(struct err *err)
{
    if (err->code == STATUS_NOT_FOUND)
        err->code = STATUS_DENIED;
}

static enum status need_keys(struct vault *vault, bool make, struct err *err)
{
    return vault->keys != NULL ? STATUS_OK : load_keys(vault, make, &vault->keys, err);
}

/* Somebody may have put another key there since they were read. */
static enum status renew_keys(struct vault *vault, struct err *err)
{
    struct secret_keys *keys = NULL;
    if (load_keys(vault, false, &keys, err) != STATUS_OK)
        return err->code;
    secret_keys_free(vault->keys);
    vault->keys = keys;
    return STATUS_OK;
}

/* --- values ---------------------------------------------------------------------------------- */

enum status vault_unseal(struct vault *vault, const struct secret_context *context,
                         const char *sealed, struct secret_value *out, struct err *err)
{
    char id[SECRET_KEY_ID_MAX] = "";
    if (need_keys(vault, false, err) != STATUS_OK) {
        bool is_sealed = secret_box_key_id(sealed, id);
        tell_from_missing(err);
        return err_wrap(err, "the %s '%s' is sealed (key id %s)", context->kind, context->name,
                        is_sealed ? id : "unknown");
    }
    struct err first = {0};
    if (secret_box_open(vault->keys, context, sealed, out, &first) == STATUS_OK)
        return STATUS_OK;
    struct err ignored = {0};
    if (first.code == STATUS_DENIED && renew_keys(vault, &ignored) == STATUS_OK)
        return secret_box_open(vault->keys, context, sealed, out, err);
    *err = first;
    return err->code;
}

enum status vault_open(struct vault *vault, enum vault_kind kind, const struct vault_row *row,
                       struct secret_value *out, struct err *err)
{
    const struct secret_context context = {
        .kind = vault_kind_name(kind), .space = row->space, .name = row->name};
    return vault_unseal(vault, &context, row->sealed, out, err);
}

static bool is_among(const struct secret_keys *keys, const char *id)
{
    char own[SECRET_KEY_ID_MAX];
    for (size_t i = 0; keys != NULL && i < keys->count; i++)
        if (str_equal(secret_key_id_format(keys->keys[i].id, own), id))
            return true;
    return false;
}

static enum status look_at_rows(struct vault *vault, struct vault_sealed *out, struct err *err)
{
    static const enum vault_kind SEALED[] = {VAULT_CONNECTION, VAULT_SECRET};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    if (vault_reach(vault, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; vault->store != NULL && i < ARRAY_LEN(SEALED); i++) {
        struct vault_row *rows = NULL;
        size_t count = 0;
        if (store_vault_list(vault->store, arena, SEALED[i], &rows, &count, err) != STATUS_OK)
            return err->code;
        for (size_t j = 0; j < count; j++) {
            char id[SECRET_KEY_ID_MAX];
            if (rows[j].sealed == NULL || !secret_box_key_id(rows[j].sealed, id))
                continue;
            out->count++;
            if (is_among(vault->keys, id))
                continue;
            out->unknown++;
            memcpy(out->key_id, id, sizeof id);
        }
    }
    return STATUS_OK;
}

/*
 * A store whose secrets only other hosts can open would be split in two by a key of our own, and
 * nobody would notice before a task fails.
 */
enum status vault_seal(struct vault *vault, const struct secret_context *context,
                       const struct secret_value *plain, struct strbuf *out, struct err *err)
{
    struct vault_sealed rows = {0};
    struct err none = {0};
    bool has_keys = need_keys(vault, false, &none) == STATUS_OK;
    if (!has_keys && none.code != STATUS_NOT_FOUND) {
        *err = none;
        return err->code;
    }
    if (look_at_rows(vault, &rows, err) != STATUS_OK)
        return err->code;
    if (rows.count > 0 && rows.unknown == rows.count)
        return err_set(err, STATUS_DENIED,
                       "the store has secrets that are sealed with another key (id %s), which this "
                       "host does not have: give it that key (secret_key_file or "
                       "EIDER_SECRET_KEY), or delete them if it is lost",
                       rows.key_id);
    if (!has_keys && need_keys(vault, true, err) != STATUS_OK)
        return err->code;
    return secret_box_seal(vault->keys, context, plain, out, err);
}

enum status vault_sealed(struct vault *vault, struct vault_sealed *out, struct err *err)
{
    struct vault_sealed rows = {0};
    struct err none = {0};
    /* Without keys everything is unknown. */
    if (need_keys(vault, false, &none) != STATUS_OK)
        (void)snprintf(rows.problem, sizeof rows.problem, "%s", none.text);
    if (look_at_rows(vault, &rows, err) != STATUS_OK)
        return err->code;
    *out = rows;
    return STATUS_OK;
}

/* --- another key ----------------------------------------------------------------------------- */

static void note_failure(struct vault_rotation *rotation, const struct err *err)
{
    if (rotation->failed++ == 0)
        (void)snprintf(rotation->first_failure, sizeof rotation->first_failure, "%s", err->text);
}

/* What was sealed for the context, sealed anew; nothing is added when it need not, or cannot be. */
static enum status seal_anew(struct vault *vault, const struct secret_context *context,
                             const char *sealed, struct vault_rotation *rotation,
                             struct strbuf *out, struct err *err)
{
    struct secret_value plain = {0};
    struct err refused = {0};
    enum status status = STATUS_OK;
    if (vault_unseal(vault, context, sealed, &plain, &refused) != STATUS_OK) {
        note_failure(rotation, &refused);
        return STATUS_OK;
    }
    if (secret_box_is_outdated(vault->keys, sealed))
        status = secret_box_seal(vault->keys, context, &plain, out, err);
    else
        rotation->current++;
    secret_value_fini(&plain);
    return status;
}

static enum status rotate_row(struct vault *vault, enum vault_kind kind,
                              const struct vault_row *row, struct vault_rotation *rotation,
                              struct err *err)
{
    const struct secret_context context = {
        .kind = vault_kind_name(kind), .space = row->space, .name = row->name};
    CLEANUP(strbuf_fini) struct strbuf sealed;
    strbuf_init(&sealed, (size_t)2 * SECRET_BOX_BYTES_MAX);
    bool done = false;
    if (seal_anew(vault, &context, row->sealed, rotation, &sealed, err) != STATUS_OK)
        return err->code;
    if (sealed.length == 0)
        return STATUS_OK;
    if (store_vault_reseal(vault->store, kind, row, sealed.text, &done, err) != STATUS_OK)
        return err->code;
    rotation->resealed += done;
    return STATUS_OK;
}

static enum status rotate_webhooks(struct vault *vault, struct vault_rotation *rotation,
                                   struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct webhook_sealed *list = NULL;
    size_t count = 0;
    if (webhook_list_sealed(vault->store, arena, &list, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        const struct secret_context context = webhook_context(list[i].hash);
        CLEANUP(strbuf_fini) struct strbuf sealed;
        strbuf_init(&sealed, (size_t)2 * SECRET_BOX_BYTES_MAX);
        if (seal_anew(vault, &context, list[i].sealed, rotation, &sealed, err) != STATUS_OK)
            return err->code;
        if (sealed.length == 0)
            continue;
        if (webhook_reseal(vault->store, &list[i], sealed.text, err) != STATUS_OK)
            return err->code;
        rotation->resealed++;
    }
    return STATUS_OK;
}

static enum status rotate_kind(struct vault *vault, enum vault_kind kind,
                               struct vault_rotation *rotation, struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct vault_row *rows = NULL;
    size_t count = 0;
    if (store_vault_list(vault->store, arena, kind, &rows, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (rows[i].sealed != NULL && rotate_row(vault, kind, &rows[i], rotation, err) != STATUS_OK)
            return err->code;
    return STATUS_OK;
}

enum status vault_rotate(struct vault *vault, const char *actor, struct vault_rotation *out,
                         struct err *err)
{
    CHECK(vault->store != NULL);
    struct vault_rotation rotation = {0};
    struct secret_keys *keys = NULL;
    if (load_keys(vault, false, &keys, err) != STATUS_OK) {
        tell_from_missing(err);
        return err->code;
    }
    secret_keys_free(vault->keys);
    vault->keys = keys;
    (void)secret_key_id_format(keys->keys[0].id, rotation.key_id);
    if (rotate_kind(vault, VAULT_CONNECTION, &rotation, err) != STATUS_OK ||
        rotate_kind(vault, VAULT_SECRET, &rotation, err) != STATUS_OK ||
        rotate_webhooks(vault, &rotation, err) != STATUS_OK)
        return err->code;
    if (rotation.resealed > 0 &&
        store_vault_tell_resealed(vault->store, rotation.resealed, rotation.key_id, actor, err) !=
            STATUS_OK)
        return err->code;
    *out = rotation;
    return STATUS_OK;
}
