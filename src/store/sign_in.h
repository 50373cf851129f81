#pragma once
/*
 * sign_in: sessions of people who signed in, and the link by which the first one comes in.
 *
 * As with tokens, only hashes are kept.
 */
#include "base/secret_text.h"
#include "store/token.h"

struct session_request {
    const char *account; /* name */
    int64_t stamp;       /* the account as it was when it was looked at */
    int64_t lasts_ms;
    const char *from; /* address; told in the event */
};

/*
 * The session's secret goes to `out`.
 *
 *   STATUS_DENIED  somebody has changed, disabled or removed the account meanwhile
 */
NODISCARD enum status store_session_begin(struct store *store,
                                          const struct session_request *request,
                                          char out[static SECRET_TEXT_MAX], struct err *err);
/* Whose it is. STATUS_NOT_FOUND: none, over, or the account is gone or disabled. */
NODISCARD enum status store_session_find(struct store *store, struct arena *arena, const char *text,
                                         struct account *out, int64_t *out_expires_at_us,
                                         struct err *err);
/* One that is over already is fine. */
NODISCARD enum status store_session_end(struct store *store, const char *text, struct err *err);

/* Somebody tried to sign in too often, and has to wait. */
NODISCARD enum status store_sign_in_tell_refused(struct store *store, const char *name,
                                                 const char *from, struct err *err);

/*
 * A link for the first one, good for so long; also when that one came in by a link before, is alone
 * and has no password, because then there is no other way in.
 *
 *   STATUS_CONFLICT  there is somebody already
 */
NODISCARD enum status store_link_make(struct store *store, int64_t lasts_ms,
                                      char out[static SECRET_TEXT_MAX], struct err *err);
/*
 * Makes the account `admin`, which may everything and has no password yet, unless it is there; and
 * makes all links useless.
 *
 *   STATUS_DENIED  no such link, too late, or there is somebody already
 */
NODISCARD enum status store_link_use(struct store *store, struct arena *arena, const char *text,
                                     struct account *out, struct err *err);
