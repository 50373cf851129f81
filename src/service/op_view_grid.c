/*
 * The last runs of a DAG and the states of their tasks, as a matrix.
 */
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "service/grid_matrix.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"
#include "store/grid.h"
#include "store/version.h"

enum { RUNS_DEFAULT = 25, RUNS_MAX = 1000 };

/* What a run's version of the DAG has where. */
struct grid_version {
    const struct dag *dag;
    const size_t *lines; /* of its nodes */
};

/* Of a line: the counts of instances, one per column. */
struct grid_instances {
    struct grid_cell *cells; /* NULL: it never had any */
};

struct grid {
    const struct service *service;
    struct arena *arena;
    struct grid_matrix *matrix;
    struct run_info *runs; /* the latest first */
    size_t runs_count;
    struct grid_version *versions;    /* of the runs */
    struct grid_instances *instances; /* of the lines; NULL: there is no store */
    bool has_more;                    /* older runs */
};

/* Runs come from the store the latest first, and are shown the other way round. */
static size_t column_of(const struct grid *grid, size_t run)
{
    return grid->runs_count - 1 - run;
}

static enum status read_page(const json_t *request, struct grid_page *out, struct err *err)
{
    const char *before = json_get_string(request, "before", NULL);
    *out = (struct grid_page){
        .dag_id = json_get_string(request, "dag", NULL),
        .before_us = INT64_MAX,
        .limit = json_get_int(request, "limit", RUNS_DEFAULT),
    };
    if (out->limit < 1 || out->limit > RUNS_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 1 to %d", RUNS_MAX);
    if (before != NULL && !instant_parse(before, &out->before_us))
        return err_set(err, STATUS_INVALID, "'%.60s' is no date", before);
    return STATUS_OK;
}

/* One more than asked for is read, to know whether there are more. */
static enum status read_runs(struct store *store, const struct grid_page *page, struct grid *grid,
                             struct err *err)
{
    struct grid_page wider = *page;
    wider.limit++;
    if (store == NULL)
        return STATUS_OK;
    if (store_grid_runs(store, grid->arena, &wider, &grid->runs, &grid->runs_count, err) !=
        STATUS_OK)
        return err->code;
    grid->has_more = (int64_t)grid->runs_count > page->limit;
    grid->runs_count = MIN(grid->runs_count, (size_t)page->limit);
    return STATUS_OK;
}

/* --- states ---------------------------------------------------------------------------------- */

static void note_cell(void *context, size_t run, const struct grid_cell *cell)
{
    struct grid *grid = context;
    if (cell->node < 0 || (size_t)cell->node >= grid->versions[run].dag->tasks_count)
        return;
    size_t line = grid->versions[run].lines[cell->node];
    struct grid_instances *instances = &grid->instances[line];
    grid_matrix_set(grid->matrix, line, column_of(grid, run), cell->state);
    if (!cell->is_expanded)
        return;
    if (instances->cells == NULL)
        instances->cells = arena_array(grid->arena, grid->runs_count, sizeof *instances->cells);
    instances->cells[column_of(grid, run)] = *cell;
}

static enum status read_states(struct store *store, struct grid *grid, struct err *err)
{
    struct grid_span *spans = arena_array(grid->arena, grid->runs_count + 1, sizeof *spans);
    grid->versions = arena_array(grid->arena, grid->runs_count + 1, sizeof *grid->versions);
    for (size_t i = 0; i < grid->runs_count; i++) {
        struct grid_version *version = &grid->versions[i];
        if (store_version_dag(store, grid->runs[i].version, &version->dag, err) != STATUS_OK)
            return err->code;
        bool is_same = i > 0 && version->dag == version[-1].dag;
        version->lines =
            is_same ? version[-1].lines : grid_matrix_add_dag(grid->matrix, version->dag);
        spans[i] = (struct grid_span){grid->runs[i].first_task, (int64_t)version->dag->tasks_count};
    }
    size_t lines = grid_matrix_count(grid->matrix);
    grid->instances = arena_array(grid->arena, lines + 1, sizeof *grid->instances);
    return store_grid_each(store, spans, grid->runs_count, note_cell, grid, err);
}

/* --- the answer ------------------------------------------------------------------------------ */

static json_t *state_names(void)
{
    json_t *names = json_build_array();
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        json_build_append(names, json_string(task_state_name(state)));
    return names;
}

static json_t *describe_run(const struct service *service, const struct run_info *run)
{
    json_t *object = json_build_object();
    bool is_over = run_state_is_final(run->state);
    json_put_id(object, "number", run->id);
    json_put_string(object, "dag_run_id", run->run_id);
    json_put_string(object, "state", run_state_name(run->state));
    json_put_string(object, "run_type", run->kind);
    json_put_instant(object, "logical_date", run->logical_at_us);
    json_put_instant(object, "start_date", run->started_at_us);
    json_put_instant(object, "end_date", run->ended_at_us);
    run_json_put_duration(object, "duration", run->started_at_us,
                          is_over ? run->ended_at_us : service_now_us(service));
    json_put_int(object, "dag_version", run->version_number);
    json_put_bool(object, "has_note", run->note != NULL && run->note[0] != '\0');
    return object;
}

static json_t *describe_runs(const struct grid *grid)
{
    json_t *runs = json_build_array();
    for (size_t i = grid->runs_count; i-- > 0;)
        json_build_append(runs, describe_run(grid->service, &grid->runs[i]));
    return runs;
}

static json_t *describe_counts(const struct grid_cell *cell)
{
    if (!cell->is_expanded)
        return json_null();
    json_t *counts = json_build_array();
    json_build_append(counts, json_integer(cell->total));
    json_build_append(counts, json_integer(cell->success));
    json_build_append(counts, json_integer(cell->failed));
    json_build_append(counts, json_integer(cell->skipped));
    return counts;
}

static json_t *describe_instances(const struct grid *grid, size_t line)
{
    json_t *list = json_build_array();
    for (size_t i = 0; i < grid->runs_count; i++)
        json_build_append(list, describe_counts(&grid->instances[line].cells[i]));
    return list;
}

static json_t *describe_lines(const struct grid *grid)
{
    json_t *tasks = json_build_array();
    for (size_t i = 0; i < grid_matrix_count(grid->matrix); i++) {
        const struct grid_line *line = grid_matrix_line(grid->matrix, i);
        const struct task_def *task = line->task;
        json_t *object = json_build_object();
        json_put_string(object, "task_id", task->id);
        json_put_string(object, "group", task->group[0] != '\0' ? task->group : NULL);
        json_put_string(object, "operator", task_kind_key(task->kind));
        json_put_bool(object, "is_mapped", task_def_is_mapped(task));
        json_put_bool(object, "is_finally", task->is_finally);
        json_put_bool(object, "is_current", line->is_current);
        json_put_string(object, "states", line->states);
        if (grid->instances != NULL && grid->instances[i].cells != NULL)
            json_put(object, "instances", describe_instances(grid, i));
        json_build_append(tasks, object);
    }
    return tasks;
}

enum status op_dag_grid(struct service *service, const json_t *request, json_t **out,
                        struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(lookup_dag_fini) struct found_dag found = {0};
    CLEANUP(grid_matrix_finip) struct grid_matrix *matrix = NULL;
    struct grid grid = {.service = service, .arena = arena};
    struct grid_page page;
    struct store *store = NULL;
    if (read_page(request, &page, err) != STATUS_OK ||
        lookup_dag(service, arena, request, &found, err) != STATUS_OK ||
        service_store_if_any(service, &store, err) != STATUS_OK ||
        read_runs(store, &page, &grid, err) != STATUS_OK)
        return err->code;
    matrix = grid_matrix_new(arena, grid.runs_count);
    grid.matrix = matrix;
    (void)grid_matrix_add_dag(matrix, found.dag);
    if (store != NULL && read_states(store, &grid, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_put_string(object, "dag_id", found.dag->id);
    json_put_int(object, "dag_version", found.version);
    json_put(object, "states", state_names());
    json_put(object, "runs", describe_runs(&grid));
    json_put(object, "tasks", describe_lines(&grid));
    json_put_int(object, "total_entries", (int64_t)grid.runs_count);
    json_put_bool(object, "has_more", grid.has_more);
    *out = object;
    return STATUS_OK;
}
