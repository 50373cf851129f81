/*
 * Runs that events ask for: of datasets and ends of runs, which wait in the store, and of files,
 * which the watcher tells of.
 */
#include "base/arena.h"
#include "base/log.h"
#include "sched/duty.h"
#include "sched/file_watcher.h"
#include "store/trigger_store.h"

enum { DAGS_MAX = 100, FILES_MAX = 100, CHAIN_MOST = 100 };

static enum status start(const struct duty_call *call, int64_t dag, struct duty_result *out,
                         bool *more, struct err *err)
{
    int64_t chain_most = call->chain_most > 0 ? call->chain_most : CHAIN_MOST;
    struct trigger_started started;
    if (store_trigger_start(call->store, dag, chain_most, &started, err) != STATUS_OK)
        return err->code;
    if (started.refused > 0)
        log_warn("an event cannot start a run", LOG_STR("dag", started.dag_id),
                 LOG_STR("why", started.why));
    out->changed |= started.runs > 0;
    *more |= started.is_more;
    return STATUS_OK;
}

enum status duty_start_by_events(const struct duty_call *call, struct duty_result *out,
                                 struct err *err)
{
    int64_t dags[DAGS_MAX];
    size_t count = 0;
    bool more = false;
    out->next_us = DUTY_NEVER;
    out->was_idle = call->glance != NULL && !call->glance->has_events;
    if (out->was_idle)
        return STATUS_OK;
    if (store_triggers_due(call->store, dags, ARRAY_LEN(dags), &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++)
        if (start(call, dags[i], out, &more, err) != STATUS_OK)
            return err->code;
    if (more || count == ARRAY_LEN(dags))
        out->next_us = call->now_us;
    return STATUS_OK;
}

/* --- files ----------------------------------------------------------------------------------- */

static enum status take_arrival(const struct duty_call *call, const struct file_arrival *arrival,
                                struct duty_result *out, struct err *err)
{
    enum arrival_verdict verdict = ARRIVAL_KNOWN;
    char why[ERR_TEXT_MAX];
    if (store_file_arrived(call->store, arrival, &verdict, why, err) != STATUS_OK)
        return err->code;
    if (verdict == ARRIVAL_REFUSED)
        log_warn("a file cannot start a run", LOG_STR("path", arrival->path), LOG_STR("why", why));
    if (verdict == ARRIVAL_STARTED)
        log_info("a file has arrived", LOG_STR("path", arrival->path));
    out->changed |= verdict == ARRIVAL_STARTED;
    return STATUS_OK;
}

enum status duty_start_by_files(const struct duty_call *call, struct duty_result *out,
                                struct err *err)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct file_watch *watches = NULL;
    size_t count = 0;
    out->next_us = DUTY_NEVER;
    out->was_idle =
        call->files == NULL || (call->glance != NULL && !call->glance->has_watched_files &&
                                file_watcher_is_unused(call->files));
    if (out->was_idle)
        return STATUS_OK;
    if (store_file_watches(call->store, arena, &watches, &count, err) != STATUS_OK ||
        file_watcher_set(call->files, watches, count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < FILES_MAX; i++) {
        const struct file_arrival *arrival = file_watcher_first(call->files);
        if (arrival == NULL)
            return STATUS_OK;
        if (take_arrival(call, arrival, out, err) != STATUS_OK)
            return err->code;
        file_watcher_drop(call->files);
    }
    out->next_us = call->now_us;
    return STATUS_OK;
}
