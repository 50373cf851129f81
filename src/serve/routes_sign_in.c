/*
 * Signing in and out, and who one is. The table is fenced off from the formatter because it is read
 * by column.
 */
#include <string.h>

#include "base/mem.h"
#include "model/settings.h"
#include "os/secret_box.h"
#include "serve/answer.h"
#include "serve/dispatch.h"
#include "serve/problem.h"
#include "serve/routes.h"
#include "serve/ui.h"
#include "serve/usher.h"
#include "service/credentials.h"
#include "service/json_build.h"

/* --- cookies --------------------------------------------------------------------------------- */

/* Scripts cannot read it, other sites cannot have it sent, and TLS keeps it to itself. */
static void set_cookie(const struct route_call *call, struct http_response *out, const char *value,
                       int64_t seconds)
{
    CLEANUP(mem_freep)
    char *cookie =
        mem_format("%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%lld%s", USHER_COOKIE, value,
                   (long long)seconds, call->request->is_secure ? "; Secure" : "");
    http_response_add_header(out, "Set-Cookie", cookie);
}

static void begin_session(const struct route_call *call, const char *secret,
                          struct http_response *out)
{
    set_cookie(call, out, secret,
               settings_number(call->world->settings, SETTING_SESSION_TIME) / 1000);
}

/* --- who ------------------------------------------------------------------------------------- */

/* `session` NULL: by other means. */
static json_t *describe(const struct principal *principal, const char *session)
{
    char csrf[SHA256_HEX_MAX];
    json_t *object = json_build_object();
    json_t *grants = json_build_array();
    for (size_t i = 0; i < principal->count; i++) {
        json_t *grant = json_build_object();
        json_put_string(grant, "namespace", principal->grants[i].space);
        json_put_string(grant, "role", permission_name(principal->grants[i].role));
        json_build_append(grants, grant);
    }
    json_put_string(object, "name", principal->name);
    json_put_string(object, "user", principal->user);
    json_put(object, "grants", grants);
    json_put_string(object, "queues", principal->queues);
    json_put_instant(object, "expires_at", principal->expires_at_us);
    json_put_string(object, "csrf_token", session != NULL ? usher_csrf_token(session, csrf) : NULL);
    return object;
}

static enum status answer_me(struct route_call *call, struct http_response *out, struct err *err)
{
    (void)err;
    char session[SECRET_TEXT_MAX];
    bool has_session = call->visitor->by_cookie &&
                       http_cookie(call->request, USHER_COOKIE, session, sizeof session);
    answer_json(out, 200, describe(&call->visitor->principal, has_session ? session : NULL));
    return STATUS_OK;
}

/* --- in and out ------------------------------------------------------------------------------ */

/* Another site could send a form, but not JSON. */
static enum status read_login(const struct route_call *call, json_t **out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    const char *type = http_header(call->request, "Content-Type");
    if (type == NULL || strncasecmp(type, "application/json", strlen("application/json")) != 0)
        return err_set(err, STATUS_INVALID,
                       "a body must be JSON, sent with `Content-Type: application/json`");
    if (json_parse(call->request->body, call->request->body_length, &body, err) != STATUS_OK)
        return err_wrap(err, "cannot read the body");
    if (!json_is_string(json_object_get(body, "username")) ||
        !json_is_string(json_object_get(body, "password")) || json_object_size(body) != 2)
        return err_set(err, STATUS_INVALID, "give `username` and `password`, and nothing else");
    *out = TAKE(body);
    return STATUS_OK;
}

static enum status answer_login(struct route_call *call, struct http_response *out, struct err *err)
{
    CLEANUP(json_decrefp) json_t *body = NULL;
    struct usher_welcome welcome = {.wait_s = 0};
    if (read_login(call, &body, err) != STATUS_OK)
        return err->code;
    const struct usher_login login = {
        .service = call->service,
        .arena = call->arena,
        .name = json_get_string(body, "username", ""),
        .password = json_get_string(body, "password", ""),
        .from = call->request->peer,
    };
    enum status status = usher_sign_in(call->world->usher, &login, &welcome, err);
    if (status == STATUS_LIMIT && welcome.wait_s > 0)
        problem_wait(out, welcome.wait_s, err->text);
    else if (status == STATUS_DENIED)
        problem_put(out, 401, err->text);
    else if (status != STATUS_OK)
        return status;
    if (status == STATUS_OK) {
        begin_session(call, welcome.secret, out);
        answer_json(out, 200, describe(&welcome.principal, welcome.secret));
    }
    return STATUS_OK;
}

static enum status answer_logout(struct route_call *call, struct http_response *out,
                                 struct err *err)
{
    char session[SECRET_TEXT_MAX];
    if (call->visitor->by_cookie &&
        http_cookie(call->request, USHER_COOKIE, session, sizeof session) &&
        credentials_sign_out(call->service, session, err) != STATUS_OK)
        return err->code;
    set_cookie(call, out, "", 0);
    out->status = 204;
    return STATUS_OK;
}

/* --- the first one --------------------------------------------------------------------------- */

static enum status send_to(struct http_response *out, const char *path)
{
    http_response_add_header(out, "Location", path);
    out->status = 303;
    return STATUS_OK;
}

/* Only from this machine: whoever reads the daemon's words is its user. */
static enum status use_link(struct route_call *call, char secret[static SECRET_TEXT_MAX],
                            struct err *err)
{
    const char *link = http_query(call->request, "link");
    struct user user;
    if (call->request->method != HTTP_GET || link == NULL || !http_is_local(call->request))
        return err_set(err, STATUS_NOT_FOUND, "there is no such link");
    if (credentials_use_link(call->service, call->arena, link, &user, err) != STATUS_OK)
        return err->code;
    return credentials_sign_in(call->service, &user, call->request->peer, secret, err);
}

/* Whoever has a browser goes to the page that says what else there is. */
static enum status answer_link(struct route_call *call, struct http_response *out, struct err *err)
{
    char secret[SECRET_TEXT_MAX];
    enum status status = use_link(call, secret, err);
    if (status == STATUS_OK) {
        begin_session(call, secret, out);
        return send_to(out, "/");
    }
    if (!ui_is_browser(call->request) || (status != STATUS_DENIED && status != STATUS_NOT_FOUND))
        return status;
    return send_to(out,
                   http_query(call->request, "link") == NULL ? "/sign-in" : "/sign-in?link=used");
}

/* clang-format off */
static const struct operation_field LOGIN[] = {
    {"username", FIELD_STRING, true, "name of the user"},
    {"password", FIELD_STRING, true, "the password"},
};
static const struct operation_field ME[] = {
    {"name", FIELD_STRING, true, "as changes are signed with"},
    {"user", FIELD_STRING, false, "the account; null: a token of nobody"},
    {"grants", FIELD_ARRAY, true, "namespace (* for all) and role of each"},
    {"queues", FIELD_STRING, false, "of a worker: what it may serve"},
    {"expires_at", FIELD_INSTANT, false, "of a token"},
    {"csrf_token", FIELD_STRING, false, "of a session: changes need it as X-CSRF-Token"},
};
static const struct operation_field LINK[] = {
    {"link", FIELD_STRING, true, "as the daemon printed it"},
};
static const struct operation_schema LOGIN_BODY = {LOGIN, ARRAY_LEN(LOGIN)};
static const struct operation_schema ME_RESPONSE = {ME, ARRAY_LEN(ME)};
static const struct operation_schema LINK_QUERY = {LINK, ARRAY_LEN(LINK)};

static const struct route ROWS[] = {
    {HTTP_POST, "/api/v1/x/login", ROUTE_PUBLIC, .handle = answer_login, .body = &LOGIN_BODY,
        .response = &ME_RESPONSE, .others = {400, 401, 413, 429, 503, 504, 507},
        .summary = "sign in; the session is a cookie"},
    {HTTP_POST, "/api/v1/x/logout", ROUTE_SIGNED_IN, .handle = answer_logout, .status = 204,
        .summary = "sign out"},
    {HTTP_GET, "/api/v1/x/me", ROUTE_SIGNED_IN, .handle = answer_me, .response = &ME_RESPONSE,
        .summary = "who one is, and what one may"},
    {HTTP_GET, "/login", ROUTE_PUBLIC, .handle = answer_link, .query = &LINK_QUERY, .status = 303,
        .others = {400, 403, 404, 503, 504, 507},
        .summary = "sign in by the link that a daemon prints when it starts, while nobody has a password"},
};
/* clang-format on */

const struct route_table ROUTES_SIGN_IN = {ROWS, ARRAY_LEN(ROWS), NULL};
