#include "base/log.h"
#include "sched/duty.h"
#include "sched/make_room.h"
#include "store/schedule.h"

/* Transactions in a row: when many DAGs are due at once, other duties are not asked after each. */
enum { BATCHES_MAX = 5 };

static enum status start_some(const struct duty_call *call, struct duty_result *out,
                              bool *needs_room, struct err *err)
{
    struct due_started started = {0};
    if (store_schedule_start_due(call->store, &started, err) != STATUS_OK)
        return err->code;
    if (started.runs > 0)
        log_debug("runs were due", LOG_INT("runs", (int64_t)started.runs),
                  LOG_INT("waiting", (int64_t)started.waiting));
    if (started.missed > 0)
        log_info("ticks were missed", LOG_INT("stretches", (int64_t)started.missed),
                 LOG_STR("last_dag", started.missed_dag));
    if (started.troubled[0] != '\0')
        log_warn("a DAG cannot be started by its schedule", LOG_STR("dag", started.troubled),
                 LOG_STR("problem", started.trouble));
    out->next_us = started.next_us;
    out->changed |= started.runs > started.waiting;
    *needs_room |= started.needs_room;
    return STATUS_OK;
}

/* What is left then is due at once. */
enum status duty_start_due(const struct duty_call *call, struct duty_result *out, struct err *err)
{
    bool needs_room = false;
    out->was_idle = call->glance != NULL && call->glance->next_schedule_us > call->now_us;
    if (out->was_idle) {
        out->next_us = call->glance->next_schedule_us;
        return STATUS_OK;
    }
    for (int i = 0; i < BATCHES_MAX && (i == 0 || out->next_us <= call->now_us); i++)
        if (start_some(call, out, &needs_room, err) != STATUS_OK)
            return err->code;
    return needs_room ? make_room(call->store, &out->changed, err) : STATUS_OK;
}
