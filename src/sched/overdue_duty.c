#include "base/log.h"
#include "sched/duty.h"
#include "store/control.h"

enum { OVERDUE_MAX = 100, LOOK_EVERY_US = 1000000 };

/* If two hosts do it at once, the second finds that it was asked for. */
enum status duty_stop_overdue(const struct duty_call *call, struct duty_result *out,
                              struct err *err)
{
    int64_t runs[OVERDUE_MAX];
    size_t count = 0;
    out->next_us = call->now_us + LOOK_EVERY_US;
    if (store_runs_overdue(call->store, runs, ARRAY_LEN(runs), &count, err) != STATUS_OK)
        return err->code;
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
