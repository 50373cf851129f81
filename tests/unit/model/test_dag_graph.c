#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "expect.h"
#include "model/dag_graph.h"
#include "model/limits.h"

/* A DAG of `count` nameless tasks; needs(i) are added by the tests. */
static struct dag *new_dag(size_t count)
{
    struct arena *arena = arena_new();
    struct dag *dag = arena_alloc(arena, sizeof *dag);
    dag->arena = arena;
    dag->tasks = arena_array(arena, count, sizeof *dag->tasks);
    dag->tasks_count = count;
    return dag;
}

/* Must be called with ascending parents. */
static void add_parent(struct dag *dag, uint32_t node, uint32_t parent)
{
    struct node_list *needs = &dag->tasks[node].needs;
    uint32_t *items = arena_array(dag->arena, needs->count + 1, sizeof *items);
    if (needs->count > 0)
        memcpy(items, needs->items, needs->count * sizeof *items);
    items[needs->count] = parent;
    *needs = (struct node_list){.items = items, .count = needs->count + 1};
}

static size_t build(struct dag *dag, struct dag_cycle cycles[DAG_CYCLES_MAX])
{
    for (size_t i = 0; i < DAG_CYCLES_MAX; i++)
        cycles[i] = (struct dag_cycle){0};
    return dag_graph_build(dag, cycles);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Edges go from a smaller to a larger place in a shuffled order, so there is no cycle. */
static struct dag *random_dag(uint32_t seed, size_t count)
{
    struct dag *dag = new_dag(count);
    uint32_t *shuffled = arena_array(dag->arena, count, sizeof *shuffled);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = next_random(&seed) % (i + 1);
        shuffled[i] = shuffled[k];
        shuffled[k] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t parent = 0; parent < count; parent++)
            if (shuffled[parent] < shuffled[i] && next_random(&seed) % 4 == 0)
                add_parent(dag, i, parent);
        dag->tasks[i].is_finally = dag->tasks[i].needs.count == 0 && next_random(&seed) % 4 == 0;
    }
    /* Finally tasks have no edges to others. */
    for (uint32_t i = 0; i < count; i++) {
        struct node_list *needs = &dag->tasks[i].needs;
        size_t kept = 0;
        for (size_t k = 0; k < needs->count; k++)
            if (!dag->tasks[needs->items[k]].is_finally)
                needs->items[kept++] = needs->items[k];
        needs->count = kept;
    }
    return dag;
}

Test(dag_graph, parents_come_first_and_finally_tasks_last)
{
    for (uint32_t seed = 1; seed <= 200; seed++) {
        struct dag *dag = random_dag(seed, 1 + seed % 20);
        struct dag_cycle cycles[DAG_CYCLES_MAX];
        cr_assert_eq(build(dag, cycles), 0);
        uint32_t *positions = dag_graph_positions(dag);
        size_t edges = 0;
        bool seen_finally = false;
        for (uint32_t i = 0; i < dag->tasks_count; i++) {
            cr_assert_eq(dag->order[positions[i]], i);
            for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
                cr_assert_lt(positions[dag->tasks[i].needs.items[k]], positions[i]);
            const struct node_list *next = &dag->tasks[i].dependants;
            for (size_t k = 1; k < next->count; k++)
                cr_assert_lt(next->items[k - 1], next->items[k]);
            edges += dag->tasks[i].needs.count;
            edges -= next->count;
            bool is_finally = dag->tasks[dag->order[i]].is_finally;
            cr_assert(is_finally || !seen_finally);
            seen_finally |= is_finally;
        }
        cr_assert_eq(edges, 0, "every edge has two ends");
        free(positions);
        arena_free(dag->arena);
    }
}

Test(dag_graph, reach_agrees_with_the_closure)
{
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct dag *dag = random_dag(seed, 12);
        struct dag_cycle cycles[DAG_CYCLES_MAX];
        cr_assert_eq(build(dag, cycles), 0);
        bool before[12][12] = {0};
        for (size_t place = 0; place < 12; place++) {
            uint32_t node = dag->order[place];
            for (size_t k = 0; k < dag->tasks[node].needs.count; k++) {
                uint32_t parent = dag->tasks[node].needs.items[k];
                before[parent][node] = true;
                for (size_t a = 0; a < 12; a++)
                    before[a][node] |= before[a][parent];
            }
        }
        struct dag_reach *reach = dag_reach_new(dag);
        for (uint32_t a = 0; a < 12; a++)
            for (uint32_t b = 0; b < 12; b++)
                cr_assert_eq(dag_reach_has(reach, a, b), before[a][b]);
        dag_reach_free(reach);
        arena_free(dag->arena);
    }
}

Test(dag_graph, cycles_are_found_each_once_from_their_smallest_node)
{
    struct dag *dag = new_dag(7);
    add_parent(dag, 0, 2); /* 0 -> 1 -> 2 -> 0 */
    add_parent(dag, 1, 0);
    add_parent(dag, 2, 1);
    add_parent(dag, 3, 2); /* behind it, and a cycle 4 -> 5 -> 4 behind that */
    add_parent(dag, 4, 3);
    add_parent(dag, 4, 5);
    add_parent(dag, 5, 4);
    struct dag_cycle cycles[DAG_CYCLES_MAX];

    cr_assert_eq(build(dag, cycles), 2);
    cr_assert_eq(cycles[0].count, 3);
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_eq(cycles[0].nodes[i], i);
    cr_assert_eq(cycles[1].count, 2);
    cr_expect_eq(cycles[1].nodes[0], 4);
    dag_cycle_fini(&cycles[0]);
    dag_cycle_fini(&cycles[1]);
    arena_free(dag->arena);
}

Test(dag_graph, the_longest_chain_and_the_longest_cycle_are_no_trouble)
{
    struct dag *dag = new_dag(LIMIT_TASKS);
    for (uint32_t i = 0; i + 1 < LIMIT_TASKS; i++)
        add_parent(dag, i, i + 1);
    struct dag_cycle cycles[DAG_CYCLES_MAX];
    cr_assert_eq(build(dag, cycles), 0);
    cr_expect_eq(dag->order[0], LIMIT_TASKS - 1);
    cr_expect_eq(dag->order[LIMIT_TASKS - 1], 0);
    struct dag_reach *reach = dag_reach_new(dag);
    cr_expect(dag_reach_has(reach, LIMIT_TASKS - 1, 0));
    cr_expect(!dag_reach_has(reach, 0, LIMIT_TASKS - 1));
    dag_reach_free(reach);

    add_parent(dag, LIMIT_TASKS - 1, 0);
    cr_assert_eq(build(dag, cycles), 1);
    cr_expect_eq(cycles[0].count, LIMIT_TASKS);
    dag_cycle_fini(&cycles[0]);
    arena_free(dag->arena);
}
