#pragma once
/*
 * worker_hand: who a worker is that asks through HTTP, and whether a claim is its own.
 *
 * A worker belongs to the token it comes with, by its owner and name: so a token can be replaced by
 * another of that name while workers go on. Workers of one may act for each other, others never.
 */
#include "base/json.h"
#include "service/service.h"
#include "store/worker_claim.h"

/* Whom the workers of who asks belong to. */
const char *worker_hand_owner(const struct service *service);

/*
 * The job, the attempt and the nonce that a request names, and what became of that attempt; its
 * texts are in the arena.
 *
 *   STATUS_INVALID   the nonce is none
 *   STATUS_CONFLICT  it is not the claim of a worker of who asks
 */
NODISCARD enum status worker_hand_attempt(struct service *service, const json_t *request,
                                          struct arena *arena, struct worker_held *out_held,
                                          struct worker_attempt *out_attempt, struct err *err);

enum { WORKER_NONCE_TEXT_MAX = 33 };

/* As hexadecimal digits. Returns `out`. */
const char *worker_hand_nonce(const struct nonce *nonce, char out[static WORKER_NONCE_TEXT_MAX]);
