/*
 * Changes that people make from the monitor: what a key means on which page.
 */
#include <stdio.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/request.h"
#include "cli/top.h"

void top_change_drop(struct top *top)
{
    json_decref(top->change.request);
    top->change = (struct top_change){0};
}

static const char *dag_of(const struct top *top, const json_t *row)
{
    return json_get_string(top->page == TOP_RUN ? top->run : row, "dag_id", NULL);
}

static void prepare(struct top *top, const char *operation)
{
    top_change_drop(top);
    top->change.operation = operation;
    top->change.request = request_new();
}

#define DESCRIBE(top, ...) (void)snprintf((top)->change.what, TOP_TEXT_MAX, __VA_ARGS__)

/* --- pause and unpause ----------------------------------------------------------------------- */

static void pause_dag(struct top *top, const json_t *row, bool is_pause)
{
    const char *dag_id = dag_of(top, row);
    if (dag_id == NULL || top_is_job(row))
        return;
    prepare(top, is_pause ? "dag.pause" : "dag.unpause");
    json_t *dags = json_array();
    CHECK(dags != NULL && json_array_append_new(dags, json_string(dag_id)) == 0);
    json_put(top->change.request, "dags", dags);
    DESCRIBE(top, "%s %s", is_pause ? "pause" : "unpause", dag_id);
}

static void pause_queue(struct top *top, const json_t *row, bool is_pause)
{
    const char *name = json_get_string(row, "name", "");
    prepare(top, "queue.set");
    json_put_string(top->change.request, "name", name);
    json_put_bool(top->change.request, "paused", is_pause);
    json_put_bool(top->change.request, "create", false);
    DESCRIBE(top, "%s queue %s", is_pause ? "pause" : "unpause", name);
}

static void drain_host(struct top *top, const json_t *row, bool is_drain)
{
    prepare(top, "host.drain");
    json_put_string(top->change.request, "host", json_get_string(row, "id", ""));
    json_put_bool(top->change.request, "drain", is_drain);
    DESCRIBE(top, "%s host %s", is_drain ? "drain" : "resume", json_get_string(row, "name", ""));
}

static void begin_pause(struct top *top, const json_t *row, bool is_pause)
{
    if (top->page == TOP_QUEUES)
        pause_queue(top, row, is_pause);
    else if (top->page == TOP_HOSTS)
        drain_host(top, row, is_pause);
    else if (top->page != TOP_POOLS && top->page != TOP_EVENTS)
        pause_dag(top, row, is_pause);
    if (top->change.operation == NULL)
        top_say(top, false, "that can be done to DAGs, runs, queues and hosts");
    else
        top->change.is_agreed = true; /* as easily undone as done */
}

/* --- retry and stop -------------------------------------------------------------------------- */

static const char *number_of(const struct top *top, const json_t *row)
{
    return top->page == TOP_RUN ? top->run_number : json_get_string(row, "number", "");
}

static void begin_retry(struct top *top, const json_t *row)
{
    const char *task_id = json_get_string(row, "task_id", "");
    if (top->page == TOP_RUNS) {
        prepare(top, "run.retry");
        DESCRIBE(top, "retry run %s (%s)", number_of(top, row), dag_of(top, row));
    } else if (top->page == TOP_RUN) {
        json_t *tasks = json_array();
        prepare(top, "run.retry");
        CHECK(tasks != NULL && json_array_append_new(tasks, json_string(task_id)) == 0);
        json_put(top->change.request, "tasks", tasks);
        DESCRIBE(top, "retry task %s of run %s", task_id, number_of(top, row));
    } else {
        top_say(top, false, "r retries runs, and tasks of a run");
        return;
    }
    json_put_string(top->change.request, "run", number_of(top, row));
    top->prompt = TOP_PROMPT_CONFIRM;
}

static void stop_task(struct top *top, const json_t *row)
{
    int64_t index = json_get_int(row, "map_index", -1);
    const char *task_id = json_get_string(row, "task_id", "");
    prepare(top, "run.cancel");
    json_put_string(top->change.request, "run", number_of(top, row));
    json_put_string(top->change.request, "task", task_id);
    if (index >= 0)
        json_put_int(top->change.request, "map_index", index);
    if (index >= 0)
        DESCRIBE(top, "stop task %s[%lld] of run %s", task_id, (long long)index,
                 number_of(top, row));
    else
        DESCRIBE(top, "stop task %s of run %s", task_id, number_of(top, row));
}

static void begin_stop(struct top *top, const json_t *row)
{
    if (top->page == TOP_RUNS) {
        prepare(top, "run.cancel");
        json_put_string(top->change.request, "run", number_of(top, row));
        DESCRIBE(top, "stop run %s (%s)", number_of(top, row), dag_of(top, row));
    } else if (top->page == TOP_TASKS && top_is_job(row)) {
        const char *job = json_get_string(row, "dag_run_id", "");
        prepare(top, "job.cancel");
        json_put_string(top->change.request, "job", job);
        DESCRIBE(top, "stop job %s", job);
    } else if (top->page == TOP_RUN || top->page == TOP_TASKS) {
        stop_task(top, row);
    } else {
        top_say(top, false, "x stops runs, tasks and jobs");
        return;
    }
    top->change.asks_reason = true;
    top->prompt = TOP_PROMPT_CONFIRM;
}

void top_change_begin(struct top *top, uint32_t key)
{
    const json_t *row = top_chosen(top);
    if (top->change.is_sent)
        top_say(top, false, "wait: whether to %.120s is not answered yet", top->change.what);
    else if (row == NULL)
        top_say(top, false, "nothing is chosen");
    else if (key == 'p' || key == 'u')
        begin_pause(top, row, key == 'p');
    else if (key == 'r')
        begin_retry(top, row);
    else
        begin_stop(top, row);
}
