#pragma once
/*
 * render_graph: a DAG, with or without the states of a run, as a picture.
 *
 * Text for terminals (boxes and lines, or an indented list where the picture does not
 * fit), DOT, Mermaid, and SVG that needs nothing beside it.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/attrs.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "model/dag.h"
#include "model/task_state.h"

#define GRAPH_FORMAT_MAP(X)                                                                        \
    X(TEXT, "text")                                                                                \
    X(DOT, "dot")                                                                                  \
    X(MERMAID, "mermaid")                                                                          \
    X(SVG, "svg")

enum graph_format {
#define X(name, text) GRAPH_##name,
    GRAPH_FORMAT_MAP(X)
#undef X
        GRAPH_FORMAT_COUNT
};

struct graph_request {
    const struct dag *dag;
    const enum task_state *states; /* one per task; NULL: without states */
    size_t width;                  /* columns for text; 0: no limit */
    bool ascii;                    /* text without box characters */
};

/* Append the picture. STATUS_LIMIT for an SVG of too many tasks. */
NODISCARD enum status render_graph(const struct graph_request *request, enum graph_format format,
                                   struct strbuf *out, struct err *err);

const char *graph_format_name(enum graph_format format);
NODISCARD bool graph_format_parse(const char *name, enum graph_format *out);
