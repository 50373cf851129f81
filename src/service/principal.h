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

#include "base/arena.h"
#include "base/attrs.h"
#include "service/operation.h"

struct grant {
    const char *space; /* a namespace, or "*" for all */
    enum permission role;
};

struct principal {
    const char *name; /* as changes are signed with */
    const struct grant *grants;
    size_t count;
};

/* Whoever can open the store itself: the program in the hands of its user. */
extern const struct principal PRINCIPAL_LOCAL;

/* The same in the arena, texts and all. */
struct principal principal_copy(struct arena *arena, const struct principal *principal);

/* The greatest right in a namespace; NULL: in all of them at once. */
enum permission principal_role(const struct principal *principal, const char *space);
/* The greatest right that there is in any namespace. */
enum permission principal_best_role(const struct principal *principal);
