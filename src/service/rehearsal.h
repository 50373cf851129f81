#pragma once
/*
 * rehearsal: `dry_run` of operations that change nothing but the store: everything is done, on a
 * connection that forgets it (store_rehearse), and the answer is what it would be.
 *
 * Not for operations that have effects elsewhere, or that take long: others wait meanwhile.
 */
#include "base/err.h"
#include "base/json.h"

struct service;

typedef enum status (*rehearsal_fn)(struct service *service, const json_t *request, json_t **out,
                                    struct err *err);

/* Calls the handler: for real, or as a rehearsal when the request says `dry_run`. */
NODISCARD enum status rehearsal_call(struct service *service, const json_t *request,
                                     rehearsal_fn handler, json_t **out, struct err *err);
