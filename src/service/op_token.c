/*
 * Tokens of programs and workers. The token itself is in the answer that makes it, and never again.
 */
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/dag.h"
#include "model/duration.h"
#include "service/credentials.h"
#include "service/grants_read.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"
#include "store/token.h"

static bool is_admin(const struct service *service)
{
    return principal_role(service->principal, NULL) == PERMISSION_ADMIN;
}

/* Whose tokens are meant: those of everybody for who manages them, else one's own. */
static const char *owner_seen(const struct service *service)
{
    if (is_admin(service))
        return NULL;
    return service->principal->user != NULL ? service->principal->user : "nobody at all";
}

/*
 * One's own, and of those what may no more than who asks: a small token neither sees nor takes back
 * the greater ones of its owner.
 */
static bool may_manage(const struct service *service, struct arena *arena,
                       const struct token *token)
{
    const struct principal *principal = service->principal;
    if (is_admin(service) || principal->token == 0 || principal->token == token->id)
        return true;
    const struct principal other = credentials_principal(arena, token);
    return !principal_is_worker(&other) && principal_covers(principal, &other);
}

static json_t *token_json(struct arena *arena, const struct token *token)
{
    json_t *object = json_build_object();
    json_put_id(object, "id", token->id);
    json_put_string(object, "name", token->name);
    json_put_string(object, "owner", token->is_owned ? token->owner.name : NULL);
    json_put_string(object, "kind", token->queues != NULL ? "worker" : "person");
    json_put_string(object, "roles",
                    token->is_bounded ? grants_format(arena, &token->grants) : NULL);
    json_put(object, "queues", json_build_words(token->queues));
    json_put_string(object, "created_by", token->actor);
    json_put_instant(object, "created_at", token->created_at_us);
    json_put_instant(object, "expires_at", token->expires_at_us);
    json_put_instant(object, "last_used", token->used_at_us);
    return object;
}

enum status op_token_list(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct token *tokens = NULL;
    size_t count = 0;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL &&
         store_token_list(store, arena, owner_seen(service), &tokens, &count, err) != STATUS_OK))
        return err->code;
    json_t *list = json_build_array();
    for (size_t i = 0; i < count; i++)
        if (may_manage(service, arena, &tokens[i]))
            json_build_append(list, token_json(arena, &tokens[i]));
    *out = json_build_list("tokens", list);
    return STATUS_OK;
}

/* --- making ---------------------------------------------------------------------------------- */

static enum status join_words(struct arena *arena, const json_t *list, const char **out,
                              struct err *err)
{
    CLEANUP(strbuf_fini) struct strbuf words;
    strbuf_init(&words, 1 << 16);
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word)
    {
        const char *text = json_string_value(word);
        if (text[0] == '\0' || strchr(text, ' ') != NULL)
            return err_set(err, STATUS_INVALID, "'%.60s' is no name", text);
        strbuf_addf(&words, "%s%s", i > 0 ? " " : "", text);
    }
    if (words.overflow)
        return err_set(err, STATUS_LIMIT, "these are too many names");
    *out = arena_strdup(arena, words.text);
    return STATUS_OK;
}

/* A token may nothing that its maker may not: else a small one would make a great one. */
static enum status check_grants(const struct principal *maker, const struct grants *grants,
                                struct err *err)
{
    for (size_t i = 0; i < grants->count; i++) {
        const char *space = grants->items[i].space;
        const char *where = str_equal(space, "*") ? NULL : space;
        if (principal_role(maker, where) < grants->items[i].role)
            return err_set(
                err, STATUS_DENIED, "%s cannot give the role %s in %s%s: that one has %s there",
                maker->name, permission_name(grants->items[i].role),
                where != NULL ? "namespace " : "all namespaces", where != NULL ? where : "",
                permission_name(principal_role(maker, where)));
    }
    return STATUS_OK;
}

static enum status read_expiry(const struct service *service, const json_t *request, int64_t *out,
                               struct err *err)
{
    const char *text = json_get_string(request, "expires_in", NULL);
    int64_t lasts_ms = 0;
    int64_t bound_us = service->principal->expires_at_us;
    *out = 0;
    if (text != NULL && (!duration_parse(text, &lasts_ms) || lasts_ms <= 0))
        return err_set(err, STATUS_INVALID, "'%.60s' is no time: write 90d or 12h", text);
    if (text != NULL)
        *out = service_now_us(service) + lasts_ms * 1000;
    /* What a token makes does not outlive it. */
    if (bound_us != 0 && (*out == 0 || *out > bound_us))
        *out = bound_us;
    return STATUS_OK;
}

struct wanted {
    struct token_request request;
    struct grants grants;
};

/* Whose it will be: one's own; who manages tokens may name another, or nobody with roles. */
static enum status read_owner(const struct service *service, const json_t *request,
                              struct token_request *out, struct err *err)
{
    const char *owner = json_get_string(request, "owner", NULL);
    const char *own = service->principal->user;
    if (owner != NULL && !is_admin(service) && !str_equal(owner, own))
        return err_set(err, STATUS_DENIED,
                       "only who has the role admin in all namespaces makes tokens of others");
    out->owner = owner != NULL ? owner : own;
    if (out->owner == NULL && !is_admin(service))
        return err_set(err, STATUS_DENIED, "a token of nobody makes no tokens");
    if (out->owner == NULL && out->grants == NULL && out->queues == NULL)
        return err_set(err, STATUS_INVALID,
                       "say what the token may: give its owner, roles such as *=viewer, or queues "
                       "of a worker");
    return STATUS_OK;
}

static enum status read_wanted(const struct service *service, struct arena *arena,
                               const json_t *request, struct wanted *out, struct err *err)
{
    const json_t *roles = json_object_get(request, "grants");
    const json_t *queues = json_object_get(request, "queues");
    *out = (struct wanted){
        .request = {.name = json_get_string(request, "name", ""), .actor = service->actor}};
    if (!dag_name_is_valid(out->request.name))
        return err_set(err, STATUS_INVALID, "a token cannot be called '%.100s': %s",
                       out->request.name, DAG_NAME_RULE);
    if (json_is_array(roles) && json_is_array(queues))
        return err_set(err, STATUS_INVALID, "a worker's token has queues and no roles");
    if (json_is_array(queues) && join_words(arena, queues, &out->request.queues, err) != STATUS_OK)
        return err->code;
    if (json_is_array(queues) && !is_admin(service))
        return err_set(err, STATUS_DENIED,
                       "only who has the role admin in all namespaces makes tokens of workers");
    if (json_is_array(roles)) {
        if (grants_read(arena, roles, &out->grants, err) != STATUS_OK ||
            check_grants(service->principal, &out->grants, err) != STATUS_OK)
            return err->code;
        out->request.grants = &out->grants;
    }
    if (read_expiry(service, request, &out->request.expires_at_us, err) != STATUS_OK)
        return err->code;
    return read_owner(service, request, &out->request, err);
}

/* Made by a token that may less than its owner, it may no more than that. */
static void bound_by_maker(const struct service *service, struct wanted *wanted)
{
    const struct principal *maker = service->principal;
    if (maker->is_local || wanted->request.grants != NULL || wanted->request.queues != NULL)
        return;
    wanted->grants = (struct grants){(struct grant *)(uintptr_t)maker->grants, maker->count};
    wanted->request.grants = &wanted->grants;
}

enum status op_token_add(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct wanted wanted;
    struct store *store = NULL;
    char text[TOKEN_TEXT_MAX];
    int64_t id = 0;
    if (read_wanted(service, arena, request, &wanted, err) != STATUS_OK)
        return err->code;
    bound_by_maker(service, &wanted);
    if (service_store_new(service, &store, err) != STATUS_OK ||
        store_token_add(store, &wanted.request, &id, text, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_id(*out, "id", id);
    json_put_string(*out, "name", wanted.request.name);
    json_put_string(*out, "owner", wanted.request.owner);
    json_put_string(*out, "kind", wanted.request.queues != NULL ? "worker" : "person");
    json_put_string(*out, "roles",
                    wanted.request.grants != NULL ? grants_format(arena, wanted.request.grants)
                                                  : NULL);
    json_put(*out, "queues", json_build_words(wanted.request.queues));
    json_put_instant(*out, "expires_at", wanted.request.expires_at_us);
    json_put_string(*out, "token", text);
    return STATUS_OK;
}

/* Those that are not to be managed are answered as if they were not there. */
static enum status check_manages(struct service *service, struct store *store, int64_t id,
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct token *tokens = NULL;
    size_t count = 0;
    if (is_admin(service))
        return STATUS_OK;
    if (store_token_list(store, arena, owner_seen(service), &tokens, &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (tokens[i].id == id && may_manage(service, arena, &tokens[i]))
            return STATUS_OK;
    return err_set(err, STATUS_NOT_FOUND, "there is no token %lld", (long long)id);
}

enum status op_token_remove(struct service *service, const json_t *request, json_t **out,
                            struct err *err)
{
    struct store *store = NULL;
    int64_t id = 0;
    CHECK(str_parse_i64(json_get_string(request, "id", ""), 0, INT64_MAX, &id));
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        check_manages(service, store, id, err) != STATUS_OK ||
        store_token_remove(store, id, owner_seen(service), service->actor, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_id(*out, "id", id);
    json_put_bool(*out, "removed", true);
    return STATUS_OK;
}
