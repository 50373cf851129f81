#pragma once
/*
 * layout_route: a layout as boxes and lines on a plane, layers from left to right.
 *
 * A line leaves its node on the right and enters the next one on the left. It changes its height
 * only in the gaps between layers, and passes a layer at its placeholder, where no node stands: so
 * no line touches the box of a node that it does not belong to. Pure.
 *
 * Tests  tests/unit/model/test_layout_route.c
 */
#include <stddef.h>

#include "model/layout.h"

struct layout_point {
    double x;
    double y;
};

struct layout_box {
    double x; /* its left upper corner */
    double y;
    double width;
    double height;
};

struct layout_route_request {
    const struct layout *layout;
    const struct layout_edge *edges; /* those of the layout's request */
    size_t edges_count;
    const double *widths; /* of the nodes */
    double height;        /* of each; less than node_breadth of the layout's request */
    double gap;           /* between layers */
    double margin;        /* around everything */
};

struct layout_routes {
    struct layout_box *boxes; /* of the nodes */
    size_t boxes_count;
    struct layout_point *points; /* corners of all lines, one after another */
    size_t points_count;
    size_t *start; /* edges_count + 1 offsets into points; a line has at least two */
    double width;  /* of the whole */
    double height;
};

/* Corners of all lines together; lines beyond that go straight from node to node. */
enum { LAYOUT_POINTS_MAX = 1 << 20 };

NODISCARD struct layout_routes *layout_route_new(const struct layout_route_request *request);
void layout_route_free(struct layout_routes *routes); /* NULL is allowed */

static inline void layout_route_freep(struct layout_routes **routes)
{
    layout_route_free(*routes);
}
