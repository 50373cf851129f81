/*
 * cron: finding times by jumping over fields: a month that does not fit costs one step, and the
 * days of a month are one set of bits.
 */
#include "model/cron.h"

#include "base/attrs.h"
#include "base/check.h"
#include "base/clock.h"

static const int64_t SECONDS_PER_DAY = 86400;
static const int64_t US_PER_SECOND = 1000000;

bool cron_is_every_hour(const struct cron *cron)
{
    return cron->hours == 0xFFFFFF;
}

/* ---- bits ---- */

/* The lowest set bit that is at least `from`, or -1. */
static int bit_first(uint64_t set, unsigned from)
{
    set = from < 64 ? set & ~UINT64_C(0) << from : 0;
    return set != 0 ? __builtin_ctzll(set) : -1;
}

/* The highest set bit that is at most `to`, or -1. */
static int bit_last(uint64_t set, int to)
{
    if (to < 0)
        return -1;
    set = to < 63 ? set & ((UINT64_C(1) << (to + 1)) - 1) : set;
    return set != 0 ? 63 - __builtin_clzll(set) : -1;
}

/* ---- days ---- */

struct month {
    int64_t year;
    unsigned number; /* 1 to 12 */
    unsigned length;
    unsigned weekday; /* of its first day */
    int64_t first;    /* its first day, counted from 1970-01-01 */
};

static struct month month_of(int64_t year, unsigned number)
{
    int64_t at_us = civil_to_instant(&(struct civil){.year = year, .month = number, .day = 1});
    return (struct month){
        .year = year,
        .number = number,
        .length = civil_days_in_month(year, number),
        .weekday = civil_from_instant(at_us).weekday,
        .first = at_us / US_PER_SECOND / SECONDS_PER_DAY,
    };
}

static unsigned weekday_of(const struct month *month, unsigned day)
{
    return (month->weekday + day - 1) % 7;
}

/* The day from Monday to Friday that is nearest to a day, in the same month. */
static unsigned nearest_weekday(const struct month *month, unsigned day)
{
    unsigned weekday = weekday_of(month, day);
    CHECK(month->length >= 28);
    if (weekday == 6)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 0)
        return day < month->length ? day + 1 : day - 2;
    return day;
}

static uint64_t days_by_number(const struct cron *cron, const struct month *month)
{
    uint64_t days = cron->days;
    for (unsigned day = 1; day <= month->length; day++) {
        if (cron->days_from_end >> (month->length - day) & 1u)
            days |= UINT64_C(1) << day;
        if (cron->days_near >> day & 1u)
            days |= UINT64_C(1) << nearest_weekday(month, day);
    }
    /* The last weekday is the one nearest to the last day: it cannot be in the next month. */
    if (cron->last_weekday)
        days |= UINT64_C(1) << nearest_weekday(month, month->length);
    return days;
}

static uint64_t days_by_weekday(const struct cron *cron, const struct month *month)
{
    uint64_t days = 0;
    for (unsigned day = 1; day <= month->length; day++) {
        uint64_t named = cron->weekdays | cron->weekdays_nth[(day - 1) / 7];
        if (day + 7 > month->length)
            named |= cron->weekdays_last;
        if (named >> weekday_of(month, day) & 1u)
            days |= UINT64_C(1) << day;
    }
    return days;
}

/* The days of a month that the expression names. */
static uint64_t days_of(const struct cron *cron, const struct month *month)
{
    uint64_t all = (UINT64_C(2) << month->length) - 2;
    if ((cron->months >> month->number & 1u) == 0)
        return 0;
    if (cron->days_any && cron->weekdays_any)
        return all;
    uint64_t days = 0;
    if (!cron->days_any)
        days |= days_by_number(cron, month);
    if (!cron->weekdays_any)
        days |= days_by_weekday(cron, month);
    return days & all;
}

/* ---- times of a day ---- */

static int64_t clock_s(int hour, int minute, int second)
{
    return (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
}

/* The first time of day that is at least `from_s`, or -1. */
static int64_t time_first(const struct cron *cron, int64_t from_s)
{
    unsigned hour = (unsigned)(from_s / 3600);
    unsigned minute = (unsigned)(from_s / 60 % 60);
    unsigned second = (unsigned)(from_s % 60);
    int least_minute = bit_first(cron->minutes, 0);
    int least_second = bit_first(cron->seconds, 0);
    if (cron->hours >> hour & 1u) {
        int later = bit_first(cron->seconds, second);
        if (later >= 0 && cron->minutes >> minute & 1u)
            return clock_s((int)hour, (int)minute, later);
        int next = bit_first(cron->minutes, minute + 1);
        if (next >= 0)
            return clock_s((int)hour, next, least_second);
    }
    int next = bit_first(cron->hours, hour + 1);
    return next >= 0 ? clock_s(next, least_minute, least_second) : -1;
}

/* The last time of day that is at most `to_s`, or -1. */
static int64_t time_last(const struct cron *cron, int64_t to_s)
{
    int hour = (int)(to_s / 3600);
    int minute = (int)(to_s / 60 % 60);
    int most_minute = bit_last(cron->minutes, 59);
    int most_second = bit_last(cron->seconds, 59);
    if (cron->hours >> hour & 1u) {
        int earlier = bit_last(cron->seconds, (int)(to_s % 60));
        if (earlier >= 0 && cron->minutes >> minute & 1u)
            return clock_s(hour, minute, earlier);
        int before = bit_last(cron->minutes, minute - 1);
        if (before >= 0)
            return clock_s(hour, before, most_second);
    }
    int before = bit_last(cron->hours, hour - 1);
    return before >= 0 ? clock_s(before, most_minute, most_second) : -1;
}

/* ---- days and times together ---- */

static int64_t day_number(int64_t shown_s)
{
    return shown_s / SECONDS_PER_DAY - (shown_s % SECONDS_PER_DAY < 0);
}

static struct month next_month(const struct month *month)
{
    return month->number == 12 ? month_of(month->year + 1, 1)
                               : month_of(month->year, month->number + 1);
}

static struct month month_before(const struct month *month)
{
    return month->number == 1 ? month_of(month->year - 1, 12)
                              : month_of(month->year, month->number - 1);
}

static struct month month_with(int64_t day)
{
    struct civil civil = civil_from_instant(day * SECONDS_PER_DAY * US_PER_SECOND);
    return month_of(civil.year, civil.month);
}

bool cron_first(const struct cron *cron, int64_t from_s, int64_t to_s, int64_t *out_s)
{
    int64_t today = day_number(from_s);
    struct month month = month_with(today);
    unsigned from_day = (unsigned)(today - month.first) + 1;
    for (; month.first * SECONDS_PER_DAY < to_s; month = next_month(&month), from_day = 1) {
        uint64_t days = days_of(cron, &month);
        int day = bit_first(days, from_day);
        for (; day >= 0; day = bit_first(days, (unsigned)day + 1)) {
            int64_t midnight_s = (month.first + day - 1) * SECONDS_PER_DAY;
            int64_t time_s = time_first(cron, from_s > midnight_s ? from_s - midnight_s : 0);
            if (time_s < 0)
                continue; /* today, and it is too late */
            if (midnight_s + time_s >= to_s)
                return false;
            *out_s = midnight_s + time_s;
            return true;
        }
    }
    return false;
}

bool cron_last(const struct cron *cron, int64_t from_s, int64_t to_s, int64_t *out_s)
{
    int64_t latest_s = to_s - 1;
    int64_t today = day_number(latest_s);
    struct month month = month_with(today);
    int to_day = (int)(today - month.first) + 1;
    for (; (month.first + month.length) * SECONDS_PER_DAY > from_s;
         month = month_before(&month), to_day = 31) {
        uint64_t days = days_of(cron, &month);
        for (int day = bit_last(days, to_day); day >= 0; day = bit_last(days, day - 1)) {
            int64_t midnight_s = (month.first + day - 1) * SECONDS_PER_DAY;
            int64_t time_s = time_last(cron, MIN(latest_s - midnight_s, SECONDS_PER_DAY - 1));
            if (time_s < 0)
                continue; /* today, and it is too early */
            if (midnight_s + time_s < from_s)
                return false;
            *out_s = midnight_s + time_s;
            return true;
        }
    }
    return false;
}
