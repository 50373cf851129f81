#pragma once
/*
 * zone_priv: the parts of a zone, shared by its file format and its rules.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/zone.h"

enum { ZONE_OFFSET_S_MAX = 26 * 3600 }; /* RFC 8536 says that no zone goes beyond */

/* A day of the year in a POSIX rule, and the time of that day on the clocks before the change. */
struct rule_day {
    enum { DAY_JULIAN, DAY_ZERO_BASED, DAY_OF_WEEK } kind; /* Jn, n, Mm.w.d */
    int day;                                               /* of a week: 0 is Sunday */
    int week;                                              /* 1 to 5, 5 is the last */
    int month;
    int32_t time_s; /* may be negative or beyond a day */
};

struct zone_rule {
    int32_t offset_s;
    bool has_summer; /* the rest is set */
    int32_t summer_offset_s;
    struct rule_day begin;
    struct rule_day end;
};

struct zone {
    size_t count;      /* of transitions */
    int64_t *at_s;     /* strictly ascending */
    int32_t *offset_s; /* from at_s[i] on */
    int32_t first_s;   /* offset before the first transition */
    bool has_rule;     /* which holds from the last transition on */
    struct zone_rule rule;
};

/* The whole text is one rule. False leaves *out alone. */
NODISCARD bool zone_rule_parse(const char *text, struct zone_rule *out);
struct zone_span zone_rule_span(const struct zone_rule *rule, int64_t at_us);
