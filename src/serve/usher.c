#include "serve/usher.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "os/password.h"
#include "os/secret_box.h"
#include "serve/throttle.h"
#include "service/credentials.h"

enum { PROVEN = 256, KEY_BYTES = 32, BASIC_BYTES_MAX = 4096 };

static const int64_t PROVEN_MS = INT64_C(300) * 1000;

const char USHER_COOKIE[] = "eider_session";

/* That a name and a password belong together, as long as the account is as it was. */
struct proof {
    uint8_t key[SHA256_BYTES];
    int64_t stamp;
    int64_t until_ms;
};

struct usher {
    struct throttle *throttle;
    pthread_mutex_t lock;
    uint8_t secret[KEY_BYTES];
    struct proof proven[PROVEN];
};

struct usher *usher_new(void)
{
    struct usher *usher = mem_zalloc(1, sizeof *usher);
    rng_bytes(usher->secret, sizeof usher->secret);
    usher->throttle = throttle_new();
    CHECK(pthread_mutex_init(&usher->lock, NULL) == 0);
    return usher;
}

void usher_free(struct usher *usher)
{
    if (usher == NULL)
        return;
    throttle_free(usher->throttle);
    CHECK(pthread_mutex_destroy(&usher->lock) == 0);
    secret_wipe(usher, sizeof *usher);
    free(usher);
}

static int64_t now_ms(void)
{
    return clock_mono_us() / 1000;
}

/* --- passwords ------------------------------------------------------------------------------- */

static void key_of(const struct usher *usher, const struct usher_login *login,
                   uint8_t out[static SHA256_BYTES])
{
    struct hmac hmac;
    hmac_init(&hmac, usher->secret, sizeof usher->secret);
    hmac_add(&hmac, login->name, strlen(login->name) + 1);
    hmac_add(&hmac, login->password, strlen(login->password));
    hmac_finish(&hmac, out);
}

static struct proof *place_of(struct usher *usher, const uint8_t *key)
{
    return &usher->proven[key[0] % PROVEN];
}

static bool is_proven(struct usher *usher, const struct usher_login *login, int64_t stamp)
{
    uint8_t key[SHA256_BYTES];
    key_of(usher, login, key);
    CHECK(pthread_mutex_lock(&usher->lock) == 0);
    const struct proof *proof = place_of(usher, key);
    bool is_known = proof->stamp == stamp && now_ms() < proof->until_ms &&
                    memcmp(proof->key, key, sizeof key) == 0;
    CHECK(pthread_mutex_unlock(&usher->lock) == 0);
    return is_known;
}

static void remember(struct usher *usher, const struct usher_login *login, int64_t stamp)
{
    struct proof proof = {.stamp = stamp, .until_ms = now_ms() + PROVEN_MS};
    key_of(usher, login, proof.key);
    CHECK(pthread_mutex_lock(&usher->lock) == 0);
    *place_of(usher, proof.key) = proof;
    CHECK(pthread_mutex_unlock(&usher->lock) == 0);
}

/* What is typed as a name may be a password: it is kept only where a user has it (NULL: none). */
static enum status refuse(struct usher *usher, const struct usher_login *login, const char *user,
                          struct err *err)
{
    if (throttle_fail(usher->throttle, login->name, login->from, now_ms()))
        credentials_tell_refused(login->service, user != NULL ? user : "somebody", login->from);
    return err_set(err, STATUS_DENIED, "the name or the password is wrong");
}

/* Who is not there, or may not come in, costs as much time as who is. */
static enum status check(struct usher *usher, const struct usher_login *login, struct user *out,
                         int64_t *out_wait_s, struct err *err)
{
    struct user user = {0};
    struct err problem = {0};
    enum status status =
        credentials_user(login->service, login->arena, login->name, &user, &problem);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        *err = problem;
        return status;
    }
    bool may_enter = status == STATUS_OK && !user.is_disabled && user.password != NULL;
    if (may_enter && is_proven(usher, login, user.stamp)) {
        *out = user;
        return STATUS_OK;
    }
    int64_t wait_ms = throttle_wait_ms(usher->throttle, login->name, login->from, now_ms());
    if (wait_ms > 0) {
        *out_wait_s = wait_ms / 1000 + 1;
        return err_set(err, STATUS_LIMIT, "too many wrong passwords: wait %lld s",
                       (long long)*out_wait_s);
    }
    if (!password_matches(may_enter ? user.password : NULL, login->password))
        return refuse(usher, login, status == STATUS_OK ? login->name : NULL, err);
    throttle_forgive(usher->throttle, login->name, login->from);
    remember(usher, login, user.stamp);
    *out = user;
    return STATUS_OK;
}

enum status usher_sign_in(struct usher *usher, const struct usher_login *login,
                          struct usher_welcome *out, struct err *err)
{
    struct user user;
    if (check(usher, login, &user, &out->wait_s, err) != STATUS_OK ||
        credentials_sign_in(login->service, &user, login->from, out->secret, err) != STATUS_OK)
        return err->code;
    out->principal = user.principal;
    return STATUS_OK;
}

/* --- what requests are sent with ------------------------------------------------------------- */

struct visit {
    struct usher *usher;
    struct service *service;
    const struct http_request *request;
    struct arena *arena;
};

/* "NAME:PASSWORD" in base64; the name has no colon. */
static enum status admit_basic(const struct visit *visit, const char *text,
                               struct dispatch_visitor *out, struct err *err)
{
    struct strbuf plain;
    struct user user;
    strbuf_init(&plain, BASIC_BYTES_MAX);
    enum status status = STATUS_DENIED;
    char *colon = NULL;
    if (base64_decode(&plain, text, strlen(text)) && !plain.overflow &&
        strlen(plain.text) == plain.length)
        colon = strchr(plain.text, ':');
    if (colon != NULL) {
        *colon = '\0';
        const struct usher_login login = {
            .service = visit->service,
            .arena = visit->arena,
            .name = plain.text,
            .password = colon + 1,
            .from = visit->request->peer,
        };
        status = check(visit->usher, &login, &user, &out->wait_s, err);
    } else {
        (void)err_set(err, status, "`Authorization: Basic` needs NAME:PASSWORD in base64");
    }
    if (status == STATUS_OK)
        out->principal = user.principal;
    secret_wipe(plain.text, plain.length);
    strbuf_fini(&plain);
    return status;
}

/* Schemes have no case. */
static const char *after_scheme(const char *header, const char *scheme)
{
    size_t length = strlen(scheme);
    if (strncasecmp(header, scheme, length) != 0 || header[length] != ' ')
        return NULL;
    return header + length + strspn(header + length, " ");
}

static enum status admit_header(const struct visit *visit, const char *header,
                                struct dispatch_visitor *out, struct err *err)
{
    const char *token = after_scheme(header, "Bearer");
    const char *basic = after_scheme(header, "Basic");
    enum status status = STATUS_DENIED;
    if (token != NULL)
        status = credentials_of_token(visit->service, visit->arena, token, &out->principal, err);
    else if (basic != NULL)
        status = admit_basic(visit, basic, out, err);
    else
        (void)err_set(err, status, "`Authorization` needs Bearer and a token, or Basic");
    out->is_known = status == STATUS_OK;
    return status;
}

const char *usher_csrf_token(const char *session, char out[static SHA256_HEX_MAX])
{
    static const char PURPOSE[] = "csrf";
    struct hmac hmac;
    hmac_init(&hmac, session, strlen(session));
    hmac_add(&hmac, PURPOSE, sizeof PURPOSE - 1);
    return hmac_finish_hex(&hmac, out);
}

static enum status admit_session(const struct visit *visit, const char *session,
                                 struct dispatch_visitor *out, struct err *err)
{
    char expected[SHA256_HEX_MAX];
    const char *given = http_header(visit->request, "X-CSRF-Token");
    if (credentials_of_session(visit->service, visit->arena, session, &out->principal, err) !=
        STATUS_OK)
        return err->code;
    out->is_known = true;
    out->by_cookie = true;
    out->has_proof = given != NULL && secret_equal(given, usher_csrf_token(session, expected));
    return STATUS_OK;
}

enum status usher_admit(void *usher, struct service *service, const struct http_request *request,
                        struct arena *arena, struct dispatch_visitor *out, struct err *err)
{
    char session[SECRET_TEXT_MAX];
    const char *header = http_header(request, "Authorization");
    const struct visit visit = {usher, service, request, arena};
    *out = (struct dispatch_visitor){0};
    if (header != NULL)
        return admit_header(&visit, header, out, err);
    if (http_cookie(request, USHER_COOKIE, session, sizeof session))
        return admit_session(&visit, session, out, err);
    return STATUS_OK;
}
