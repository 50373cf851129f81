/*
 * Users: people who may use the API. Hashes of passwords never come out.
 */
#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "os/password.h"
#include "service/grants_read.h"
#include "service/json_build.h"
#include "service/op_handlers.h"
#include "service/principal.h"
#include "service/service.h"
#include "store/account.h"

static json_t *grants_json(const struct grants *grants)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < grants->count; i++) {
        json_t *grant = json_build_object();
        json_put_string(grant, "namespace", grants->items[i].space);
        json_put_string(grant, "role", permission_name(grants->items[i].role));
        json_build_append(list, grant);
    }
    return list;
}

static json_t *user_json(struct arena *arena, const struct account *account)
{
    json_t *user = json_build_object();
    json_put_string(user, "name", account->name);
    json_put_string(user, "roles", grants_format(arena, &account->grants));
    json_put(user, "grants", grants_json(&account->grants));
    json_put_bool(user, "has_password", account->password != NULL);
    json_put_bool(user, "disabled", account->is_disabled);
    json_put_string(user, "created_by", account->actor);
    json_put_instant(user, "created_at", account->created_at_us);
    return user;
}

enum status op_user_list(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    (void)request;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct store *store = NULL;
    struct account *accounts = NULL;
    size_t count = 0;
    if (service_store_if_any(service, &store, err) != STATUS_OK ||
        (store != NULL && store_account_list(store, arena, &accounts, &count, err) != STATUS_OK))
        return err->code;
    json_t *users = json_build_array();
    for (size_t i = 0; i < count; i++)
        json_build_append(users, user_json(arena, &accounts[i]));
    *out = json_build_list("users", users);
    return STATUS_OK;
}

static enum status answer(struct store *store, struct arena *arena, const char *name, json_t **out,
                          struct err *err)
{
    struct account account;
    if (store_account_load(store, arena, name, &account, err) != STATUS_OK)
        return err->code;
    *out = user_json(arena, &account);
    return STATUS_OK;
}

/* --- changing -------------------------------------------------------------------------------- */

/* What a request says of an account; what it points to lives here. */
struct wanted {
    struct account_change change;
    struct grants grants;
    bool disabled;
    char hash[PASSWORD_HASH_MAX];
};

static enum status read_wanted(const struct service *service, struct arena *arena,
                               const json_t *request, struct wanted *out, struct err *err)
{
    const char *password = json_get_string(request, "password", NULL);
    const json_t *grants = json_object_get(request, "grants");
    const json_t *disabled = json_object_get(request, "disabled");
    *out = (struct wanted){
        .change = {.name = json_get_string(request, "name", ""), .actor = service->actor}};
    if (json_is_array(grants)) {
        if (grants_read(arena, grants, &out->grants, err) != STATUS_OK)
            return err->code;
        out->change.grants = &out->grants;
    }
    if (json_is_boolean(disabled)) {
        out->disabled = json_is_true(disabled);
        out->change.disabled = &out->disabled;
    }
    if (password != NULL) {
        if (password_check(password, err) != STATUS_OK ||
            password_hash(password, out->hash, err) != STATUS_OK)
            return err->code;
        out->change.password = out->hash;
    }
    return STATUS_OK;
}

enum status op_user_add(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct wanted wanted;
    struct store *store = NULL;
    if (user_check_name(json_get_string(request, "name", ""), err) != STATUS_OK ||
        read_wanted(service, arena, request, &wanted, err) != STATUS_OK ||
        service_store_new(service, &store, err) != STATUS_OK ||
        store_account_add(store, &wanted.change, err) != STATUS_OK)
        return err->code;
    return answer(store, arena, wanted.change.name, out, err);
}

/* Everybody may change a password of one's own, and who knows the one before is that one. */
static enum status may_change(const struct service *service, struct store *store,
                              struct arena *arena, const json_t *request, struct err *err)
{
    struct account account;
    const char *name = json_get_string(request, "name", "");
    const char *old = json_get_string(request, "old_password", "");
    if (principal_role(service->principal, NULL) == PERMISSION_ADMIN)
        return STATUS_OK;
    bool is_own = service->principal->user != NULL && str_equal(service->principal->user, name);
    if (!is_own || json_is_array(json_object_get(request, "grants")) ||
        json_is_boolean(json_object_get(request, "disabled")))
        return err_set(err, STATUS_DENIED,
                       "only who has the role admin in all namespaces changes users; others change "
                       "a password of their own");
    /* By hand, not by a token: that would be a way to try passwords out. */
    if (!str_equal(service->principal->name, name))
        return err_set(err, STATUS_DENIED,
                       "a token changes no password: sign in with the name and the password that "
                       "is to be changed, not with a token of '%s'",
                       name);
    if (store_account_load(store, arena, name, &account, err) != STATUS_OK)
        return err->code;
    if (!password_matches(account.password, old))
        return err_set(err, STATUS_DENIED, "'old_password' is not the password of '%s'", name);
    return STATUS_OK;
}

enum status op_user_set(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct wanted wanted;
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        may_change(service, store, arena, request, err) != STATUS_OK ||
        read_wanted(service, arena, request, &wanted, err) != STATUS_OK)
        return err->code;
    if (wanted.change.password == NULL && wanted.change.grants == NULL &&
        wanted.change.disabled == NULL)
        return err_set(err, STATUS_INVALID, "nothing to change: give grants, password or disabled");
    if (store_account_set(store, &wanted.change, err) != STATUS_OK)
        return err->code;
    return answer(store, arena, wanted.change.name, out, err);
}

enum status op_user_remove(struct service *service, const json_t *request, json_t **out,
                           struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(json_decrefp) json_t *user = NULL;
    const char *name = json_get_string(request, "name", "");
    struct store *store = NULL;
    bool dry_run = json_get_bool(request, "dry_run", false);
    if (service_store(service, dry_run ? DB_READ_ONLY : DB_READ_WRITE, &store, err) != STATUS_OK ||
        answer(store, arena, name, &user, err) != STATUS_OK ||
        (!dry_run && store_account_remove(store, name, service->actor, err) != STATUS_OK))
        return err->code;
    *out = TAKE(user);
    return STATUS_OK;
}
