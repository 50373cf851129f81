#pragma once
/*
 * webhook: tokens with which others start a DAG that waits for calls (`schedule: {webhook: ..}`).
 *
 * The store finds a token by its hash, and keeps the token itself only sealed, to check calls that
 * are signed with it; whoever made it sees it once. A call that names a key
 * makes one run however often it comes.
 */
#include "base/arena.h"
#include "store/run_store.h"
#include "store/store.h"
#include "store/vault.h"

enum { WEBHOOK_TOKEN_MAX = 64, WEBHOOK_KEY_MAX = 200 };

struct webhook_info {
    int64_t id;
    const char *dag_id;
    const char *name;
    const char *actor; /* who made it */
    int64_t created_at_us;
    int64_t used_at_us; /* 0: never */
    int64_t calls;
    bool is_asked; /* the DAG waits for calls by this name */
};

struct webhook_request {
    const char *dag_id;
    const char *name;
    const char *actor;
    struct vault *vault; /* that seals the token, so that calls can be signed with it; or NULL */
};

/*
 * A new token for the DAG. STATUS_NOT_FOUND: there is no such DAG; STATUS_CONFLICT: it does not
 * wait for calls by this name.
 */
NODISCARD enum status store_webhook_create(struct store *store,
                                           const struct webhook_request *request, int64_t *out_id,
                                           char token[static WEBHOOK_TOKEN_MAX], struct err *err);
/* By DAG and age; `dag_id` NULL: of all. */
NODISCARD enum status store_webhook_list(struct store *store, struct arena *arena,
                                         const char *dag_id, struct webhook_info **out,
                                         size_t *out_count, struct err *err);
/* Its token is of no use from now on. */
NODISCARD enum status store_webhook_delete(struct store *store, int64_t id, const char *actor,
                                           struct err *err);

struct webhook_call {
    const char *token;
    const char *body; /* JSON; an object is the conf of the run, anything else its member `body` */
    size_t body_bytes;
    const char *key; /* the same key again gives the same run; NULL: none */
    int64_t rate;    /* at most so many runs a minute, all at once if they come so; 0: any */
};

struct webhook_answer {
    int64_t run;
    bool is_new;     /* false: the key was used before */
    int64_t wait_ms; /* with STATUS_LIMIT: until the next call may come; 0: it is something else */
};

/*
 *   STATUS_DENIED    the token is none of ours
 *   STATUS_CONFLICT  the DAG is paused, or does not wait for calls any more
 *   STATUS_LIMIT     the body is too long; or it was called too often, then `wait_ms` is set
 *   STATUS_INVALID   it is not JSON, or the DAG's params do not take it
 */
NODISCARD enum status store_webhook_fire(struct store *store, const struct webhook_call *call,
                                         struct webhook_answer *out, struct err *err);

/* A token that calls may be signed with. */
struct webhook_secret {
    struct secret_value token; /* the caller's to free */
    bool takes_github;         /* as in struct trigger_webhook */
};

enum { WEBHOOK_SECRETS_MAX = 16 };

struct webhook_secrets {
    struct webhook_secret *items; /* in the arena */
    size_t count;
};

/*
 * The newest tokens of a DAG that asks for them; none when there is no such DAG. Those that cannot
 * be opened are left out; if none can, the status says why.
 */
NODISCARD enum status store_webhook_secrets(struct store *store, struct vault *vault,
                                            struct arena *arena, const char *dag_id,
                                            struct webhook_secrets *out, struct err *err);
