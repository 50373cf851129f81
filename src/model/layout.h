#pragma once
/*
 * layout: where the nodes of a DAG go when it is drawn.
 *
 * Layers follow the longest path; edges over several layers get placeholders, one
 * chain per source, so that all long edges of a node share a lane. Sweeps over
 * neighbours' centres order each layer, and a least-squares fit that keeps
 * that order gives the positions across. Nodes of a group stand side by side wherever they share a
 * layer. Pure, iterative, over plain arrays.
 *
 * The unit of length is the caller's (rows of text, pixels). Positions are centres,
 * measured across the layers from 0; where layers lie along the other axis is the caller's.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attrs.h"
#include "base/err.h"

struct layout_edge {
    uint32_t from;
    uint32_t to;
};

struct layout_request {
    size_t nodes_count;
    const struct layout_edge *edges;
    size_t edges_count;
    double node_breadth;  /* room that a node takes across its layer, gap included */
    double dummy_breadth; /* the same for a placeholder */
    const bool *is_late; /* nodes that stand after all others, or NULL; only late ones follow one */
    const uint32_t *groups; /* of each node, from 1 to nodes_count, 0: none; or NULL */
};

struct layout_node {
    uint32_t layer;
    uint32_t place; /* from 0 within its layer */
    double position;
};

struct layout {
    struct layout_node *nodes; /* the caller's nodes, then placeholders */
    size_t nodes_count;        /* placeholders included */
    size_t real_count;
    uint32_t *owner; /* of placeholder real_count + i: the source of its edges */

    size_t layers_count;
    size_t *layer_start; /* layers_count + 1 offsets into layer_items */
    uint32_t *layer_items;

    struct layout_edge *links; /* between neighbouring layers only, without duplicates */
    size_t links_count;
    double breadth; /* extent across */

    uint32_t *chain_start; /* first placeholder of each real node */
};

/*
 * How much is laid out: nodes and edges together, and the layers that all edges pass, which is what
 * placeholders and lines cost. Work grows little faster than these; at both bounds it is about a
 * second.
 */
enum { LAYOUT_SIZE_MAX = 100000, LAYOUT_PASSED_MAX = 500000 };

/*
 * STATUS_INVALID when an edge leaves the range or the edges form a cycle, STATUS_LIMIT when there
 * is more than is laid out.
 */
NODISCARD enum status layout_new(const struct layout_request *request, struct layout **out,
                                 struct err *err);
void layout_free(struct layout *layout); /* NULL is allowed */

/*
 * The node through which an edge out of `from` passes `layer`, which lies after from's layer
 * and before the layer of the edge's target.
 */
uint32_t layout_via(const struct layout *layout, uint32_t from, uint32_t layer);

/* Pairs of links that cross, under the order of the layout. */
uint64_t layout_crossings(const struct layout *layout);

static inline void layout_freep(struct layout **layout)
{
    layout_free(*layout);
}
