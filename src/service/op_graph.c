/*
 * A DAG as a picture, with the states of a run if one is named.
 */
#include "base/check.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "service/graph_part.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/render_graph.h"

enum { PICTURE_BYTES_MAX = 256 << 20, WIDTH_MAX = 100000 };

static const char *format_at(const void *context, size_t i)
{
    (void)context;
    return graph_format_name((enum graph_format)i);
}

static enum status read_format(const json_t *request, enum graph_format *out, struct err *err)
{
    const char *name = json_get_string(request, "format", "text");
    if (graph_format_parse(name, out))
        return STATUS_OK;
    const char *near = str_nearest(name, GRAPH_FORMAT_COUNT, format_at, NULL);
    return err_set(
        err, STATUS_INVALID, "no format '%.60s'; there are text, dot, mermaid, svg%s%s%s", name,
        near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
}

static enum status note_state(void *context, const struct run_row *run, const struct task_row *task,
                              struct err *err)
{
    (void)run;
    (void)err;
    enum task_state *states = context;
    if (task->map_index < 0)
        states[task->node] = task->state;
    return STATUS_OK;
}

/* The DAG to be drawn is that of the request, as far as it is wanted. */
static enum status take_part(struct arena *arena, const json_t *request,
                             struct graph_request *graph, struct err *err)
{
    struct dag_part part;
    if (graph_part_read(arena, graph->dag, request, &part, err) != STATUS_OK)
        return err->code;
    enum task_state *states = arena_array(arena, part.dag->tasks_count + 1, sizeof *states);
    for (size_t i = 0; graph->states != NULL && i < part.dag->tasks_count; i++)
        states[i] = graph_part_state(&part.nodes[i], graph->states);
    graph->dag = part.dag;
    graph->states = graph->states != NULL ? states : NULL;
    return STATUS_OK;
}

static enum status draw(struct arena *arena, const json_t *request, struct graph_request *graph,
                        struct strbuf *picture, struct err *err)
{
    const struct dag *whole = graph->dag;
    enum graph_format format = GRAPH_TEXT;
    if (read_format(request, &format, err) != STATUS_OK ||
        take_part(arena, request, graph, err) != STATUS_OK)
        return err->code;
    if (render_graph(graph, format, picture, err) != STATUS_OK)
        return graph_part_advise(whole, err);
    if (picture->overflow) {
        (void)err_set(err, STATUS_LIMIT, "the picture has more than %d bytes", PICTURE_BYTES_MAX);
        return graph_part_advise(whole, err);
    }
    return STATUS_OK;
}

static enum status graph_of_run(struct service *service, struct arena *arena, const json_t *request,
                                struct graph_request *graph, struct err *err)
{
    struct found_run run;
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK)
        return err->code;
    enum task_state *states = arena_array(arena, run.dag->tasks_count + 1, sizeof *states);
    if (store_task_each(run.store, run.info.id, note_state, states, err) != STATUS_OK)
        return err->code;
    graph->dag = run.dag;
    graph->states = states;
    return STATUS_OK;
}

enum status op_dag_graph(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(strbuf_fini) struct strbuf picture;
    strbuf_init(&picture, PICTURE_BYTES_MAX);
    int64_t width = json_get_int(request, "width", 0);
    struct graph_request graph = {.ascii = json_get_bool(request, "ascii", false)};
    if (width < 0 || width > WIDTH_MAX)
        return err_set(err, STATUS_INVALID, "'width' must be from 0 to %d", WIDTH_MAX);
    graph.width = (size_t)width;
    if (json_get_string(request, "run", NULL) != NULL) {
        if (graph_of_run(service, arena, request, &graph, err) != STATUS_OK)
            return err->code;
    } else {
        if (lookup_dag(service, arena, request, &found, err) != STATUS_OK)
            return err->code;
        graph.dag = found.dag;
    }
    CHECK(graph.dag != NULL);
    if (draw(arena, request, &graph, &picture, err) != STATUS_OK)
        return err->code;
    *out = json_build_object();
    json_put_string(*out, "dag_id", graph.dag->id);
    json_put_string(*out, "format", json_get_string(request, "format", "text"));
    json_put(*out, "text", json_text(picture.text, picture.length));
    return STATUS_OK;
}
