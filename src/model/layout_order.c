/*
 * Ordering within layers: sweep down and up, sort each layer by the mean place of its
 * neighbours in the layer just visited, and keep the best order seen. A few sweeps
 * do nearly all the good; the count of crossings decides when to stop.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/layout_priv.h"

enum { SWEEPS_MAX = 8 };

struct keyed {
    double key;
    uint32_t place; /* breaks ties, so the sort is stable */
    uint32_t node;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a;
    const struct keyed *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static double mean_place(const struct layout *layout, const size_t *start, const uint32_t *items,
                         uint32_t node)
{
    size_t count = start[node + 1] - start[node];
    if (count == 0)
        return layout->nodes[node].place;
    double sum = 0;
    for (size_t i = start[node]; i < start[node + 1]; i++)
        sum += layout->nodes[items[i]].place;
    return sum / (double)count;
}

static void sort_layer(struct layout *layout, size_t layer, const size_t *start,
                       const uint32_t *items, struct keyed *scratch)
{
    uint32_t *nodes = layout->layer_items + layout->layer_start[layer];
    size_t count = layout->layer_start[layer + 1] - layout->layer_start[layer];
    for (size_t i = 0; i < count; i++)
        scratch[i] = (struct keyed){.key = mean_place(layout, start, items, nodes[i]),
                                    .place = (uint32_t)i,
                                    .node = nodes[i]};
    qsort(scratch, count, sizeof *scratch, compare_keyed);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = scratch[i].node;
        layout->nodes[nodes[i]].place = (uint32_t)i;
    }
}

/* Inversions among the lower ends, in the order of the upper ends, by a Fenwick tree. */
static uint64_t crossings_below(const struct layout *layout,
                                const struct layout_adjacency *adjacency, size_t layer,
                                uint32_t *tree, struct keyed *scratch)
{
    size_t below = layout->layer_start[layer + 2] - layout->layer_start[layer + 1];
    memset(tree, 0, (below + 1) * sizeof *tree);
    uint64_t crossings = 0;
    uint64_t seen = 0;
    for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
        uint32_t node = layout->layer_items[i];
        size_t first = adjacency->below_start[node];
        size_t count = adjacency->below_start[node + 1] - first;
        for (size_t e = 0; e < count; e++)
            scratch[e] = (struct keyed){.place = layout->nodes[adjacency->below[first + e]].place};
        qsort(scratch, count, sizeof *scratch, compare_keyed);
        for (size_t e = 0; e < count; e++) {
            uint64_t not_after = 0;
            for (size_t t = scratch[e].place + 1; t > 0; t -= t & -t)
                not_after += tree[t];
            crossings += seen - not_after;
        }
        for (size_t e = 0; e < count; e++)
            for (size_t t = scratch[e].place + 1; t <= below; t += t & -t)
                tree[t]++;
        seen += count;
    }
    return crossings;
}

static uint64_t count_crossings(const struct layout *layout,
                                const struct layout_adjacency *adjacency, uint32_t *tree,
                                struct keyed *scratch)
{
    uint64_t total = 0;
    for (size_t layer = 0; layer + 1 < layout->layers_count; layer++)
        total += crossings_below(layout, adjacency, layer, tree, scratch);
    return total;
}

uint64_t layout_crossings(const struct layout *layout)
{
    size_t most = MAX(layout->nodes_count, layout->links_count) + 2;
    CLEANUP(mem_freep) uint32_t *tree = mem_zalloc(most, sizeof *tree);
    CLEANUP(mem_freep) struct keyed *scratch = mem_zalloc(most, sizeof *scratch);
    struct layout_adjacency adjacency;
    layout_adjacency_init(&adjacency, layout);
    uint64_t total = count_crossings(layout, &adjacency, tree, scratch);
    layout_adjacency_fini(&adjacency);
    return total;
}

static void sweep(struct layout *layout, const struct layout_adjacency *adjacency, bool down,
                  struct keyed *scratch)
{
    for (size_t step = 1; step < layout->layers_count; step++) {
        if (down)
            sort_layer(layout, step, adjacency->above_start, adjacency->above, scratch);
        else
            sort_layer(layout, layout->layers_count - 1 - step, adjacency->below_start,
                       adjacency->below, scratch);
    }
}

void layout_order(struct layout *layout, const struct layout_adjacency *adjacency)
{
    size_t most = MAX(layout->nodes_count, layout->links_count) + 2;
    CLEANUP(mem_freep) uint32_t *tree = mem_zalloc(most, sizeof *tree);
    CLEANUP(mem_freep) struct keyed *scratch = mem_zalloc(most, sizeof *scratch);
    CLEANUP(mem_freep) uint32_t *best = mem_zalloc(layout->nodes_count + 1, sizeof *best);
    size_t bytes = layout->nodes_count * sizeof *best;

    memcpy(best, layout->layer_items, bytes);
    uint64_t fewest = count_crossings(layout, adjacency, tree, scratch);
    for (int i = 0; i < SWEEPS_MAX && fewest > 0; i++) {
        sweep(layout, adjacency, i % 2 == 0, scratch);
        uint64_t crossings = count_crossings(layout, adjacency, tree, scratch);
        if (crossings >= fewest)
            continue;
        fewest = crossings;
        memcpy(best, layout->layer_items, bytes);
    }
    memcpy(layout->layer_items, best, bytes);
    for (size_t layer = 0; layer < layout->layers_count; layer++)
        for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++)
            layout->nodes[layout->layer_items[i]].place =
                (uint32_t)(i - layout->layer_start[layer]);
}
