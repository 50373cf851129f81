#pragma once
/*
 * log_pattern: whether a pattern may be run over a log by somebody whom we do not trust. Pure.
 *
 * Repetitions are written out when a pattern is compiled: a{9} nine times, a+ twice, and nested
 * ones multiply. What refers back to an earlier part can take time beyond all bounds.
 */
#include "base/attrs.h"
#include "base/err.h"

enum { LOG_PATTERN_MAX = 1000 };

/* STATUS_LIMIT: it is too long, or too much once it is written out, or refers back. */
NODISCARD enum status log_pattern_check(const char *pattern, struct err *err);
