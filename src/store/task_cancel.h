#pragma once
/*
 * task_cancel: stop one task of a run that goes on.
 */
#include "store/store.h"

struct task_cancel_request {
    int64_t run;
    int64_t node;
    int64_t map_index; /* -1: the task, with all its instances */
    const char *actor;
};

/*
 * Cancel what has not started; whatever waited for it is decided.
 *
 *   STATUS_CONFLICT  it is over, or it runs: only a whole run can be asked to end what runs
 */
NODISCARD enum status store_task_cancel(struct store *store,
                                        const struct task_cancel_request *request, struct err *err);
