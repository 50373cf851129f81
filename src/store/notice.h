#pragma once
/*
 * notice: the outbox. Messages about what happened, from the transaction that made it happen to
 * the receiver's word that it has them.
 *
 *     pending --claim--> sending --settle--> sent | failed | dropped
 *        ^                  |
 *        +-- not yet -------+   or its sender is gone and its time is up: claimed again
 *
 * One that is folded goes with another of its group, its head. Whoever sends holds a notice for a
 * time; after that another takes it over, so that a message may be sent twice, under the same
 * `delivery`, but is never forgotten.
 */
#include "base/arena.h"
#include "base/strbuf.h"
#include "model/hook.h"
#include "store/store.h"

/* Stored as a number: add at the end only. */
#define NOTICE_STATE_MAP(X)                                                                        \
    X(PENDING, "pending")                                                                          \
    X(SENDING, "sending")                                                                          \
    X(SENT, "sent")                                                                                \
    X(FAILED, "failed")                                                                            \
    X(DROPPED, "dropped")                                                                          \
    X(FOLDED, "folded")

enum notice_state {
#define X(name, text) NOTICE_##name,
    NOTICE_STATE_MAP(X)
#undef X
        NOTICE_STATE_COUNT
};

const char *notice_state_name(enum notice_state state);
NODISCARD bool notice_state_parse(const char *name, enum notice_state *out);

enum {
    NOTICE_DOCUMENTS_MAX = 200, /* of a folded message that are read */
    NOTICE_PASSING_BYTES = 64 << 10,
    NOTICE_LEASE_MS = 2 * 60 * 1000, /* longer than a try takes; a command's own time is added */
};

/* What is to be sent now. */
struct notice_claim {
    int64_t id;
    const char *delivery;
    const char *dag_id;
    const char *space; /* its namespace */
    const char *path;  /* of the DAG's file; NULL: not known any more */
    int64_t run;
    int64_t task;
    int64_t at_us;
    int64_t attempts; /* this one included */
    int64_t first_at_us;
    struct hook hook;       /* in the arena */
    const char **documents; /* JSON, the first ones */
    size_t count;
    size_t total; /* how many there are */
};

/*
 * Hooks whose notices are passed over in this round. Whoever asks about a candidate gets its
 * ids, namespace and hook; the hooks that were refused are kept in `keys`, so that they are asked
 * about once, until the caller empties it.
 */
struct notice_passing {
    bool (*is_passed)(void *context, const struct notice_claim *candidate);
    void *context;
    struct strbuf keys; /* of at most NOTICE_PASSING_BYTES */
};

/*
 * The notice that is due first, with what is folded into it, for the caller to send. `passing` may
 * be NULL. out->id 0: nothing is; *out_next_us then tells when something will be (INT64_MAX:
 * never), of what is not passed over.
 */
NODISCARD enum status store_notice_claim(struct store *store, struct arena *arena,
                                         struct notice_passing *passing, struct notice_claim *out,
                                         int64_t *out_next_us, struct err *err);

/* When the first of those that are not settled is due (INT64_MAX: there is none). */
NODISCARD enum status store_notice_next(struct store *store, int64_t *out_us, struct err *err);

/* What became of a try. */
struct notice_verdict {
    int64_t id;
    int64_t attempts;        /* of the claim: nobody else has claimed it since */
    enum notice_state state; /* NOTICE_PENDING: again at due_at_us */
    int64_t due_at_us;
    const char *answer; /* what the receiver said, or what went wrong */
};

/* Without effect when another has claimed it meanwhile. */
NODISCARD enum status store_notice_settle(struct store *store, const struct notice_verdict *verdict,
                                          struct err *err);

struct notice_info {
    int64_t id;
    const char *delivery;
    enum notice_state state;
    int64_t at_us;
    int64_t due_at_us;
    const char *dag_id;
    int64_t run;
    int64_t task;
    enum hook_event kind;
    enum hook_target target;
    const char *document;
    int64_t head;
    int64_t attempts;
    int64_t ended_at_us;
    const char *answer;
};

struct notice_filter {
    const char *dag_id; /* NULL: any */
    int64_t state;      /* enum notice_state, or -1: any */
    int64_t id;         /* 0: any */
    int64_t before;     /* only ids below; 0: no bound. Counts leave it out */
    int64_t limit;
};

/* Newest first. */
NODISCARD enum status store_notice_each(struct store *store, const struct notice_filter *filter,
                                        enum status (*each)(void *context,
                                                            const struct notice_info *notice,
                                                            struct err *err),
                                        void *context, struct err *err);
/* How many there are, at most `most`; `limit` does not count. */
NODISCARD enum status store_notice_count(struct store *store, const struct notice_filter *filter,
                                         int64_t most, int64_t *out, struct err *err);

/* What of a run has not arrived. */
struct notice_left {
    int64_t waiting; /* it will be tried, or is being sent */
    int64_t failed;
};

NODISCARD enum status store_notice_left(struct store *store, int64_t run, struct notice_left *out,
                                        struct err *err);

/*
 * Send it at once, however often that was tried.
 *
 *   STATUS_NOT_FOUND  there is no such notice
 *   STATUS_CONFLICT   it was sent, is being sent, or goes with another
 */
NODISCARD enum status store_notice_retry(struct store *store, int64_t id, const char *actor,
                                         struct err *err);

/* Somebody tried a target by hand; kept for the record. */
NODISCARD enum status store_notice_tested(struct store *store, const char *actor, const char *data,
                                          struct err *err);
