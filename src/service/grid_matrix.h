#pragma once
/*
 * grid_matrix: the states of many runs as one short text per task. Pure.
 *
 * Column i of every line is run i. A letter stands for the number of the state, 0 to 9, then a to
 * z; '.' where the run has no such task, since its version of the DAG had none.
 *
 * Lines are in the order of the DAG that was added first, parents before children; tasks that only
 * other versions have come after them.
 *
 * Ownership  Everything lives in the arena given; ids are borrowed from the DAGs.
 * Tests      tests/unit/service/test_grid_matrix.c
 */
#include "base/arena.h"
#include "model/dag.h"
#include "model/task_state.h"

struct grid_matrix;

struct grid_line {
    const struct task_def *task; /* of the first DAG that has it */
    bool is_current;             /* the first DAG has it */
    char *states;                /* one letter per run */
};

NODISCARD struct grid_matrix *grid_matrix_new(struct arena *arena, size_t runs_count);
/* Frees what does not live in the arena. */
void grid_matrix_fini(struct grid_matrix *matrix);

/* Lines for the tasks of a DAG: of node n the one with number result[n]. Borrowed. */
const size_t *grid_matrix_add_dag(struct grid_matrix *matrix, const struct dag *dag);
void grid_matrix_set(struct grid_matrix *matrix, size_t line, size_t run, enum task_state state);

size_t grid_matrix_count(const struct grid_matrix *matrix);
const struct grid_line *grid_matrix_line(const struct grid_matrix *matrix, size_t line);

static inline void grid_matrix_finip(struct grid_matrix **matrix)
{
    grid_matrix_fini(*matrix);
}
