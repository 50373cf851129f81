#pragma once
/*
 * once: a change that is done once, however often it is asked for with the same key.
 *
 * The answer is kept in the transaction of the change, so that both are there or neither: whoever
 * does not know what became of a request sends it again. Alone, a request has a transaction of its
 * own, and what fails leaves nothing; among others (together.h) it is a part of theirs.
 *
 * Only for operations that change nothing but the store (operation_takes_key).
 */
#include "base/arena.h"
#include "service/service.h"
#include "store/answered.h"

struct once {
    struct answered_key key;
    bool is_alone; /* of this module */
};

/*
 * out->status is 0: it is to be done now, and ends with once_keep or once_undo. Else that was
 * answered before, and there is nothing to end.
 *
 *   STATUS_CONFLICT  the key was used for another request
 */
NODISCARD enum status once_begin(struct service *service, struct once *once, struct arena *arena,
                                 struct answered *out, struct err *err);
/*
 * It is done. After a failure it is not, unless that is STATUS_UNKNOWN: then the same request with
 * the same key tells.
 *
 *   STATUS_LIMIT  the answer is too large to be kept
 */
NODISCARD enum status once_keep(struct service *service, const struct once *once,
                                const struct answered *answer, struct err *err);
/* It was not done: the key is free again. */
void once_undo(struct service *service, const struct once *once);
