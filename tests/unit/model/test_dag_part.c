#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "expect.h"
#include "model/dag_graph.h"
#include "model/dag_part.h"

/* A DAG whose tasks are named one after the other, their group in front of the last dot. */
static struct dag *new_dag(struct arena *arena)
{
    struct dag *dag = arena_alloc(arena, sizeof *dag);
    *dag = (struct dag){.arena = arena, .id = "d"};
    dag->tasks = arena_array(arena, 32, sizeof *dag->tasks);
    return dag;
}

static void add_task(struct dag *dag, const char *id, size_t count, ...)
{
    const char *dot = strrchr(id, '.');
    uint32_t *items = arena_array(dag->arena, count + 1, sizeof *items);
    va_list needs;
    va_start(needs, count);
    for (size_t i = 0; i < count; i++)
        items[i] = va_arg(needs, uint32_t);
    va_end(needs);
    dag->tasks[dag->tasks_count++] = (struct task_def){
        .id = id,
        .group = dot != NULL ? arena_strndup(dag->arena, id, (size_t)(dot - id)) : "",
        .needs = {items, count},
    };
}

static void build(struct dag *dag)
{
    struct dag_cycle cycles[DAG_CYCLES_MAX] = {0};
    cr_assert_eq(dag_graph_build(dag, cycles), 0);
}

/* "a b<a c<a,b": each node with what it needs. */
static const char *told(struct arena *arena, const struct dag_part *part)
{
    CLEANUP(strbuf_fini) struct strbuf text;
    strbuf_init(&text, 4000);
    for (size_t i = 0; i < part->dag->tasks_count; i++) {
        const struct task_def *task = &part->dag->tasks[i];
        strbuf_addf(&text, "%s%s", i > 0 ? " " : "", task->id);
        for (size_t k = 0; k < task->needs.count; k++)
            strbuf_addf(&text, "%c%s", k == 0 ? '<' : ',',
                        part->dag->tasks[task->needs.items[k]].id);
    }
    return arena_strdup(arena, text.text != NULL ? text.text : "");
}

static struct dag_part around(const struct dag *dag, int64_t node, int64_t up, int64_t down)
{
    struct dag_part part;
    struct err err = {0};
    const struct dag_part_request request = {.node = node, .up = up, .down = down};
    EXPECT_OK(dag_part_make(dag->arena, dag, &request, &part, &err), &err);
    return part;
}

static struct dag_part closing(const struct dag *dag, const char *one, const char *other)
{
    struct dag_part part;
    struct err err = {0};
    const char *const names[] = {one, other};
    const struct dag_part_request request = {
        .node = -1, .closed = names, .closed_count = other != NULL ? 2 : 1};
    EXPECT_OK(dag_part_make(dag->arena, dag, &request, &part, &err), &err);
    return part;
}

Test(dag_part, what_is_around_a_task_is_a_dag_of_its_own)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dag *dag = new_dag(arena);
    add_task(dag, "a", 0);
    add_task(dag, "b", 1, 0);
    add_task(dag, "c", 2, 0, 1);
    add_task(dag, "d", 1, 2);
    add_task(dag, "e", 1, 1);
    add_task(dag, "f", 1, 3);
    build(dag);

    struct dag_part part = around(dag, -1, 0, 0);
    EXPECT_STR("a b<a c<a,b d<c e<b f<d", told(arena, &part));
    part = around(dag, 2, 1, 1);
    EXPECT_STR("a b<a c<a,b d<c", told(arena, &part)); /* no sibling of it */
    cr_assert_eq(part.nodes[1].hidden_down, 1, "e");
    cr_assert_eq(part.nodes[3].hidden_down, 1, "f");
    cr_assert_eq(part.nodes[0].hidden_up + part.nodes[0].hidden_down, 0);
    cr_assert_eq(part.nodes[3].members[0], 3);
    part = around(dag, 3, 1, 0);
    EXPECT_STR("c d<c", told(arena, &part));
    cr_assert_eq(part.nodes[0].hidden_up, 2);
    part = around(dag, 1, 0, 2);
    EXPECT_STR("b c<b d<c e<b", told(arena, &part));
    part = around(dag, 5, 0, 0);
    EXPECT_STR("f", told(arena, &part));
    part = around(dag, 0, 0, 1000);
    EXPECT_STR("a b<a c<a,b d<c e<b f<d", told(arena, &part));
}

Test(dag_part, a_group_is_one_node_with_the_edges_of_its_tasks)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dag *dag = new_dag(arena);
    struct err err = {0};
    add_task(dag, "a", 0);
    add_task(dag, "g.b", 1, 0);
    add_task(dag, "g.in.c", 1, 1);
    add_task(dag, "g.d", 2, 0, 2);
    add_task(dag, "e", 2, 1, 3);
    add_task(dag, "gg.f", 1, 4);
    build(dag);

    struct dag_part part = closing(dag, "g", NULL);
    EXPECT_STR("a g<a e<g gg.f<e", told(arena, &part));
    cr_assert(part.nodes[1].is_group);
    cr_assert_eq(part.nodes[1].members_count, 3);
    cr_assert_eq(part.nodes[1].members[2], 3);
    cr_assert(!part.nodes[0].is_group);
    cr_assert_eq(part.nodes[1].hidden_up + part.nodes[1].hidden_down, 0);
    part = closing(dag, "*", NULL);
    EXPECT_STR("a g<a e<g gg<e", told(arena, &part));
    part = closing(dag, "g.in", "g");
    EXPECT_STR("a g<a e<g gg.f<e", told(arena, &part)); /* the outer counts */

    const char *const none[] = {"ge"};
    const struct dag_part_request request = {.node = -1, .closed = none, .closed_count = 1};
    EXPECT_STATUS(STATUS_NOT_FOUND, dag_part_make(arena, dag, &request, &part, &err), &err);
    EXPECT_CONTAINS(err.text, "'ge'");
}

Test(dag_part, a_group_stays_open_where_one_node_would_hide_an_order)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct dag *dag = new_dag(arena);
    add_task(dag, "g.a", 0);
    add_task(dag, "between", 1, 0);
    add_task(dag, "g.b", 1, 1);
    add_task(dag, "h.c", 1, 2);
    add_task(dag, "h.d", 1, 3);
    add_task(dag, "k.e", 0);
    add_task(dag, "m.e", 1, 5);
    add_task(dag, "m.f", 0);
    add_task(dag, "k.f", 1, 7);
    add_task(dag, "n.x", 0);
    add_task(dag, "n.y", 0);
    dag->tasks[10].is_finally = true;
    build(dag);

    struct dag_part part = closing(dag, "*", NULL);
    EXPECT_STR("g.a between<g.a g.b<between h<g.b k.e m.e<k.e m.f k.f<m.f n.x n.y",
               told(arena, &part));
}
