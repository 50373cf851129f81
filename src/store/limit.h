#pragma once
/*
 * limit: how many tasks of a namespace, of all runs of a DAG, or of all DAGs of a tier, run at once
 * on all hosts. Set by those who run the platform, not by authors of DAGs. Jobs count in their
 * namespace, and in no tier.
 *
 * Kept inside the claim. What is over the limit waits (state scheduled, reason cap) where it is in
 * nobody's way.
 */
#include "base/arena.h"
#include "store/store.h"

struct dag;

enum limit_kind { LIMIT_OF_NAMESPACE, LIMIT_OF_DAG, LIMIT_OF_TIER, LIMIT_KIND_COUNT };

const char *limit_kind_name(enum limit_kind kind); /* namespace, dag, tier */
NODISCARD bool limit_kind_parse(const char *name, enum limit_kind *out);

/* The name under which tasks of a DAG count. */
const char *limit_name_of(enum limit_kind kind, const struct dag *dag);

struct limit_info {
    enum limit_kind kind;
    const char *name;
    int64_t max_running;
    int64_t running;
    int64_t waiting;
};

/* By kind and name. Texts are in the arena. */
NODISCARD enum status store_limit_list(struct store *store, struct arena *arena,
                                       struct limit_info **out, size_t *out_count, struct err *err);

struct limit_change {
    enum limit_kind kind;
    const char *name;
    int64_t max_running; /* at least 1 */
    const char *actor;
};

NODISCARD enum status store_limit_set(struct store *store, const struct limit_change *change,
                                      struct err *err);
/* STATUS_NOT_FOUND: there is none. */
NODISCARD enum status store_limit_delete(struct store *store, enum limit_kind kind,
                                         const char *name, const char *actor, struct err *err);
