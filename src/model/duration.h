#pragma once
/*
 * duration: spans of time and sizes in bytes, as people write them.
 *
 * Durations are sums of whole numbers with a unit, `ms s m h d w`, larger units first and each
 * at most once: "500ms", "30s", "1h30m". Sizes are one whole number with an optional unit:
 * "512", "10MB" (10^6), "64MiB" (2^20); "64M" and "64Mi" are read as "64MiB".
 * No sign, no fraction, no space.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

/* 100 years: far beyond any use, far below overflow when added to an instant. */
#define DURATION_MS_MAX ((int64_t)100 * 366 * 86400 * 1000)

enum { DURATION_TEXT_MAX = 48 };

/* False leaves *out alone. "0s" is a duration; "0" and "" are not. */
NODISCARD bool duration_parse(const char *text, int64_t *out_ms);
/* A bare number, as YAML gives it, means seconds. */
NODISCARD bool duration_from_seconds(int64_t seconds, int64_t *out_ms);
/* The shortest text that parses back to `ms`, which is 0..DURATION_MS_MAX. Returns `out`. */
const char *duration_format(int64_t ms, char out[static DURATION_TEXT_MAX]);

/* False leaves *out alone. */
NODISCARD bool size_parse(const char *text, int64_t *out_bytes);
/* The largest unit that divides `bytes` (not negative) exactly. Returns `out`. */
const char *size_format(int64_t bytes, char out[static DURATION_TEXT_MAX]);
