#pragma once
/*
 * trigger_circle: DAGs that start each other by events, round and round. Pure.
 *
 * One DAG starts another when what it does alone is enough: the end of its run, or the datasets
 * that its tasks name as they stand. Where something else has to happen as well there is no
 * circle; whether a task that succeeds here ever writes there nobody can know, so what is found may
 * still be meant.
 *
 * Tests  tests/unit/model/test_trigger_circle.c
 */
#include <stddef.h>

#include "base/arena.h"
#include "model/dag.h"
#include "model/trigger_expr.h"

struct circle_dag {
    const struct dag *dag;
    const struct triggers *triggers;
};

struct circle_list {
    const char **texts; /* "a -> b -> a"; in the arena */
    size_t *first;      /* number of the DAG that each begins with */
    size_t count;
};

/* Each DAG is part of at most one that is told. */
void trigger_circles(const struct circle_dag *dags, size_t count, struct arena *arena,
                     struct circle_list *out);
