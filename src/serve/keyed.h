#pragma once
/*
 * keyed: changes that are sent with the header Idempotency-Key: the same request with the same key
 * gets the same answer and is done once (service/once.h).
 *
 * Keys belong to whoever sends them, and to what that one may do: an answer is given again only to
 * somebody for whom it was made. What failed is forgotten, so that its key is good for another try.
 */
#include "serve/route.h"

#define KEYED_HEADER          "Idempotency-Key"
#define KEYED_REPLAYED_HEADER "Idempotency-Replayed"

/* Whether requests for this row may have a key. */
bool keyed_covers(const struct route *route);

typedef void (*keyed_serve_fn)(struct route_call *call, struct http_response *out);

/*
 * Answers a request that has a key and may come in: by `serve`, or as before. A row that changes
 * nothing is served as without a key; other rows that take none refuse.
 */
void keyed_serve(struct route_call *call, keyed_serve_fn serve, struct http_response *out);
