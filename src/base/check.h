#pragma once
/*
 * check: assertions that stay on in every build.
 *
 * CHECK states what callers and we ourselves guarantee. A daemon that stops is
 * recovered by its leases; one that goes on with a broken assumption corrupts.
 */
#include "base/attrs.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0))                                                     \
            check_failed(__FILE__, __LINE__, #condition);                                          \
    } while (0)

/* For places that no path leads to; `belief` says why. */
#define UNREACHABLE(belief) check_failed(__FILE__, __LINE__, belief)

/* Print where and what, then abort. */
NORETURN void check_failed(const char *file, int line, const char *condition);
