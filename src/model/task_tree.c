#include "model/task_tree.h"

#define NOBODY UINT32_MAX

struct branch {
    uint32_t depth;
    uint32_t parent;
    uint32_t last;    /* of its children, so far */
    uint32_t earlier; /* child of the same parent, before this one */
};

static uint32_t parent_of(const struct task_def *task, const struct branch *branches)
{
    uint32_t parent = NOBODY;
    for (size_t i = 0; i < task->needs.count; i++) {
        uint32_t need = task->needs.items[i];
        if (parent == NOBODY || branches[need].depth >= branches[parent].depth)
            parent = need;
    }
    return parent;
}

const struct task_place *task_tree(const struct dag *dag, struct arena *arena)
{
    size_t count = dag->tasks_count;
    struct branch *branches = arena_array(arena, count + 1, sizeof *branches);
    struct task_place *places = arena_array(arena, count + 1, sizeof *places);
    uint32_t *open = arena_array(arena, count + 1, sizeof *open);
    struct branch *margin = &branches[count]; /* what all others hang on */
    size_t open_count = 0;
    size_t done = 0;
    for (size_t i = 0; i <= count; i++)
        branches[i] = (struct branch){.parent = NOBODY, .last = NOBODY, .earlier = NOBODY};
    for (size_t i = 0; i < count; i++) {
        uint32_t node = dag->order[i];
        struct branch *branch = &branches[node];
        branch->parent = parent_of(&dag->tasks[node], branches);
        struct branch *above = branch->parent != NOBODY ? &branches[branch->parent] : margin;
        branch->depth = branch->parent != NOBODY ? above->depth + 1 : 0;
        branch->earlier = above->last;
        above->last = node;
    }
    /* What is pushed last comes first: children are pushed from the last to the first. */
    for (uint32_t node = margin->last; node != NOBODY; node = branches[node].earlier)
        open[open_count++] = node;
    while (open_count > 0) {
        uint32_t node = open[--open_count];
        places[done++] = (struct task_place){node, branches[node].depth};
        for (uint32_t child = branches[node].last; child != NOBODY; child = branches[child].earlier)
            open[open_count++] = child;
    }
    return places;
}
