#include "model/trigger_circle.h"

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

/* ---- who starts whom ---- */

static bool writes(const struct dag *dag, const char *uri)
{
    for (size_t i = 0; i < dag->tasks_count; i++)
        if (task_def_writes(&dag->tasks[i], uri))
            return true;
    return false;
}

static bool is_enough(const struct trigger_rules *rules, const struct dag *source, bool is_dataset)
{
    bool any = false;
    if (rules->root == NULL)
        return false;
    CLEANUP(mem_freep) bool *happened = mem_zalloc(rules->leaves_count + 1, sizeof *happened);
    for (size_t i = 0; i < rules->leaves_count; i++) {
        const char *name = rules->leaves[i]->name;
        happened[i] = is_dataset ? writes(source, name) : str_equal(source->id, name);
        any |= happened[i];
    }
    return any && trigger_expr_holds(rules->root, happened);
}

static bool starts(const struct circle_dag *source, const struct circle_dag *target)
{
    return is_enough(&target->triggers->after, source->dag, false) ||
           is_enough(&target->triggers->datasets, source->dag, true);
}

/* ---- circles ---- */

enum { UNSEEN, ON_PATH, DONE };

struct walk {
    const struct circle_dag *dags;
    size_t count;
    struct arena *arena;
    char *marks;
    size_t *path;
    size_t *next; /* the target to look at next, of each on the path */
    size_t depth;
    struct circle_list *out;
};

static void tell(struct walk *walk, size_t begin)
{
    const char *text = "";
    for (size_t i = begin; i < walk->depth; i++)
        text = arena_format(walk->arena, "%s%s -> ", text, walk->dags[walk->path[i]].dag->id);
    walk->out->texts[walk->out->count] =
        arena_format(walk->arena, "%s%s", text, walk->dags[walk->path[begin]].dag->id);
    walk->out->first[walk->out->count++] = walk->path[begin];
}

static void push(struct walk *walk, size_t dag)
{
    walk->marks[dag] = ON_PATH;
    walk->path[walk->depth] = dag;
    walk->next[walk->depth++] = 0;
}

/* A circle was told: what leads into it is told by itself. */
static void drop_path(struct walk *walk)
{
    while (walk->depth > 0)
        walk->marks[walk->path[--walk->depth]] = DONE;
}

static void step(struct walk *walk)
{
    size_t top = walk->depth - 1;
    size_t source = walk->path[top];
    size_t target = walk->next[top]++;
    if (target == walk->count) {
        walk->marks[source] = DONE;
        walk->depth--;
        return;
    }
    if (walk->marks[target] == DONE || !starts(&walk->dags[source], &walk->dags[target]))
        return;
    if (walk->marks[target] == UNSEEN) {
        push(walk, target);
        return;
    }
    size_t begin = top;
    while (walk->path[begin] != target)
        begin--;
    tell(walk, begin);
    drop_path(walk);
}

void trigger_circles(const struct circle_dag *dags, size_t count, struct arena *arena,
                     struct circle_list *out)
{
    *out = (struct circle_list){
        .texts = arena_array(arena, count + 1, sizeof(char *)),
        .first = arena_array(arena, count + 1, sizeof *out->first),
    };
    struct walk walk = {
        .dags = dags,
        .count = count,
        .arena = arena,
        .marks = arena_array(arena, count + 1, sizeof *walk.marks),
        .path = arena_array(arena, count + 1, sizeof *walk.path),
        .next = arena_array(arena, count + 1, sizeof *walk.next),
        .out = out,
    };
    for (size_t i = 0; i < count; i++) {
        if (walk.marks[i] != UNSEEN)
            continue;
        push(&walk, i);
        while (walk.depth > 0)
            step(&walk);
    }
}
