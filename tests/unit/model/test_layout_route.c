/*
 * Lines touch no box but those at their ends, groups stay together, and none of it takes long.
 */
#include <time.h>

#include "base/mem.h"
#include "expect.h"
#include "model/layout_route.h"

enum { HEIGHT = 34, BREADTH = 50, LANE = 18, GAP = 44, MARGIN = 20 };

struct drawn {
    struct layout *layout;
    struct layout_routes *routes;
    double *widths;
};

static struct drawn draw(const struct layout_request *request)
{
    struct drawn drawn = {.widths = mem_zalloc(request->nodes_count + 1, sizeof(double))};
    struct err err = {0};
    for (size_t i = 0; i < request->nodes_count; i++)
        drawn.widths[i] = 40 + (double)(i * 37 % 90);
    EXPECT_OK(layout_new(request, &drawn.layout, &err), &err);
    drawn.routes = layout_route_new(&(struct layout_route_request){
        .layout = drawn.layout,
        .edges = request->edges,
        .edges_count = request->edges_count,
        .widths = drawn.widths,
        .height = HEIGHT,
        .gap = GAP,
        .margin = MARGIN,
    });
    return drawn;
}

static void drawn_fini(struct drawn *drawn)
{
    layout_route_free(drawn->routes);
    layout_free(drawn->layout);
    free(drawn->widths);
}

/* A few edges to near nodes, and one far back, so that lines have layers to pass. */
static size_t make_edges(struct layout_edge *edges, uint32_t nodes, int each)
{
    size_t count = 0;
    uint64_t seed = 4711;
    for (uint32_t node = 1; node < nodes; node++) {
        for (int k = 0; k < each; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t reach = MIN(node, k == 0 ? 200u : 40u);
            edges[count++] = (struct layout_edge){node - 1 - (uint32_t)(seed >> 33) % reach, node};
        }
    }
    return count;
}

/* Whether the line from a to b has a point inside the box. */
static bool touches(struct layout_point a, struct layout_point b, const struct layout_box *box)
{
    enum { STEPS = 40 };
    for (int i = 0; i <= STEPS; i++) {
        double x = a.x + (b.x - a.x) * i / STEPS;
        double y = a.y + (b.y - a.y) * i / STEPS;
        if (x > box->x && x < box->x + box->width && y > box->y && y < box->y + box->height)
            return true;
    }
    return false;
}

static void expect_free_lines(const struct drawn *drawn, const struct layout_edge *edges,
                              size_t count)
{
    const struct layout_routes *routes = drawn->routes;
    for (size_t e = 0; e < count; e++) {
        cr_assert_geq(routes->start[e + 1], routes->start[e] + 2, "edge %zu has two ends", e);
        for (size_t p = routes->start[e]; p + 1 < routes->start[e + 1]; p++)
            for (size_t node = 0; node < routes->boxes_count; node++)
                cr_assert(!touches(routes->points[p], routes->points[p + 1], &routes->boxes[node]),
                          "edge %zu (%u to %u) runs through node %zu", e, edges[e].from,
                          edges[e].to, node);
    }
}

Test(layout_route, lines_begin_and_end_at_their_nodes)
{
    static const struct layout_edge EDGES[] = {{0, 1}, {1, 2}, {0, 2}};
    const struct layout_request request = {.nodes_count = 3,
                                           .edges = EDGES,
                                           .edges_count = ARRAY_LEN(EDGES),
                                           .node_breadth = BREADTH,
                                           .dummy_breadth = LANE};
    CLEANUP(drawn_fini) struct drawn drawn = draw(&request);
    const struct layout_routes *routes = drawn.routes;

    for (size_t e = 0; e < ARRAY_LEN(EDGES); e++) {
        const struct layout_box *from = &routes->boxes[EDGES[e].from];
        const struct layout_box *to = &routes->boxes[EDGES[e].to];
        const struct layout_point *first = &routes->points[routes->start[e]];
        const struct layout_point *last = &routes->points[routes->start[e + 1] - 1];
        cr_expect_float_eq(first->x, from->x + from->width, 1e-6);
        cr_expect_float_eq(first->y, from->y + from->height / 2, 1e-6);
        cr_expect_float_eq(last->x, to->x, 1e-6);
        cr_expect_float_eq(last->y, to->y + to->height / 2, 1e-6);
    }
    cr_expect_gt(routes->start[3] - routes->start[2], 2, "the long one goes around");
    expect_free_lines(&drawn, EDGES, ARRAY_LEN(EDGES));
}

Test(layout_route, lines_touch_no_other_box_and_everything_lies_within)
{
    enum { NODES = 120 };
    struct layout_edge edges[NODES * 3];
    size_t count = make_edges(edges, NODES, 3);
    const struct layout_request request = {.nodes_count = NODES,
                                           .edges = edges,
                                           .edges_count = count,
                                           .node_breadth = BREADTH,
                                           .dummy_breadth = LANE};
    CLEANUP(drawn_fini) struct drawn drawn = draw(&request);
    const struct layout_routes *routes = drawn.routes;

    expect_free_lines(&drawn, edges, count);
    for (size_t i = 0; i < routes->boxes_count; i++) {
        const struct layout_box *box = &routes->boxes[i];
        cr_assert(box->x >= MARGIN - 1e-6 && box->y >= MARGIN - 1e-6);
        cr_assert(box->x + box->width <= routes->width - MARGIN + 1e-6);
        cr_assert(box->y + box->height <= routes->height - MARGIN + 1e-6);
    }
    for (size_t i = 0; i < routes->points_count; i++)
        cr_assert(routes->points[i].x > 0 && routes->points[i].x < routes->width &&
                  routes->points[i].y > 0 && routes->points[i].y < routes->height);
}

Test(layout_route, nothing_is_fine)
{
    const struct layout_request request = {.node_breadth = BREADTH, .dummy_breadth = LANE};
    CLEANUP(drawn_fini) struct drawn drawn = draw(&request);
    cr_expect_eq(drawn.routes->boxes_count, 0);
    cr_expect_eq(drawn.routes->points_count, 0);
}

/* In every layer the members of a group are neighbours. */
Test(layout_route, groups_stay_together)
{
    enum { NODES = 200, GROUPS = 7 };
    struct layout_edge edges[NODES * 2];
    uint32_t groups[NODES];
    size_t count = make_edges(edges, NODES, 2);
    for (uint32_t i = 0; i < NODES; i++)
        groups[i] = i % (GROUPS + 1);
    struct layout_request request = {.nodes_count = NODES,
                                     .edges = edges,
                                     .edges_count = count,
                                     .node_breadth = BREADTH,
                                     .dummy_breadth = LANE,
                                     .groups = groups};
    CLEANUP(drawn_fini) struct drawn drawn = draw(&request);
    const struct layout *layout = drawn.layout;

    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        bool was_left[GROUPS + 1] = {false};
        uint32_t before = 0;
        for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
            uint32_t node = layout->layer_items[i];
            uint32_t group = node < NODES ? groups[node] : 0;
            if (group != before)
                was_left[before] = true;
            cr_assert(group == 0 || !was_left[group], "group %u is split in layer %zu", group,
                      layer);
            before = group;
        }
    }
    expect_free_lines(&drawn, edges, count);
}

/* Of this process alone: others may keep the machine busy. */
static int64_t cpu_us(void)
{
    struct timespec now;
    cr_assert_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t time_of(uint32_t nodes)
{
    CLEANUP(mem_freep) struct layout_edge *edges = mem_zalloc(nodes * 3, sizeof *edges);
    const struct layout_request request = {.nodes_count = nodes,
                                           .edges = edges,
                                           .edges_count = make_edges(edges, nodes, 3),
                                           .node_breadth = BREADTH,
                                           .dummy_breadth = LANE};
    int64_t best_us = INT64_MAX;
    for (int i = 0; i < 3; i++) {
        int64_t began_us = cpu_us();
        struct drawn drawn = draw(&request);
        best_us = MIN(best_us, cpu_us() - began_us);
        drawn_fini(&drawn);
    }
    return best_us;
}

/* Five times the nodes, and lines that pass more layers: far from the square of it, which is 25. */
Test(layout_route, time_grows_little_faster_than_the_graph)
{
    int64_t small_us = time_of(1000);
    int64_t large_us = time_of(5000);
    cr_log_info("1000 nodes %lld us, 5000 nodes %lld us", (long long)small_us, (long long)large_us);
    cr_expect_lt(large_us, small_us * 20, "%lld us for 1000 nodes, %lld us for 5000",
                 (long long)small_us, (long long)large_us);
}
