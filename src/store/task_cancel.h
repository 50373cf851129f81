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
 * Cancel what has not started, and decide whatever waited for it; what runs is ended by its owner,
 * who hears of the wish, and is cancelled then, without another try. Asking again for what was
 * asked already, or is cancelled already, is fine and changes nothing.
 *
 *   STATUS_CONFLICT  it is over, otherwise than by a cancel, or its owner's program is too old to
 *                    hear of it
 */
NODISCARD enum status store_task_cancel(struct store *store,
                                        const struct task_cancel_request *request, struct err *err);
