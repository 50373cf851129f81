#include "service/credentials.h"

#include "base/str.h"
#include "model/dag.h"
#include "model/settings.h"
#include "store/sign_in.h"
#include "store/task_pass.h"
#include "store/token.h"

static const int64_t LINK_MS = INT64_C(24) * 3600 * 1000;

/* What is not there is not told from what is not good any more. */
static enum status deny(const struct err *problem, struct err *err)
{
    if (problem->code == STATUS_NOT_FOUND)
        return err_set(err, STATUS_DENIED, "these credentials are not, or no longer, good");
    *err = *problem;
    return err->code;
}

static struct principal principal_of(const struct account *account)
{
    return (struct principal){
        .name = account->name,
        .grants = account->grants.items,
        .count = account->grants.count,
        .user = account->name,
        .stamp = account->stamp,
    };
}

static struct user user_of(const struct account *account)
{
    return (struct user){
        .principal = principal_of(account),
        .password = account->password,
        .is_disabled = account->is_disabled,
        .stamp = account->stamp,
    };
}

struct principal credentials_principal(struct arena *arena, const struct token *token)
{
    struct grants grants = token->is_owned ? token->owner.grants : token->grants;
    if (token->is_owned && token->is_bounded)
        grants = grants_cut(arena, &token->owner.grants, &token->grants);
    return (struct principal){
        .name = token->is_owned ? arena_format(arena, "%s/%s", token->owner.name, token->name)
                                : arena_format(arena, "token %s", token->name),
        .grants = grants.items,
        .count = token->queues == NULL ? grants.count : 0,
        .user = token->is_owned ? token->owner.name : NULL,
        .stamp = token->is_owned ? token->owner.stamp : 0,
        .token = token->id,
        .queues = token->queues,
        .expires_at_us = token->expires_at_us,
    };
}

/* Only about, and only if the store can be written: nobody waits for it. */
static void note_use(struct service *service, const struct token *token)
{
    struct err ignored = {0};
    struct store *store = service->store;
    if (!store_token_use_is_news(store, token) ||
        service_store(service, DB_READ_WRITE, &store, &ignored) != STATUS_OK)
        return;
    (void)(store_token_note_use(store, token, &ignored) == STATUS_OK);
}

/* What the settings say, where its DAG is and nowhere else. */
static struct principal principal_of_task(struct arena *arena, const struct task_holder *holder,
                                          enum permission role)
{
    struct grant *grant = arena_alloc(arena, sizeof *grant);
    *grant = (struct grant){.space = holder->space, .role = role};
    return (struct principal){
        .name = holder->name,
        .grants = grant,
        .count = 1,
        .task = holder->task,
        .attempt = holder->attempt,
    };
}

static enum status find_task(struct service *service, struct arena *arena, const char *text,
                             struct principal *out, struct err *err)
{
    struct store *store = NULL;
    struct task_holder holder;
    struct err problem = {0};
    enum permission role = PERMISSION_NONE;
    if (!permission_parse(settings_text(service->settings, SETTING_TASK_ROLE), &role))
        return err_set(err, STATUS_DENIED, "tasks are not let in here (task_role)");
    if (service_store(service, DB_READ_ONLY, &store, &problem) != STATUS_OK ||
        store_task_token_find(store, arena, text, &holder, &problem) != STATUS_OK)
        return deny(&problem, err);
    if (!dag_name_is_valid(holder.space)) /* no other name may come to stand for all of them */
        return err_set(err, STATUS_DENIED, "the task is in no namespace");
    *out = principal_of_task(arena, &holder, role);
    return STATUS_OK;
}

enum status credentials_of_token(struct service *service, struct arena *arena, const char *text,
                                 struct principal *out, struct err *err)
{
    struct store *store = NULL;
    struct token token;
    struct err problem = {0};
    if (str_starts_with(text, TASK_TOKEN_PREFIX))
        return find_task(service, arena, text, out, err);
    if (service_store(service, DB_READ_ONLY, &store, &problem) != STATUS_OK ||
        store_token_find(store, arena, text, &token, &problem) != STATUS_OK)
        return deny(&problem, err);
    *out = credentials_principal(arena, &token);
    note_use(service, &token);
    return STATUS_OK;
}

enum status credentials_of_session(struct service *service, struct arena *arena, const char *text,
                                   struct principal *out, struct err *err)
{
    struct store *store = NULL;
    struct account account;
    int64_t expires_at_us = 0;
    struct err problem = {0};
    if (service_store(service, DB_READ_ONLY, &store, &problem) != STATUS_OK ||
        store_session_find(store, arena, text, &account, &expires_at_us, &problem) != STATUS_OK)
        return deny(&problem, err);
    *out = principal_of(&account);
    return STATUS_OK;
}

enum status credentials_user(struct service *service, struct arena *arena, const char *name,
                             struct user *out, struct err *err)
{
    struct store *store = NULL;
    struct account account;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        store_account_load(store, arena, name, &account, err) != STATUS_OK)
        return err->code;
    *out = user_of(&account);
    return STATUS_OK;
}

static enum status changed(struct err *err)
{
    return err_set(err, STATUS_DENIED, "the token is good no more, or the user was changed");
}

static enum status check_account(struct store *store, const struct principal *principal,
                                 struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct account account;
    struct err problem = {0};
    enum status status = store_account_load(store, arena, principal->user, &account, &problem);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && (account.is_disabled || account.stamp != principal->stamp)))
        return changed(err);
    if (status != STATUS_OK)
        *err = problem;
    return status;
}

enum status credentials_again(struct service *service, const struct principal *principal,
                              struct err *err)
{
    struct store *store = NULL;
    bool is_there = true;
    if (principal->user == NULL && principal->token == 0 && principal->task == 0)
        return STATUS_OK;
    if (service_store(service, DB_READ_ONLY, &store, err) != STATUS_OK ||
        (principal->token != 0 &&
         store_token_exists(store, principal->token, &is_there, err) != STATUS_OK) ||
        (principal->task != 0 && store_task_is_held(store, principal->task, principal->attempt,
                                                    &is_there, err) != STATUS_OK))
        return err->code;
    if (!is_there)
        return changed(err);
    return principal->user != NULL ? check_account(store, principal, err) : STATUS_OK;
}

enum status credentials_sign_in(struct service *service, const struct user *user, const char *from,
                                char out[static SECRET_TEXT_MAX], struct err *err)
{
    struct store *store = NULL;
    const struct session_request request = {
        .account = user->principal.user,
        .stamp = user->stamp,
        .lasts_ms = settings_number(service->settings, SETTING_SESSION_TIME),
        .from = from,
    };
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK)
        return err->code;
    return store_session_begin(store, &request, out, err);
}

enum status credentials_sign_out(struct service *service, const char *text, struct err *err)
{
    struct store *store = NULL;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK)
        return err->code;
    return store_session_end(store, text, err);
}

void credentials_tell_refused(struct service *service, const char *name, const char *from)
{
    struct store *store = NULL;
    struct err ignored = {0};
    if (service_store(service, DB_READ_WRITE, &store, &ignored) == STATUS_OK)
        (void)(store_sign_in_tell_refused(store, name, from, &ignored) == STATUS_OK);
}

enum status credentials_make_link(struct service *service, char out[static SECRET_TEXT_MAX],
                                  struct err *err)
{
    struct store *store = NULL;
    if (service_store_new(service, &store, err) != STATUS_OK)
        return err->code;
    return store_link_make(store, LINK_MS, out, err);
}

enum status credentials_use_link(struct service *service, struct arena *arena, const char *text,
                                 struct user *out, struct err *err)
{
    struct store *store = NULL;
    struct account account;
    if (service_store(service, DB_READ_WRITE, &store, err) != STATUS_OK ||
        store_link_use(store, arena, text, &account, err) != STATUS_OK)
        return err->code;
    *out = user_of(&account);
    return STATUS_OK;
}

enum status credentials_any(struct service *service, bool *out, struct err *err)
{
    struct store *store = NULL;
    *out = false;
    if (service_store_if_any(service, &store, err) != STATUS_OK)
        return err->code;
    return store != NULL ? store_account_any(store, out, err) : STATUS_OK;
}
