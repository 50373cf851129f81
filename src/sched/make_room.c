#include "sched/make_room.h"

#include "base/log.h"
#include "store/admission.h"
#include "store/control.h"

enum { AT_ONCE_MAX = 100 };

/* If two schedulers do it at once, the second finds that it was asked for. */
enum status make_room(struct store *store, bool *changed, struct err *err)
{
    struct replaced_run runs[AT_ONCE_MAX];
    size_t count = 0;
    if (store_admission_replaced(store, runs, ARRAY_LEN(runs), &count, err) != STATUS_OK)
        return err->code;
    for (size_t i = 0; i < count; i++) {
        struct cancel_request request = {.run = runs[i].run,
                                         .cause = CANCEL_ASKED,
                                         .replaced_by = runs[i].by,
                                         .actor = "schedule"};
        struct err problem = {0};
        enum status status = store_run_cancel(store, &request, &problem);
        if (status == STATUS_CONFLICT)
            continue;
        if (status != STATUS_OK) {
            *err = problem;
            return status;
        }
        log_info("a run makes room for a newer one", LOG_ID("run", runs[i].run));
        *changed = true;
    }
    return STATUS_OK;
}
