#pragma once
/*
 * pass: what somebody came in with, kept for an answer that takes long.
 *
 * It is looked at again as often as something is done with it: what was taken back, or has expired
 * meanwhile, does not count any more.
 *
 * Threads    One at a time, not always the same one.
 */
#include "serve/dispatch.h"

struct pass;

/* Of who was let in with a request; both are copied. The world must outlive it. */
NODISCARD struct pass *pass_new(const struct serve_world *world, const struct http_request *request,
                                const struct principal *principal);
void pass_free(struct pass *pass); /* NULL is allowed */

/* Whose it is, as it was found last; borrowed until it is looked at again. */
const struct principal *pass_principal(const struct pass *pass);

/* As with a request that comes now: STATUS_DENIED, it is of no use any more. */
NODISCARD enum status pass_look(struct pass *pass, struct service *service, struct err *err);
