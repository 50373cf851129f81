/*
 * zone_rule: the rules of POSIX TZ variables, which also end TZif files.
 *
 *     std offset [dst [offset] , day [/time] , day [/time]]
 *
 * Names have three or more letters, or anything in <>. Offsets count westward, so "EST5" is
 * five hours behind UTC. Times may go from -167 to 167 hours, as RFC 8536 allows.
 */
#include <ctype.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "model/zone_priv.h"

static const int64_t US_PER_SECOND = 1000000;
static const int64_t US_PER_DAY = 86400 * US_PER_SECOND;

/* ---- parsing ---- */

static bool take_char(const char **cursor, char wanted)
{
    if (**cursor != wanted)
        return false;
    (*cursor)++;
    return true;
}

static bool take_number(const char **cursor, int least, int most, int *out)
{
    int value = 0;
    const char *p = *cursor;
    for (; isdigit((unsigned char)*p); p++) {
        value = value * 10 + (*p - '0');
        if (value > most)
            return false;
    }
    if (p == *cursor || value < least)
        return false;
    *cursor = p;
    *out = value;
    return true;
}

static bool take_name(const char **cursor)
{
    const char *p = *cursor;
    if (*p == '<') {
        const char *end = strchr(p, '>');
        if (end == NULL || end - p < 2)
            return false;
        *cursor = end + 1;
        return true;
    }
    while (isalpha((unsigned char)*p))
        p++;
    if (p - *cursor < 3)
        return false;
    *cursor = p;
    return true;
}

/* [+-]h[h[h]][:mm[:ss]] */
static bool take_time(const char **cursor, int hours_max, int32_t *out)
{
    int sign = **cursor == '-' ? -1 : 1;
    int parts[3] = {0};
    if (**cursor == '-' || **cursor == '+')
        (*cursor)++;
    if (!take_number(cursor, 0, hours_max, &parts[0]))
        return false;
    for (int i = 1; i < 3 && take_char(cursor, ':'); i++)
        if (!take_number(cursor, 0, 59, &parts[i]))
            return false;
    *out = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
    return true;
}

/* Westward becomes eastward. */
static bool take_offset(const char **cursor, int32_t *out)
{
    int32_t west = 0;
    if (!take_time(cursor, 24, &west))
        return false;
    *out = -west;
    return true;
}

static bool take_day(const char **cursor, struct rule_day *out)
{
    struct rule_day day = {.time_s = 2 * 3600};
    if (take_char(cursor, 'J')) {
        day.kind = DAY_JULIAN;
        if (!take_number(cursor, 1, 365, &day.day))
            return false;
    } else if (take_char(cursor, 'M')) {
        day.kind = DAY_OF_WEEK;
        if (!take_number(cursor, 1, 12, &day.month) || !take_char(cursor, '.') ||
            !take_number(cursor, 1, 5, &day.week) || !take_char(cursor, '.') ||
            !take_number(cursor, 0, 6, &day.day))
            return false;
    } else {
        day.kind = DAY_ZERO_BASED;
        if (!take_number(cursor, 0, 365, &day.day))
            return false;
    }
    if (take_char(cursor, '/') && !take_time(cursor, 167, &day.time_s))
        return false;
    *out = day;
    return true;
}

static bool take_summer(const char **cursor, struct zone_rule *rule)
{
    rule->has_summer = true;
    rule->summer_offset_s = rule->offset_s + 3600;
    if (!take_name(cursor))
        return false;
    if (**cursor != ',' && **cursor != '\0' && !take_offset(cursor, &rule->summer_offset_s))
        return false;
    /* POSIX leaves open what holds without days; everyone takes those of the United States. */
    const char *days = **cursor == '\0' ? ",M3.2.0,M11.1.0" : *cursor;
    if (!take_char(&days, ',') || !take_day(&days, &rule->begin) || !take_char(&days, ',') ||
        !take_day(&days, &rule->end) || *days != '\0')
        return false;
    *cursor = days;
    return true;
}

bool zone_rule_parse(const char *text, struct zone_rule *out)
{
    struct zone_rule rule = {0};
    const char *cursor = text;
    if (!take_name(&cursor) || !take_offset(&cursor, &rule.offset_s))
        return false;
    if (*cursor != '\0' && !take_summer(&cursor, &rule))
        return false;
    *out = rule;
    return true;
}

/* ---- the changes of a year ---- */

static int64_t midnight_us(int64_t year, unsigned month, unsigned day)
{
    return civil_to_instant(&(struct civil){.year = year, .month = month, .day = day});
}

/* What clocks show at the change, as an instant of UTC. */
static int64_t day_shown_us(const struct rule_day *rule, int64_t year)
{
    int64_t base = midnight_us(year, 1, 1);
    int64_t days = rule->day;
    if (rule->kind == DAY_JULIAN) {
        bool is_leap = civil_days_in_month(year, 2) == 29;
        days += is_leap && rule->day >= 60 ? 0 : -1; /* 29 February has no number */
    } else if (rule->kind == DAY_OF_WEEK) {
        unsigned month = (unsigned)rule->month;
        base = midnight_us(year, month, 1);
        int first = (int)civil_from_instant(base).weekday;
        days = (rule->day - first + 7) % 7 + (rule->week - 1) * 7;
        if (days >= (int64_t)civil_days_in_month(year, month))
            days -= 7;
    }
    return base + days * US_PER_DAY + rule->time_s * US_PER_SECOND;
}

struct change {
    int64_t at_us;
    int32_t offset_s; /* from then on */
};

enum { YEARS = 5, CHANGES = 2 * YEARS };

/* In order of time; of two at the same instant the one added later comes later. */
static void add_change(struct change *changes, size_t *count, struct change change)
{
    size_t i = (*count)++;
    for (; i > 0 && changes[i - 1].at_us > change.at_us; i--)
        changes[i] = changes[i - 1];
    changes[i] = change;
}

/*
 * The years around are enough: a change is at most a week away from its day. Where summer lasts
 * the whole year, the end of one and the begin of the next meet, in this order.
 */
static void changes_around(const struct zone_rule *rule, int64_t at_us, struct change *changes)
{
    int64_t year = civil_from_instant(at_us).year - YEARS / 2;
    size_t count = 0;
    for (int i = 0; i < YEARS; i++, year++) {
        struct change begin = {day_shown_us(&rule->begin, year) - rule->offset_s * US_PER_SECOND,
                               rule->summer_offset_s};
        struct change end = {day_shown_us(&rule->end, year) - rule->summer_offset_s * US_PER_SECOND,
                             rule->offset_s};
        add_change(changes, &count, begin);
        add_change(changes, &count, end);
    }
}

struct zone_span zone_rule_span(const struct zone_rule *rule, int64_t at_us)
{
    struct zone_span span = {ZONE_NEVER_US, ZONE_FOREVER_US, rule->offset_s};
    if (!rule->has_summer)
        return span;
    struct change changes[CHANGES];
    changes_around(rule, at_us, changes);
    size_t next = 0;
    while (next < CHANGES && changes[next].at_us <= at_us)
        next++;
    CHECK(next > 0 && next < CHANGES);
    span.from_us = changes[next - 1].at_us;
    span.to_us = changes[next].at_us;
    span.offset_s = changes[next - 1].offset_s;
    return span;
}
