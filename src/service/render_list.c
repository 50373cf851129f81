/*
 * The list form: parents come first, a task is indented by its layer and names its parents.
 */
#include "base/str.h"
#include "service/render_priv.h"

enum { INDENT_MAX = 24, PARENTS_MAX = 6, LABEL_MAX = 1024 };

static void add_line(const struct graph_request *request, uint32_t node, size_t indent,
                     struct strbuf *out)
{
    const struct task_def *task = &request->dag->tasks[node];
    struct strbuf label;
    strbuf_init(&label, LABEL_MAX);
    render_label(request, node, true, &label);
    strbuf_add_repeat(out, ' ', indent);
    strbuf_add(out, label.text);
    strbuf_fini(&label);
    const char *arrow = request->ascii ? " <- " : " ← ";
    for (size_t i = 0; i < task->needs.count && i < PARENTS_MAX; i++)
        strbuf_addf(out, "%s%s", i == 0 ? arrow : ", ",
                    request->dag->tasks[task->needs.items[i]].id);
    if (task->needs.count > PARENTS_MAX)
        strbuf_addf(out, " and %zu more", task->needs.count - PARENTS_MAX);
    strbuf_add_char(out, '\n');
}

void render_list(const struct graph_request *request, const struct layout *layout,
                 struct strbuf *out)
{
    const struct dag *dag = request->dag;
    if (layout == NULL) {
        for (size_t i = 0; i < dag->tasks_count; i++)
            add_line(request, dag->order != NULL ? dag->order[i] : (uint32_t)i, 0, out);
        return;
    }
    for (size_t i = 0; i < layout->nodes_count; i++) {
        uint32_t node = layout->layer_items[i];
        if (node < layout->real_count)
            add_line(request, node, MIN((size_t)layout->nodes[node].layer * 2, (size_t)INDENT_MAX),
                     out);
    }
}
