#include "base/clock.h"
#include "base/mem.h"
#include "expect.h"
#include "model/layout.h"

static struct layout *lay_out(size_t nodes, const struct layout_edge *edges, size_t edges_count)
{
    struct layout *layout = NULL;
    struct err err = {0};
    struct layout_request request = {
        .nodes_count = nodes,
        .edges = edges,
        .edges_count = edges_count,
        .node_breadth = 3,
        .dummy_breadth = 1,
    };
    EXPECT_OK(layout_new(&request, &layout, &err), &err);
    return layout;
}

/* What must hold of every layout, whatever the graph. */
static void expect_sound(const struct layout *layout, const struct layout_edge *edges,
                         size_t edges_count)
{
    for (size_t i = 0; i < edges_count; i++)
        cr_assert_lt(layout->nodes[edges[i].from].layer, layout->nodes[edges[i].to].layer);
    for (size_t i = 0; i < layout->links_count; i++)
        cr_assert_eq(layout->nodes[layout->links[i].from].layer + 1,
                     layout->nodes[layout->links[i].to].layer);
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        for (size_t i = layout->layer_start[layer]; i + 1 < layout->layer_start[layer + 1]; i++) {
            uint32_t here = layout->layer_items[i];
            uint32_t next = layout->layer_items[i + 1];
            double room =
                (here < layout->real_count ? 1.5 : 0.5) + (next < layout->real_count ? 1.5 : 0.5);
            double between = layout->nodes[next].position - layout->nodes[here].position;
            cr_assert(between >= room - 1e-6, "layer %zu: %f < %f", layer, between, room);
        }
    }
}

Test(layout, a_diamond_has_three_layers_and_no_crossing)
{
    static const struct layout_edge EDGES[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    CLEANUP(layout_freep) struct layout *layout = lay_out(4, EDGES, ARRAY_LEN(EDGES));

    expect_sound(layout, EDGES, ARRAY_LEN(EDGES));
    cr_expect_eq(layout->layers_count, 3);
    cr_expect_eq(layout->nodes_count, 4);
    cr_expect_eq(layout_crossings(layout), 0);
    cr_expect_float_eq(layout->nodes[0].position, layout->nodes[3].position, 1e-6);
    cr_expect_float_eq(layout->breadth, 6, 1e-6);
}

Test(layout, crossed_pairs_are_uncrossed)
{
    static const struct layout_edge EDGES[] = {{0, 5}, {1, 4}, {2, 3}};
    CLEANUP(layout_freep) struct layout *layout = lay_out(6, EDGES, ARRAY_LEN(EDGES));

    cr_expect_eq(layout_crossings(layout), 0);
    cr_expect_float_eq(layout->nodes[0].position, layout->nodes[5].position, 1e-6);
}

Test(layout, long_edges_of_one_source_share_their_placeholders)
{
    static const struct layout_edge EDGES[] = {{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}, {0, 2}};
    CLEANUP(layout_freep) struct layout *layout = lay_out(4, EDGES, ARRAY_LEN(EDGES));

    expect_sound(layout, EDGES, ARRAY_LEN(EDGES));
    cr_expect_eq(layout->nodes_count, 6);
    cr_expect_eq(layout->owner[0], 0);
    cr_expect_eq(layout_via(layout, 0, 1), 4);
    cr_expect_eq(layout_via(layout, 0, 2), 5);
    cr_expect_eq(layout->links_count, 7, "a double edge counts once");
}

Test(layout, a_late_root_stands_before_its_first_child)
{
    static const struct layout_edge EDGES[] = {{0, 1}, {1, 2}, {3, 2}};
    CLEANUP(layout_freep) struct layout *layout = lay_out(4, EDGES, ARRAY_LEN(EDGES));

    cr_expect_eq(layout->nodes[3].layer, 1);
}

Test(layout, what_comes_last_stands_after_all_others)
{
    static const struct layout_edge EDGES[] = {{1, 2}, {0, 3}};
    static const bool IS_LATE[] = {true, false, false, true, false};
    struct layout_request request = {.nodes_count = ARRAY_LEN(IS_LATE),
                                     .edges = EDGES,
                                     .edges_count = ARRAY_LEN(EDGES),
                                     .node_breadth = 3,
                                     .dummy_breadth = 1,
                                     .is_late = IS_LATE};
    CLEANUP(layout_freep) struct layout *layout = NULL;
    struct err err = {0};
    EXPECT_OK(layout_new(&request, &layout, &err), &err);

    static const uint32_t LAYERS[] = {2, 0, 1, 3, 0};
    for (size_t i = 0; i < ARRAY_LEN(LAYERS); i++)
        cr_expect_eq(layout->nodes[i].layer, LAYERS[i], "node %zu: layer %u", i,
                     layout->nodes[i].layer);
    cr_expect_eq(layout->layers_count, 4);
}

Test(layout, cycles_and_wild_edges_are_refused_and_nothing_is_fine)
{
    static const struct layout_edge CYCLE[] = {{0, 1}, {1, 2}, {2, 1}};
    static const struct layout_edge SELF[] = {{1, 1}};
    static const struct layout_edge WILD[] = {{0, 3}};
    static const struct {
        const struct layout_edge *edges;
        size_t count;
    } CASES[] = {{CYCLE, 3}, {SELF, 1}, {WILD, 1}};
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct layout *layout = NULL;
        struct err err = {0};
        struct layout_request request = {.nodes_count = 3,
                                         .edges = CASES[i].edges,
                                         .edges_count = CASES[i].count,
                                         .node_breadth = 1,
                                         .dummy_breadth = 1};
        EXPECT_STATUS(STATUS_INVALID, layout_new(&request, &layout, &err), &err);
        cr_expect_null(layout);
    }
    CLEANUP(layout_freep) struct layout *empty = lay_out(0, NULL, 0);
    cr_expect_eq(empty->layers_count, 0);
    CLEANUP(layout_freep) struct layout *lone = lay_out(3, NULL, 0);
    cr_expect_eq(lone->layers_count, 1);
    cr_expect_float_eq(lone->breadth, 9, 1e-6);
}

Test(layout, large_graphs_are_sound)
{
    enum { NODES = 1000 };
    size_t count = 0;
    CLEANUP(mem_freep) struct layout_edge *edges = mem_zalloc(NODES * 3, sizeof *edges);
    uint64_t seed = 12345;
    for (uint32_t node = 1; node < NODES; node++) {
        for (int k = 0; k < 3; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            uint32_t reach = MIN(node, 40u);
            edges[count++] = (struct layout_edge){node - 1 - (uint32_t)(seed >> 33) % reach, node};
        }
    }
    CLEANUP(layout_freep) struct layout *layout = lay_out(NODES, edges, count);
    expect_sound(layout, edges, count);
}

Test(layout, what_is_too_large_is_refused_before_it_costs_anything)
{
    enum { NODES = 60000, CHAIN = 1200 };
    CLEANUP(mem_freep) struct layout_edge *edges = mem_zalloc(2 * (size_t)NODES, sizeof *edges);
    struct layout *layout = NULL;
    struct err err = {0};
    for (uint32_t i = 1; i < NODES; i++)
        edges[i - 1] = (struct layout_edge){0, i};
    struct layout_request request = {.nodes_count = NODES,
                                     .edges = edges,
                                     .edges_count = NODES - 1,
                                     .node_breadth = 1,
                                     .dummy_breadth = 1};
    EXPECT_STATUS(STATUS_LIMIT, layout_new(&request, &layout, &err), &err);
    EXPECT_CONTAINS(err.text, "60000 nodes with 59999 edges");
    EXPECT_CONTAINS(err.text, "at most 100000");

    /* Few nodes, but all of a long chain have a line to its end. */
    request.nodes_count = CHAIN;
    request.edges_count = 0;
    for (uint32_t i = 1; i < CHAIN; i++) {
        edges[request.edges_count++] = (struct layout_edge){i - 1, i};
        edges[request.edges_count++] = (struct layout_edge){i - 1, CHAIN - 1};
    }
    err = (struct err){0};
    EXPECT_STATUS(STATUS_LIMIT, layout_new(&request, &layout, &err), &err);
    EXPECT_CONTAINS(err.text, "pass 718201 layers");
    cr_expect_null(layout);
}
