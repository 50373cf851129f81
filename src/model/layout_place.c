/*
 * Positions across the layers. Each node wants to stand at the mean of its neighbours.
 * For one layer, the positions nearest to all wishes (least squares) that keep order and
 * distances are found exactly by pooling adjacent violators: with the distances subtracted,
 * wishes that contradict the order are merged into blocks that take their weighted mean.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "model/layout_priv.h"

enum { ROUNDS = 6 };

struct block {
    double sum; /* of weight * wish */
    double weight;
    size_t count;
};

struct placing {
    struct layout *layout;
    const struct layout_adjacency *adjacency;
    double node_breadth;
    double dummy_breadth;
    struct block *blocks;
    double *offsets; /* distance of each item of a layer from its first */
};

static double breadth_of(const struct placing *placing, uint32_t node)
{
    return node < placing->layout->real_count ? placing->node_breadth : placing->dummy_breadth;
}

static bool is_dummy(const struct placing *placing, uint32_t node)
{
    return node >= placing->layout->real_count;
}

/* Adds the neighbours' positions; a placeholder pulls hard, so that long edges stay straight. */
static void add_wishes(const struct placing *placing, const size_t *start, const uint32_t *items,
                       uint32_t node, struct block *wish)
{
    for (size_t i = start[node]; i < start[node + 1]; i++) {
        bool lane = is_dummy(placing, node) && is_dummy(placing, items[i]);
        double weight = lane ? 8 : 1;
        wish->sum += weight * placing->layout->nodes[items[i]].position;
        wish->weight += weight;
    }
}

static struct block wish_of(const struct placing *placing, uint32_t node, bool above, bool below)
{
    const struct layout_adjacency *adjacency = placing->adjacency;
    struct block wish = {.count = 1};
    if (above)
        add_wishes(placing, adjacency->above_start, adjacency->above, node, &wish);
    if (below)
        add_wishes(placing, adjacency->below_start, adjacency->below, node, &wish);
    if (wish.weight == 0) {
        /* Nobody to follow: stay, but give way to anyone who has a reason. */
        wish.weight = 0.01;
        wish.sum = wish.weight * placing->layout->nodes[node].position;
    }
    return wish;
}

static void fit_layer(struct placing *placing, size_t layer, bool above, bool below)
{
    struct layout *layout = placing->layout;
    const uint32_t *items = layout->layer_items + layout->layer_start[layer];
    size_t count = layout->layer_start[layer + 1] - layout->layer_start[layer];
    size_t blocks = 0;
    double offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            offset += (breadth_of(placing, items[i - 1]) + breadth_of(placing, items[i])) / 2;
        placing->offsets[i] = offset;
        struct block block = wish_of(placing, items[i], above, below);
        block.sum -= block.weight * offset;
        while (blocks > 0) {
            const struct block *last = &placing->blocks[blocks - 1];
            if (last->sum / last->weight <= block.sum / block.weight)
                break;
            block.sum += last->sum;
            block.weight += last->weight;
            block.count += last->count;
            blocks--;
        }
        placing->blocks[blocks++] = block;
    }
    size_t i = 0;
    for (size_t b = 0; b < blocks; b++) {
        double base = placing->blocks[b].sum / placing->blocks[b].weight;
        for (size_t k = 0; k < placing->blocks[b].count; k++, i++)
            layout->nodes[items[i]].position = base + placing->offsets[i];
    }
}

static void pack_layers(struct placing *placing)
{
    struct layout *layout = placing->layout;
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        double position = 0;
        for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
            double half = breadth_of(placing, layout->layer_items[i]) / 2;
            layout->nodes[layout->layer_items[i]].position = position + half;
            position += 2 * half;
        }
    }
}

/* Shift everything so that the nearest edge of any node is at 0. */
static void settle(struct placing *placing)
{
    struct layout *layout = placing->layout;
    double least = 0;
    double most = 0;
    for (uint32_t i = 0; i < layout->nodes_count; i++) {
        double half = breadth_of(placing, i) / 2;
        double low = layout->nodes[i].position - half;
        double high = layout->nodes[i].position + half;
        least = i == 0 ? low : MIN(least, low);
        most = i == 0 ? high : MAX(most, high);
    }
    for (size_t i = 0; i < layout->nodes_count; i++)
        layout->nodes[i].position -= least;
    layout->breadth = most - least;
}

void layout_place(struct layout *layout, const struct layout_adjacency *adjacency,
                  double node_breadth, double dummy_breadth)
{
    size_t widest = 0;
    for (size_t layer = 0; layer < layout->layers_count; layer++)
        widest = MAX(widest, layout->layer_start[layer + 1] - layout->layer_start[layer]);
    CLEANUP(mem_freep) struct block *blocks = mem_zalloc(widest + 1, sizeof *blocks);
    CLEANUP(mem_freep) double *offsets = mem_zalloc(widest + 1, sizeof *offsets);
    struct placing placing = {
        .layout = layout,
        .adjacency = adjacency,
        .node_breadth = node_breadth,
        .dummy_breadth = dummy_breadth,
        .blocks = blocks,
        .offsets = offsets,
    };
    pack_layers(&placing);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t layer = 1; layer < layout->layers_count; layer++)
            fit_layer(&placing, layer, true, round > 1);
        for (size_t layer = layout->layers_count; layer-- > 0;)
            fit_layer(&placing, layer, round > 1, true);
    }
    settle(&placing);
}
