#pragma once
/*
 * trigger_circle: DAGs that start each other by events, round and round. Pure.
 *
 * One DAG starts another when what it does alone is enough: the end of its run, or the datasets
 * that its tasks name as they stand. Where something else has to happen as well there is no
 * circle; whether a task that succeeds here ever writes there nobody can know, so what is found may
 * still be meant.
 *
 * Circles that have a DAG in common are told as one, with all DAGs that are part of any. Looking
 * for them takes time that grows with the DAGs and what they name, not with its square.
 *
 * Tests  tests/unit/model/test_trigger_circle.c
 */
#include <stddef.h>

#include "base/arena.h"
#include "model/dag.h"
#include "model/trigger_expr.h"

/* What matters of a DAG. */
struct circle_dag {
    const char *id;
    const char **outputs; /* datasets that its tasks name as they stand */
    size_t outputs_count;
    const struct triggers *triggers;
};

/* Copied into the arena; the triggers are borrowed. */
NODISCARD struct circle_dag circle_dag_of(const struct dag *dag, const struct triggers *triggers,
                                          struct arena *arena);

struct circle {
    const char *text;      /* "a -> b -> a", and who else goes round with them; cut when long */
    const size_t *members; /* numbers of the DAGs, ascending */
    size_t members_count;
};

struct circle_list {
    struct circle *items; /* by their first members; in the arena */
    size_t count;
};

/* Each DAG is part of at most one that is told. */
void trigger_circles(const struct circle_dag *dags, size_t count, struct arena *arena,
                     struct circle_list *out);
