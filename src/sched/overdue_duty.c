#include "base/log.h"
#include "sched/duty.h"
#include "store/control.h"

enum { OVERDUE_MAX = 100, LOOK_EVERY_US = 5000000 };

/*
 * A run may begin without anybody being told; its time is known after the next look then. If two
 * hosts do it at once, the second finds that it was asked for.
 */
enum status duty_stop_overdue(const struct duty_call *call, struct duty_result *out,
                              struct err *err)
{
    int64_t runs[OVERDUE_MAX];
    size_t count = 0;
    int64_t next_us = 0;
    out->next_us = call->now_us + LOOK_EVERY_US;
    out->was_idle = call->glance != NULL && !call->glance->has_runs;
    if (out->was_idle)
        return STATUS_OK;
    if (store_runs_overdue(call->store, runs, ARRAY_LEN(runs), &count, &next_us, err) != STATUS_OK)
        return err->code;
    if (next_us > call->now_us)
        out->next_us = MIN(out->next_us, next_us);
    for (size_t i = 0; i < count; i++) {
        struct cancel_request request = {
            .run = runs[i], .cause = CANCEL_TIMEOUT, .actor = "timeout"};
        enum status status = store_run_cancel(call->store, &request, err);
        if (status == STATUS_CONFLICT)
            continue;
        if (status != STATUS_OK)
            return status;
        log_info("a run took longer than its DAG allows", LOG_ID("run", runs[i]));
        out->changed = true;
    }
    return STATUS_OK;
}
