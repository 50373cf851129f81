#pragma once
/*
 * permission: what one may do, and where. Pure.
 *
 * Grants as a text are words: "*=viewer sales=editor", a namespace or * for all, and a role.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attrs.h"
#include "base/err.h"

/* Each includes those before it; the zero value, as a right: none, and as a demand: nobody. */
#define PERMISSION_MAP(X)                                                                          \
    X(NONE, "none")                                                                                \
    X(VIEWER, "viewer")                                                                            \
    X(OPERATOR, "operator")                                                                        \
    X(EDITOR, "editor")                                                                            \
    X(ADMIN, "admin")

enum permission {
#define X(name, text) PERMISSION_##name,
    PERMISSION_MAP(X)
#undef X
        PERMISSION_COUNT
};

const char *permission_name(enum permission permission);
/* A role that can be given: not `none`. */
NODISCARD bool permission_parse(const char *name, enum permission *out);

struct grant {
    const char *space; /* a namespace, or "*" for all */
    enum permission role;
};

struct grants {
    struct grant *items;
    size_t count;
};

enum { GRANTS_MAX = 200 };

/* STATUS_INVALID names the word. A namespace that is named twice counts as it is named last. */
NODISCARD enum status grants_parse(struct arena *arena, const char *text, struct grants *out,
                                   struct err *err);
/* One word: "sales=editor"; a role alone is for all namespaces. */
NODISCARD enum status grant_parse(struct arena *arena, const char *word, struct grant *out,
                                  struct err *err);
/* In the arena. */
const char *grants_format(struct arena *arena, const struct grants *grants);

/* The greatest right in a namespace; NULL: in all of them at once. */
enum permission grants_role(const struct grant *grants, size_t count, const char *space);

/* What both give: who holds a token may no more than its owner, and no more than it was made for.
 */
struct grants grants_cut(struct arena *arena, const struct grants *one, const struct grants *other);

/* STATUS_INVALID: nobody can be called that, and why. Names of our own parts are not free. */
NODISCARD enum status user_check_name(const char *name, struct err *err);
