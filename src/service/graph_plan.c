#include "service/graph_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"

enum {
    BOX_HEIGHT = 34,
    BOX_BREADTH = 50,
    LANE_BREADTH = 18,
    LETTER_WIDTH = 8,
    BOX_PADDING = 44, /* with room for the icon of a state */
    LAYER_GAP = 44,
    MARGIN = 20,
    GROUP_PADDING = 6,
};

/* --- groups ---------------------------------------------------------------------------------- */

/* "a.b" is in "a": the text up to its last dot, or NULL. */
static const char *group_above(struct arena *arena, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? arena_strndup(arena, name, (size_t)(dot - name)) : NULL;
}

static int compare_groups(const void *a, const void *b)
{
    return strcmp(((const struct graph_group *)a)->name, ((const struct graph_group *)b)->name);
}

/* Every group that a task is in, and those around it. */
static void list_groups(struct graph_plan *plan)
{
    CLEANUP(strmap_freep) struct strmap *seen = strmap_new();
    size_t capacity = 0;
    for (size_t i = 0; i < plan->dag->tasks_count; i++) {
        const char *name = plan->dag->tasks[i].group;
        while (name != NULL && name[0] != '\0' && strmap_add(seen, name, 0)) {
            const char *above = group_above(plan->arena, name);
            plan->groups =
                mem_grow(plan->groups, &capacity, plan->groups_count, sizeof *plan->groups);
            plan->groups[plan->groups_count++] = (struct graph_group){.name = name, .above = above};
            name = above;
        }
    }
    if (plan->groups_count > 0)
        qsort(plan->groups, plan->groups_count, sizeof *plan->groups, compare_groups);
}

static struct graph_group *find_group(const struct graph_plan *plan, const char *name)
{
    const struct graph_group key = {.name = name};
    if (name == NULL || name[0] == '\0' || plan->groups_count == 0)
        return NULL;
    return bsearch(&key, plan->groups, plan->groups_count, sizeof key, compare_groups);
}

/* Of each task the outermost group, by its number from 1 on. */
static void number_groups(const struct graph_plan *plan, uint32_t *out)
{
    for (size_t i = 0; i < plan->dag->tasks_count; i++) {
        const struct graph_group *group = find_group(plan, plan->dag->tasks[i].group);
        while (group != NULL && group->above != NULL)
            group = find_group(plan, group->above);
        out[i] = group != NULL ? (uint32_t)(group - plan->groups) + 1 : 0;
    }
}

static void widen(struct layout_box *box, const struct layout_box *inner, double padding)
{
    double right = MAX(box->x + box->width, inner->x + inner->width + padding);
    double bottom = MAX(box->y + box->height, inner->y + inner->height + padding);
    bool is_first = box->width == 0;
    box->x = is_first ? inner->x - padding : MIN(box->x, inner->x - padding);
    box->y = is_first ? inner->y - padding : MIN(box->y, inner->y - padding);
    box->width = (is_first ? inner->x + inner->width + padding : right) - box->x;
    box->height = (is_first ? inner->y + inner->height + padding : bottom) - box->y;
}

/* From the inside out: names of inner groups come after those of the groups around them. */
static void place_groups(struct graph_plan *plan)
{
    for (size_t i = 0; i < plan->dag->tasks_count; i++) {
        struct graph_group *group = find_group(plan, plan->dag->tasks[i].group);
        if (group != NULL)
            widen(&group->box, &plan->routes->boxes[i], GROUP_PADDING);
    }
    for (size_t i = plan->groups_count; i-- > 0;) {
        struct graph_group *above = find_group(plan, plan->groups[i].above);
        if (above != NULL)
            widen(&above->box, &plan->groups[i].box, GROUP_PADDING);
    }
}

/* --- the plan -------------------------------------------------------------------------------- */

static void list_edges(struct graph_plan *plan)
{
    const struct dag *dag = plan->dag;
    size_t count = 0;
    for (size_t i = 0; i < dag->tasks_count; i++)
        count += dag->tasks[i].needs.count;
    plan->edges = mem_zalloc(count + 1, sizeof *plan->edges);
    for (uint32_t i = 0; i < dag->tasks_count; i++)
        for (size_t k = 0; k < dag->tasks[i].needs.count; k++)
            plan->edges[plan->edges_count++] =
                (struct layout_edge){dag->tasks[i].needs.items[k], i};
}

static enum status lay_out(struct graph_plan *plan, struct err *err)
{
    const struct dag *dag = plan->dag;
    CLEANUP(mem_freep) bool *is_late = mem_zalloc(dag->tasks_count + 1, sizeof *is_late);
    CLEANUP(mem_freep) uint32_t *groups = mem_zalloc(dag->tasks_count + 1, sizeof *groups);
    for (size_t i = 0; i < dag->tasks_count; i++)
        is_late[i] = dag->tasks[i].is_finally;
    number_groups(plan, groups);
    const struct layout_request request = {
        .nodes_count = dag->tasks_count,
        .edges = plan->edges,
        .edges_count = plan->edges_count,
        .node_breadth = BOX_BREADTH,
        .dummy_breadth = LANE_BREADTH,
        .is_late = is_late,
        .groups = plan->groups_count > 0 && plan->groups_count <= dag->tasks_count ? groups : NULL,
    };
    return layout_new(&request, &plan->layout, err);
}

static void route(struct graph_plan *plan)
{
    const struct dag *dag = plan->dag;
    CLEANUP(mem_freep) double *widths = mem_zalloc(dag->tasks_count + 1, sizeof *widths);
    for (size_t i = 0; i < dag->tasks_count; i++)
        widths[i] = (double)(str_columns(dag->tasks[i].id) * LETTER_WIDTH + BOX_PADDING);
    const struct layout_route_request request = {
        .layout = plan->layout,
        .edges = plan->edges,
        .edges_count = plan->edges_count,
        .widths = widths,
        .height = BOX_HEIGHT,
        .gap = LAYER_GAP,
        .margin = MARGIN,
    };
    plan->routes = layout_route_new(&request);
}

enum status graph_plan_new(const struct dag *dag, struct graph_plan **out, struct err *err)
{
    CLEANUP(graph_plan_freep) struct graph_plan *plan = mem_zalloc(1, sizeof *plan);
    plan->dag = dag;
    plan->arena = arena_new();
    list_groups(plan);
    list_edges(plan);
    if (lay_out(plan, err) != STATUS_OK)
        return err->code;
    route(plan);
    place_groups(plan);
    *out = TAKE(plan);
    return STATUS_OK;
}

void graph_plan_free(struct graph_plan *plan)
{
    if (plan == NULL)
        return;
    layout_free(plan->layout);
    layout_route_free(plan->routes);
    free(plan->edges);
    free(plan->groups);
    arena_free(plan->arena);
    free(plan);
}
