#include "service/instance_filter.h"

#include <string.h>

#include "base/check.h"
#include "base/str.h"

enum {
    STATES_FINAL = 1 << TASK_SUCCESS | 1 << TASK_FAILED | 1 << TASK_SKIPPED |
                   1 << TASK_UPSTREAM_FAILED | 1 << TASK_CANCELLED | 1 << TASK_REMOVED,
};

static const char *task_state_at(const void *context, size_t i)
{
    (void)context;
    return task_state_name((enum task_state)i);
}

static enum status read_states(const json_t *request, unsigned *out, struct err *err)
{
    const json_t *names = json_object_get(request, "states");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        enum task_state state = TASK_NONE;
        if (!task_state_parse(name, &state)) {
            const char *near = str_nearest(name, TASK_STATE_COUNT, task_state_at, NULL);
            return err_set(err, STATUS_INVALID, "no task is ever '%.60s'%s%s%s", name,
                           near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                           near != NULL ? "'?" : "");
        }
        *out |= 1U << state;
    }
    return STATUS_OK;
}

static void read_duration(const json_t *request, struct instance_filter *out)
{
    const json_t *from = json_object_get(request, "duration_from");
    const json_t *to = json_object_get(request, "duration_to");
    out->has_duration_from = json_is_number(from);
    out->has_duration_to = json_is_number(to);
    out->duration_from = json_number_value(from);
    out->duration_to = json_number_value(to);
}

enum status instance_filter_read(const json_t *request, struct arena *arena,
                                 struct instance_filter *out, struct run_page *out_runs,
                                 struct err *err)
{
    *out = (struct instance_filter){
        .tasks = run_filter_names(request, "tasks", arena),
        .pools = run_filter_names(request, "pools", arena),
        .queues = run_filter_names(request, "queues", arena),
        .is_mapped = json_get_bool(request, "mapped", false),
        .has_index = json_is_integer(json_object_get(request, "map_index")),
        .map_index = json_get_int(request, "map_index", -1),
    };
    *out_runs = (struct run_page){
        .dag_id = json_get_string(request, "dag", NULL),
        .dags = run_filter_names(request, "dags", arena),
    };
    run_filter_read_range(request, "logical", &out_runs->logical);
    run_filter_read_range(request, "start", &out->started);
    run_filter_read_range(request, "end", &out->ended);
    run_filter_read_range(request, "updated", &out->updated);
    read_duration(request, out);
    if (read_states(request, &out->states, err) != STATUS_OK)
        return err->code;
    /* Of a run that is over every task is. */
    if (out->states != 0 && (out->states & STATES_FINAL) == 0)
        out_runs->states = 1U << RUN_QUEUED | 1U << RUN_RUNNING;
    return STATUS_OK;
}

static bool is_whole(const struct run_range *range)
{
    return range->from_us == 0 && range->to_us == 0;
}

bool instance_filter_is_counted_by_store(const struct instance_filter *filter)
{
    return filter->tasks == NULL && filter->pools == NULL && filter->queues == NULL &&
           !filter->is_mapped && !filter->has_index && !filter->has_duration_from &&
           !filter->has_duration_to && is_whole(&filter->updated);
}

bool instance_filter_is_open(const struct instance_filter *filter)
{
    return instance_filter_is_counted_by_store(filter) && filter->states == 0 &&
           is_whole(&filter->started) && is_whole(&filter->ended);
}

bool instance_filter_is_in_rows(const struct instance_filter *filter)
{
    bool has_begun = !is_whole(&filter->started) || !is_whole(&filter->ended);
    return has_begun || (filter->states != 0 && (filter->states >> TASK_NONE & 1U) == 0);
}

static bool is_named(const char *names, const char *name)
{
    if (names == NULL)
        return true;
    size_t length = name != NULL ? strlen(name) : 0;
    for (const char *at = names; length > 0 && (at = strstr(at, name)) != NULL; at++)
        if (at > names && at[-1] == ',' && at[length] == ',')
            return true;
    return false;
}

/* Among pools the empty name stands for none. */
static bool is_of_pool(const char *names, const char *pool)
{
    if (names != NULL && pool == NULL)
        return strstr(names, ",,") != NULL;
    return is_named(names, pool);
}

static bool is_in(const struct run_range *range, int64_t at_us)
{
    if (is_whole(range))
        return true;
    return at_us != 0 && at_us >= range->from_us && (range->to_us == 0 || at_us <= range->to_us);
}

/* What ended before a time has no task that started or ended after it. */
bool instance_filter_lets_run(const struct instance_filter *filter, const struct run_info *run)
{
    int64_t from_us = MAX(filter->started.from_us, filter->ended.from_us);
    return run->ended_at_us == 0 ||
           (run->ended_at_us >= from_us && run->ended_at_us >= filter->updated.from_us);
}

static bool lasts(const struct instance_filter *filter, const struct task_row *task)
{
    if (!filter->has_duration_from && !filter->has_duration_to)
        return true;
    if (task->started_at_us == 0 || task->ended_at_us == 0)
        return false;
    double seconds = (double)(task->ended_at_us - task->started_at_us) / 1e6;
    return (!filter->has_duration_from || seconds >= filter->duration_from) &&
           (!filter->has_duration_to || seconds <= filter->duration_to);
}

static int64_t updated_us(const struct task_row *task)
{
    return task->ended_at_us != 0     ? task->ended_at_us
           : task->started_at_us != 0 ? task->started_at_us
                                      : task->queued_at_us;
}

bool instance_filter_lets(const struct instance_filter *filter, const struct run_info *run,
                          const struct task_def *def, const struct task_row *task)
{
    return (filter->states == 0 || (filter->states >> task->state & 1U) != 0) &&
           (!filter->is_mapped || task_def_is_mapped(def)) &&
           (!filter->has_index || filter->map_index == task->map_index) &&
           is_named(filter->tasks, def->id) && is_of_pool(filter->pools, def->pool) &&
           is_named(filter->queues, run->queue != NULL ? run->queue : def->queue) &&
           is_in(&filter->started, task->started_at_us) &&
           is_in(&filter->ended, task->ended_at_us) && is_in(&filter->updated, updated_us(task)) &&
           lasts(filter, task);
}
