/*
 * DOT, Mermaid and SVG. Ids of nodes are numbers, so that a task's name is only ever text,
 * escaped as its language asks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "service/render_priv.h"

enum { LABEL_MAX = 1024, SVG_TASKS_MAX = 20000 };

/* Groups are drawn as boxes around their tasks: nodes sorted by group. */
struct member {
    const char *group;
    uint32_t node;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a;
    const struct member *y = b;
    int order = strcmp(x->group, y->group);
    return order != 0 ? order : x->node < y->node ? -1 : x->node > y->node;
}

static struct member *sort_by_group(const struct dag *dag)
{
    struct member *members = mem_zalloc(dag->tasks_count + 1, sizeof *members);
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        members[i] = (struct member){dag->tasks[i].group != NULL ? dag->tasks[i].group : "", i};
    qsort(members, dag->tasks_count, sizeof *members, compare_members);
    return members;
}

static void add_dot_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *p == '\n' ? ' ' : *p);
    }
    strbuf_add_char(out, '"');
}

static void add_dot_node(const struct graph_request *request, uint32_t node, struct strbuf *out)
{
    struct render_color color = render_color_of(request, node);
    struct strbuf label;
    strbuf_init(&label, LABEL_MAX);
    render_label(request, node, false, &label);
    strbuf_addf(out, "  n%u [label=", node);
    add_dot_text(out, label.text);
    strbuf_addf(out, ", fillcolor=\"%s\", color=\"%s\"];\n", color.fill, color.line);
    strbuf_fini(&label);
}

void render_dot(const struct graph_request *request, struct strbuf *out)
{
    const struct dag *dag = request->dag;
    CLEANUP(mem_freep) struct member *members = sort_by_group(dag);
    strbuf_add(out, "digraph ");
    add_dot_text(out, dag->id);
    strbuf_add(out, " {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", "
                    "fontname=\"sans-serif\"];\n");
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const char *group = members[i].group;
        bool opens = group[0] != '\0' && (i == 0 || strcmp(members[i - 1].group, group) != 0);
        bool closes = group[0] != '\0' &&
                      (i + 1 == dag->tasks_count || strcmp(members[i + 1].group, group) != 0);
        if (opens) {
            strbuf_addf(out, "  subgraph cluster_%zu {\n  label=", i);
            add_dot_text(out, group);
            strbuf_add(out, ";\n");
        }
        add_dot_node(request, members[i].node, out);
        if (closes)
            strbuf_add(out, "  }\n");
    }
    for (size_t i = 0; i < dag->tasks_count; i++)
        for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
            strbuf_addf(out, "  n%u -> n%zu;\n", dag->tasks[i].needs.items[k], i);
    strbuf_add(out, "}\n");
}

static void add_mermaid_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    for (const char *p = text; *p != '\0'; p++) {
        if (strchr("\"#<>&;\n", *p) != NULL)
            strbuf_addf(out, "#%d;", *p);
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '"');
}

static void add_mermaid_node(const struct graph_request *request, uint32_t node, struct strbuf *out)
{
    struct strbuf label;
    strbuf_init(&label, LABEL_MAX);
    render_label(request, node, false, &label);
    strbuf_addf(out, "  n%u(", node);
    add_mermaid_text(out, label.text);
    strbuf_add_char(out, ')');
    if (request->states != NULL)
        strbuf_addf(out, ":::%s", task_state_name(request->states[node]));
    strbuf_add_char(out, '\n');
    strbuf_fini(&label);
}

static void add_mermaid_classes(const struct graph_request *request, struct strbuf *out)
{
    bool used[TASK_STATE_COUNT] = {false};
    for (size_t i = 0; i < request->dag->tasks_count; i++) {
        enum task_state state = request->states[i];
        if (used[state])
            continue;
        used[state] = true;
        struct render_color color = render_color_of(request, i);
        strbuf_addf(out, "  classDef %s fill:%s,stroke:%s\n", task_state_name(state), color.fill,
                    color.line);
    }
}

void render_mermaid(const struct graph_request *request, struct strbuf *out)
{
    const struct dag *dag = request->dag;
    CLEANUP(mem_freep) struct member *members = sort_by_group(dag);
    strbuf_add(out, "flowchart LR\n");
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const char *group = members[i].group;
        bool opens = group[0] != '\0' && (i == 0 || strcmp(members[i - 1].group, group) != 0);
        bool closes = group[0] != '\0' &&
                      (i + 1 == dag->tasks_count || strcmp(members[i + 1].group, group) != 0);
        if (opens) {
            strbuf_addf(out, "  subgraph g%zu[", i);
            add_mermaid_text(out, group);
            strbuf_add(out, "]\n");
        }
        add_mermaid_node(request, members[i].node, out);
        if (closes)
            strbuf_add(out, "  end\n");
    }
    for (size_t i = 0; i < dag->tasks_count; i++)
        for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
            strbuf_addf(out, "  n%u --> n%zu\n", dag->tasks[i].needs.items[k], i);
    if (request->states != NULL)
        add_mermaid_classes(request, out);
}

/* --- SVG: layers from left to right --- */

enum {
    BOX_HEIGHT = 34,
    BOX_BREADTH = 50,
    LANE_BREADTH = 18,
    LETTER_WIDTH = 8,
    BOX_PADDING = 28,
    LAYER_GAP = 44,
    MARGIN = 20
};

struct svg {
    const struct graph_request *request;
    const struct layout *layout;
    double *left;  /* of each layer */
    double *width; /* of each layer */
    struct strbuf *out;
};

static void add_xml_text(struct strbuf *out, const char *text)
{
    static const struct {
        char letter;
        const char *entity;
    } ENTITIES[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (const char *p = text; *p != '\0'; p++) {
        const char *entity = NULL;
        for (size_t i = 0; i < ARRAY_LEN(ENTITIES); i++)
            if (ENTITIES[i].letter == *p)
                entity = ENTITIES[i].entity;
        bool is_control = (unsigned char)*p < 0x20 && *p != '\n' && *p != '\t';
        if (entity != NULL)
            strbuf_add(out, entity);
        else
            strbuf_add_char(out, is_control ? '?' : *p); /* XML has no control characters */
    }
}

static double node_y(const struct svg *svg, uint32_t node)
{
    return svg->layout->nodes[node].position + MARGIN;
}

static void place_layers(struct svg *svg)
{
    const struct layout *layout = svg->layout;
    struct strbuf label;
    strbuf_init(&label, LABEL_MAX);
    for (size_t node = 0; node < layout->real_count; node++) {
        strbuf_clear(&label);
        render_label(svg->request, node, true, &label);
        double width = (double)(str_columns(label.text) * LETTER_WIDTH + BOX_PADDING);
        double *widest = &svg->width[layout->nodes[node].layer];
        *widest = MAX(*widest, width);
    }
    strbuf_fini(&label);
    double left = MARGIN;
    for (size_t layer = 0; layer < layout->layers_count; layer++) {
        svg->left[layer] = left;
        left += svg->width[layer] + LAYER_GAP;
    }
    svg->left[layout->layers_count] = left;
}

static void add_curve(struct strbuf *out, double x0, double y0, double x1, double y1)
{
    double middle = (x0 + x1) / 2;
    strbuf_addf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", middle, y0, middle, y1, x1, y1);
}

static void add_svg_edge(const struct svg *svg, uint32_t from, uint32_t to)
{
    const struct layout *layout = svg->layout;
    uint32_t layer = layout->nodes[from].layer;
    uint32_t last = layout->nodes[to].layer;
    double x = svg->left[layer] + svg->width[layer];
    double y = node_y(svg, from);
    strbuf_addf(svg->out, "<path d=\"M%.1f %.1f", x, y);
    for (layer++; layer < last; layer++) {
        double next = node_y(svg, layout_via(layout, from, layer));
        add_curve(svg->out, x, y, svg->left[layer], next);
        x = svg->left[layer] + svg->width[layer];
        y = next;
        strbuf_addf(svg->out, "H%.1f", x);
    }
    add_curve(svg->out, x, y, svg->left[last] - 2, node_y(svg, to));
    strbuf_add(svg->out, "\"/>\n");
}

static void add_svg_node(const struct svg *svg, uint32_t node)
{
    const struct task_def *task = &svg->request->dag->tasks[node];
    struct render_color color = render_color_of(svg->request, node);
    uint32_t layer = svg->layout->nodes[node].layer;
    double y = node_y(svg, node);
    struct strbuf label;
    strbuf_init(&label, LABEL_MAX);
    render_label(svg->request, node, true, &label);
    strbuf_add(svg->out, "<g><title>");
    add_xml_text(svg->out, task->id);
    strbuf_addf(svg->out, " (%s)", task_kind_key(task->kind));
    if (svg->request->states != NULL)
        strbuf_addf(svg->out, ": %s", task_state_name(svg->request->states[node]));
    if (task->doc != NULL) {
        strbuf_add_char(svg->out, '\n');
        add_xml_text(svg->out, task->doc);
    }
    strbuf_addf(svg->out,
                "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"8\" "
                "fill=\"%s\" stroke=\"%s\"/><text x=\"%.1f\" y=\"%.1f\">",
                svg->left[layer], y - (double)BOX_HEIGHT / 2, svg->width[layer], BOX_HEIGHT,
                color.fill, color.line, svg->left[layer] + svg->width[layer] / 2, y + 5);
    add_xml_text(svg->out, label.text);
    strbuf_add(svg->out, "</text></g>\n");
    strbuf_fini(&label);
}

enum status render_svg(const struct graph_request *request, struct strbuf *out, struct err *err)
{
    const struct dag *dag = request->dag;
    if (dag->tasks_count > SVG_TASKS_MAX)
        return err_set(err, STATUS_LIMIT, "%zu tasks are too many for a picture; most is %d",
                       dag->tasks_count, SVG_TASKS_MAX);
    CLEANUP(layout_freep) struct layout *layout = NULL;
    if (render_layout(dag, BOX_BREADTH, LANE_BREADTH, &layout, err) != STATUS_OK)
        return err->code;
    CLEANUP(mem_freep) double *left = mem_zalloc(layout->layers_count + 1, sizeof *left);
    CLEANUP(mem_freep) double *width = mem_zalloc(layout->layers_count + 1, sizeof *width);
    struct svg svg = {request, layout, left, width, out};
    place_layers(&svg);
    double total_width = MAX(left[layout->layers_count] - LAYER_GAP, 0.0) + MARGIN;
    double total_height = layout->breadth + 2 * MARGIN;
    strbuf_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\">\n<title>",
                total_width, total_height, total_width, total_height);
    add_xml_text(out, dag->title != NULL ? dag->title : dag->id);
    strbuf_add(out,
               "</title>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
               "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
               "fill=\"#94a3b8\"/></marker></defs>\n"
               "<g fill=\"none\" stroke=\"#94a3b8\" stroke-width=\"1.5\" "
               "marker-end=\"url(#arrow)\">\n");
    /* A marker is drawn per path, and inherited by each from the group. */
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
            add_svg_edge(&svg, dag->tasks[i].needs.items[k], i);
    strbuf_add(out, "</g>\n<g font-family=\"ui-monospace, monospace\" font-size=\"13\" "
                    "text-anchor=\"middle\" fill=\"#0f172a\" stroke-width=\"1.5\">\n");
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        add_svg_node(&svg, i);
    strbuf_add(out, "</g>\n</svg>\n");
    return STATUS_OK;
}
