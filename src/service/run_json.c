#include "service/run_json.h"

#include <stdio.h>

#include "base/check.h"
#include "base/str.h"
#include "service/json_build.h"
#include "store/admission.h"
#include "store/audit.h"
#include "store/deadline.h"
#include "store/host_name.h"

static double seconds_between(int64_t from_us, int64_t to_us)
{
    return (double)MAX(to_us - from_us, (int64_t)0) / 1e6;
}

void run_json_put_duration(json_t *object, const char *key, int64_t from_us, int64_t to_us)
{
    if (from_us == 0 || to_us == 0)
        json_put(object, key, json_null());
    else
        json_put(object, key, json_real(seconds_between(from_us, to_us)));
}

static void put_counts(json_t *object, const struct tally *tally)
{
    json_t *counts = json_build_object();
    for (enum task_state state = 0; state < TASK_STATE_COUNT; state++)
        if (tally->states[state] > 0)
            json_put_int(counts, task_state_name(state), tally->states[state]);
    json_put(object, "counts", counts);
    json_put_int(object, "tasks_total", tally->total);
}

static const char *reason_of_run(const struct run_info *run)
{
    if (run->cancel_asked == CANCEL_TIMEOUT)
        return "timeout";
    if (run->cancel_asked == CANCEL_ASKED)
        return run_state_is_final(run->state) ? "cancelled" : "cancel asked";
    if (run->admission == ADMISSION_WAITING && !run_state_is_final(run->state))
        return "waiting";
    return run->state == RUN_FAILED ? "tasks failed" : NULL;
}

json_t *run_json(const struct service *service, const struct run_info *run,
                 const struct tally *tally)
{
    json_t *object = json_build_object();
    bool is_over = run_state_is_final(run->state);
    json_put_id(object, "number", run->id);
    json_put_string(object, "dag_id", run->dag_id);
    json_put_string(object, "dag_run_id", run->run_id);
    json_put_string(object, "state", run_state_name(run->state));
    json_put_string(object, "reason", reason_of_run(run));
    json_put_string(object, "run_type", run->kind);
    json_put_bool(object, "external_trigger", str_equal(run->kind, "manual"));
    json_put_instant(object, "logical_date", run->logical_at_us);
    json_put_instant(object, "data_interval_start", run->interval_start_us);
    json_put_instant(object, "data_interval_end", run->interval_end_us);
    json_put_instant(object, "queued_at", run->created_at_us);
    json_put_instant(object, "start_date", run->started_at_us);
    json_put_instant(object, "end_date", run->ended_at_us);
    run_json_put_duration(object, "duration", run->started_at_us,
                          is_over ? run->ended_at_us : service_now_us(service));
    if (tally != NULL)
        put_counts(object, tally);
    json_build_put_parsed(object, "params", run->params);
    json_build_put_parsed(object, "conf", run->conf);
    json_put_string(object, "note", run->note != NULL && run->note[0] != '\0' ? run->note : NULL);
    json_put_int(object, "dag_version", run->version_number);
    json_put_string(object, "namespace", run->namespace_);
    json_put_string(object, "file", run->path);
    json_put_string(object, "actor", run->actor);
    return object;
}

static void put_stop(json_t *object, const struct stop_info *stop)
{
    json_put_string(object, "stopped_by", stop->actor);
    json_put_instant(object, "stopped_at", stop->at_us);
    json_put_string(object, "stop_reason", stop->reason);
    json_put(object, "replaced_by", json_null());
    if (stop->replaced_by != 0)
        json_put_id(object, "replaced_by", stop->replaced_by);
}

enum status run_json_load(const struct service *service, struct store *store,
                          const struct run_info *run, json_t **out, struct err *err)
{
    struct tally tally;
    if (store_tally(store, run, &tally, err) != STATUS_OK)
        return err->code;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const char *waits_because = NULL;
    bool is_late = false;
    if (run->admission == ADMISSION_WAITING &&
        store_admission_why(store, arena, run->id, &waits_because, err) != STATUS_OK)
        return err->code;
    struct stop_info stop = {0};
    if (run->cancel_asked != CANCEL_NONE &&
        store_stop_load(store, arena, run->id, 0, &stop, err) != STATUS_OK)
        return err->code;
    if (store_sla_is_late(store, run->id, 0, &is_late, err) != STATUS_OK)
        return err->code;
    *out = run_json(service, run, &tally);
    json_put_string(*out, "waits_because", waits_because);
    json_put_bool(*out, "late", is_late);
    if (stop.actor != NULL)
        put_stop(*out, &stop);
    return STATUS_OK;
}

/* --- tasks ----------------------------------------------------------------------------------- */

static void put_policy(struct json_row *row, const struct task_def *def,
                       const struct task_row *task)
{
    json_row_integer(row, "max_tries", def->retry.retries);
    json_row_integer(row, "retries_left", MAX(def->retry.retries - task->failures, (int64_t)0));
    json_row_text(row, "operator", task_kind_key(def->kind));
    json_row_text(row, "trigger_rule", trigger_rule_name(def->rule));
    json_row_text(row, "pool", def->pool);
    json_row_integer(row, "pool_slots", def->slots);
    json_row_integer(row, "priority_weight", def->priority);
    json_row_text(row, "unixname", def->user);
}

/* The exit code column holds the signal of a task that a signal ended. */
static void put_outcome(struct json_row *row, const struct task_row *task)
{
    bool is_signal = task->reason == REASON_SIGNAL;
    json_row_text(row, "reason", task->reason == REASON_NONE ? NULL : reason_name(task->reason));
    json_row_text(row, "message", task->detail);
    if (task->exit_code >= 0 && !is_signal)
        json_row_integer(row, "exit_code", task->exit_code);
    if (task->exit_code >= 0 && is_signal)
        json_row_integer(row, "signal", task->exit_code);
}

static void put_instances(struct json_row *row, const struct task_row *task)
{
    enum { SIZE = 160 };
    const struct parent_counts *counts = &task->counts;
    long long failed = counts->failed + counts->upstream_failed;
    char *text = json_row_room(row, SIZE);
    CHECK(text != NULL);
    int length = snprintf(
        text, SIZE, "{\"total\":%lld,\"success\":%lld,\"failed\":%lld,\"skipped\":%lld}",
        (long long)counts->total, (long long)counts->success, failed, (long long)counts->skipped);
    CHECK(length > 0 && length < SIZE);
    json_cell_json(json_row_add(row, "instances"), text);
}

static void put_duration(struct json_row *row, int64_t from_us, int64_t to_us)
{
    struct json_cell *cell = json_row_add(row, "duration");
    if (from_us != 0 && to_us != 0)
        json_cell_real(cell, seconds_between(from_us, to_us));
}

void task_json_row(const struct service *service, const struct run_info *run,
                   const struct task_def *def, const struct task_row *task, struct json_row *row)
{
    json_row_begin(row);
    json_row_id(row, "number", run->id);
    json_row_text(row, "dag_id", run->dag_id);
    json_row_text(row, "dag_run_id", run->run_id);
    json_row_instant(row, "logical_date", run->logical_at_us);
    json_row_text(row, "run_type", run->kind);
    json_row_text(row, "task_id", def->id);
    json_row_integer(row, "map_index", task->map_index);
    json_row_text(row, "label", task->label);
    json_row_text(row, "state", task_state_name(task->state));
    json_row_integer(row, "try_number", task_row_tries(task));
    json_row_instant(row, "queued_when", task->queued_at_us);
    json_row_instant(row, "start_date", task->started_at_us);
    json_row_instant(row, "end_date", task->ended_at_us);
    put_duration(row, task->started_at_us,
                 task->ended_at_us != 0 || task->state != TASK_RUNNING ? task->ended_at_us
                                                                       : service_now_us(service));
    json_row_instant(row, "next_retry", task->due_at_us);
    put_outcome(row, task);
    put_policy(row, def, task);
    json_row_text(row, "queue", run->queue != NULL ? run->queue : def->queue);
    json_row_bool(row, "is_mapped", task_def_is_mapped(def));
    if (task->instance_base != 0)
        put_instances(row, task);
    json_row_integer(row, "generation", task->generation);
    json_row_integer(row, "log_bytes", task->log_bytes);
    json_row_integer(row, "cpu_ms", task->cpu_ms);
    json_row_integer(row, "rss_kb", task->rss_kb);
}

json_t *task_json(const struct service *service, const struct run_info *run,
                  const struct task_def *def, const struct task_row *task)
{
    struct json_row row;
    task_json_row(service, run, def, task, &row);
    return json_row_object(&row);
}

enum status task_json_row_host(const struct service *service, struct store *store,
                               const struct task_row *task, struct json_row *row, struct err *err)
{
    if (task->host == 0)
        return STATUS_OK;
    const struct host_name *host = NULL;
    if (store_host_name(store, task->host, &host, err) != STATUS_OK)
        return err->code;
    json_row_id(row, "claimed_by", task->host);
    if (host->name != NULL) {
        json_row_text(row, "hostname", host->name);
        json_row_integer(row, "pid", host->pid);
    }
    if (task->state == TASK_RUNNING)
        json_row_bool(row, "owner_alive", service_host_is_alive(service, task->host));
    return STATUS_OK;
}

enum status task_json_add_host(const struct service *service, struct store *store,
                               const struct task_row *task, json_t *object, struct err *err)
{
    struct json_row row;
    json_row_begin(&row);
    if (task_json_row_host(service, store, task, &row, err) != STATUS_OK)
        return err->code;
    json_row_put(&row, object);
    return STATUS_OK;
}
