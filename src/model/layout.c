#include "model/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "model/layout_priv.h"

/* Out-edges of the caller's nodes, grouped by source. */
struct outgoing {
    size_t *start;
    uint32_t *to;
};

static void outgoing_fini(struct outgoing *outgoing)
{
    free(outgoing->start);
    free(outgoing->to);
}

static struct outgoing group_edges(const struct layout_request *request)
{
    struct outgoing outgoing = {
        .start = mem_zalloc(request->nodes_count + 2, sizeof(size_t)),
        .to = mem_zalloc(request->edges_count + 1, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < request->edges_count; i++)
        outgoing.start[request->edges[i].from + 2]++;
    for (size_t i = 2; i < request->nodes_count + 2; i++)
        outgoing.start[i] += outgoing.start[i - 1];
    for (size_t i = 0; i < request->edges_count; i++)
        outgoing.to[outgoing.start[request->edges[i].from + 1]++] = request->edges[i].to;
    return outgoing;
}

/* Longest path from a root, by removing nodes whose parents are all done. */
static enum status assign_layers(struct layout *layout, const struct layout_request *request,
                                 const struct outgoing *outgoing, struct err *err)
{
    size_t count = request->nodes_count;
    CLEANUP(mem_freep) uint32_t *waiting = mem_zalloc(count + 1, sizeof(uint32_t));
    CLEANUP(mem_freep) uint32_t *queue = mem_zalloc(count + 1, sizeof(uint32_t));
    for (size_t i = 0; i < request->edges_count; i++)
        waiting[request->edges[i].to]++;
    size_t tail = 0;
    for (uint32_t node = 0; node < count; node++)
        if (waiting[node] == 0)
            queue[tail++] = node;
    for (size_t head = 0; head < tail; head++) {
        uint32_t node = queue[head];
        uint32_t next = layout->nodes[node].layer + 1;
        layout->layers_count = MAX(layout->layers_count, (size_t)next);
        for (size_t e = outgoing->start[node]; e < outgoing->start[node + 1]; e++) {
            struct layout_node *child = &layout->nodes[outgoing->to[e]];
            child->layer = MAX(child->layer, next);
            if (--waiting[outgoing->to[e]] == 0)
                queue[tail++] = outgoing->to[e];
        }
    }
    if (tail != count)
        return err_set(err, STATUS_INVALID, "the edges form a cycle");
    return STATUS_OK;
}

/* Roots stand right before their first child rather than far away in the first layer. */
static void pull_roots(struct layout *layout, const struct layout_request *request,
                       const struct outgoing *outgoing)
{
    CLEANUP(mem_freep) bool *has_parent = mem_zalloc(request->nodes_count + 1, sizeof(bool));
    for (size_t i = 0; i < request->edges_count; i++)
        has_parent[request->edges[i].to] = true;
    for (uint32_t node = 0; node < request->nodes_count; node++) {
        if (has_parent[node] || outgoing->start[node] == outgoing->start[node + 1])
            continue;
        uint32_t nearest = UINT32_MAX;
        for (size_t e = outgoing->start[node]; e < outgoing->start[node + 1]; e++)
            nearest = MIN(nearest, layout->nodes[outgoing->to[e]].layer);
        layout->nodes[node].layer = nearest - 1;
    }
}

static void move_late(struct layout *layout, const struct layout_request *request)
{
    uint32_t layers = 0;
    for (size_t i = 0; i < request->nodes_count; i++)
        if (!request->is_late[i])
            layers = MAX(layers, layout->nodes[i].layer + 1);
    for (size_t i = 0; i < request->nodes_count; i++) {
        if (request->is_late[i])
            layout->nodes[i].layer += layers;
        layout->layers_count = MAX(layout->layers_count, (size_t)layout->nodes[i].layer + 1);
    }
}

static enum status check_lengths(const struct layout *layout, const struct layout_request *request,
                                 struct err *err)
{
    size_t passed = 0;
    for (size_t i = 0; i < request->edges_count; i++) {
        const struct layout_edge *edge = &request->edges[i];
        passed += layout->nodes[edge->to].layer - layout->nodes[edge->from].layer - 1;
    }
    if (passed > LAYOUT_PASSED_MAX)
        return err_set(err, STATUS_LIMIT,
                       "edges that pass %zu layers in sum are too long to lay out: at most %d",
                       passed, LAYOUT_PASSED_MAX);
    return STATUS_OK;
}

static void count_dummies(struct layout *layout, const struct outgoing *outgoing)
{
    size_t total = layout->real_count;
    for (uint32_t node = 0; node < layout->real_count; node++) {
        uint32_t last = layout->nodes[node].layer + 1;
        for (size_t e = outgoing->start[node]; e < outgoing->start[node + 1]; e++)
            last = MAX(last, layout->nodes[outgoing->to[e]].layer);
        layout->chain_start[node] = (uint32_t)total;
        total += last - layout->nodes[node].layer - 1;
    }
    layout->chain_start[layout->real_count] = (uint32_t)total;
    layout->nodes_count = total;
}

static void add_link(struct layout *layout, uint32_t from, uint32_t to)
{
    layout->links[layout->links_count++] = (struct layout_edge){from, to};
}

static void add_dummies(struct layout *layout, const struct layout_request *request)
{
    size_t dummies = layout->nodes_count - layout->real_count;
    layout->nodes = mem_resize(layout->nodes, layout->nodes_count + 1, sizeof *layout->nodes);
    layout->owner = mem_zalloc(dummies + 1, sizeof(uint32_t));
    layout->links = mem_zalloc(request->edges_count + dummies + 1, sizeof *layout->links);
    for (uint32_t node = 0; node < layout->real_count; node++) {
        uint32_t before = node;
        for (uint32_t d = layout->chain_start[node]; d < layout->chain_start[node + 1]; d++) {
            layout->nodes[d] = (struct layout_node){.layer = layout->nodes[before].layer + 1};
            layout->owner[d - layout->real_count] = node;
            add_link(layout, before, d);
            before = d;
        }
    }
    for (size_t i = 0; i < request->edges_count; i++) {
        const struct layout_edge *edge = &request->edges[i];
        uint32_t last = layout->nodes[edge->to].layer - 1;
        bool direct = last == layout->nodes[edge->from].layer;
        add_link(layout, direct ? edge->from : layout_via(layout, edge->from, last), edge->to);
    }
}

static void fill_layers(struct layout *layout)
{
    size_t *start = mem_zalloc(layout->layers_count + 2, sizeof(size_t));
    layout->layer_start = start;
    layout->layer_items = mem_zalloc(layout->nodes_count + 1, sizeof(uint32_t));
    for (size_t i = 0; i < layout->nodes_count; i++)
        start[layout->nodes[i].layer + 1]++;
    for (size_t layer = 1; layer <= layout->layers_count; layer++)
        start[layer] += start[layer - 1];
    CLEANUP(mem_freep) uint32_t *filled = mem_zalloc(layout->layers_count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < layout->nodes_count; i++) {
        struct layout_node *node = &layout->nodes[i];
        node->place = filled[node->layer]++;
        layout->layer_items[start[node->layer] + node->place] = i;
    }
}

static int compare_links(const void *a, const void *b)
{
    const struct layout_edge *x = a;
    const struct layout_edge *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

static void drop_duplicate_links(struct layout *layout)
{
    if (layout->links_count == 0)
        return;
    qsort(layout->links, layout->links_count, sizeof *layout->links, compare_links);
    size_t kept = 1;
    for (size_t i = 1; i < layout->links_count; i++)
        if (compare_links(&layout->links[i], &layout->links[kept - 1]) != 0)
            layout->links[kept++] = layout->links[i];
    layout->links_count = kept;
}

void layout_adjacency_init(struct layout_adjacency *adjacency, const struct layout *layout)
{
    size_t count = layout->nodes_count;
    *adjacency = (struct layout_adjacency){
        .above_start = mem_zalloc(count + 2, sizeof(size_t)),
        .above = mem_zalloc(layout->links_count + 1, sizeof(uint32_t)),
        .below_start = mem_zalloc(count + 2, sizeof(size_t)),
        .below = mem_zalloc(layout->links_count + 1, sizeof(uint32_t)),
    };
    for (size_t i = 0; i < layout->links_count; i++) {
        adjacency->above_start[layout->links[i].to + 2]++;
        adjacency->below_start[layout->links[i].from + 2]++;
    }
    for (size_t i = 2; i < count + 2; i++) {
        adjacency->above_start[i] += adjacency->above_start[i - 1];
        adjacency->below_start[i] += adjacency->below_start[i - 1];
    }
    for (size_t i = 0; i < layout->links_count; i++) {
        const struct layout_edge *link = &layout->links[i];
        adjacency->above[adjacency->above_start[link->to + 1]++] = link->from;
        adjacency->below[adjacency->below_start[link->from + 1]++] = link->to;
    }
}

void layout_adjacency_fini(struct layout_adjacency *adjacency)
{
    free(adjacency->above_start);
    free(adjacency->above);
    free(adjacency->below_start);
    free(adjacency->below);
    *adjacency = (struct layout_adjacency){0};
}

static enum status check_request(const struct layout_request *request, struct err *err)
{
    CHECK(request->node_breadth > 0);
    CHECK(request->dummy_breadth > 0);
    if (request->nodes_count + request->edges_count > LAYOUT_SIZE_MAX)
        return err_set(err, STATUS_LIMIT,
                       "%zu nodes with %zu edges are too many to lay out: at most %d together",
                       request->nodes_count, request->edges_count, LAYOUT_SIZE_MAX);
    for (size_t i = 0; i < request->edges_count; i++) {
        const struct layout_edge *edge = &request->edges[i];
        if (edge->from >= request->nodes_count || edge->to >= request->nodes_count)
            return err_set(err, STATUS_INVALID, "an edge leads to a node that does not exist");
    }
    for (size_t i = 0; request->groups != NULL && i < request->nodes_count; i++)
        CHECK(request->groups[i] <= request->nodes_count);
    return STATUS_OK;
}

enum status layout_new(const struct layout_request *request, struct layout **out, struct err *err)
{
    if (check_request(request, err) != STATUS_OK)
        return err->code;
    CLEANUP(outgoing_fini) struct outgoing outgoing = group_edges(request);
    CLEANUP(layout_freep) struct layout *layout = mem_zalloc(1, sizeof *layout);
    layout->real_count = request->nodes_count;
    layout->nodes = mem_zalloc(request->nodes_count + 1, sizeof *layout->nodes);
    layout->chain_start = mem_zalloc(request->nodes_count + 1, sizeof(uint32_t));
    if (assign_layers(layout, request, &outgoing, err) != STATUS_OK)
        return err->code;
    pull_roots(layout, request, &outgoing);
    if (request->is_late != NULL)
        move_late(layout, request);
    if (check_lengths(layout, request, err) != STATUS_OK)
        return err->code;
    count_dummies(layout, &outgoing);
    add_dummies(layout, request);
    drop_duplicate_links(layout);
    fill_layers(layout);

    struct layout_adjacency adjacency;
    layout_adjacency_init(&adjacency, layout);
    layout_order(layout, &adjacency, request->groups);
    layout_place(layout, &adjacency, request->node_breadth, request->dummy_breadth);
    layout_adjacency_fini(&adjacency);
    *out = TAKE(layout);
    return STATUS_OK;
}

void layout_free(struct layout *layout)
{
    if (layout == NULL)
        return;
    free(layout->nodes);
    free(layout->owner);
    free(layout->layer_start);
    free(layout->layer_items);
    free(layout->links);
    free(layout->chain_start);
    free(layout);
}

uint32_t layout_via(const struct layout *layout, uint32_t from, uint32_t layer)
{
    CHECK(from < layout->real_count);
    CHECK(layer > layout->nodes[from].layer);
    uint32_t via = layout->chain_start[from] + (layer - layout->nodes[from].layer - 1);
    CHECK(via < layout->chain_start[from + 1]);
    return via;
}
