#pragma once
/*
 * usher: who comes in. The one place where credentials of a request are looked at.
 *
 *   Authorization: Bearer TOKEN        a token of somebody, of a worker, or of a task that runs
 *   Authorization: Basic NAME:PASSWORD a user; for clients that know nothing else
 *   Cookie: eider_session=SECRET       who signed in; changes need X-CSRF-Token as well
 *
 * Whatever is sent is looked up anew with each request, so that taking back counts at once. Only
 * that a password was right is remembered for a while, since finding out is slow on purpose: by a
 * keyed hash, and only as long as the user stays unchanged.
 *
 * Threads  Any.
 */
#include "base/secret_text.h"
#include "serve/dispatch.h"

struct usher;

NODISCARD struct usher *usher_new(void);
void usher_free(struct usher *usher); /* NULL is allowed */

/* The `admit` of struct serve_world. */
NODISCARD enum status usher_admit(void *usher, struct service *service,
                                  const struct http_request *request, struct arena *arena,
                                  struct dispatch_visitor *out, struct err *err);

/* For the routes of signing in (routes_sign_in.c): */

struct usher_login {
    struct service *service;
    struct arena *arena; /* for what is found */
    const char *name;
    const char *password;
    const char *from; /* address */
};

struct usher_welcome {
    struct principal principal;
    char secret[SECRET_TEXT_MAX]; /* of the session */
    int64_t wait_s;               /* with STATUS_LIMIT: how long to wait */
};

/*
 * A session for who gives the right password.
 *
 *   STATUS_DENIED  wrong; whether there is such a user is not told, neither by the text nor by the
 *                  time it takes
 *   STATUS_LIMIT   too often wrong
 */
NODISCARD enum status usher_sign_in(struct usher *usher, const struct usher_login *login,
                                    struct usher_welcome *out, struct err *err);

/* The second proof of a session, which only pages of our own can know. Returns `out`. */
const char *usher_csrf_token(const char *session, char out[static SHA256_HEX_MAX]);

extern const char USHER_COOKIE[];
