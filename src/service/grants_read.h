#pragma once
/*
 * grants_read: roles as a request gives them, a list of NAMESPACE=ROLE.
 */
#include "base/arena.h"
#include "base/json.h"
#include "model/permission.h"

/* In the arena. STATUS_INVALID: one of them is no role; STATUS_LIMIT: there are too many. */
NODISCARD enum status grants_read(struct arena *arena, const json_t *list, struct grants *out,
                                  struct err *err);
