/*
 * DAGs are in a circle when each can be reached from each along the arrows (start_graph.h). The
 * groups of such nodes are found by Tarjan's walk, which looks at every arrow once: `low` of a node
 * is the earliest node of the walk that can be reached from it and whose group is still open; where
 * that is the node itself, it and all that were met after it are a group. The walk keeps its
 * path in memory of its own, since a chain may be as long as there are DAGs.
 */
#include "model/trigger_circle.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/json.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/start_graph.h"

/* Names in a text; it goes into a line of the log. */
enum { NAMES_MAX = 20, TEXT_BYTES_MAX = 1 << 20 };

/* --- what matters of a DAG ------------------------------------------------------------------- */

static void add_output(const json_t *output, struct arena *arena, struct circle_dag *out)
{
    if (json_is_string(output))
        out->outputs[out->outputs_count++] = arena_strdup(arena, json_string_value(output));
}

struct circle_dag circle_dag_of(const struct dag *dag, const struct triggers *triggers,
                                struct arena *arena)
{
    struct circle_dag out = {.id = arena_strdup(arena, dag->id), .triggers = triggers};
    size_t most = 0;
    for (size_t i = 0; i < dag->tasks_count; i++)
        most += 1 + json_array_size(json_object_get(dag->tasks[i].rest, "outputs"));
    out.outputs = arena_array(arena, most + 1, sizeof(char *));
    for (size_t i = 0; i < dag->tasks_count; i++) {
        const json_t *outputs = json_object_get(dag->tasks[i].rest, "outputs");
        add_output(outputs, arena, &out);
        for (size_t k = 0; k < json_array_size(outputs); k++)
            add_output(json_array_get(outputs, k), arena, &out);
    }
    return out;
}

/* --- groups ---------------------------------------------------------------------------------- */

struct walk {
    const struct circle_dag *dags;
    const struct start_graph *graph;
    struct arena *arena;
    size_t *met;   /* when each node was, from 1; 0: not yet */
    size_t *low;   /* see above */
    size_t *group; /* number of the group, from 1; 0: it is open */
    size_t *next;  /* the arrow to look at next */
    size_t *path;
    size_t depth;
    size_t *open; /* nodes without a group, in the order they were met */
    size_t open_count;
    size_t met_count;
    size_t groups_count;
    size_t *from; /* how each node was reached while the way around is looked for, plus one */
    struct circle_list *out;
};

static void push(struct walk *walk, size_t node)
{
    walk->met[node] = walk->low[node] = ++walk->met_count;
    walk->next[node] = walk->graph->first[node];
    walk->path[walk->depth++] = node;
    walk->open[walk->open_count++] = node;
}

static bool starts_itself(const struct start_graph *graph, size_t node)
{
    for (size_t i = graph->first[node]; i < graph->first[node + 1]; i++)
        if (graph->ends[i] == node)
            return true;
    return false;
}

static int by_number(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The nodes that were met from `root` on; `nodes` is where they stand. */
static void close_group(struct walk *walk, const size_t *nodes, size_t count)
{
    size_t *members = arena_array(walk->arena, count, sizeof *members);
    size_t members_count = 0;
    walk->groups_count++;
    for (size_t i = 0; i < count; i++) {
        walk->group[nodes[i]] = walk->groups_count;
        if (nodes[i] < walk->graph->dags_count)
            members[members_count++] = nodes[i];
    }
    if (count == 1 && !starts_itself(walk->graph, nodes[0]))
        return;
    CHECK(members_count > 0);
    qsort(members, members_count, sizeof *members, by_number);
    walk->out->items[walk->out->count++] =
        (struct circle){.members = members, .members_count = members_count};
}

static void pop(struct walk *walk)
{
    size_t node = walk->path[--walk->depth];
    if (walk->depth > 0) {
        size_t before = walk->path[walk->depth - 1];
        walk->low[before] = MIN(walk->low[before], walk->low[node]);
    }
    if (walk->low[node] != walk->met[node])
        return;
    size_t begin = walk->open_count;
    while (walk->open[begin - 1] != node)
        begin--;
    begin--;
    close_group(walk, &walk->open[begin], walk->open_count - begin);
    walk->open_count = begin;
}

static void step(struct walk *walk)
{
    size_t node = walk->path[walk->depth - 1];
    if (walk->next[node] == walk->graph->first[node + 1]) {
        pop(walk);
        return;
    }
    size_t target = walk->graph->ends[walk->next[node]++];
    if (walk->met[target] == 0)
        push(walk, target);
    else if (walk->group[target] == 0)
        walk->low[node] = MIN(walk->low[node], walk->met[target]);
}

static int by_first_member(const void *a, const void *b)
{
    return by_number(((const struct circle *)a)->members, ((const struct circle *)b)->members);
}

static void find_groups(struct walk *walk)
{
    for (size_t i = 0; i < walk->graph->dags_count; i++) {
        if (walk->met[i] != 0)
            continue;
        push(walk, i);
        while (walk->depth > 0)
            step(walk);
    }
    if (walk->out->count > 0)
        qsort(walk->out->items, walk->out->count, sizeof *walk->out->items, by_first_member);
}

/* --- in words -------------------------------------------------------------------------------- */

/* The nearest way from a node back to itself, by `from`; gives the last node of it. */
static size_t go_around(struct walk *walk, size_t start)
{
    size_t *line = walk->path;
    size_t count = 0;
    line[count++] = start;
    for (size_t at = 0; at < count; at++) {
        size_t node = line[at];
        for (size_t i = walk->graph->first[node]; i < walk->graph->first[node + 1]; i++) {
            size_t target = walk->graph->ends[i];
            if (target == start)
                return node;
            if (walk->group[target] != walk->group[start] || walk->from[target] != 0)
                continue;
            walk->from[target] = node + 1;
            line[count++] = target;
        }
    }
    UNREACHABLE("each of a group is reached from each");
}

/* DAGs on the way, from the first on; gives how many, at most that of its members. */
static size_t list_way(struct walk *walk, size_t start, size_t *way, size_t most)
{
    size_t count = 0;
    for (size_t node = go_around(walk, start); node != start; node = walk->from[node] - 1)
        if (node < walk->graph->dags_count)
            way[most - ++count] = node;
    way[most - ++count] = start;
    return count;
}

static void say_way(const struct walk *walk, const size_t *way, size_t count, struct strbuf *text)
{
    for (size_t i = 0; i < MIN(count, (size_t)NAMES_MAX); i++)
        strbuf_addf(text, "%s -> ", walk->dags[way[i]].id);
    if (count > NAMES_MAX)
        strbuf_addf(text, "(%zu more) -> ", count - NAMES_MAX);
    strbuf_add(text, walk->dags[way[0]].id);
}

/* Those that are not on that way, but on others around. */
static void say_others(const struct walk *walk, const struct circle *circle, const size_t *way,
                       size_t count, struct strbuf *text)
{
    size_t others = circle->members_count - count;
    size_t said = 0;
    for (size_t i = 0; i < count; i++)
        walk->met[way[i]] = 0;
    for (size_t i = 0; i < circle->members_count && said < NAMES_MAX; i++)
        if (walk->met[circle->members[i]] != 0)
            strbuf_addf(text, "%s%s", said++ == 0 ? ", and in circles with them: " : ", ",
                        walk->dags[circle->members[i]].id);
    if (others > said)
        strbuf_addf(text, " and %zu more", others - said);
}

static void tell(struct walk *walk, struct circle *circle)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    size_t *way = arena_array(walk->arena, circle->members_count, sizeof *way);
    size_t count = list_way(walk, circle->members[0], way, circle->members_count);
    way += circle->members_count - count;
    strbuf_init(&text, TEXT_BYTES_MAX);
    say_way(walk, way, count, &text);
    say_others(walk, circle, way, count, &text);
    circle->text = arena_strdup(walk->arena, text.text);
}

void trigger_circles(const struct circle_dag *dags, size_t count, struct arena *arena,
                     struct circle_list *out)
{
    struct start_graph graph = start_graph_make(dags, count, arena);
    *out = (struct circle_list){.items = arena_array(arena, count + 1, sizeof *out->items)};
    size_t nodes = graph.nodes_count + 1;
    struct walk walk = {
        .dags = dags,
        .graph = &graph,
        .arena = arena,
        .met = arena_array(arena, nodes, sizeof *walk.met),
        .low = arena_array(arena, nodes, sizeof *walk.low),
        .group = arena_array(arena, nodes, sizeof *walk.group),
        .next = arena_array(arena, nodes, sizeof *walk.next),
        .path = arena_array(arena, nodes, sizeof *walk.path),
        .open = arena_array(arena, nodes, sizeof *walk.open),
        .from = arena_array(arena, nodes, sizeof *walk.from),
        .out = out,
    };
    find_groups(&walk);
    for (size_t i = 0; i < out->count; i++)
        tell(&walk, &out->items[i]);
}
