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
    double group_key; /* what counts first: that of the group, or its own */
    uint32_t group;   /* 0: none */
    double key;
    uint32_t place; /* breaks ties, so the sort is stable */
    uint32_t node;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed *x = a;
    const struct keyed *y = b;
    if (x->group_key != y->group_key)
        return x->group_key < y->group_key ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* The wishes of a group's members within one layer. */
struct group_wish {
    double sum;
    uint32_t count;
};

struct ordering {
    struct layout *layout;
    const struct layout_adjacency *adjacency;
    const uint32_t *groups; /* NULL: none */
    struct group_wish *wishes;
    struct keyed *scratch;
};

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

static uint32_t group_of(const struct ordering *ordering, uint32_t node)
{
    bool has_one = ordering->groups != NULL && node < ordering->layout->real_count;
    return has_one ? ordering->groups[node] : 0;
}

/* A group wishes what its members wish on average, so that it moves as one. */
static void agree_in_groups(const struct ordering *ordering, size_t count)
{
    struct keyed *keyed = ordering->scratch;
    for (size_t i = 0; i < count; i++)
        ordering->wishes[keyed[i].group] = (struct group_wish){0};
    for (size_t i = 0; i < count; i++) {
        ordering->wishes[keyed[i].group].sum += keyed[i].key;
        ordering->wishes[keyed[i].group].count++;
    }
    for (size_t i = 0; i < count; i++) {
        const struct group_wish *wish = &ordering->wishes[keyed[i].group];
        if (keyed[i].group != 0)
            keyed[i].group_key = wish->sum / wish->count;
    }
}

static void sort_layer(const struct ordering *ordering, size_t layer, const size_t *start,
                       const uint32_t *items)
{
    struct layout *layout = ordering->layout;
    struct keyed *scratch = ordering->scratch;
    uint32_t *nodes = layout->layer_items + layout->layer_start[layer];
    size_t count = layout->layer_start[layer + 1] - layout->layer_start[layer];
    for (size_t i = 0; i < count; i++) {
        double key = mean_place(layout, start, items, nodes[i]);
        scratch[i] = (struct keyed){.group_key = key,
                                    .group = group_of(ordering, nodes[i]),
                                    .key = key,
                                    .place = (uint32_t)i,
                                    .node = nodes[i]};
    }
    if (ordering->groups != NULL)
        agree_in_groups(ordering, count);
    qsort(scratch, count, sizeof *scratch, compare_keyed);
    for (size_t i = 0; i < count; i++) {
        nodes[i] = scratch[i].node;
        layout->nodes[nodes[i]].place = (uint32_t)i;
    }
}

/* The order to begin with: each group where the first of it stands. */
static void join_groups(const struct ordering *ordering)
{
    struct layout *layout = ordering->layout;
    for (size_t layer = 0; ordering->groups != NULL && layer < layout->layers_count; layer++) {
        uint32_t *nodes = layout->layer_items + layout->layer_start[layer];
        size_t count = layout->layer_start[layer + 1] - layout->layer_start[layer];
        for (size_t i = 0; i < count; i++)
            ordering->scratch[i] = (struct keyed){.group_key = (double)i,
                                                  .group = group_of(ordering, nodes[i]),
                                                  .key = (double)i,
                                                  .node = nodes[i]};
        agree_in_groups(ordering, count);
        qsort(ordering->scratch, count, sizeof *ordering->scratch, compare_keyed);
        for (size_t i = 0; i < count; i++) {
            nodes[i] = ordering->scratch[i].node;
            layout->nodes[nodes[i]].place = (uint32_t)i;
        }
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

static void sweep(const struct ordering *ordering, bool down)
{
    const struct layout_adjacency *adjacency = ordering->adjacency;
    size_t layers = ordering->layout->layers_count;
    for (size_t step = 1; step < layers; step++) {
        if (down)
            sort_layer(ordering, step, adjacency->above_start, adjacency->above);
        else
            sort_layer(ordering, layers - 1 - step, adjacency->below_start, adjacency->below);
    }
}

void layout_order(struct layout *layout, const struct layout_adjacency *adjacency,
                  const uint32_t *groups)
{
    size_t most = MAX(layout->nodes_count, layout->links_count) + 2;
    CLEANUP(mem_freep) uint32_t *tree = mem_zalloc(most, sizeof *tree);
    CLEANUP(mem_freep) struct keyed *scratch = mem_zalloc(most, sizeof *scratch);
    CLEANUP(mem_freep) uint32_t *best = mem_zalloc(layout->nodes_count + 1, sizeof *best);
    CLEANUP(mem_freep)
    struct group_wish *wishes = mem_zalloc(layout->real_count + 1, sizeof *wishes);
    size_t bytes = layout->nodes_count * sizeof *best;
    const struct ordering ordering = {layout, adjacency, groups, wishes, scratch};

    join_groups(&ordering);
    memcpy(best, layout->layer_items, bytes);
    uint64_t fewest = count_crossings(layout, adjacency, tree, scratch);
    for (int i = 0; i < SWEEPS_MAX && fewest > 0; i++) {
        sweep(&ordering, i % 2 == 0);
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
