#pragma once
/*
 * access: whether whoever asks may do what an operation does, to what the request names.
 *
 * Decided in one place, before the handler: the namespace of the thing that is named is looked up,
 * and the role that one has there is compared with the row's permission. What one does not see is
 * not told from what is not there. Lists are left to the store, which is told what is seen.
 */
#include "service/operation.h"
#include "service/service.h"

/*
 * Who has the right everywhere costs no look-up.
 *
 *   STATUS_NOT_FOUND  there is no such thing, or none that is shown
 *   STATUS_DENIED     it is shown, but the role there is too small; or the request leads to a file
 *                     of this machine, and whoever asks is elsewhere
 */
NODISCARD enum status access_check(struct service *service, const struct operation *operation,
                                   const json_t *request, struct err *err);
