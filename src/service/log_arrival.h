#pragma once
/*
 * log_arrival: whether the log of an attempt that is over is still on its way.
 *
 * In a fleet the host that ran an attempt brings its log to the store, and may do so a moment after
 * the outcome. A reader on another host must not take what is there for the whole.
 */
#include "blob/blob.h"
#include "service/service.h"
#include "store/rows.h"

/*
 * With the service's store open. Ask before reading: what is read afterwards is whole when the
 * answer is no. `blob` may be NULL: nothing was ever written here. A log whose host is gone counts
 * as whole.
 */
NODISCARD enum status log_arrival_is_due(const struct service *service, struct blob *blob,
                                         const struct blob_key *key, const struct task_row *task,
                                         bool *out, struct err *err);
