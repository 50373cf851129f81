#pragma once
/*
 * layout_priv: the steps of a layout, each over the arrays of the step before.
 */
#include "model/layout.h"

/* Links by target and by source, as offsets into arrays of nodes. */
struct layout_adjacency {
    size_t *above_start; /* nodes_count + 1 */
    uint32_t *above;     /* neighbours in the layer before */
    size_t *below_start;
    uint32_t *below;
};

void layout_adjacency_init(struct layout_adjacency *adjacency, const struct layout *layout);
void layout_adjacency_fini(struct layout_adjacency *adjacency);

/*
 * Order every layer so that few links cross; sets layer_items and place. Nodes of a group stay
 * together: `groups` as in the request.
 */
void layout_order(struct layout *layout, const struct layout_adjacency *adjacency,
                  const uint32_t *groups);

/* Give every node its position, keeping the order. */
void layout_place(struct layout *layout, const struct layout_adjacency *adjacency,
                  double node_breadth, double dummy_breadth);
