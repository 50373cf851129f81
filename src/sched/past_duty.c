#include "sched/duty.h"
#include "store/admission.h"

/* Where no other process tells of the end of a task, it is looked for. */
enum { LOOK_EVERY_US = 1000000 };

enum status duty_let_past_go(const struct duty_call *call, struct duty_result *out, struct err *err)
{
    int64_t count = 0;
    bool left = false;
    out->was_idle = call->glance != NULL && !call->glance->has_waiting_tasks;
    if (out->was_idle)
        return STATUS_OK;
    if (store_past_let_go(call->store, &count, &left, err) != STATUS_OK)
        return err->code;
    out->changed = count > 0;
    if (left)
        out->next_us = call->now_us + LOOK_EVERY_US;
    return STATUS_OK;
}
