#include "model/dag_graph.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"

enum { REACH_STEPS_MAX = 20 * 1000 * 1000 };

void dag_cycle_fini(struct dag_cycle *cycle)
{
    free(cycle->nodes);
    *cycle = (struct dag_cycle){0};
}

static void fill_dependants(struct dag *dag)
{
    uint32_t *counts = mem_zalloc(dag->tasks_count + 1, sizeof *counts);
    size_t edges = 0;
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct node_list *needs = &dag->tasks[i].needs;
        for (size_t k = 0; k < needs->count; k++)
            counts[needs->items[k]]++;
        edges += needs->count;
    }
    uint32_t *room = arena_array(dag->arena, edges + 1, sizeof *room);
    for (size_t i = 0; i < dag->tasks_count; i++) {
        dag->tasks[i].dependants = (struct node_list){.items = room};
        room += counts[i];
    }
    /* Tasks are walked in ascending order, so each list comes out ascending. */
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct node_list *needs = &dag->tasks[i].needs;
        for (size_t k = 0; k < needs->count; k++) {
            struct node_list *list = &dag->tasks[needs->items[k]].dependants;
            list->items[list->count++] = (uint32_t)i;
        }
    }
    free(counts);
}

/* Kahn's algorithm: `waiting` has the number of parents still to come. */
struct sorter {
    struct dag *dag;
    uint32_t *waiting;
    size_t placed; /* filled part of dag->order */
    size_t done;   /* its part whose dependants were told */
};

static void place(struct sorter *s, uint32_t node)
{
    s->waiting[node] = 0;
    s->dag->order[s->placed++] = node;
}

static void follow(struct sorter *s)
{
    for (; s->done < s->placed; s->done++) {
        const struct node_list *next = &s->dag->tasks[s->dag->order[s->done]].dependants;
        for (size_t k = 0; k < next->count; k++) {
            uint32_t node = next->items[k];
            if (s->waiting[node] > 0 && --s->waiting[node] == 0)
                place(s, node);
        }
    }
}

static void place_roots(struct sorter *s, bool finally)
{
    for (size_t i = 0; i < s->dag->tasks_count; i++)
        if (s->dag->tasks[i].is_finally == finally && s->dag->tasks[i].needs.count == 0)
            place(s, (uint32_t)i);
    follow(s);
}

/* Every node that was not placed has a parent that was not placed: walking up must come round. */
static void find_cycle(const struct dag *dag, const uint32_t *waiting, struct dag_cycle *out)
{
    uint32_t *seen_at = mem_zalloc(dag->tasks_count, sizeof *seen_at);
    uint32_t *path = mem_zalloc(dag->tasks_count + 1, sizeof *path);
    size_t length = 0;
    uint32_t node = 0;
    while (waiting[node] == 0)
        node++;
    while (seen_at[node] == 0) {
        path[length++] = node;
        seen_at[node] = (uint32_t)length;
        const struct node_list *needs = &dag->tasks[node].needs;
        size_t k = 0;
        while (waiting[needs->items[k]] == 0)
            k++;
        CHECK(k < needs->count);
        node = needs->items[k];
    }
    size_t start = seen_at[node] - 1;
    size_t count = length - start;
    uint32_t *nodes = mem_zalloc(count, sizeof *nodes);
    /* The path went against the edges; begin with the smallest number, for a stable text. */
    size_t least = 0;
    for (size_t i = 0; i < count; i++) {
        nodes[i] = path[length - 1 - i];
        least = nodes[i] < nodes[least] ? i : least;
    }
    out->nodes = mem_zalloc(count, sizeof *nodes);
    out->count = count;
    for (size_t i = 0; i < count; i++)
        out->nodes[i] = nodes[(least + i) % count];
    free(nodes);
    free(seen_at);
    free(path);
}

size_t dag_graph_build(struct dag *dag, struct dag_cycle out_cycles[DAG_CYCLES_MAX])
{
    fill_dependants(dag);
    dag->order = arena_array(dag->arena, dag->tasks_count + 1, sizeof *dag->order);
    uint32_t *waiting = mem_zalloc(dag->tasks_count + 1, sizeof *waiting);
    for (size_t i = 0; i < dag->tasks_count; i++)
        waiting[i] = (uint32_t)dag->tasks[i].needs.count;
    struct sorter sorter = {.dag = dag, .waiting = waiting};
    place_roots(&sorter, false);
    place_roots(&sorter, true);
    size_t cycles = 0;
    while (sorter.placed < dag->tasks_count && cycles < DAG_CYCLES_MAX) {
        struct dag_cycle *cycle = &out_cycles[cycles++];
        find_cycle(dag, waiting, cycle);
        /* As if the cycle were cut, so that what is behind it does not hide other cycles. */
        for (size_t i = 0; i < cycle->count; i++)
            place(&sorter, cycle->nodes[i]);
        follow(&sorter);
    }
    free(waiting);
    return cycles;
}

uint32_t *dag_graph_positions(const struct dag *dag)
{
    uint32_t *positions = mem_zalloc(dag->tasks_count + 1, sizeof *positions);
    for (size_t i = 0; i < dag->tasks_count; i++)
        positions[dag->order[i]] = (uint32_t)i;
    return positions;
}

struct dag_reach {
    const struct dag *dag;
    uint32_t *positions;
    uint32_t *seen; /* by which question a node was last visited */
    uint32_t *stack;
    uint32_t question;
    size_t steps;
};

struct dag_reach *dag_reach_new(const struct dag *dag)
{
    struct dag_reach *reach = mem_zalloc(1, sizeof *reach);
    reach->dag = dag;
    reach->positions = dag_graph_positions(dag);
    reach->seen = mem_zalloc(dag->tasks_count + 1, sizeof *reach->seen);
    reach->stack = mem_zalloc(dag->tasks_count + 1, sizeof *reach->stack);
    return reach;
}

void dag_reach_free(struct dag_reach *reach)
{
    if (reach == NULL)
        return;
    free(reach->positions);
    free(reach->seen);
    free(reach->stack);
    free(reach);
}

bool dag_reach_has(struct dag_reach *reach, uint32_t ancestor, uint32_t node)
{
    uint32_t floor = reach->positions[ancestor];
    size_t depth = 0;
    reach->question++;
    reach->stack[depth++] = node;
    while (depth > 0) {
        const struct node_list *needs = &reach->dag->tasks[reach->stack[--depth]].needs;
        for (size_t k = 0; k < needs->count; k++) {
            uint32_t parent = needs->items[k];
            if (parent == ancestor || reach->steps++ > REACH_STEPS_MAX)
                return true;
            /* What comes earlier in the order than the ancestor cannot lead to it. */
            if (reach->positions[parent] <= floor || reach->seen[parent] == reach->question)
                continue;
            reach->seen[parent] = reach->question;
            reach->stack[depth++] = parent;
        }
    }
    return false;
}

/* --- what belongs to some tasks --------------------------------------------------------------- */

void dag_add_upstream(const struct dag *dag, bool *chosen)
{
    for (size_t i = dag->tasks_count; i-- > 0;) {
        const struct task_def *def = &dag->tasks[dag->order[i]];
        for (size_t j = 0; chosen[dag->order[i]] && j < def->needs.count; j++)
            chosen[def->needs.items[j]] = true;
    }
}

void dag_add_downstream(const struct dag *dag, bool *chosen)
{
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const struct task_def *def = &dag->tasks[dag->order[i]];
        for (size_t j = 0; chosen[dag->order[i]] && j < def->dependants.count; j++)
            chosen[def->dependants.items[j]] = true;
    }
}
