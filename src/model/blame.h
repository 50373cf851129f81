#pragma once
/*
 * blame: which tasks made a run fail.
 *
 * Not every task that failed did: one may be allowed to, or its dependants may have coped. And
 * where only the last tasks count, it is the failure before them that people want to hear of, not
 * that they could not run.
 *
 * Tests  tests/unit/model/test_blame.c
 */
#include "model/dag.h"
#include "model/task_state.h"

/* Whether a run fails because this task of it ended so. */
bool blame_counts(const struct dag *dag, size_t node, enum task_state state);

/*
 * Of the tasks of a run that is over, by the state of each, those because of which it failed: they
 * failed themselves, or nothing that failed explains why they could not run.
 */
void blame_find(const struct dag *dag, const enum task_state *states, bool *out_blamed);
