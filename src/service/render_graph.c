#include "service/render_graph.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "service/render_priv.h"

static const char *const FORMATS[] = {
#define X(name, text) [GRAPH_##name] = (text),
    GRAPH_FORMAT_MAP(X)
#undef X
};

static const struct {
    const char *symbol;
    const char *ascii;
    struct render_color color;
} STATES[] = {
    [TASK_NONE] = {"○", ".", {"#f8fafc", "#94a3b8"}},
    [TASK_SCHEDULED] = {"○", ".", {"#f1f5f9", "#64748b"}},
    [TASK_QUEUED] = {"◌", "o", {"#e2e8f0", "#475569"}},
    [TASK_RUNNING] = {"●", "*", {"#dbeafe", "#2563eb"}},
    [TASK_SUCCESS] = {"✓", "+", {"#dcfce7", "#16a34a"}},
    [TASK_FAILED] = {"✗", "x", {"#fee2e2", "#dc2626"}},
    [TASK_SKIPPED] = {"→", "-", {"#fae8ff", "#c026d3"}},
    [TASK_UPSTREAM_FAILED] = {"↯", "!", {"#ffedd5", "#ea580c"}},
    [TASK_UP_FOR_RETRY] = {"↻", "r", {"#fef9c3", "#ca8a04"}},
    [TASK_UP_FOR_RESCHEDULE] = {"↻", "r", {"#cffafe", "#0891b2"}},
    [TASK_DEFERRED] = {"◔", "d", {"#ede9fe", "#7c3aed"}},
    [TASK_AWAITING_INPUT] = {"?", "?", {"#ede9fe", "#7c3aed"}},
    [TASK_CANCELLED] = {"■", "#", {"#e7e5e4", "#57534e"}},
    [TASK_REMOVED] = {"·", "~", {"#fafaf9", "#a8a29e"}},
};
_Static_assert(ARRAY_LEN(STATES) == TASK_STATE_COUNT, "every state has a look");

const char *graph_format_name(enum graph_format format)
{
    CHECK(format < GRAPH_FORMAT_COUNT);
    return FORMATS[format];
}

bool graph_format_parse(const char *name, enum graph_format *out)
{
    for (enum graph_format i = 0; i < GRAPH_FORMAT_COUNT; i++) {
        if (strcmp(FORMATS[i], name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

void render_label(const struct graph_request *request, size_t node, bool with_symbol,
                  struct strbuf *out)
{
    const struct task_def *task = &request->dag->tasks[node];
    if (with_symbol && request->states != NULL) {
        enum task_state state = request->states[node];
        CHECK(state < TASK_STATE_COUNT);
        strbuf_addf(out, "%s ", request->ascii ? STATES[state].ascii : STATES[state].symbol);
    }
    strbuf_add(out, task->id);
    if (task_def_is_mapped(task))
        strbuf_add(out, "[*]");
    if (task->is_finally)
        strbuf_add(out, " (finally)");
}

struct render_color render_color_of(const struct graph_request *request, size_t node)
{
    if (request->states == NULL)
        return (struct render_color){"#f8fafc", "#475569"};
    CHECK(request->states[node] < TASK_STATE_COUNT);
    return STATES[request->states[node]].color;
}

enum status render_layout(const struct dag *dag, double node_breadth, double dummy_breadth,
                          struct layout **out, struct err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < dag->tasks_count; i++)
        count += dag->tasks[i].needs.count;
    CLEANUP(mem_freep) struct layout_edge *edges = mem_zalloc(count + 1, sizeof *edges);
    CLEANUP(mem_freep) bool *is_late = mem_zalloc(dag->tasks_count + 1, sizeof *is_late);
    for (size_t i = 0; i < dag->tasks_count; i++)
        is_late[i] = dag->tasks[i].is_finally;
    size_t at = 0;
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
            edges[at++] = (struct layout_edge){dag->tasks[i].needs.items[k], i};
    struct layout_request request = {
        .nodes_count = dag->tasks_count,
        .edges = edges,
        .edges_count = count,
        .node_breadth = node_breadth,
        .dummy_breadth = dummy_breadth,
        .is_late = is_late,
    };
    return layout_new(&request, out, err);
}

enum status render_graph(const struct graph_request *request, enum graph_format format,
                         struct strbuf *out, struct err *err)
{
    switch (format) {
    case GRAPH_TEXT:
        return render_text(request, out, err);
    case GRAPH_DOT:
        render_dot(request, out);
        return STATUS_OK;
    case GRAPH_MERMAID:
        render_mermaid(request, out);
        return STATUS_OK;
    case GRAPH_SVG:
        return render_svg(request, out, err);
    case GRAPH_FORMAT_COUNT:
        break;
    }
    UNREACHABLE("a known format");
}
