#pragma once
/*
 * worker_claim: workers that are not connected to the store, but to somebody who is.
 *
 * Such a worker is a host like any other, of the kind "http": it has a lease, and its claims have
 * the same numbers and nonces. What it is told may be lost on the way, so a claim may have a name:
 * the same name again gives what that claim was given, as long as it is held.
 */
#include "store/advance.h"
#include "store/host.h"

extern const char WORKER_HOST_KIND[];

struct worker_host {
    int64_t id;
    int64_t lease_ms;
    int64_t renewed_at_us; /* by the store's clock */
    bool draining;
};

/*
 * The living worker of this name that belongs to this owner, which is the machine of its host.
 * STATUS_NOT_FOUND: there is none, or a sweep has taken it.
 */
NODISCARD enum status store_worker_find(struct store *store, const char *name, const char *owner,
                                        struct worker_host *out, struct err *err);

/* A new one. As store_host_add; an answer that was lost is looked for. */
NODISCARD enum status store_worker_add(struct store *store, const struct host_request *request,
                                       struct worker_host *out, struct err *err);

struct worker_claim {
    int64_t host;
    const char *name;   /* of the claim; NULL: it has none */
    int64_t slots;      /* at most so many jobs */
    const char *labels; /* as in advance_request */
    const char *queues; /* the same */
};

/*
 * Jobs, in the arena. After a failure of one with a name the store must be closed, as that of
 * store_together_begin; then the same name may be asked for again.
 */
NODISCARD enum status store_worker_claim(struct store *store, const struct worker_claim *claim,
                                         struct arena *arena, struct claim **out, size_t *out_count,
                                         struct err *err);

struct worker_held {
    int64_t task;
    int64_t attempt;
    struct nonce nonce;
    int64_t started_at_us;
};

/* Jobs that the host holds, in the arena. */
NODISCARD enum status store_worker_held(struct store *store, int64_t host, struct arena *arena,
                                        struct worker_held **out, size_t *out_count,
                                        struct err *err);
/* Give these back: they wait again, and the try counts for nothing. */
NODISCARD enum status store_worker_return(struct store *store, int64_t host,
                                          const struct worker_held *held, size_t count,
                                          struct err *err);

/* What became of an attempt. */
struct worker_attempt {
    enum task_state state;
    enum reason reason;
    const char *detail; /* NULL: nothing was said */
    const char *result; /* JSON as it was told; NULL: none, or it is not known */
    bool has_last_word; /* the result is of this attempt: a job keeps none of earlier ones */
};

/*
 * An attempt at a job, for the owner whose worker claimed it, and who knows its nonce; texts are in
 * the arena. STATUS_CONFLICT: there is none such; nothing tells which part was wrong.
 */
NODISCARD enum status store_worker_attempt(struct store *store, const struct worker_held *held,
                                           const char *owner, struct arena *arena,
                                           struct worker_attempt *out, struct err *err);
