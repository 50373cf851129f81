/*
 * dag_read_refs: names to edges.
 *
 * A name means the nearest: a task or group beside the one that names it, then of the groups
 * around it, then a full id. Needing a group means needing its leaves; a group's own needs go to
 * its roots. Groups are numbered before the groups in them, so going backwards meets inner
 * groups first, whose leaves the outer ones ask for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "model/dag_graph.h"
#include "model/dag_read_priv.h"
#include "model/limits.h"

enum { CYCLE_SHOWN_MAX = 12 };

int64_t reader_resolve(const struct reader *r, int64_t group, const char *name)
{
    char full[2 * LIMIT_ID_BYTES + 2];
    int64_t target = REF_NONE;
    if (strlen(name) > LIMIT_ID_BYTES)
        return REF_NONE;
    for (; group >= 0; group = r->groups[group].parent) {
        int length = snprintf(full, sizeof full, "%s.%s", r->groups[group].name, name);
        CHECK(length > 0 && (size_t)length < sizeof full);
        if (strmap_find(r->names, full, &target))
            return target;
    }
    return strmap_find(r->names, name, &target) ? target : REF_NONE;
}

static const char *candidate_task(const void *context, size_t i)
{
    const struct reader *r = context;
    return i < r->drafts_count ? r->drafts[i].def.id : r->groups[i - r->drafts_count].name;
}

void reader_unknown_task(struct reader *r, struct spot spot, const char *what, const char *name)
{
    const char *near = NULL;
    if (!r->diags->truncated)
        near = str_nearest(name, r->drafts_count + r->groups_count, candidate_task, r);
    if (near != NULL)
        reader_problem(r, spot, "'%s': there is no task '%.100s'; did you mean '%s'?", what, name,
                       near);
    else
        reader_problem(r, spot, "'%s': there is no task '%.100s'", what, name);
}

/* ---- resolving ---- */

static bool draft_is_in(const struct group_draft *group, int64_t draft)
{
    return draft >= (int64_t)group->drafts_first && draft < (int64_t)group->drafts_end;
}

/* Is the target a task or a group inside the group? */
static bool target_is_in(const struct reader *r, int64_t group, int64_t target)
{
    if (target == REF_NONE)
        return false;
    if (target >= 0)
        return draft_is_in(&r->groups[group], target);
    int64_t inner = -1 - target;
    return inner > group && inner < (int64_t)r->groups[group].groups_end;
}

/* Mistakes that the target itself shows. */
static void check_target(struct reader *r, struct ref *ref, int64_t draft)
{
    const char *what = ref->kind == REF_NEEDS ? "needs" : "teardown";
    CHECK(r->drafts != NULL);
    const struct draft *owner = draft >= 0 ? &r->drafts[draft] : NULL;
    bool is_problem = true;
    if (owner != NULL && ref->target == draft) {
        reader_problem(r, ref->spot, "'%s': task '%s' cannot need itself", what, owner->def.id);
    } else if (ref->target < 0 && ref->kind == REF_TEARDOWN) {
        reader_problem(r, ref->spot, "'teardown': '%s' is a group, not a setup task", ref->name);
    } else if (owner != NULL && ref->target < 0 &&
               draft_is_in(&r->groups[-1 - ref->target], draft)) {
        reader_problem(r, ref->spot, "'%s': '%s' is the group that task '%s' is in", what,
                       ref->name, owner->def.id);
    } else if (ref->kind == REF_TEARDOWN && !r->drafts[ref->target].def.is_setup) {
        reader_problem(r, ref->spot,
                       "'teardown': task '%s' is not a setup: add 'setup: true' to it",
                       r->drafts[ref->target].def.id);
    } else {
        bool needs_finally = ref->target >= 0 && r->drafts[ref->target].def.is_finally;
        bool is_finally = owner != NULL && owner->def.is_finally;
        is_problem = needs_finally != is_finally;
        if (is_problem && is_finally)
            reader_problem(r, ref->spot,
                           "'%s': '%s' is not a finally task; finally tasks run after all others "
                           "anyway",
                           what, ref->name);
        else if (is_problem)
            reader_problem(r, ref->spot,
                           "'%s': '%s' is a finally task: it runs after all others, so only "
                           "finally tasks can need it",
                           what, ref->name);
    }
    if (is_problem)
        ref->target = REF_NONE;
}

struct stamps {
    uint32_t *tasks;
    uint32_t *groups;
};

static void resolve_refs(struct reader *r, struct stamps *seen, size_t first, size_t count,
                         int64_t draft, int64_t scope)
{
    for (size_t i = first; i < first + count; i++) {
        struct ref *ref = &r->refs[i];
        ref->target = reader_resolve(r, scope, ref->name);
        if (ref->target == REF_NONE) {
            reader_unknown_task(r, ref->spot, ref->kind == REF_NEEDS ? "needs" : "teardown",
                                ref->name);
            continue;
        }
        /* One stamp per owner and list: being needed and torn down by the same task is fine. */
        uint32_t stamp = (uint32_t)(first * 2 + (ref->kind == REF_TEARDOWN) + 1);
        uint32_t *mark =
            ref->target >= 0 ? &seen->tasks[ref->target] : &seen->groups[-1 - ref->target];
        if (*mark == stamp) {
            reader_problem(r, ref->spot, "'%s' is named twice in the list", ref->name);
            ref->target = REF_NONE;
            continue;
        }
        *mark = stamp;
        check_target(r, ref, draft);
    }
}

static void resolve_all(struct reader *r)
{
    struct stamps seen = {
        .tasks = mem_zalloc(r->drafts_count + 1, sizeof *seen.tasks),
        .groups = mem_zalloc(r->groups_count + 1, sizeof *seen.groups),
    };
    for (size_t i = 0; i < r->drafts_count; i++) {
        struct draft *draft = &r->drafts[i];
        resolve_refs(r, &seen, draft->refs_first, draft->refs_count, (int64_t)i, draft->group);
    }
    for (size_t g = 0; g < r->groups_count; g++) {
        const struct group_draft *group = &r->groups[g];
        resolve_refs(r, &seen, group->refs_first, group->refs_count, -1, group->parent);
        for (size_t i = group->refs_first; i < group->refs_first + group->refs_count; i++) {
            struct ref *ref = &r->refs[i];
            bool is_around = ref->target < 0 && ref->target != REF_NONE &&
                             target_is_in(r, -1 - ref->target, -1 - (int64_t)g);
            if (ref->target != -1 - (int64_t)g && !is_around &&
                !target_is_in(r, (int64_t)g, ref->target))
                continue;
            reader_problem(r, ref->spot, "'needs': group '%s' cannot need '%s', which it %s",
                           group->name, ref->name, is_around ? "is in" : "contains");
            ref->target = REF_NONE;
        }
    }
    free(seen.tasks);
    free(seen.groups);
}

/* ---- leaves of groups ---- */

static void mark_targets(struct reader *r, size_t group, size_t first, size_t count,
                         uint32_t *has_dependant)
{
    for (size_t i = first; i < first + count; i++) {
        int64_t target = r->refs[i].target;
        if (!target_is_in(r, (int64_t)group, target))
            continue;
        if (target >= 0) {
            has_dependant[target] = (uint32_t)group + 1;
            continue;
        }
        struct group_draft *inner = &r->groups[-1 - target];
        if (inner->marked_for == group + 1)
            continue;
        inner->marked_for = group + 1;
        for (size_t k = 0; k < inner->leaves_count; k++)
            has_dependant[inner->leaves[k]] = (uint32_t)group + 1;
    }
}

static void find_leaves(struct reader *r)
{
    uint32_t *has_dependant = mem_zalloc(r->drafts_count + 1, sizeof *has_dependant);
    for (size_t g = r->groups_count; g-- > 0;) {
        struct group_draft *group = &r->groups[g];
        for (size_t i = group->drafts_first; i < group->drafts_end; i++)
            mark_targets(r, g, r->drafts[i].refs_first, r->drafts[i].refs_count, has_dependant);
        for (size_t k = g + 1; k < group->groups_end; k++)
            mark_targets(r, g, r->groups[k].refs_first, r->groups[k].refs_count, has_dependant);
        size_t count = group->drafts_end - group->drafts_first;
        group->leaves = arena_array(r->dag->arena, count + 1, sizeof *group->leaves);
        for (size_t i = group->drafts_first; i < group->drafts_end; i++)
            if (has_dependant[i] != g + 1)
                group->leaves[group->leaves_count++] = (uint32_t)i;
    }
    free(has_dependant);
}

/* ---- edges ---- */

struct edges {
    uint32_t *items; /* draft numbers of the parents of one draft */
    size_t count;
    size_t capacity;
    uint32_t *seen; /* by draft: for whom it was added last */
    size_t total;
};

static void add_edge(struct edges *edges, uint32_t owner, uint32_t parent)
{
    if (edges->seen[parent] == owner + 1)
        return;
    edges->seen[parent] = owner + 1;
    edges->items = mem_grow(edges->items, &edges->capacity, edges->count, sizeof *edges->items);
    edges->items[edges->count++] = parent;
}

static void add_edges(const struct reader *r, struct edges *edges, uint32_t owner, size_t first,
                      size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        int64_t target = r->refs[i].target;
        if (target == REF_NONE)
            continue;
        if (target >= 0) {
            add_edge(edges, owner, (uint32_t)target);
            continue;
        }
        const struct group_draft *group = &r->groups[-1 - target];
        for (size_t k = 0; k < group->leaves_count; k++)
            add_edge(edges, owner, group->leaves[k]);
    }
}

static bool has_target_in(const struct reader *r, int64_t group, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (target_is_in(r, group, r->refs[i].target))
            return true;
    return false;
}

/* Does the draft, or a group around it that lies inside `group`, need something in `group`? */
static bool has_parent_in(const struct reader *r, const struct draft *draft, int64_t group)
{
    if (has_target_in(r, group, draft->refs_first, draft->refs_count))
        return true;
    for (int64_t g = draft->group; g != group; g = r->groups[g].parent)
        if (has_target_in(r, group, r->groups[g].refs_first, r->groups[g].refs_count))
            return true;
    return false;
}

/* The parents of a draft: its own needs, and those of each group of which it is a root. */
static void collect_edges(const struct reader *r, struct edges *edges, uint32_t number)
{
    const struct draft *draft = &r->drafts[number];
    edges->count = 0;
    add_edges(r, edges, number, draft->refs_first, draft->refs_count);
    for (int64_t g = draft->group; g >= 0; g = r->groups[g].parent) {
        const struct group_draft *group = &r->groups[g];
        if (group->refs_count > 0 && !has_parent_in(r, draft, g))
            add_edges(r, edges, number, group->refs_first, group->refs_count);
    }
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct node_list node_list_of(struct reader *r, const uint32_t *drafts, size_t count)
{
    struct node_list list = {.count = count};
    if (count == 0)
        return list;
    list.items = arena_array(r->dag->arena, count, sizeof *list.items);
    for (size_t i = 0; i < count; i++)
        list.items[i] = r->drafts[drafts[i]].node;
    if (count > 1)
        qsort(list.items, count, sizeof *list.items, compare_nodes);
    return list;
}

static void fill_teardown(struct reader *r, struct draft *draft)
{
    size_t count = 0;
    uint32_t *setups = mem_zalloc(draft->refs_count + 1, sizeof *setups);
    for (size_t i = draft->refs_first; i < draft->refs_first + draft->refs_count; i++)
        if (r->refs[i].kind == REF_TEARDOWN && r->refs[i].target >= 0)
            setups[count++] = (uint32_t)r->refs[i].target;
    draft->def.teardown_of = node_list_of(r, setups, count);
    if (count > 0 && !draft->rule_given)
        draft->def.rule = RULE_ALL_DONE_SETUP_SUCCESS;
    free(setups);
}

static bool fill_edges(struct reader *r)
{
    struct edges edges = {.seen = mem_zalloc(r->drafts_count + 1, sizeof *edges.seen)};
    for (size_t i = 0; i < r->drafts_count && edges.total <= LIMIT_EDGES; i++) {
        struct draft *draft = &r->drafts[i];
        collect_edges(r, &edges, (uint32_t)i);
        edges.total += edges.count;
        draft->def.needs = node_list_of(r, edges.items, edges.count);
        if (draft->teardown.container != NULL)
            fill_teardown(r, draft);
    }
    free(edges.items);
    free(edges.seen);
    if (edges.total > LIMIT_EDGES)
        reader_problem_at(r, DIAG_ERROR, r->place, "more than %d dependencies in one DAG",
                          LIMIT_EDGES);
    return edges.total <= LIMIT_EDGES;
}

/* ---- tasks ---- */

static int compare_drafts(const void *a, const void *b, void *context)
{
    const struct draft *drafts = context;
    return strcmp(drafts[*(const uint32_t *)a].def.id, drafts[*(const uint32_t *)b].def.id);
}

static void number_drafts(struct reader *r)
{
    if (r->drafts_count == 0)
        return;
    uint32_t *sorted = mem_zalloc(r->drafts_count, sizeof *sorted);
    for (size_t i = 0; i < r->drafts_count; i++)
        sorted[i] = (uint32_t)i;
    qsort_r(sorted, r->drafts_count, sizeof *sorted, compare_drafts, r->drafts);
    for (size_t i = 0; i < r->drafts_count; i++)
        r->drafts[sorted[i]].node = (uint32_t)i;
    free(sorted);
}

static void take_tasks(struct reader *r)
{
    struct dag *dag = r->dag;
    dag->tasks = arena_array(dag->arena, r->drafts_count + 1, sizeof *dag->tasks);
    dag->tasks_count = r->drafts_count;
    for (size_t i = 0; i < r->drafts_count; i++) {
        dag->tasks[r->drafts[i].node] = r->drafts[i].def;
        dag->finally_count += r->drafts[i].def.is_finally;
        dag->has_pools |= r->drafts[i].def.pool != NULL;
    }
}

static void report_cycle(struct reader *r, const struct dag_cycle *cycle)
{
    struct strbuf path;
    strbuf_init(&path, 1024);
    size_t shown = MIN(cycle->count, (size_t)CYCLE_SHOWN_MAX);
    for (size_t i = 0; i < shown; i++)
        strbuf_addf(&path, "%s -> ", r->dag->tasks[cycle->nodes[i]].id);
    if (shown < cycle->count)
        strbuf_addf(&path, "(%zu more) -> ", cycle->count - shown);
    const char *first = r->dag->tasks[cycle->nodes[0]].id;
    strbuf_add(&path, first);
    int64_t draft = 0;
    CHECK(strmap_find(r->names, first, &draft));
    reader_problem_at_key(r, r->drafts[draft].spot, "tasks need each other in a circle: %s",
                          path.text);
    strbuf_fini(&path);
}

bool reader_link(struct reader *r, bool *out_has_order)
{
    resolve_all(r);
    find_leaves(r);
    number_drafts(r);
    if (!fill_edges(r))
        return false;
    take_tasks(r);
    struct dag_cycle cycles[DAG_CYCLES_MAX] = {0};
    size_t count = dag_graph_build(r->dag, cycles);
    for (size_t i = 0; i < count; i++) {
        report_cycle(r, &cycles[i]);
        dag_cycle_fini(&cycles[i]);
    }
    if (count == 0)
        dag_weigh(r->dag);
    *out_has_order = count == 0;
    return true;
}
