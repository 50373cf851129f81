#include "build_dag.h"
#include "expect.h"
#include "service/grid_matrix.h"

static void order(struct dag *dag, uint32_t *numbers)
{
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        numbers[i] = i;
    dag->order = numbers;
}

Test(grid_matrix, a_letter_per_run_and_a_dot_where_there_is_no_such_task)
{
    static const struct build_task NOW[] = {{.id = "a"}, {.id = "b", .needs = "a"}};
    static const struct build_task BEFORE[] = {{.id = "a"}, {.id = "old", .needs = "a"}};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(grid_matrix_finip) struct grid_matrix *matrix = grid_matrix_new(arena, 3);
    struct dag *now = build_dag("d", NOW, ARRAY_LEN(NOW));
    struct dag *before = build_dag("d", BEFORE, ARRAY_LEN(BEFORE));
    uint32_t numbers[2][2];
    order(now, numbers[0]);
    order(before, numbers[1]);

    const size_t *lines_now = grid_matrix_add_dag(matrix, now);
    const size_t *lines_before = grid_matrix_add_dag(matrix, before);
    grid_matrix_set(matrix, lines_before[0], 0, TASK_FAILED);
    grid_matrix_set(matrix, lines_before[1], 0, TASK_UPSTREAM_FAILED);
    grid_matrix_set(matrix, lines_now[0], 2, TASK_SUCCESS);
    grid_matrix_set(matrix, lines_now[1], 2, TASK_CANCELLED);

    static const struct {
        const char *id;
        const char *states;
        bool is_current;
    } WANTED[] = {{"a", "5.4", true}, {"b", "..c", true}, {"old", "7..", false}};
    cr_assert_eq(grid_matrix_count(matrix), ARRAY_LEN(WANTED));
    for (size_t i = 0; i < ARRAY_LEN(WANTED); i++) {
        const struct grid_line *line = grid_matrix_line(matrix, i);
        EXPECT_STR(WANTED[i].id, line->task->id);
        EXPECT_STR(WANTED[i].states, line->states);
        cr_expect_eq(line->is_current, WANTED[i].is_current);
    }
    build_dag_free(now);
    build_dag_free(before);
}

Test(grid_matrix, lines_follow_the_order_of_the_dag)
{
    static const struct build_task TASKS[] = {{.id = "a"}, {.id = "b"}, {.id = "c"}};
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(grid_matrix_finip) struct grid_matrix *matrix = grid_matrix_new(arena, 0);
    struct dag *dag = build_dag("d", TASKS, ARRAY_LEN(TASKS));
    uint32_t numbers[] = {2, 0, 1};
    dag->order = numbers;

    const size_t *lines = grid_matrix_add_dag(matrix, dag);
    cr_expect_eq(lines[2], 0);
    cr_expect_eq(lines[0], 1);
    cr_expect_eq(lines[1], 2);
    EXPECT_STR("c", grid_matrix_line(matrix, 0)->task->id);
    EXPECT_STR("", grid_matrix_line(matrix, 0)->states);
    build_dag_free(dag);
}
