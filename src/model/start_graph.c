#include "model/start_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strmap.h"

struct arrow {
    size_t from;
    size_t to;
};

struct maker {
    const struct circle_dag *dags;
    size_t count;
    struct arena *arena;
    struct strmap *ids;      /* of DAGs, to their numbers */
    struct strmap *datasets; /* that are written, to their numbers */
    struct arrow *arrows;
    size_t arrows_count;
    size_t arrows_capacity;
    struct start_graph writers; /* from datasets to DAGs */
    size_t *seen;               /* per DAG: the last that asked for it, plus one */
    size_t *written;            /* per dataset: the same */
    size_t asked;
};

static void add_arrow(struct maker *maker, size_t from, size_t to)
{
    maker->arrows =
        mem_grow(maker->arrows, &maker->arrows_capacity, maker->arrows_count, sizeof(struct arrow));
    maker->arrows[maker->arrows_count++] = (struct arrow){from, to};
}

/* Sorted by where they begin, in time that grows with their number only. */
static struct start_graph sort_arrows(const struct maker *maker, size_t nodes)
{
    size_t *first = arena_array(maker->arena, nodes + 2, sizeof *first);
    size_t *ends = arena_array(maker->arena, maker->arrows_count + 1, sizeof *ends);
    for (size_t i = 0; i < maker->arrows_count; i++)
        first[maker->arrows[i].from + 2]++;
    for (size_t i = 2; i < nodes + 2; i++)
        first[i] += first[i - 1];
    /* Each start moves to its end while its arrows are placed, which is the start of the next. */
    for (size_t i = 0; i < maker->arrows_count; i++)
        ends[first[maker->arrows[i].from + 1]++] = maker->arrows[i].to;
    return (struct start_graph){
        .dags_count = maker->count, .nodes_count = nodes, .first = first, .ends = ends};
}

/* --- what each writes ------------------------------------------------------------------------ */

static size_t dataset_number(struct maker *maker, const char *uri)
{
    int64_t number = (int64_t)strmap_count(maker->datasets);
    if (!strmap_find(maker->datasets, uri, &number))
        (void)strmap_add(maker->datasets, uri, number);
    return (size_t)number;
}

static void note_writers(struct maker *maker)
{
    for (size_t i = 0; i < maker->count; i++)
        for (size_t k = 0; k < maker->dags[i].outputs_count; k++)
            add_arrow(maker, dataset_number(maker, maker->dags[i].outputs[k]), i);
    size_t datasets = strmap_count(maker->datasets);
    maker->writers = sort_arrows(maker, datasets);
    maker->written = arena_array(maker->arena, datasets + 1, sizeof *maker->written);
    for (size_t i = 0; i < maker->arrows_count; i++)
        maker->arrows[i] =
            (struct arrow){maker->arrows[i].to, maker->count + maker->arrows[i].from};
}

/* --- what starts each ------------------------------------------------------------------------ */

/* Whether this name alone is enough. */
static bool is_enough(const struct trigger_rules *rules, const char *name, bool *happened)
{
    for (size_t i = 0; i < rules->leaves_count; i++)
        happened[i] = str_equal(rules->leaves[i]->name, name);
    return trigger_expr_holds(rules->root, happened);
}

static void add_ends(struct maker *maker, size_t target, bool *happened)
{
    const struct trigger_rules *rules = &maker->dags[target].triggers->after;
    int64_t source = 0;
    for (size_t i = 0; i < rules->leaves_count; i++)
        if (strmap_find(maker->ids, rules->leaves[i]->name, &source) &&
            is_enough(rules, rules->leaves[i]->name, happened))
            add_arrow(maker, (size_t)source, target);
}

/* What a DAG writes, all of it together. */
static bool writes_enough(struct maker *maker, size_t source, const struct trigger_rules *rules,
                          bool *happened)
{
    const struct circle_dag *dag = &maker->dags[source];
    int64_t number = 0;
    maker->asked++;
    for (size_t i = 0; i < dag->outputs_count; i++)
        maker->written[dataset_number(maker, dag->outputs[i])] = maker->asked;
    for (size_t i = 0; i < rules->leaves_count; i++)
        happened[i] = strmap_find(maker->datasets, rules->leaves[i]->name, &number) &&
                      maker->written[number] == maker->asked;
    return trigger_expr_holds(rules->root, happened);
}

static void add_writers(struct maker *maker, size_t target, size_t dataset, bool *happened)
{
    const struct trigger_rules *rules = &maker->dags[target].triggers->datasets;
    for (size_t i = maker->writers.first[dataset]; i < maker->writers.first[dataset + 1]; i++) {
        size_t source = maker->writers.ends[i];
        bool is_seen = maker->seen[source] == target + 1;
        maker->seen[source] = target + 1;
        if (!is_seen && maker->dags[source].outputs_count > 1 &&
            writes_enough(maker, source, rules, happened))
            add_arrow(maker, source, target);
    }
}

/* Datasets that are enough by themselves, and those who write several that are so together. */
static void add_datasets(struct maker *maker, size_t target, bool *happened)
{
    const struct trigger_rules *rules = &maker->dags[target].triggers->datasets;
    int64_t number = 0;
    size_t *others = arena_array(maker->arena, rules->leaves_count + 1, sizeof *others);
    size_t count = 0;
    for (size_t i = 0; i < rules->leaves_count; i++) {
        if (!strmap_find(maker->datasets, rules->leaves[i]->name, &number))
            continue;
        if (is_enough(rules, rules->leaves[i]->name, happened))
            add_arrow(maker, maker->count + (size_t)number, target);
        else
            others[count++] = (size_t)number;
    }
    for (size_t i = 0; count > 1 && i < count; i++)
        add_writers(maker, target, others[i], happened);
}

static void note_starts(struct maker *maker, size_t target)
{
    const struct triggers *triggers = maker->dags[target].triggers;
    size_t leaves = MAX(triggers->after.leaves_count, triggers->datasets.leaves_count);
    CLEANUP(mem_freep) bool *happened = mem_zalloc(leaves + 1, sizeof *happened);
    if (triggers->after.root != NULL)
        add_ends(maker, target, happened);
    if (triggers->datasets.root != NULL)
        add_datasets(maker, target, happened);
}

struct start_graph start_graph_make(const struct circle_dag *dags, size_t count,
                                    struct arena *arena)
{
    CLEANUP(strmap_freep) struct strmap *ids = strmap_new();
    CLEANUP(strmap_freep) struct strmap *datasets = strmap_new();
    struct maker maker = {
        .dags = dags,
        .count = count,
        .arena = arena,
        .ids = ids,
        .datasets = datasets,
        .seen = arena_array(arena, count + 1, sizeof *maker.seen),
    };
    for (size_t i = 0; i < count; i++)
        (void)strmap_add(ids, dags[i].id, (int64_t)i);
    note_writers(&maker);
    for (size_t i = 0; i < count; i++)
        note_starts(&maker, i);
    struct start_graph graph = sort_arrows(&maker, count + strmap_count(datasets));
    free(maker.arrows);
    return graph;
}
