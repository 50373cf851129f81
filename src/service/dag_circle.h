#pragma once
/*
 * dag_circle: DAGs of the store that start each other in a circle (model/trigger_circle.h).
 */
#include "base/arena.h"
#include "store/store.h"

struct dag_circle {
    const char *text; /* "a -> b -> a" */
    const char *path; /* file of the first of them */
};

struct dag_circles {
    struct dag_circle *items;
    size_t count;
};

/* Of those that are offered now; in the arena. */
NODISCARD enum status dag_circles_find(struct store *store, struct arena *arena,
                                       struct dag_circles *out, struct err *err);
