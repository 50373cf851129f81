/*
 * Variables, connections and secrets: what there is, and changing what the store has of it. A
 * secret goes in and never comes out.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/limits.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"
#include "store/vault.h"

static const char *space_of(const json_t *request)
{
    return json_get_string(request, "namespace", VAULT_DEFAULT_SPACE);
}

static const char *name_of(const json_t *request)
{
    return json_get_string(request, "name", "");
}

/* --- looking --------------------------------------------------------------------------------- */

static bool is_wanted(const json_t *row, const char *space)
{
    const char *own = json_get_string(row, "namespace", NULL);
    return space == NULL || own == NULL || str_equal(own, space);
}

/* What counts for all belongs to `default`: who does not see that does not see this either. */
static bool is_shown(const struct service *service, const json_t *row)
{
    return principal_sees(service->principal, json_get_string(row, "namespace", NULL));
}

/* Nothing of a secret is a value. */
static void drop_value(enum vault_kind kind, json_t *row)
{
    if (kind == VAULT_SECRET)
        (void)json_object_del(row, "value");
}

static enum status list(struct service *service, enum vault_kind kind, const json_t *request,
                        json_t **out, struct err *err)
{
    static const char *const MEMBERS[] = {[VAULT_VARIABLE] = "variables",
                                          [VAULT_CONNECTION] = "connections",
                                          [VAULT_SECRET] = "secrets"};
    CLEANUP(vault_freep) struct vault *vault = NULL;
    CLEANUP(json_decrefp) json_t *all = NULL;
    const char *space = json_get_string(request, "namespace", NULL);
    if (service_vault(service, &vault, err) != STATUS_OK ||
        vault_list(vault, kind, &all, err) != STATUS_OK)
        return err->code;
    json_t *rows = json_build_array();
    size_t i;
    json_t *row;
    json_array_foreach(all, i, row)
    {
        drop_value(kind, row);
        if (is_wanted(row, space) && is_shown(service, row))
            json_build_append(rows, json_incref(row));
    }
    *out = json_build_list(MEMBERS[kind], rows);
    return STATUS_OK;
}

/* Whether the row is of that name, which the environment writes in its own way. */
static bool has_name(enum vault_kind kind, const json_t *row, const char *name)
{
    if (!str_equal(json_get_string(row, "source", ""), vault_origin_name(VAULT_ENVIRONMENT)))
        return str_equal(json_get_string(row, "name", ""), name);
    char *names[ENV_NAMES] = {NULL};
    bool is_same = false;
    if (env_names((enum env_kind)kind, name, names))
        for (size_t i = 0; i < ENV_NAMES; i++)
            is_same |= str_equal(json_get_string(row, "place", ""), names[i]);
    for (size_t i = 0; i < ENV_NAMES; i++)
        mem_freep(&names[i]);
    return is_same;
}

/* From 0: which of several counts; -1: it has nothing to do with it. */
static int rank_of(enum vault_kind kind, const json_t *row, const char *space, const char *name)
{
    const char *own = json_get_string(row, "namespace", NULL);
    if (!has_name(kind, row, name))
        return -1;
    if (own == NULL)
        return str_equal(json_get_string(row, "source", ""), vault_origin_name(VAULT_ENVIRONMENT))
                   ? 0
                   : 1;
    if (str_equal(own, space))
        return 2;
    return str_equal(own, VAULT_DEFAULT_SPACE) ? 3 : -1;
}

/* The one that counts, with how it is known. */
static enum status show(struct service *service, enum vault_kind kind, const json_t *request,
                        json_t **out, struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    CLEANUP(json_decrefp) json_t *all = NULL;
    const char *name = name_of(request);
    const char *space = space_of(request);
    /* Who does not see what counts for all is not told of it by other words either. */
    bool sees_all = principal_sees(service->principal, VAULT_DEFAULT_SPACE);
    if (service_vault(service, &vault, err) != STATUS_OK ||
        (sees_all && vault_find(vault, kind, space, name, err) != STATUS_OK) ||
        vault_list(vault, kind, &all, err) != STATUS_OK)
        return err->code;
    json_t *best = NULL;
    int best_rank = -1;
    size_t i;
    json_t *row;
    json_array_foreach(all, i, row)
    {
        int rank = is_shown(service, row) ? rank_of(kind, row, space, name) : -1;
        if (rank >= 0 && (best == NULL || rank < best_rank)) {
            best = row;
            best_rank = rank;
        }
    }
    if (best == NULL)
        return err_set(err, STATUS_NOT_FOUND, "there is no %s '%.100s'", vault_kind_name(kind),
                       name);
    drop_value(kind, best);
    *out = json_incref(best);
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

/* What the store has now, and whether something outside of it counts more. */
static enum status answer(struct service *service, enum vault_kind kind, const json_t *request,
                          json_t **out, struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    CLEANUP(json_decrefp) json_t *all = NULL;
    if (service_vault(service, &vault, err) != STATUS_OK ||
        vault_list(vault, kind, &all, err) != STATUS_OK)
        return err->code;
    size_t i;
    json_t *row;
    json_array_foreach(all, i, row)
    {
        if (!str_equal(json_get_string(row, "namespace", NULL), space_of(request)) ||
            !str_equal(json_get_string(row, "name", ""), name_of(request)))
            continue;
        drop_value(kind, row);
        *out = json_incref(row);
        return STATUS_OK;
    }
    return err_set(err, STATUS_NOT_FOUND, "the %s '%.100s' was deleted by somebody else",
                   vault_kind_name(kind), name_of(request));
}

static struct vault_change change_of(const struct service *service, enum vault_kind kind,
                                     const json_t *request)
{
    return (struct vault_change){
        .kind = kind,
        .space = space_of(request),
        .name = name_of(request),
        .doc = json_get_string(request, "doc", NULL),
        .actor = service->actor,
    };
}

static enum status write_change(struct service *service, const struct vault_change *change,
                                const json_t *request, json_t **out, struct err *err)
{
    struct store *store = NULL;
    if (service_store_new(service, &store, err) != STATUS_OK ||
        store_vault_set(store, change, err) != STATUS_OK)
        return err->code;
    return answer(service, change->kind, request, out, err);
}

/* Seal it, and keep it; the store is made first, since the key may have its place there. */
static enum status write_sealed(struct service *service, struct vault_change *change,
                                const struct secret_value *plain, const json_t *request,
                                json_t **out, struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    CLEANUP(strbuf_fini) struct strbuf sealed;
    const struct secret_context context = {
        .kind = vault_kind_name(change->kind), .space = change->space, .name = change->name};
    struct store *store = NULL;
    strbuf_init(&sealed, (size_t)2 * SECRET_BOX_BYTES_MAX);
    if (vault_check_name(change->kind, change->space, change->name, err) != STATUS_OK ||
        service_store_new(service, &store, err) != STATUS_OK ||
        service_vault(service, &vault, err) != STATUS_OK ||
        vault_seal(vault, &context, plain, &sealed, err) != STATUS_OK)
        return err->code;
    change->sealed = sealed.text;
    return write_change(service, change, request, out, err);
}

static enum status delete (struct service *service, enum vault_kind kind, const json_t *request,
                           json_t **out, struct err *err) {
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    bool dry_run = json_get_bool(request, "dry_run", false);
    struct vault_change what = change_of(service, kind, request);
    struct vault_name name = {kind, what.space, what.name, true};
    struct vault_row row;
    struct store *store = NULL;
    if (service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_vault_load(store, arena, &name, &row, err) != STATUS_OK ||
        (!dry_run && store_vault_delete(store, &what, err) != STATUS_OK)) return err->code;
    *out = json_build_object();
    json_put_string(*out, "name", what.name);
    json_put_string(*out, "namespace", what.space);
    json_put_bool(*out, "deleted", !dry_run);
    return STATUS_OK;
}

/* --- variables ------------------------------------------------------------------------------- */

enum status op_variable_list(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    return list(service, VAULT_VARIABLE, request, out, err);
}

enum status op_variable_show(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    return show(service, VAULT_VARIABLE, request, out, err);
}

enum status op_variable_set(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    struct vault_change change = change_of(service, VAULT_VARIABLE, request);
    const json_t *value = json_object_get(request, "value");
    CLEANUP(mem_freep)
    char *text = json_is_string(value) ? mem_strdup(json_string_value(value)) : json_format(value);
    change.value = text;
    return write_change(service, &change, request, out, err);
}

enum status op_variable_delete(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    return delete (service, VAULT_VARIABLE, request, out, err);
}

/* --- connections ----------------------------------------------------------------------------- */

enum status op_connection_list(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    return list(service, VAULT_CONNECTION, request, out, err);
}

enum status op_connection_show(struct service *service, const json_t *request, json_t **out,
                               struct err *err)
{
    return show(service, VAULT_CONNECTION, request, out, err);
}

static void note_secret(void *context, const char *secret)
{
    (void)secret;
    *(bool *)context = true;
}

static enum status set_connection(struct service *service, const struct connection *connection,
                                  const json_t *request, json_t **out, struct err *err)
{
    struct vault_change change = change_of(service, VAULT_CONNECTION, request);
    CLEANUP(json_decrefp) json_t *shown = connection_shown_json(connection);
    CLEANUP(mem_freep) char *shown_text = json_format(shown);
    bool has_secrets = false;
    connection_secrets(connection, note_secret, &has_secrets);
    change.value = shown_text;
    if (!has_secrets)
        return write_change(service, &change, request, out, err);
    CLEANUP(json_decrefp) json_t *whole = connection_to_json(connection);
    char *text = json_format(whole);
    struct secret_value plain = secret_value_new(text, strlen(text));
    secret_wipe(text, strlen(text));
    mem_freep(&text);
    enum status status = write_sealed(service, &change, &plain, request, out, err);
    secret_value_fini(&plain);
    return status;
}

/* What is kept, with the parts that are given in the place of its own; secrets stay secret. */
static enum status merge_connection(struct service *service, const json_t *request, json_t **out,
                                    struct err *err)
{
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct connection before = {0};
    const json_t *value = json_object_get(request, "value");
    if (!json_is_object(value))
        return err_set(err, STATUS_INVALID, "only the parts of an object can be merged");
    if (service_vault(service, &vault, err) != STATUS_OK ||
        vault_connection(vault, space_of(request), name_of(request), &before, err) != STATUS_OK)
        return err->code;
    *out = connection_to_json(&before);
    connection_fini(&before);
    CHECK(json_object_update(*out, (json_t *)(uintptr_t)value) == 0);
    return STATUS_OK;
}

enum status op_connection_set(struct service *service, const json_t *request, json_t **out,
                              struct err *err)
{
    struct connection connection = {0};
    CLEANUP(json_decrefp) json_t *merged = NULL;
    const json_t *value = json_object_get(request, "value");
    if (json_get_bool(request, "merge", false)) {
        if (merge_connection(service, request, &merged, err) != STATUS_OK)
            return err->code;
        value = merged;
    }
    enum status status = json_is_string(value)
                             ? connection_parse(json_string_value(value), &connection, err)
                             : connection_read(value, &connection, err);
    if (status != STATUS_OK)
        return err_wrap(err, "connection '%.100s'", name_of(request));
    status = set_connection(service, &connection, request, out, err);
    connection_fini(&connection);
    return status;
}

enum status op_connection_delete(struct service *service, const json_t *request, json_t **out,
                                 struct err *err)
{
    return delete (service, VAULT_CONNECTION, request, out, err);
}

/* --- secrets --------------------------------------------------------------------------------- */

enum status op_secret_list(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    return list(service, VAULT_SECRET, request, out, err);
}

enum status op_secret_show(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    return show(service, VAULT_SECRET, request, out, err);
}

enum status op_secret_set(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    struct vault_change change = change_of(service, VAULT_SECRET, request);
    const json_t *value = json_object_get(request, "value");
    size_t length = json_string_length(value);
    if (length == 0)
        return err_set(err, STATUS_INVALID, "the value of the secret '%.100s' is empty",
                       change.name);
    if (length > LIMIT_SECRET_BYTES)
        return err_set(err, STATUS_LIMIT, "the secret '%.100s' has %zu bytes, at most %d",
                       change.name, length, LIMIT_SECRET_BYTES);
    if (strlen(json_string_value(value)) != length)
        return err_set(err, STATUS_INVALID, "the secret '%.100s' has a NUL byte: keep it as base64",
                       change.name);
    struct secret_value plain = secret_value_new(json_string_value(value), length);
    enum status status = write_sealed(service, &change, &plain, request, out, err);
    secret_value_fini(&plain);
    return status;
}

enum status op_secret_delete(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    return delete (service, VAULT_SECRET, request, out, err);
}

enum status op_secret_rotate(struct service *service, const json_t *request, json_t **out,
                             struct err *err)
{
    (void)request;
    CLEANUP(vault_freep) struct vault *vault = NULL;
    struct vault_rotation rotation = {0};
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        service_vault(service, &vault, err) != STATUS_OK ||
        vault_rotate(vault, service->actor, &rotation, err) != STATUS_OK)
        return err->code;
    if (rotation.failed > 0)
        return err_set(err, STATUS_DENIED,
                       "%lld sealed anew with key id %s; %lld cannot be opened and stay as they "
                       "are: %s",
                       (long long)rotation.resealed, rotation.key_id, (long long)rotation.failed,
                       rotation.first_failure);
    *out = json_build_object();
    json_put_int(*out, "resealed", rotation.resealed);
    json_put_int(*out, "current", rotation.current);
    json_put_string(*out, "key_id", rotation.key_id);
    return STATUS_OK;
}
