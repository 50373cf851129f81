/*
 * When each task of a run waited and ran.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "service/json_build.h"
#include "service/lookup.h"
#include "service/op_handlers.h"
#include "service/run_json.h"

enum { BARS_DEFAULT = 1000, BARS_MAX = 10000 };

struct bar {
    int64_t start_us; /* of what is shown of it */
    size_t place;     /* breaks ties */
    json_t *object;
};

struct gantt {
    const struct service *service;
    const struct found_run *run;
    struct bar *bars;
    size_t count;
    size_t capacity;
    size_t most;
    int64_t left_out;
    json_t *earlier; /* of the bar that is made */
};

static enum status add_attempt(void *context, const struct task_row *attempt, struct err *err)
{
    (void)err;
    const struct gantt *gantt = context;
    json_t *object = json_build_object();
    json_put_int(object, "attempt", attempt->attempt);
    json_put_string(object, "state", task_state_name(attempt->state));
    json_put_instant(object, "start_date", attempt->started_at_us);
    json_put_instant(object, "end_date", attempt->ended_at_us);
    json_build_append(gantt->earlier, object);
    return STATUS_OK;
}

static json_t *describe(const struct gantt *gantt, const struct task_def *def,
                        const struct task_row *task)
{
    json_t *object = json_build_object();
    bool runs = task->state == TASK_RUNNING;
    json_put_string(object, "task_id", def->id);
    json_put_string(object, "group", def->group[0] != '\0' ? def->group : NULL);
    json_put_int(object, "map_index", task->map_index);
    json_put_string(object, "label", task->label);
    json_put_string(object, "state", task_state_name(task->state));
    json_put_int(object, "try_number", task_row_tries(task));
    json_put_instant(object, "queued_when", task->queued_at_us);
    json_put_instant(object, "start_date", task->started_at_us);
    json_put_instant(object, "end_date", task->ended_at_us);
    run_json_put_duration(object, "duration", task->started_at_us,
                          task->ended_at_us != 0 ? task->ended_at_us
                          : runs                 ? service_now_us(gantt->service)
                                                 : 0);
    json_put(object, "attempts", json_incref(gantt->earlier));
    return object;
}

/* What never waited for a worker has no place in time. */
static enum status add_bar(void *context, const struct run_row *run, const struct task_row *task,
                           struct err *err)
{
    struct gantt *gantt = context;
    int64_t start_us = task->queued_at_us != 0 ? task->queued_at_us : task->started_at_us;
    if (start_us == 0 && task->attempt == 0)
        return STATUS_OK;
    if (gantt->count >= gantt->most) {
        gantt->left_out++;
        return STATUS_OK;
    }
    CLEANUP(json_decrefp) json_t *earlier = json_build_array();
    gantt->earlier = earlier;
    if (task->attempt > 1 &&
        store_attempt_each(gantt->run->store, task->id, add_attempt, gantt, err) != STATUS_OK)
        return err->code;
    gantt->bars = mem_grow(gantt->bars, &gantt->capacity, gantt->count, sizeof *gantt->bars);
    gantt->bars[gantt->count] = (struct bar){
        .start_us = task->started_at_us != 0 ? task->started_at_us : start_us,
        .place = gantt->count,
        .object = describe(gantt, &run->dag->tasks[task->node], task),
    };
    gantt->count++;
    return STATUS_OK;
}

static int compare_bars(const void *a, const void *b)
{
    const struct bar *x = a;
    const struct bar *y = b;
    if (x->start_us != y->start_us)
        return x->start_us < y->start_us ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void gantt_fini(struct gantt *gantt)
{
    for (size_t i = 0; i < gantt->count; i++)
        json_decref(gantt->bars[i].object);
    free(gantt->bars);
}

static json_t *list_bars(const struct gantt *gantt)
{
    json_t *list = json_build_array();
    if (gantt->count > 0)
        qsort(gantt->bars, gantt->count, sizeof *gantt->bars, compare_bars);
    for (size_t i = 0; i < gantt->count; i++)
        json_build_append(list, json_incref(gantt->bars[i].object));
    return list;
}

enum status op_run_gantt(struct service *service, const json_t *request, json_t **out,
                         struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    int64_t limit = json_get_int(request, "limit", BARS_DEFAULT);
    struct found_run run;
    CLEANUP(gantt_fini)
    struct gantt gantt = {.service = service, .run = &run, .most = (size_t)limit};
    if (limit < 1 || limit > BARS_MAX)
        return err_set(err, STATUS_INVALID, "'limit' must be from 1 to %d", BARS_MAX);
    if (lookup_run(service, DB_READ_ONLY, arena, request, &run, err) != STATUS_OK ||
        store_task_each(run.store, run.info.id, add_bar, &gantt, err) != STATUS_OK)
        return err->code;
    json_t *object = json_build_object();
    json_put_id(object, "number", run.info.id);
    json_put_string(object, "dag_id", run.info.dag_id);
    json_put_string(object, "dag_run_id", run.info.run_id);
    json_put_string(object, "state", run_state_name(run.info.state));
    json_put_instant(object, "queued_at", run.info.created_at_us);
    json_put_instant(object, "start_date", run.info.started_at_us);
    json_put_instant(object, "end_date", run.info.ended_at_us);
    json_put_instant(object, "now", service_now_us(service));
    json_put(object, "bars", list_bars(&gantt));
    json_put_int(object, "total_entries", (int64_t)gantt.count);
    json_put_int(object, "left_out", gantt.left_out);
    *out = object;
    return STATUS_OK;
}
