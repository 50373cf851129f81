#include "service/grid_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"

static const char LETTERS[] = "0123456789abcdefghijklmnopqrstuvwxyz";
_Static_assert(TASK_STATE_COUNT <= sizeof LETTERS - 1, "every state has a letter");

struct grid_matrix {
    struct arena *arena;
    size_t runs_count;
    struct strmap *numbers; /* task id to line */
    struct grid_line *lines;
    size_t count;
    size_t capacity;
    bool has_first; /* a DAG was added */
};

struct grid_matrix *grid_matrix_new(struct arena *arena, size_t runs_count)
{
    struct grid_matrix *matrix = arena_alloc(arena, sizeof *matrix);
    *matrix = (struct grid_matrix){
        .arena = arena,
        .runs_count = runs_count,
        .numbers = strmap_new(),
    };
    return matrix;
}

void grid_matrix_fini(struct grid_matrix *matrix)
{
    if (matrix == NULL)
        return;
    strmap_free(matrix->numbers);
    free(matrix->lines);
    matrix->numbers = NULL;
    matrix->lines = NULL;
}

static size_t line_of(struct grid_matrix *matrix, const struct task_def *task)
{
    int64_t number = 0;
    if (strmap_find(matrix->numbers, task->id, &number))
        return (size_t)number;
    char *states = arena_alloc(matrix->arena, matrix->runs_count + 1);
    memset(states, '.', matrix->runs_count);
    states[matrix->runs_count] = '\0';
    matrix->lines =
        mem_grow(matrix->lines, &matrix->capacity, matrix->count, sizeof *matrix->lines);
    matrix->lines[matrix->count] = (struct grid_line){
        .task = task,
        .is_current = !matrix->has_first,
        .states = states,
    };
    CHECK(strmap_add(matrix->numbers, task->id, (int64_t)matrix->count));
    return matrix->count++;
}

const size_t *grid_matrix_add_dag(struct grid_matrix *matrix, const struct dag *dag)
{
    size_t *lines = arena_array(matrix->arena, dag->tasks_count + 1, sizeof *lines);
    for (size_t i = 0; i < dag->tasks_count; i++)
        lines[dag->order[i]] = line_of(matrix, &dag->tasks[dag->order[i]]);
    matrix->has_first = true;
    return lines;
}

void grid_matrix_set(struct grid_matrix *matrix, size_t line, size_t run, enum task_state state)
{
    CHECK(line < matrix->count);
    CHECK(run < matrix->runs_count);
    CHECK(state < TASK_STATE_COUNT);
    matrix->lines[line].states[run] = LETTERS[state];
}

size_t grid_matrix_count(const struct grid_matrix *matrix)
{
    return matrix->count;
}

const struct grid_line *grid_matrix_line(const struct grid_matrix *matrix, size_t line)
{
    CHECK(line < matrix->count);
    return &matrix->lines[line];
}
