/*
 * A DAG drawn with characters, layers from left to right.
 *
 * Between two layers lies a channel. The edges out of one node form a net: a line leaves
 * the node, turns into the net's own column (its track), and leaves it at the rows of its
 * targets. Nodes with the same targets share a net, so that "all to all" is one bus.
 *
 * On a row that both leaves a node and enters another one, the leaving line must turn
 * before the entering one begins, or the two would look joined; that orders tracks. If
 * these wishes contradict each other, layers are drawn on alternating rows, where no such
 * row exists. Lines that merely cross are drawn as a vertical line, joints as joints.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "service/render_priv.h"

enum {
    PICTURE_NODES_MAX = 1500, /* beyond, nobody follows lines */
    LAYOUT_NODES_MAX = 5000,
    LABEL_MAX = 1024,
    BOX_SIDES = 4, /* two borders, two blanks */
    NO_TRACK = -1
};

enum { UP = 1, DOWN = 2, LEFT = 4, RIGHT = 8 };

struct cell {
    unsigned char mask; /* which sides a line leaves by */
    bool is_joined;     /* the lines here belong together */
    bool is_arrow;
    bool is_covered;  /* by the text that began to the left */
    const char *text; /* or NULL */
};

struct net {
    uint32_t first; /* a node of it */
    int track;
    size_t top, bottom; /* rows that its vertical line spans */
    size_t waits;       /* nets that must come before; SIZE_MAX: placed */
};

struct drawing {
    const struct graph_request *request;
    const struct layout *layout;
    char **labels;    /* of real nodes */
    size_t *rows;     /* of every node: where its lines are */
    size_t *left;     /* of every layer */
    size_t *width;    /* of every layer */
    uint32_t *net_of; /* of every node: index into nets */
    struct net *nets;
    size_t nets_count;
    size_t *net_start;  /* layers_count + 1: nets of the channel behind a layer */
    size_t *link_start; /* links by source; they are sorted */
    size_t height, total_width;
    struct cell *cells;
};

static size_t links_of(const struct drawing *drawing, uint32_t node, const struct layout_edge **out)
{
    *out = drawing->layout->links + drawing->link_start[node];
    return drawing->link_start[node + 1] - drawing->link_start[node];
}

static bool same_targets(const struct drawing *drawing, uint32_t a, uint32_t b)
{
    const struct layout_edge *x;
    const struct layout_edge *y;
    size_t count = links_of(drawing, a, &x);
    if (count != links_of(drawing, b, &y))
        return false;
    for (size_t i = 0; i < count; i++)
        if (x[i].to != y[i].to)
            return false;
    return true;
}

static void index_links(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    for (size_t i = 0; i < layout->links_count; i++)
        drawing->link_start[layout->links[i].from + 1]++;
    for (size_t i = 0; i < layout->nodes_count; i++)
        drawing->link_start[i + 1] += drawing->link_start[i];
}

static void stretch(struct net *net, size_t row)
{
    net->top = MIN(net->top, row);
    net->bottom = MAX(net->bottom, row);
}

/* Group the nodes of each layer into nets. */
static void make_nets(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        size_t first = drawing->nets_count;
        drawing->net_start[layer] = first;
        for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
            uint32_t node = layout->layer_items[i];
            const struct layout_edge *links;
            size_t count = links_of(drawing, node, &links);
            if (count == 0)
                continue;
            size_t n = first;
            while (n < drawing->nets_count && !same_targets(drawing, drawing->nets[n].first, node))
                n++;
            if (n == drawing->nets_count)
                drawing->nets[drawing->nets_count++] =
                    (struct net){.first = node, .top = SIZE_MAX, .track = NO_TRACK};
            drawing->net_of[node] = (uint32_t)n;
        }
    }
    drawing->net_start[layout->layers_count] = drawing->nets_count;
}

static void measure_nets(struct drawing *drawing)
{
    const struct layout *layout = drawing->layout;
    for (size_t i = 0; i < drawing->nets_count; i++) {
        drawing->nets[i].top = SIZE_MAX;
        drawing->nets[i].bottom = 0;
        drawing->nets[i].track = NO_TRACK;
        drawing->nets[i].waits = 0;
    }
    for (size_t i = 0; i < layout->links_count; i++) {
        struct net *net = &drawing->nets[drawing->net_of[layout->links[i].from]];
        stretch(net, drawing->rows[layout->links[i].from]);
        stretch(net, drawing->rows[layout->links[i].to]);
    }
}

/* Does a row leave a node of net `before` and enter a target of net `after`? */
static bool must_precede(const struct drawing *drawing, size_t layer, size_t before, size_t after)
{
    const struct layout *layout = drawing->layout;
    const struct layout_edge *links;
    size_t count = links_of(drawing, drawing->nets[after].first, &links);
    for (size_t i = layout->layer_start[layer]; i < layout->layer_start[layer + 1]; i++) {
        uint32_t node = layout->layer_items[i];
        const struct layout_edge *own;
        if (links_of(drawing, node, &own) == 0 || drawing->net_of[node] != before)
            continue;
        for (size_t k = 0; k < count; k++)
            if (drawing->rows[links[k].to] == drawing->rows[node])
                return true;
    }
    return false;
}

static bool is_straight(const struct net *net)
{
    return net->top == net->bottom;
}

/* The leftmost track from `least` on that has room for the net's rows. */
static int find_track(const struct drawing *drawing, size_t first, size_t last, size_t net,
                      int least)
{
    const struct net *mine = &drawing->nets[net];
    for (int track = least;; track++) {
        bool is_free = true;
        for (size_t i = first; i < last && is_free; i++) {
            const struct net *other = &drawing->nets[i];
            is_free = i == net || other->track != track || other->bottom < mine->top ||
                      mine->bottom < other->top;
        }
        if (is_free)
            return track;
    }
}

/* The nets of one channel while they get their tracks. */
struct channel {
    struct drawing *drawing;
    size_t layer;
    size_t first, count; /* nets of the drawing */
    bool *precedes;      /* count x count */
};

/* Who must turn before whom; gives the number of nets that need a track. */
static size_t find_order(struct channel *channel)
{
    struct net *nets = channel->drawing->nets + channel->first;
    size_t bent = 0;
    for (size_t a = 0; a < channel->count; a++) {
        if (is_straight(&nets[a]))
            continue;
        bent++;
        for (size_t b = 0; b < channel->count; b++) {
            if (a == b || is_straight(&nets[b]) ||
                !must_precede(channel->drawing, channel->layer, channel->first + a,
                              channel->first + b))
                continue;
            channel->precedes[a * channel->count + b] = true;
            nets[b].waits++;
        }
    }
    return bent;
}

/* Place one net that waits for none; gives its track, or NO_TRACK when all wait. */
static int place_next(struct channel *channel)
{
    struct net *nets = channel->drawing->nets + channel->first;
    size_t next = 0;
    while (next < channel->count && (is_straight(&nets[next]) || nets[next].waits > 0))
        next++;
    if (next == channel->count)
        return NO_TRACK;
    int least = 0;
    for (size_t a = 0; a < channel->count; a++)
        if (channel->precedes[a * channel->count + next])
            least = MAX(least, nets[a].track + 1);
    nets[next].track = find_track(channel->drawing, channel->first, channel->first + channel->count,
                                  channel->first + next, least);
    nets[next].waits = SIZE_MAX;
    for (size_t b = 0; b < channel->count; b++)
        if (channel->precedes[next * channel->count + b])
            nets[b].waits--;
    return nets[next].track;
}

/* Give the nets behind a layer their tracks; false when their wishes contradict. */
static bool place_tracks(struct drawing *drawing, size_t layer, int *out_tracks)
{
    size_t first = drawing->net_start[layer];
    size_t count = drawing->net_start[layer + 1] - first;
    CLEANUP(mem_freep) bool *precedes = mem_zalloc(count * count + 1, sizeof *precedes);
    struct channel channel = {drawing, layer, first, count, precedes};
    int tracks = 0;
    for (size_t left = find_order(&channel); left > 0; left--) {
        int track = place_next(&channel);
        if (track == NO_TRACK)
            return false;
        tracks = MAX(tracks, track + 1);
    }
    *out_tracks = tracks;
    return true;
}

static void assign_rows(struct drawing *drawing, bool alternating)
{
    const struct layout *layout = drawing->layout;
    drawing->height = 0;
    for (size_t i = 0; i < layout->nodes_count; i++) {
        size_t row = (size_t)layout->nodes[i].position;
        if (alternating)
            row = 2 * row + layout->nodes[i].layer % 2;
        drawing->rows[i] = row;
        drawing->height = MAX(drawing->height, row + 2);
    }
}

/* Rows, tracks and columns; false when the tracks contradict each other. */
static bool arrange(struct drawing *drawing, bool alternating)
{
    const struct layout *layout = drawing->layout;
    size_t left = 0;
    assign_rows(drawing, alternating);
    measure_nets(drawing);
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        int tracks = 0;
        if (!place_tracks(drawing, layer, &tracks))
            return false;
        drawing->left[layer] = left;
        left += drawing->width[layer];
        if (layer + 1 < layout->layers_count)
            left += 3 + 2 * (size_t)tracks;
    }
    drawing->left[layout->layers_count] = left;
    drawing->total_width = left;
    return true;
}

/* --- drawing on cells --- */

static struct cell *cell_at(struct drawing *drawing, size_t row, size_t column)
{
    CHECK(row < drawing->height);
    CHECK(column < drawing->total_width);
    return &drawing->cells[row * drawing->total_width + column];
}

/* A horizontal line over the columns [from, to], open at both ends. */
static void draw_row(struct drawing *drawing, size_t row, size_t from, size_t to)
{
    for (size_t column = from; column <= to; column++)
        cell_at(drawing, row, column)->mask |= LEFT | RIGHT;
}

static void put_text(struct drawing *drawing, size_t row, size_t column, const char *text)
{
    size_t columns = str_columns(text);
    if (columns == 0)
        return;
    cell_at(drawing, row, column)->text = text;
    for (size_t i = 1; i < columns; i++)
        cell_at(drawing, row, column + i)->is_covered = true;
}

static void draw_box(struct drawing *drawing, uint32_t node)
{
    size_t layer = drawing->layout->nodes[node].layer;
    size_t left = drawing->left[layer];
    size_t row = drawing->rows[node];
    size_t right = left + str_columns(drawing->labels[node]) + BOX_SIDES - 1;
    for (size_t column = left; column <= right; column++) {
        unsigned char sides =
            (unsigned char)((column > left ? LEFT : 0) | (column < right ? RIGHT : 0));
        bool is_corner = column == left || column == right;
        cell_at(drawing, row - 1, column)->mask = sides | (is_corner ? DOWN : 0);
        cell_at(drawing, row + 1, column)->mask = sides | (is_corner ? UP : 0);
    }
    cell_at(drawing, row, left)->mask = UP | DOWN;
    cell_at(drawing, row, right)->mask = UP | DOWN;
    put_text(drawing, row, left + 2, drawing->labels[node]);
    size_t end = left + drawing->width[layer];
    const struct layout_edge *links;
    if (links_of(drawing, node, &links) > 0) {
        struct cell *exit = cell_at(drawing, row, right);
        exit->mask |= RIGHT;
        exit->is_joined = true;
        if (right + 1 < end)
            draw_row(drawing, row, right + 1, end - 1);
    }
}

static void draw_node(struct drawing *drawing, uint32_t node)
{
    size_t layer = drawing->layout->nodes[node].layer;
    if (node < drawing->layout->real_count)
        draw_box(drawing, node);
    else
        draw_row(drawing, drawing->rows[node], drawing->left[layer],
                 drawing->left[layer] + drawing->width[layer] - 1);
}

static void draw_track(struct drawing *drawing, const struct net *net, size_t column)
{
    for (size_t row = net->top; row <= net->bottom; row++)
        cell_at(drawing, row, column)->mask |=
            (unsigned char)((row > net->top ? UP : 0) | (row < net->bottom ? DOWN : 0));
}

static void draw_link(struct drawing *drawing, const struct layout_edge *link)
{
    size_t layer = drawing->layout->nodes[link->from].layer;
    size_t start = drawing->left[layer] + drawing->width[layer];
    size_t end = drawing->left[layer + 1] - 1;
    const struct net *net = &drawing->nets[drawing->net_of[link->from]];
    size_t from_row = drawing->rows[link->from];
    size_t to_row = drawing->rows[link->to];
    if (net->track == NO_TRACK) {
        draw_row(drawing, from_row, start, end);
    } else {
        size_t column = start + 1 + 2 * (size_t)net->track;
        draw_row(drawing, from_row, start, column - 1);
        draw_row(drawing, to_row, column + 1, end);
        struct cell *turn = cell_at(drawing, from_row, column);
        turn->mask |= LEFT;
        turn->is_joined = true;
        struct cell *leave = cell_at(drawing, to_row, column);
        leave->mask |= RIGHT;
        leave->is_joined = true;
        draw_track(drawing, net, column);
    }
    if (link->to < drawing->layout->real_count)
        cell_at(drawing, to_row, end)->is_arrow = true;
}

static const char *glyph(const struct cell *cell, bool ascii)
{
    static const char *const LINES[16] = {
        [0] = " ",
        [UP] = "│",
        [DOWN] = "│",
        [UP | DOWN] = "│",
        [LEFT] = "─",
        [RIGHT] = "─",
        [LEFT | RIGHT] = "─",
        [UP | LEFT] = "╯",
        [UP | RIGHT] = "╰",
        [DOWN | LEFT] = "╮",
        [DOWN | RIGHT] = "╭",
        [UP | DOWN | LEFT] = "┤",
        [UP | DOWN | RIGHT] = "├",
        [LEFT | RIGHT | UP] = "┴",
        [LEFT | RIGHT | DOWN] = "┬",
        [UP | DOWN | LEFT | RIGHT] = "┼",
    };
    bool crosses = cell->mask == (UP | DOWN | LEFT | RIGHT) && !cell->is_joined;
    if (cell->is_arrow)
        return ascii ? ">" : "▶";
    if (crosses)
        return ascii ? "|" : "│";
    if (!ascii)
        return LINES[cell->mask];
    bool has_row = (cell->mask & (LEFT | RIGHT)) != 0;
    bool has_column = (cell->mask & (UP | DOWN)) != 0;
    return has_row && has_column ? "+" : has_row ? "-" : has_column ? "|" : " ";
}

static void print_cells(struct drawing *drawing, struct strbuf *out)
{
    size_t start = out->length;
    for (size_t row = 0; row < drawing->height; row++) {
        size_t end = out->length; /* behind the last visible character */
        for (size_t column = 0; column < drawing->total_width; column++) {
            const struct cell *cell = cell_at(drawing, row, column);
            if (cell->is_covered)
                continue;
            strbuf_add(out, cell->text != NULL ? cell->text : glyph(cell, drawing->request->ascii));
            if (cell->text != NULL || cell->mask != 0)
                end = out->length;
        }
        strbuf_truncate(out, end);
        if (end > start) /* no blank rows above the picture */
            strbuf_add_char(out, '\n');
    }
}

static void print_picture(struct drawing *drawing, struct strbuf *out)
{
    const struct layout *layout = drawing->layout;
    drawing->cells = mem_zalloc(drawing->height * drawing->total_width + 1, sizeof *drawing->cells);
    for (uint32_t i = 0; i < layout->nodes_count; i++)
        draw_node(drawing, i);
    for (size_t i = 0; i < layout->links_count; i++)
        draw_link(drawing, &layout->links[i]);
    print_cells(drawing, out);
}

static void drawing_init(struct drawing *drawing, const struct graph_request *request,
                         const struct layout *layout)
{
    size_t nodes = layout->nodes_count + 1;
    size_t layers = layout->layers_count + 1;
    *drawing = (struct drawing){
        .request = request,
        .layout = layout,
        .labels = mem_zalloc(layout->real_count + 1, sizeof(char *)),
        .rows = mem_zalloc(nodes, sizeof(size_t)),
        .left = mem_zalloc(layers, sizeof(size_t)),
        .width = mem_zalloc(layers, sizeof(size_t)),
        .net_of = mem_zalloc(nodes, sizeof(uint32_t)),
        .nets = mem_zalloc(nodes, sizeof(struct net)),
        .net_start = mem_zalloc(layers, sizeof(size_t)),
        .link_start = mem_zalloc(nodes, sizeof(size_t)),
    };
    for (size_t i = 0; i < layout->real_count; i++) {
        struct strbuf label;
        strbuf_init(&label, LABEL_MAX);
        render_label(request, i, true, &label);
        drawing->labels[i] = strbuf_take(&label);
        size_t *width = &drawing->width[layout->nodes[i].layer];
        *width = MAX(*width, str_columns(drawing->labels[i]) + BOX_SIDES);
    }
    index_links(drawing);
    make_nets(drawing);
}

static void drawing_fini(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->layout->real_count; i++)
        free(drawing->labels[i]);
    free(drawing->labels);
    free(drawing->rows);
    free(drawing->left);
    free(drawing->width);
    free(drawing->net_of);
    free(drawing->nets);
    free(drawing->net_start);
    free(drawing->link_start);
    free(drawing->cells);
}

enum status render_text(const struct graph_request *request, struct strbuf *out, struct err *err)
{
    if (request->dag->tasks_count > LAYOUT_NODES_MAX) {
        render_list(request, NULL, out);
        return STATUS_OK;
    }
    CLEANUP(layout_freep) struct layout *layout = NULL;
    struct err problem = {0};
    enum status status = render_layout(request->dag, 3, 1, &layout, &problem);
    if (status == STATUS_LIMIT) {
        render_list(request, NULL, out);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        *err = problem;
        return status;
    }
    if (layout->nodes_count > PICTURE_NODES_MAX) {
        render_list(request, layout, out);
        return STATUS_OK;
    }
    struct drawing drawing;
    drawing_init(&drawing, request, layout);
    bool is_arranged = arrange(&drawing, false) || arrange(&drawing, true);
    CHECK(is_arranged);
    if (request->width > 0 && drawing.total_width > request->width)
        render_list(request, layout, out);
    else
        print_picture(&drawing, out);
    drawing_fini(&drawing);
    return STATUS_OK;
}
