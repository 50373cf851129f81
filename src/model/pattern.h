#pragma once
/*
 * pattern: POSIX extended regular expressions that cannot take us down.
 *
 * What makes the C library's matcher slow or hungry is refused: back-references, repeats that
 * multiply, patterns over PATTERN_BYTES_MAX, subjects over LIMIT_VALUE_INLINE_BYTES.
 */
#include <regex.h>
#include <stdbool.h>

#include "base/attrs.h"
#include "base/err.h"

enum { PATTERN_BYTES_MAX = 1000, PATTERN_WEIGHT_MAX = 2000, PATTERN_DEPTH_MAX = 16 };

struct pattern {
    regex_t regex;
    bool ready;
};

NODISCARD enum status pattern_init(struct pattern *pattern, const char *text, struct err *err);
void pattern_fini(struct pattern *pattern); /* zero and twice are fine */

/* STATUS_LIMIT for a subject that is too long. `groups` may be NULL when `count` is 0. */
NODISCARD enum status pattern_find(const struct pattern *pattern, const char *subject,
                                   regmatch_t *groups, size_t count, bool *out_found,
                                   struct err *err);
