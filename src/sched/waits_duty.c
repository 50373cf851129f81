#include "base/attrs.h"
#include "sched/duty.h"
#include "store/wait.h"

enum { WAKE_MAX = 500, LOOK_EVERY_US = 1000000, AGAIN_US = 10000 };

enum status duty_wake_waits(const struct duty_call *call, struct duty_result *out, struct err *err)
{
    int64_t count = 0;
    int64_t next_us = 0;
    out->next_us = call->now_us + LOOK_EVERY_US;
    out->was_idle = call->glance != NULL && call->glance->next_wait_us > call->now_us;
    if (out->was_idle) {
        out->next_us = MIN(out->next_us, call->glance->next_wait_us);
        return STATUS_OK;
    }
    if (store_waits_wake(call->store, WAKE_MAX, &count, &next_us, err) != STATUS_OK)
        return err->code;
    out->changed = count > 0;
    /* What is due and was left is in the hands of others just now. */
    if (next_us != 0)
        out->next_us = MIN(out->next_us, MAX(next_us, call->now_us + AGAIN_US));
    return STATUS_OK;
}
