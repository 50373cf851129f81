#pragma once
/*
 * credentials: from what a request is sent with to who asks. One read of the store each.
 *
 * Taking back, disabling and expiring count from the next request on: nothing is remembered here.
 *
 * Ownership  Texts of what is found are in the arena.
 */
#include "base/arena.h"
#include "base/secret_text.h"
#include "service/principal.h"
#include "service/service.h"
#include "store/token.h"

/*
 * STATUS_DENIED: there is no such token, it has expired or was taken back, or it is that of a task
 * which does not run any more.
 */
NODISCARD enum status credentials_of_token(struct service *service, struct arena *arena,
                                           const char *text, struct principal *out,
                                           struct err *err);
/* Whom a token stands for; one of a worker has no rights beside its queues. In the arena. */
struct principal credentials_principal(struct arena *arena, const struct token *token);
/* STATUS_DENIED: the session is over. */
NODISCARD enum status credentials_of_session(struct service *service, struct arena *arena,
                                             const char *text, struct principal *out,
                                             struct err *err);
/* Somebody who has an account, before it is proven that it is that one. */
struct user {
    struct principal principal;
    const char *password; /* its hash; NULL: there is none */
    bool is_disabled;
    int64_t stamp; /* rises with every change of the account */
};

/* By name. STATUS_NOT_FOUND: there is none, or no store yet. */
NODISCARD enum status credentials_user(struct service *service, struct arena *arena,
                                       const char *name, struct user *out, struct err *err);

/*
 * For answers that go on for long: whether whoever was let in would be let in again.
 *
 *   STATUS_DENIED  the token was taken back, the account is not as it was, or the task has ended
 */
NODISCARD enum status credentials_again(struct service *service, const struct principal *principal,
                                        struct err *err);

/* `from` is the address of who signed in. The secret goes to `out`. */
NODISCARD enum status credentials_sign_in(struct service *service, const struct user *user,
                                          const char *from, char out[static SECRET_TEXT_MAX],
                                          struct err *err);
NODISCARD enum status credentials_sign_out(struct service *service, const char *text,
                                           struct err *err);
/* Somebody has to wait after too many wrong passwords. What cannot be told is lost. */
void credentials_tell_refused(struct service *service, const char *name, const char *from);

/*
 * A link by which the first user comes in, again too while that one is alone and has no password;
 * the store is made if there is none.
 *
 *   STATUS_CONFLICT  there are users already
 */
NODISCARD enum status credentials_make_link(struct service *service,
                                            char out[static SECRET_TEXT_MAX], struct err *err);
/* STATUS_DENIED: it is of no use. */
NODISCARD enum status credentials_use_link(struct service *service, struct arena *arena,
                                           const char *text, struct user *out, struct err *err);
/* Whether there is anybody who could sign in. */
NODISCARD enum status credentials_any(struct service *service, bool *out, struct err *err);
