#include "model/layout_route.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"

struct routing {
    const struct layout_route_request *request;
    struct layout_routes *routes;
    double *left;  /* of each layer */
    double *right; /* of each layer */
    size_t capacity;
};

static double height_of(const struct routing *routing, uint32_t node)
{
    return routing->request->layout->nodes[node].position + routing->request->margin;
}

/* Each layer is as wide as its widest node. */
static void place_layers(struct routing *routing)
{
    const struct layout_route_request *request = routing->request;
    const struct layout *layout = request->layout;
    double x = request->margin;
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        double width = 0;
        for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++)
            if (layout->layer_items[i] < layout->real_count)
                width = MAX(width, request->widths[layout->layer_items[i]]);
        routing->left[layer] = x;
        routing->right[layer] = x + width;
        x += width + request->gap;
    }
    double end = layout->layers_count > 0 ? routing->right[layout->layers_count - 1] : x;
    routing->routes->width = end + request->margin;
    routing->routes->height = layout->breadth + 2 * request->margin;
}

static void place_boxes(struct routing *routing)
{
    const struct layout_route_request *request = routing->request;
    for (uint32_t node = 0; node < request->layout->real_count; node++) {
        uint32_t layer = request->layout->nodes[node].layer;
        double width = request->widths[node];
        double spare = routing->right[layer] - routing->left[layer] - width;
        routing->routes->boxes[node] = (struct layout_box){
            .x = routing->left[layer] + spare / 2,
            .y = height_of(routing, node) - request->height / 2,
            .width = width,
            .height = request->height,
        };
    }
}

/* A corner; one that only prolongs the line replaces the one before it. */
static void add_point(struct routing *routing, size_t start, double x, double y)
{
    struct layout_routes *routes = routing->routes;
    struct layout_point *points = routes->points;
    size_t count = routes->points_count;
    if (count >= start + 2 && points[count - 1].y == y && points[count - 2].y == y) {
        points[count - 1].x = x;
        return;
    }
    if (count > start && points[count - 1].x == x && points[count - 1].y == y)
        return;
    points = mem_grow(points, &routing->capacity, count, sizeof *points);
    points[routes->points_count++] = (struct layout_point){x, y};
    routes->points = points;
}

static void add_route(struct routing *routing, const struct layout_edge *edge)
{
    const struct layout *layout = routing->request->layout;
    const struct layout_box *from = &routing->routes->boxes[edge->from];
    const struct layout_box *to = &routing->routes->boxes[edge->to];
    size_t start = routing->routes->points_count;
    uint32_t layer = layout->nodes[edge->from].layer;
    uint32_t last = layout->nodes[edge->to].layer;
    bool is_straight = start >= LAYOUT_POINTS_MAX;
    add_point(routing, start, from->x + from->width, height_of(routing, edge->from));
    if (!is_straight)
        add_point(routing, start, routing->right[layer], height_of(routing, edge->from));
    for (layer++; layer < last && !is_straight; layer++) {
        double y = height_of(routing, layout_via(layout, edge->from, layer));
        add_point(routing, start, routing->left[layer], y);
        add_point(routing, start, routing->right[layer], y);
    }
    if (!is_straight)
        add_point(routing, start, routing->left[last], height_of(routing, edge->to));
    add_point(routing, start, to->x, height_of(routing, edge->to));
}

struct layout_routes *layout_route_new(const struct layout_route_request *request)
{
    const struct layout *layout = request->layout;
    CHECK(request->gap > 0);
    CHECK(request->height > 0);
    CLEANUP(mem_freep) double *left = mem_zalloc(layout->layers_count + 1, sizeof *left);
    CLEANUP(mem_freep) double *right = mem_zalloc(layout->layers_count + 1, sizeof *right);
    struct layout_routes *routes = mem_zalloc(1, sizeof *routes);
    struct routing routing = {.request = request, .routes = routes, .left = left, .right = right};
    routes->boxes_count = layout->real_count;
    routes->boxes = mem_zalloc(layout->real_count + 1, sizeof *routes->boxes);
    routes->start = mem_zalloc(request->edges_count + 1, sizeof *routes->start);
    place_layers(&routing);
    place_boxes(&routing);
    for (size_t i = 0; i < request->edges_count; i++) {
        CHECK(request->edges[i].from < layout->real_count);
        CHECK(request->edges[i].to < layout->real_count);
        routes->start[i] = routes->points_count;
        add_route(&routing, &request->edges[i]);
    }
    routes->start[request->edges_count] = routes->points_count;
    return routes;
}

void layout_route_free(struct layout_routes *routes)
{
    if (routes == NULL)
        return;
    free(routes->boxes);
    free(routes->points);
    free(routes->start);
    free(routes);
}
