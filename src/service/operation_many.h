#pragma once
/*
 * operation_many: requests of several callers for the same operation, done as one change.
 *
 * Each is checked and drafted by itself, with the rights of whoever asks, and gets an answer of its
 * own. What was drafted for the same actor is made at once. Where that fails, because one of them
 * cannot be done or for whatever other reason, nothing of it was done, and each is done by itself.
 *
 * Between together_begin and together_commit, so that nobody hears of anything too early.
 */
#include "base/err.h"
#include "base/json.h"
#include "service/operation.h"

struct arena;
struct principal;

struct operation_draft {
    void *draft;
    json_t *response; /* out: a new reference */
};

/* How requests for an operation become one change of the store. */
struct operation_batch {
    const char *operation;
    /*
     * Called as the handler is; `before` is the draft made last, or NULL. *out stays NULL where the
     * request is better done by itself.
     */
    enum status (*draft)(struct service *service, const json_t *request, const void *before,
                         struct arena *arena, void **out, struct err *err);
    /* All of them or nothing; one and the same asked for them. */
    enum status (*make)(struct service *service, struct operation_draft *drafts, size_t count,
                        struct arena *arena, struct err *err);
};

/* NULL: this one is done one by one. */
const struct operation_batch *operation_batch_find(const char *operation);

struct operation_item {
    const json_t *request;
    const struct principal *principal; /* who asks */
    const char *actor;
    const char *traceparent; /* or NULL */
    enum status status;      /* out */
    json_t *response;        /* out: of the caller, unless it failed */
    struct err err;          /* out */

    void *draft; /* of operation_many */
};

/* The `many` of an operation_caller for a struct operation_local. The operation has a batch. */
void operation_local_many(void *local, const char *name, struct operation_item *items,
                          size_t count);
