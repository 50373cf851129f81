/*
 * A DAG laid out for whoever draws it, with the states of a run if one is named.
 */
#include <math.h>

#include "base/str.h"
#include "service/graph_part.h"
#include "service/graph_plan.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "store/monitor.h"

/* What a run adds to a node. */
struct node_state {
    enum task_state state;
    int64_t tries;
    bool is_expanded;
    struct parent_counts counts;
};

static enum status note_state(void *context, const struct task_row *task, struct err *err)
{
    (void)err;
    struct node_state *states = context;
    states[task->node] = (struct node_state){
        .state = task->state,
        .tries = task_row_tries(task),
        .is_expanded = task->instance_base != 0,
        .counts = task->counts,
    };
    return STATUS_OK;
}

static enum status find_run(struct service *service, struct arena *arena, const json_t *request,
                            struct found_run *run, struct node_state **out, struct err *err)
{
    const char *dag_id = json_get_string(request, "dag", NULL);
    if (lookup_run(service, DB_READ_ONLY, arena, request, run, err) != STATUS_OK)
        return err->code;
    if (dag_id != NULL && !str_equal(dag_id, run->info.dag_id))
        return err_set(err, STATUS_NOT_FOUND, "run %lld is one of DAG '%s', not of '%.100s'",
                       (long long)run->info.id, run->info.dag_id, dag_id);
    *out = arena_array(arena, run->dag->tasks_count + 1, sizeof **out);
    return store_monitor_nodes(run->store, run->info.id, note_state, *out, err);
}

/* --- the answer ------------------------------------------------------------------------------ */

static void put_pixels(json_t *object, const char *key, double value)
{
    json_put_int(object, key, (int64_t)lround(value));
}

static void put_box(json_t *object, const struct layout_box *box)
{
    put_pixels(object, "x", box->x);
    put_pixels(object, "y", box->y);
    put_pixels(object, "width", box->width);
    put_pixels(object, "height", box->height);
}

static void put_state(json_t *object, const struct node_state *state)
{
    json_put_string(object, "state", task_state_name(state->state));
    json_put_int(object, "try_number", state->tries);
    if (!state->is_expanded)
        return;
    json_t *instances = json_build_object();
    json_put_int(instances, "total", state->counts.total);
    json_put_int(instances, "success", state->counts.success);
    json_put_int(instances, "failed", state->counts.failed + state->counts.upstream_failed);
    json_put_int(instances, "skipped", state->counts.skipped);
    json_put(object, "instances", instances);
}

/* How many tasks of the group are in each state, and the one that it shows. */
static void put_group_state(json_t *object, const struct dag_part_node *group,
                            const struct node_state *states)
{
    size_t counts[TASK_STATE_COUNT] = {0};
    enum task_state found[TASK_STATE_COUNT];
    uint32_t places[TASK_STATE_COUNT];
    struct dag_part_node kinds = {.members = places};
    json_t *told = json_build_object();
    for (size_t i = 0; i < group->members_count; i++)
        counts[states[group->members[i]].state]++;
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++) {
        if (counts[state] == 0)
            continue;
        places[kinds.members_count] = (uint32_t)kinds.members_count;
        found[kinds.members_count++] = state;
        json_put_int(told, task_state_name(state), (int64_t)counts[state]);
    }
    json_put_string(object, "state", task_state_name(graph_part_state(&kinds, found)));
    json_put(object, "states", told);
}

static void put_task(json_t *object, const struct task_def *task)
{
    json_put_string(object, "operator", task_kind_key(task->kind));
    json_put_bool(object, "is_mapped", task_def_is_mapped(task));
}

static json_t *describe_nodes(const struct graph_plan *plan, const struct dag_part_node *parts,
                              const struct node_state *states)
{
    json_t *nodes = json_build_array();
    for (size_t i = 0; i < plan->dag->tasks_count; i++) {
        const struct task_def *task = &plan->dag->tasks[i];
        json_t *object = json_build_object();
        json_put_string(object, "task_id", task->id);
        json_put_string(object, "group", task->group[0] != '\0' ? task->group : NULL);
        json_put_bool(object, "is_group", parts[i].is_group);
        if (parts[i].is_group)
            json_put_int(object, "tasks", (int64_t)parts[i].members_count);
        else
            put_task(object, task);
        json_put_bool(object, "is_finally", task->is_finally);
        json_put_int(object, "hidden_up", (int64_t)parts[i].hidden_up);
        json_put_int(object, "hidden_down", (int64_t)parts[i].hidden_down);
        json_put_int(object, "layer", plan->layout->nodes[i].layer);
        put_box(object, &plan->routes->boxes[i]);
        if (states != NULL && parts[i].is_group)
            put_group_state(object, &parts[i], states);
        else if (states != NULL)
            put_state(object, &states[parts[i].members[0]]);
        json_build_append(nodes, object);
    }
    return nodes;
}

static json_t *describe_edges(const struct graph_plan *plan)
{
    json_t *edges = json_build_array();
    for (size_t i = 0; i < plan->edges_count; i++) {
        json_t *object = json_build_object();
        json_t *points = json_build_array();
        json_put_string(object, "from", plan->dag->tasks[plan->edges[i].from].id);
        json_put_string(object, "to", plan->dag->tasks[plan->edges[i].to].id);
        for (size_t k = plan->routes->start[i]; k < plan->routes->start[i + 1]; k++) {
            json_build_append(points, json_integer(lround(plan->routes->points[k].x)));
            json_build_append(points, json_integer(lround(plan->routes->points[k].y)));
        }
        json_put(object, "points", points);
        json_build_append(edges, object);
    }
    return edges;
}

static json_t *describe_groups(const struct graph_plan *plan)
{
    json_t *groups = json_build_array();
    for (size_t i = 0; i < plan->groups_count; i++) {
        json_t *object = json_build_object();
        json_put_string(object, "group", plan->groups[i].name);
        json_put_string(object, "above", plan->groups[i].above);
        put_box(object, &plan->groups[i].box);
        json_build_append(groups, object);
    }
    return groups;
}

static enum status describe(struct arena *arena, const struct dag *dag, const json_t *request,
                            const struct node_state *states, json_t *object, struct err *err)
{
    CLEANUP(graph_plan_freep) struct graph_plan *plan = NULL;
    struct dag_part part;
    if (graph_part_read(arena, dag, request, &part, err) != STATUS_OK)
        return err->code;
    if (graph_plan_new(part.dag, &plan, err) != STATUS_OK)
        return graph_part_advise(dag, err);
    json_put_string(object, "dag_id", dag->id);
    json_put_int(object, "tasks_total", (int64_t)dag->tasks_count);
    put_pixels(object, "width", plan->routes->width);
    put_pixels(object, "height", plan->routes->height);
    json_put(object, "nodes", describe_nodes(plan, part.nodes, states));
    json_put(object, "edges", describe_edges(plan));
    json_put(object, "groups", describe_groups(plan));
    return STATUS_OK;
}

enum status op_dag_layout(struct service *service, const json_t *request, json_t **out,
                          struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(json_decrefp) json_t *object = json_build_object();
    struct found_run run = {0};
    struct node_state *states = NULL;
    bool has_run = json_get_string(request, "run", NULL) != NULL;
    enum status status = has_run ? find_run(service, arena, request, &run, &states, err)
                                 : lookup_dag(service, arena, request, &found, err);
    if (status != STATUS_OK ||
        describe(arena, has_run ? run.dag : found.dag, request, states, object, err) != STATUS_OK)
        return err->code;
    json_put_int(object, "dag_version", has_run ? run.info.version_number : found.version);
    json_put(object, "number", json_null());
    if (has_run)
        json_put_id(object, "number", run.info.id);
    json_put_string(object, "state", has_run ? run_state_name(run.info.state) : NULL);
    *out = TAKE(object);
    return STATUS_OK;
}
