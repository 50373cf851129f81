#pragma once
/*
 * render_priv: the formats behind render_graph, and what they share.
 */
#include "model/layout.h"
#include "service/render_graph.h"

NODISCARD enum status render_text(const struct graph_request *request, struct strbuf *out,
                                  struct err *err);
/* The list form of text: one line per task, indented by layer, with its parents. */
void render_list(const struct graph_request *request, const struct layout *layout,
                 struct strbuf *out);
void render_dot(const struct graph_request *request, struct strbuf *out);
void render_mermaid(const struct graph_request *request, struct strbuf *out);
NODISCARD enum status render_svg(const struct graph_request *request, struct strbuf *out,
                                 struct err *err);

/* Layout of a DAG's tasks along `needs`. */
NODISCARD enum status render_layout(const struct dag *dag, double node_breadth,
                                    double dummy_breadth, struct layout **out, struct err *err);
/* "load", "stage[*]" for a mapped task; with the state's symbol in front if there is one. */
void render_label(const struct graph_request *request, size_t node, bool with_symbol,
                  struct strbuf *out);

struct render_color {
    const char *fill;
    const char *line;
};
/* Of a task's state, or of a task without. */
struct render_color render_color_of(const struct graph_request *request, size_t node);
