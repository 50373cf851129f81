#pragma once
/*
 * token: what programs prove with whom they act for. Opaque; only its hash is kept.
 *
 * A token of somebody may what that one may, and no more than it was made for. One of nobody may
 * what it was made for. One of a worker may serve its queues, and nothing else.
 */
#include "store/account.h"

enum { TOKEN_TEXT_MAX = 72 };

struct token {
    int64_t id;
    const char *name;
    bool is_owned;
    struct account owner; /* with is_owned */
    bool is_bounded;      /* `grants` count */
    struct grants grants;
    const char *queues; /* of a worker: names separated by blanks, "*" for all; NULL: no worker */
    const char *actor;
    int64_t created_at_us;
    int64_t expires_at_us; /* 0: never */
    int64_t used_at_us;    /* 0: never was; to some minutes */
};

struct token_request {
    const char *name;
    const char *owner;           /* NULL: nobody's */
    const struct grants *grants; /* NULL: all that the owner may */
    const char *queues;          /* as above */
    int64_t expires_at_us;       /* 0: never */
    const char *actor;
};

/* Whether it was not taken back. */
NODISCARD enum status store_token_exists(struct store *store, int64_t id, bool *out,
                                         struct err *err);
/* The token itself goes to `out` and is seen never again. STATUS_NOT_FOUND: no such owner. */
NODISCARD enum status store_token_add(struct store *store, const struct token_request *request,
                                      int64_t *out_id, char out[static TOKEN_TEXT_MAX],
                                      struct err *err);
/* STATUS_NOT_FOUND: there is none of that number, or it is not that owner's. NULL: any. */
NODISCARD enum status store_token_remove(struct store *store, int64_t id, const char *owner,
                                         const char *actor, struct err *err);
enum { TOKENS_LISTED_MAX = 10000 };
/* Newest first, at most so many; of this owner unless it is NULL. */
NODISCARD enum status store_token_list(struct store *store, struct arena *arena, const char *owner,
                                       struct token **out, size_t *out_count, struct err *err);
/* By its text. STATUS_NOT_FOUND: none, expired, or its owner is gone or disabled. */
NODISCARD enum status store_token_find(struct store *store, struct arena *arena, const char *text,
                                       struct token *out, struct err *err);
/* Note that it was used now, if that was not noted lately. */
NODISCARD enum status store_token_note_use(struct store *store, const struct token *token,
                                           struct err *err);
/* Whether that is due. */
bool store_token_use_is_news(struct store *store, const struct token *token);
