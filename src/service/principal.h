#pragma once
/*
 * principal: who asks, and what that one may do where. Pure.
 *
 * Nobody may do anything unless a grant says so: the zero value has no rights.
 *
 * Ownership  Texts and grants are borrowed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "model/permission.h"

struct principal {
    const char *name; /* as changes are signed with */
    const struct grant *grants;
    size_t count;
    const char *user;      /* the account behind it; NULL: none */
    int64_t stamp;         /* of the account, as it was */
    int64_t token;         /* its number; 0: by other means */
    const char *queues;    /* of a worker: names separated by blanks, "*": all; NULL: no worker */
    int64_t expires_at_us; /* of the token; 0: never */
    int64_t task;          /* that runs and asks, or a job; 0: neither */
    int64_t attempt;       /* of it */
    bool is_local;         /* at this machine, as the user of the program: may name its files */
};

/* Whoever can open the store itself: the program in the hands of its user. */
extern const struct principal PRINCIPAL_LOCAL;

/* The same in the arena, texts and all. */
struct principal principal_copy(struct arena *arena, const struct principal *principal);

/* The greatest right in a namespace; NULL: in all of them at once. */
enum permission principal_role(const struct principal *principal, const char *space);
/* The greatest right that there is in any namespace. */
enum permission principal_best_role(const struct principal *principal);
/* Whether one may all that the other may. */
bool principal_covers(const struct principal *one, const struct principal *other);
/* Whether things of the namespace are shown; `default` stands for NULL. */
bool principal_sees(const struct principal *principal, const char *space);
/* Whether everything is. */
bool principal_sees_all(const struct principal *principal);
bool principal_is_worker(const struct principal *principal);
/* Whether it is a worker that may take work from the queue. */
bool principal_serves(const struct principal *principal, const char *queue);

/*
 * The namespaces that are shown, for lists of the store: "" when all are, else each with a blank
 * before and after it, so that "  " is none. In the arena.
 */
const char *principal_spaces(struct arena *arena, const struct principal *principal);
