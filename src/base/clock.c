#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/check.h"

static const int64_t US_PER_SECOND = 1000000;
static const int64_t US_PER_DAY = 86400 * US_PER_SECOND;

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    CHECK(clock_gettime(id, &now) == 0);
    return now.tv_sec * US_PER_SECOND + now.tv_nsec / 1000;
}

int64_t clock_wall_us(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t clock_mono_us(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_wait_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* Days since 1970-01-01 of a date of the Gregorian calendar, by counting from March. */
static int64_t days_from_date(int64_t year, unsigned month, unsigned day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    unsigned year_of_era = (unsigned)(year - era * 400);
    unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + (int64_t)day_of_era - 719468;
}

static void date_from_days(int64_t days, struct civil *out)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned day_of_era = (unsigned)(days - era * 146097);
    unsigned year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    unsigned shifted = (5 * day_of_year + 2) / 153;
    out->day = day_of_year - (153 * shifted + 2) / 5 + 1;
    out->month = shifted < 10 ? shifted + 3 : shifted - 9;
    out->year = (int64_t)year_of_era + era * 400 + (out->month <= 2);
}

struct civil civil_from_instant(int64_t at_us)
{
    int64_t days = at_us / US_PER_DAY - (at_us % US_PER_DAY < 0);
    int64_t rest = at_us - days * US_PER_DAY;
    struct civil civil = {.weekday = (unsigned)(((days + 4) % 7 + 7) % 7)};
    date_from_days(days, &civil);
    civil.microsecond = (unsigned)(rest % US_PER_SECOND);
    rest /= US_PER_SECOND;
    civil.second = (unsigned)(rest % 60);
    civil.minute = (unsigned)(rest / 60 % 60);
    civil.hour = (unsigned)(rest / 3600);
    return civil;
}

int64_t civil_to_instant(const struct civil *c)
{
    int64_t seconds = days_from_date(c->year, c->month, c->day) * 86400 + (int64_t)c->hour * 3600 +
                      (int64_t)c->minute * 60 + (int64_t)c->second;
    return seconds * US_PER_SECOND + (int64_t)c->microsecond;
}

/* Digit by digit: lists have several instants in every row, and printf takes its time. */
static char *put_digits(char *out, unsigned value, size_t digits)
{
    for (size_t i = digits; i > 0; value /= 10)
        out[--i] = (char)('0' + value % 10);
    return out + digits;
}

static char *put_field(char *out, char before, unsigned value)
{
    *out = before;
    return put_digits(out + 1, value, 2);
}

static const char *format_with(int64_t at_us, const char *zone, char *out)
{
    struct civil c = civil_from_instant(at_us);
    char *end = out;
    if (c.year >= 0 && c.year <= 9999) {
        end = put_digits(out, (unsigned)c.year, 4);
    } else {
        int length = snprintf(out, INSTANT_TEXT_MAX, "%04lld", (long long)c.year);
        CHECK(length > 0);
        end += length;
    }
    CHECK(end - out + strlen("-MM-DDTHH:MM:SS.uuuuuu") + strlen(zone) < INSTANT_TEXT_MAX);
    end = put_field(end, '-', c.month);
    end = put_field(end, '-', c.day);
    end = put_field(end, 'T', c.hour);
    end = put_field(end, ':', c.minute);
    end = put_field(end, ':', c.second);
    if (c.microsecond != 0) {
        *end = '.';
        end = put_digits(end + 1, c.microsecond, 6);
    }
    memcpy(end, zone, strlen(zone) + 1);
    return out;
}

const char *instant_format(int64_t at_us, char out[static INSTANT_TEXT_MAX])
{
    return format_with(at_us, "Z", out);
}

const char *instant_format_offset(int64_t at_us, char out[static INSTANT_TEXT_MAX])
{
    return format_with(at_us, "+00:00", out);
}

const char *instant_format_at(int64_t at_us, int32_t offset_s, char out[static INSTANT_TEXT_MAX])
{
    char zone[16];
    unsigned minutes = (unsigned)(offset_s < 0 ? -(int64_t)offset_s : offset_s) / 60;
    CHECK(minutes < 100 * 60);
    CHECK(snprintf(zone, sizeof zone, "%c%02u:%02u", offset_s < 0 ? '-' : '+', minutes / 60,
                   minutes % 60) == 6);
    int64_t shown_s = (int64_t)minutes * (offset_s < 0 ? -60 : 60);
    return format_with(at_us + shown_s * US_PER_SECOND, zone, out);
}

const char *instant_format_date(int64_t at_us, char out[static INSTANT_TEXT_MAX])
{
    struct civil c = civil_from_instant(at_us);
    int length =
        snprintf(out, INSTANT_TEXT_MAX, "%04lld-%02u-%02u", (long long)c.year, c.month, c.day);
    CHECK(length > 0 && length < INSTANT_TEXT_MAX);
    return out;
}

/* Exactly `digits` decimal digits at *cursor. */
static bool take_digits(const char **cursor, unsigned digits, unsigned most, unsigned *out)
{
    unsigned value = 0;
    for (unsigned i = 0; i < digits; i++) {
        char c = (*cursor)[i];
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + (unsigned)(c - '0');
    }
    if (value > most)
        return false;
    *cursor += digits;
    *out = value;
    return true;
}

static bool take_char(const char **cursor, char wanted)
{
    if (**cursor != wanted)
        return false;
    (*cursor)++;
    return true;
}

unsigned civil_days_in_month(int64_t year, unsigned month)
{
    CHECK(month >= 1 && month <= 12);
    static const unsigned DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return DAYS[month - 1] + (month == 2 && leap);
}

static bool take_date(const char **cursor, struct civil *out)
{
    unsigned year = 0;
    if (!take_digits(cursor, 4, 9999, &year) || !take_char(cursor, '-') ||
        !take_digits(cursor, 2, 12, &out->month) || !take_char(cursor, '-') ||
        !take_digits(cursor, 2, 31, &out->day))
        return false;
    out->year = year;
    return out->month >= 1 && out->day >= 1 && out->day <= civil_days_in_month(year, out->month);
}

static void take_fraction(const char **cursor, struct civil *out)
{
    unsigned scale = 100000;
    while (**cursor >= '0' && **cursor <= '9') {
        out->microsecond += (unsigned)(**cursor - '0') * scale;
        scale /= 10;
        (*cursor)++;
    }
}

static bool take_time(const char **cursor, struct civil *out)
{
    if (!take_digits(cursor, 2, 23, &out->hour) || !take_char(cursor, ':') ||
        !take_digits(cursor, 2, 59, &out->minute))
        return false;
    if (!take_char(cursor, ':'))
        return true;
    if (!take_digits(cursor, 2, 60, &out->second))
        return false;
    if (take_char(cursor, '.'))
        take_fraction(cursor, out);
    return true;
}

static bool take_offset(const char **cursor, struct instant_form *out)
{
    out->has_offset = **cursor != '\0';
    if (!out->has_offset || take_char(cursor, 'Z') || take_char(cursor, 'z'))
        return true;
    int32_t sign = **cursor == '-' ? -1 : 1;
    if (!take_char(cursor, '+') && !take_char(cursor, '-'))
        return false;
    unsigned hours = 0;
    unsigned minutes = 0;
    if (!take_digits(cursor, 2, 23, &hours))
        return false;
    (void)take_char(cursor, ':');
    if (**cursor != '\0' && !take_digits(cursor, 2, 59, &minutes))
        return false;
    out->offset_s = sign * (int32_t)(hours * 3600 + minutes * 60);
    return true;
}

bool instant_parse_form(const char *text, int64_t *out_us, struct instant_form *out_form)
{
    struct civil civil = {0};
    struct instant_form form = {0};
    const char *cursor = text;
    if (!take_date(&cursor, &civil))
        return false;
    if (*cursor != '\0') {
        if (!take_char(&cursor, 'T') && !take_char(&cursor, 't') && !take_char(&cursor, ' '))
            return false;
        if (!take_time(&cursor, &civil) || !take_offset(&cursor, &form) || *cursor != '\0')
            return false;
        form.has_time = true;
    }
    *out_us = civil_to_instant(&civil) - form.offset_s * US_PER_SECOND;
    *out_form = form;
    return true;
}

bool instant_parse(const char *text, int64_t *out_us)
{
    struct instant_form form;
    return instant_parse_form(text, out_us, &form);
}
