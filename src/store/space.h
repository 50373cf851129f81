#pragma once
/*
 * space: namespaces. One is there when something is in it, or when somebody made it.
 */
#include "base/arena.h"
#include "store/store.h"

struct space {
    const char *name;
    bool is_made; /* by somebody; else it is there since something is in it */
    const char *doc;
    const char *actor;
    int64_t created_at_us;
    int64_t dags;
    int64_t pools;
    int64_t variables;
    int64_t connections;
    int64_t secrets;
};

struct space_change {
    const char *name;
    const char *doc; /* or NULL */
    const char *actor;
};

/* By name; `default` is always among them. */
NODISCARD enum status store_space_list(struct store *store, struct arena *arena, struct space **out,
                                       size_t *out_count, struct err *err);
/* STATUS_CONFLICT: somebody made it already. */
NODISCARD enum status store_space_add(struct store *store, const struct space_change *change,
                                      struct err *err);
/*
 *   STATUS_NOT_FOUND  nobody made it
 *   STATUS_CONFLICT   something is in it, or somebody has a grant there
 */
NODISCARD enum status store_space_remove(struct store *store, const struct space_change *change,
                                         struct err *err);
