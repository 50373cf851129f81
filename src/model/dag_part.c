#include "model/dag_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"
#include "model/dag_graph.h"

enum { LEFT_OUT = UINT32_MAX, ROUNDS_MAX = 8 };

/* A group that is to be one node. */
struct bundle {
    const char *name;
    bool is_open;     /* it cannot be one */
    bool has_main;    /* some of its tasks are no finally tasks */
    bool has_finally; /* some are */
    uint32_t node;    /* of the part; LEFT_OUT: none yet */
};

struct parting {
    struct arena *arena;
    const struct dag *whole;
    const struct dag_part_request *request;
    bool *chosen;
    uint32_t *bundle_of; /* of each task: from 1 on, 0: none */
    struct bundle *bundles;
    size_t bundles_count;
    size_t bundles_capacity;
    uint32_t *node_of; /* of each task: its node in the part, or LEFT_OUT */
    struct dag_part part;
};

static void parting_fini(struct parting *parting)
{
    free(parting->chosen);
    free(parting->bundle_of);
    free(parting->bundles);
    free(parting->node_of);
}

/* --- around a task --------------------------------------------------------------------------- */

/* Level by level, each task once. */
static void choose(const struct parting *parting, int64_t levels, bool is_up)
{
    const struct dag *whole = parting->whole;
    CLEANUP(mem_freep) bool *seen = mem_zalloc(whole->tasks_count + 1, sizeof *seen);
    CLEANUP(mem_freep) uint32_t *queue = mem_zalloc(whole->tasks_count + 1, sizeof *queue);
    size_t head = 0;
    size_t tail = 1;
    queue[0] = (uint32_t)parting->request->node;
    seen[queue[0]] = true;
    for (; levels > 0 && head < tail; levels--) {
        for (size_t end = tail; head < end; head++) {
            const struct task_def *task = &whole->tasks[queue[head]];
            const struct node_list *next = is_up ? &task->needs : &task->dependants;
            for (size_t i = 0; i < next->count; i++) {
                if (!seen[next->items[i]])
                    queue[tail++] = next->items[i];
                seen[next->items[i]] = true;
            }
        }
    }
    for (size_t i = 0; i < tail; i++)
        parting->chosen[queue[i]] = true;
}

static void choose_tasks(const struct parting *parting)
{
    const struct dag_part_request *request = parting->request;
    if (request->node < 0) {
        for (size_t i = 0; i < parting->whole->tasks_count; i++)
            parting->chosen[i] = true;
        return;
    }
    choose(parting, request->up, true);
    choose(parting, request->down, false);
}

/* --- groups ---------------------------------------------------------------------------------- */

static bool is_to_be_closed(const struct parting *parting, const char *name)
{
    for (size_t i = 0; i < parting->request->closed_count; i++)
        if (str_equal(parting->request->closed[i], name) ||
            (str_equal(parting->request->closed[i], DAG_PART_EVERY_GROUP) &&
             strchr(name, '.') == NULL))
            return true;
    return false;
}

/* The outermost group around it that is to be one node, by its number from 1 on; 0: none. */
static uint32_t find_bundle(struct parting *parting, struct strmap *known, const char *group)
{
    for (size_t i = 1; group[0] != '\0' && i <= strlen(group); i++) {
        int64_t number = 0;
        if (group[i] != '.' && group[i] != '\0')
            continue;
        const char *name = arena_strndup(parting->arena, group, i);
        if (strmap_find(known, name, &number))
            return (uint32_t)number;
        if (!is_to_be_closed(parting, name))
            continue;
        parting->bundles = mem_grow(parting->bundles, &parting->bundles_capacity,
                                    parting->bundles_count, sizeof *parting->bundles);
        parting->bundles[parting->bundles_count++] = (struct bundle){.name = name};
        (void)strmap_add(known, name, (int64_t)parting->bundles_count);
        return (uint32_t)parting->bundles_count;
    }
    return 0;
}

static void bundle_tasks(struct parting *parting)
{
    CLEANUP(strmap_freep) struct strmap *known = strmap_new();
    CLEANUP(strmap_freep) struct strmap *answers = strmap_new(); /* of groups that were asked for */
    for (size_t i = 0; i < parting->whole->tasks_count; i++) {
        const struct task_def *task = &parting->whole->tasks[i];
        int64_t number = 0;
        if (!parting->chosen[i])
            continue;
        if (!strmap_find(answers, task->group, &number)) {
            number = find_bundle(parting, known, task->group);
            (void)strmap_add(answers, task->group, number);
        }
        parting->bundle_of[i] = (uint32_t)number;
        if (number == 0)
            continue;
        CHECK(parting->bundles != NULL);
        struct bundle *bundle = &parting->bundles[number - 1];
        bundle->has_finally |= task->is_finally;
        bundle->has_main |= !task->is_finally;
        bundle->is_open = bundle->has_main && bundle->has_finally;
    }
}

static bool is_in(const char *group, const char *name)
{
    size_t length = strlen(name);
    return strncmp(group, name, length) == 0 && (group[length] == '.' || group[length] == '\0');
}

static enum status check_groups(const struct parting *parting, struct err *err)
{
    for (size_t i = 0; i < parting->request->closed_count; i++) {
        const char *name = parting->request->closed[i];
        bool is_there = str_equal(name, DAG_PART_EVERY_GROUP);
        for (size_t k = 0; !is_there && k < parting->whole->tasks_count; k++)
            is_there = name[0] != '\0' && is_in(parting->whole->tasks[k].group, name);
        if (!is_there)
            return err_set(err, STATUS_NOT_FOUND, "DAG '%s' has no group '%.100s'",
                           parting->whole->id, name);
    }
    return STATUS_OK;
}

/* --- nodes and edges ------------------------------------------------------------------------- */

static const char *group_above(struct arena *arena, const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? arena_strndup(arena, name, (size_t)(dot - name)) : "";
}

static struct bundle *bundle_at(const struct parting *parting, size_t task)
{
    uint32_t number = parting->bundle_of[task];
    if (number == 0)
        return NULL;
    CHECK(parting->bundles != NULL);
    return parting->bundles[number - 1].is_open ? NULL : &parting->bundles[number - 1];
}

static uint32_t add_node(struct parting *parting, size_t task, const struct bundle *bundle)
{
    struct dag *dag = parting->part.dag;
    uint32_t node = (uint32_t)dag->tasks_count++;
    struct task_def *def = &dag->tasks[node];
    parting->part.nodes[node] = (struct dag_part_node){.is_group = bundle != NULL};
    if (bundle == NULL) {
        *def = parting->whole->tasks[task];
    } else {
        *def = (struct task_def){
            .id = bundle->name,
            .group = group_above(parting->arena, bundle->name),
            .kind = KIND_NOOP,
            .is_finally = !bundle->has_main,
        };
    }
    dag->finally_count += def->is_finally;
    return node;
}

/* A group stands where the first of its tasks does. */
static void number_nodes(struct parting *parting)
{
    struct dag *dag = parting->part.dag;
    dag->tasks_count = 0;
    dag->finally_count = 0;
    for (size_t i = 0; i < parting->bundles_count; i++)
        parting->bundles[i].node = LEFT_OUT;
    for (size_t i = 0; i < parting->whole->tasks_count; i++) {
        struct bundle *bundle = bundle_at(parting, i);
        parting->node_of[i] = LEFT_OUT;
        if (!parting->chosen[i])
            continue;
        uint32_t node = bundle != NULL ? bundle->node : LEFT_OUT;
        if (node == LEFT_OUT)
            node = add_node(parting, i, bundle);
        if (bundle != NULL)
            bundle->node = node;
        parting->node_of[i] = node;
        parting->part.nodes[node].members_count++;
    }
}

static void list_members(struct parting *parting)
{
    for (size_t i = 0; i < parting->part.dag->tasks_count; i++) {
        struct dag_part_node *node = &parting->part.nodes[i];
        node->members = arena_array(parting->arena, node->members_count, sizeof *node->members);
        node->members_count = 0;
    }
    for (size_t i = 0; i < parting->whole->tasks_count; i++) {
        if (parting->node_of[i] == LEFT_OUT)
            continue;
        struct dag_part_node *node = &parting->part.nodes[parting->node_of[i]];
        node->members[node->members_count++] = (uint32_t)i;
    }
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static size_t sort_once(uint32_t *items, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(items, count, sizeof *items, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || items[i] != items[kept - 1])
            items[kept++] = items[i];
    return kept;
}

/* What the tasks of a node need, as nodes of the part. */
static void link_node(struct parting *parting, uint32_t number)
{
    const struct dag_part_node *node = &parting->part.nodes[number];
    size_t most = 0;
    size_t count = 0;
    for (size_t i = 0; i < node->members_count; i++)
        most += parting->whole->tasks[node->members[i]].needs.count;
    uint32_t *items = arena_array(parting->arena, most + 1, sizeof *items);
    for (size_t i = 0; i < node->members_count; i++) {
        const struct node_list *needs = &parting->whole->tasks[node->members[i]].needs;
        for (size_t k = 0; k < needs->count; k++) {
            uint32_t parent = parting->node_of[needs->items[k]];
            if (parent != LEFT_OUT && parent != number)
                items[count++] = parent;
        }
    }
    parting->part.dag->tasks[number].needs = (struct node_list){items, sort_once(items, count)};
}

static void count_hidden(const struct parting *parting)
{
    for (size_t i = 0; i < parting->whole->tasks_count; i++) {
        const struct task_def *task = &parting->whole->tasks[i];
        for (size_t k = 0; k < task->needs.count; k++) {
            uint32_t from = parting->node_of[task->needs.items[k]];
            uint32_t to = parting->node_of[i];
            if (from == LEFT_OUT && to != LEFT_OUT)
                parting->part.nodes[to].hidden_up++;
            if (from != LEFT_OUT && to == LEFT_OUT)
                parting->part.nodes[from].hidden_down++;
        }
    }
}

/* Groups on the cycles, or in the end all: without groups there is none. */
static void open_groups(const struct parting *parting, const struct dag_cycle *cycles, size_t count,
                        bool is_all)
{
    CLEANUP(mem_freep)
    bool *is_bad = mem_zalloc(parting->part.dag->tasks_count + 1, sizeof *is_bad);
    for (size_t c = 0; c < count; c++)
        for (size_t k = 0; k < cycles[c].count; k++)
            is_bad[cycles[c].nodes[k]] = true;
    for (size_t i = 0; i < parting->bundles_count; i++) {
        struct bundle *bundle = &parting->bundles[i];
        bundle->is_open |= is_all || (bundle->node != LEFT_OUT && is_bad[bundle->node]);
    }
}

/* False: groups had to be opened. */
static bool is_built(struct parting *parting, bool is_last)
{
    struct dag_cycle cycles[DAG_CYCLES_MAX] = {0};
    number_nodes(parting);
    list_members(parting);
    for (uint32_t i = 0; i < parting->part.dag->tasks_count; i++)
        link_node(parting, i);
    size_t count = dag_graph_build(parting->part.dag, cycles);
    open_groups(parting, cycles, count, is_last && count > 0);
    for (size_t i = 0; i < DAG_CYCLES_MAX; i++)
        dag_cycle_fini(&cycles[i]);
    return count == 0;
}

enum status dag_part_make(struct arena *arena, const struct dag *whole,
                          const struct dag_part_request *request, struct dag_part *out,
                          struct err *err)
{
    size_t count = whole->tasks_count + 1;
    CLEANUP(parting_fini)
    struct parting parting = {
        .arena = arena,
        .whole = whole,
        .request = request,
        .chosen = mem_zalloc(count, sizeof(bool)),
        .bundle_of = mem_zalloc(count, sizeof(uint32_t)),
        .node_of = mem_zalloc(count, sizeof(uint32_t)),
        .part = {.dag = arena_alloc(arena, sizeof(struct dag)),
                 .nodes = arena_array(arena, count, sizeof(struct dag_part_node))},
    };
    CHECK(request->node < (int64_t)whole->tasks_count);
    if (check_groups(&parting, err) != STATUS_OK)
        return err->code;
    *parting.part.dag = (struct dag){
        .arena = arena,
        .id = whole->id,
        .title = whole->title,
        .tasks = arena_array(arena, count, sizeof(struct task_def)),
    };
    choose_tasks(&parting);
    bundle_tasks(&parting);
    for (int round = 1; !is_built(&parting, round >= ROUNDS_MAX); round++)
        CHECK(round <= ROUNDS_MAX);
    count_hidden(&parting);
    *out = parting.part;
    return STATUS_OK;
}
