#pragma once
/*
 * checks: checks with their results, for store.check and doctor.check.
 */
#include <stdbool.h>

#include "base/json.h"

enum check_result { CHECK_PASSED, CHECK_FAILED, CHECK_LEFT_OUT, CHECK_ADVISED };

struct checks {
    json_t *list;
    bool ok; /* nothing failed */
};

struct checks checks_new(void);
/* `advice` may be NULL. What is only advised passes. */
void checks_add(struct checks *checks, const char *name, enum check_result result,
                const char *detail, const char *advice);
/* {"ok", "checks"}; the list moves into it. */
NODISCARD json_t *checks_take(struct checks *checks);
