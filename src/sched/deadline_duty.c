#include "base/log.h"
#include "sched/duty.h"
#include "store/deadline.h"

/* A deadline that was written since is found by the next look. */
enum { LOOK_EVERY_US = 1000000, PORTIONS_MAX = 10 };

enum status duty_pass_deadlines(const struct duty_call *call, struct duty_result *out,
                                struct err *err)
{
    int64_t next_us = call->glance != NULL ? call->glance->next_deadline_us : 0;
    out->was_idle = next_us > call->now_us;
    if (!out->was_idle && store_deadline_next(call->store, &next_us, err) != STATUS_OK)
        return err->code;
    for (int i = 0; i < PORTIONS_MAX && next_us <= call->now_us; i++) {
        struct deadline_result result;
        if (store_deadline_pass(call->store, &result, err) != STATUS_OK ||
            store_deadline_next(call->store, &next_us, err) != STATUS_OK)
            return err->code;
        if (result.missed > 0)
            log_info("deadlines were missed", LOG_INT("missed", result.missed),
                     LOG_INT("messages", result.told));
        out->changed |= result.told > 0;
    }
    out->next_us = MIN(next_us, call->now_us + LOOK_EVERY_US);
    return STATUS_OK;
}
