#pragma once
/*
 * clock: the only place that reads a clock, and instants as text.
 *
 * Instants are microseconds since 1970 UTC (`_at_us`), durations milliseconds
 * (`_ms`). Decisions take `now_us` as a parameter; only effects call these.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

int64_t clock_wall_us(void);
/* Counts through suspend and never jumps (CLOCK_BOOTTIME): leases, timeouts, durations. */
int64_t clock_mono_us(void);
/* The same, but stands still in suspend (CLOCK_MONOTONIC): what waits of threads are counted in. */
int64_t clock_wait_us(void);

enum { INSTANT_TEXT_MAX = 40 };

/* The years 1 to 9999, as instants have four digits for the year. */
#define INSTANT_US_MIN (INT64_C(-62135596800) * 1000000)
#define INSTANT_US_MAX (INT64_C(253402300799) * 1000000 + 999999)

/* "2025-01-15T00:00:00.250000Z"; the fraction only when there is one. Returns `out`. */
const char *instant_format(int64_t at_us, char out[static INSTANT_TEXT_MAX]);
/* The same with "+00:00" instead of "Z", as in run ids and `{{ ts }}`. */
const char *instant_format_offset(int64_t at_us, char out[static INSTANT_TEXT_MAX]);
/*
 * The same as clocks with this offset show it, "2025-01-15T01:00:00+01:00". The text has whole
 * minutes of an offset, as RFC 3339 wants; it still is the same instant.
 */
const char *instant_format_at(int64_t at_us, int32_t offset_s, char out[static INSTANT_TEXT_MAX]);
/* "2025-01-15". */
const char *instant_format_date(int64_t at_us, char out[static INSTANT_TEXT_MAX]);

/*
 * A date, or a date and time with 'T' or a space, optional seconds and fraction and an
 * optional offset ("Z", "+02:00"; none means UTC). False leaves *out alone.
 */
NODISCARD bool instant_parse(const char *text, int64_t *out_us);

/* What a text said of its instant besides the instant itself. */
struct instant_form {
    int32_t offset_s; /* of the clock that showed it; 0 when none was given */
    bool has_offset;  /* "Z" is one */
    bool has_time;    /* not only a date */
};
/* The same, and how it was written. */
NODISCARD bool instant_parse_form(const char *text, int64_t *out_us, struct instant_form *out_form);

struct civil {
    int64_t year;
    unsigned month, day, hour, minute, second, microsecond;
    unsigned weekday; /* 0 is Sunday */
};

struct civil civil_from_instant(int64_t at_us); /* UTC */
int64_t civil_to_instant(const struct civil *civil);
unsigned civil_days_in_month(int64_t year, unsigned month); /* month is 1 to 12 */
