/*
 * template_filter_date: dates and instants, which are RFC 3339 texts, in UTC unless `tz` or an
 * offset says otherwise: then they are shown as clocks with that offset show them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/duration.h"
#include "model/limits.h"
#include "model/template_filter_priv.h"

enum { DATE_BYTES = 10 }; /* "2025-01-31" */

static const int64_t US_PER_SECOND = 1000000;
static const int64_t US_PER_DAY = 86400 * US_PER_SECOND;

static bool self_shown(struct call *call, int64_t *out_us, struct instant_form *out_form)
{
    if (json_is_string(call->self) &&
        instant_parse_form(json_string_value(call->self), out_us, out_form))
        return true;
    CLEANUP(strbuf_fini) struct strbuf text;
    (void)eval_fail(call->eval, STATUS_INVALID, "'%s' needs a date or an instant, not '%.60s'",
                    call->callable->name, call_self_text(call, &text));
    return false;
}

static bool self_instant(struct call *call, int64_t *out_us)
{
    struct instant_form form;
    return self_shown(call, out_us, &form);
}

json_t *filter_ts(struct call *call)
{
    int64_t at_us = 0;
    char text[INSTANT_TEXT_MAX];
    return self_instant(call, &at_us) ? json_string(instant_format_offset(at_us, text)) : NULL;
}

json_t *filter_tz(struct call *call)
{
    int64_t at_us = 0;
    char text[INSTANT_TEXT_MAX];
    struct err err = {0};
    const char *name = NULL;
    const struct zone *zone = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    if (!self_instant(call, &at_us) || !call_text(call, 0, "", &name))
        return NULL;
    if (zone_find(arena, name, call->eval->scope->zones, &zone, &err) != STATUS_OK)
        return eval_fail(call->eval, STATUS_INVALID, "'tz': %s", err.text);
    return json_string(instant_format_at(at_us, zone_offset_at(zone, at_us), text));
}

/* An instant and the offset of the clock that it is shown on. */
struct shown {
    int64_t at_us;
    int32_t offset_s;
};

static json_t *format_instant(struct call *call, struct shown shown, const char *format);

static json_t *self_formatted(struct call *call, const char *format)
{
    struct shown shown = {0};
    struct instant_form form;
    if (!self_shown(call, &shown.at_us, &form))
        return NULL;
    shown.offset_s = form.offset_s;
    return format_instant(call, shown, format);
}

json_t *filter_ds(struct call *call)
{
    return self_formatted(call, "%Y-%m-%d");
}

json_t *filter_ds_nodash(struct call *call)
{
    return self_formatted(call, "%Y%m%d");
}

json_t *filter_ts_nodash(struct call *call)
{
    return self_formatted(call, "%Y%m%dT%H%M%S");
}

json_t *filter_ts_nodash_with_tz(struct call *call)
{
    return self_formatted(call, "%Y%m%dT%H%M%S%z");
}

json_t *filter_strftime(struct call *call)
{
    const char *format = NULL;
    return call_text(call, 0, "", &format) ? self_formatted(call, format) : NULL;
}

/* ---- strftime, always in English ---- */

static const char *const DAYS[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};
static const char *const MONTHS[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

static int64_t year_start_us(int64_t year)
{
    return civil_to_instant(&(struct civil){.year = year, .month = 1, .day = 1});
}

static int day_of_year(const struct civil *civil, int64_t at_us)
{
    return (int)((at_us - year_start_us(civil->year)) / US_PER_DAY) + 1;
}

/* The week of ISO 8601: weeks begin on Monday, and a week is of the year that has its Thursday. */
static int iso_week(const struct civil *civil, int64_t at_us, int64_t *out_year)
{
    int weekday = civil->weekday == 0 ? 7 : (int)civil->weekday;
    int64_t thursday_us = at_us + (4 - weekday) * US_PER_DAY;
    struct civil thursday = civil_from_instant(thursday_us);
    *out_year = thursday.year;
    return (day_of_year(&thursday, thursday_us) - 1) / 7 + 1;
}

/* Weeks of the year so far, counted from its first Sunday or Monday. */
static int week_from(const struct civil *civil, int64_t at_us, bool monday)
{
    int weekday = monday ? ((int)civil->weekday + 6) % 7 : (int)civil->weekday;
    return (day_of_year(civil, at_us) - 1 + 7 - weekday) / 7;
}

/* The directives that stand for words. */
static bool add_word(struct strbuf *out, char directive, const struct civil *civil,
                     int32_t offset_s)
{
    int minutes = abs(offset_s) / 60;
    char sign = offset_s < 0 ? '-' : '+';
    switch (directive) {
    case 'a':
        strbuf_addf(out, "%.3s", DAYS[civil->weekday]);
        return true;
    case 'A':
        strbuf_add(out, DAYS[civil->weekday]);
        return true;
    case 'b':
    case 'h':
        strbuf_addf(out, "%.3s", MONTHS[civil->month - 1]);
        return true;
    case 'B':
        strbuf_add(out, MONTHS[civil->month - 1]);
        return true;
    case 'p':
        strbuf_add(out, civil->hour < 12 ? "AM" : "PM");
        return true;
    case 'z':
        strbuf_addf(out, "%c%02d%02d", sign, minutes / 60, minutes % 60);
        return true;
    case 'Z':
        strbuf_add(out, "UTC");
        if (minutes != 0)
            strbuf_addf(out, "%c%02d:%02d", sign, minutes / 60, minutes % 60);
        return true;
    case '%':
        strbuf_add_char(out, '%');
        return true;
    default:
        return false;
    }
}

/* The directives that stand for numbers: how many digits, what value. */
static bool add_number(struct strbuf *out, char directive, const struct civil *civil,
                       struct shown shown)
{
    int64_t iso_year = 0;
    int64_t at_us = shown.at_us + shown.offset_s * US_PER_SECOND; /* as if clocks showed UTC */
    int week = iso_week(civil, at_us, &iso_year);
    const struct {
        char directive;
        int digits;
        int64_t value;
    } NUMBERS[] = {
        {'Y', 4, civil->year},
        {'G', 4, iso_year},
        {'y', 2, civil->year % 100},
        {'m', 2, civil->month},
        {'d', 2, civil->day},
        {'H', 2, civil->hour},
        {'I', 2, (civil->hour + 11) % 12 + 1},
        {'M', 2, civil->minute},
        {'S', 2, civil->second},
        {'f', 6, civil->microsecond},
        {'j', 3, day_of_year(civil, at_us)},
        {'V', 2, week},
        {'U', 2, week_from(civil, at_us, false)},
        {'W', 2, week_from(civil, at_us, true)},
        {'w', 1, civil->weekday},
        {'u', 1, civil->weekday == 0 ? 7 : civil->weekday},
        {'s', 1, (shown.at_us - (int64_t)civil->microsecond) / US_PER_SECOND},
    };
    for (size_t i = 0; i < ARRAY_LEN(NUMBERS); i++) {
        if (NUMBERS[i].directive == directive) {
            strbuf_addf(out, "%0*lld", NUMBERS[i].digits, (long long)NUMBERS[i].value);
            return true;
        }
    }
    return false;
}

static json_t *format_instant(struct call *call, struct shown shown, const char *format)
{
    static const struct {
        char directive;
        const char *format;
    } COMPOSED[] = {{'F', "%Y-%m-%d"}, {'T', "%H:%M:%S"}, {'D', "%m/%d/%y"}, {'R', "%H:%M"}};
    struct civil civil = civil_from_instant(shown.at_us + shown.offset_s * US_PER_SECOND);
    CLEANUP(strbuf_fini) struct strbuf out;
    strbuf_init(&out, LIMIT_RENDERED_BYTES);
    const char *resume = NULL; /* in the outer format, while inside a composed one */
    for (const char *p = format; *p != '\0' || resume != NULL; p++) {
        if (*p == '\0') {
            p = resume;
            resume = NULL;
            p--;
            continue;
        }
        if (*p != '%') {
            strbuf_add_char(&out, *p);
            continue;
        }
        p++;
        const char *composed = NULL;
        for (size_t i = 0; i < ARRAY_LEN(COMPOSED); i++)
            if (COMPOSED[i].directive == *p)
                composed = COMPOSED[i].format;
        if (composed != NULL) {
            resume = p + 1;
            p = composed - 1;
        } else if (*p == '\0') {
            return eval_fail(call->eval, STATUS_INVALID, "'strftime': the format ends with %%");
        } else if (!add_word(&out, *p, &civil, shown.offset_s) &&
                   !add_number(&out, *p, &civil, shown)) {
            return eval_fail(call->eval, STATUS_INVALID, "'strftime' does not know %%%c",
                             (unsigned char)*p < 0x80 ? *p : '?');
        }
    }
    return eval_take_text(call->eval, &out);
}

/* ---- Arithmetic ---- */

/* The instant in the form it was given in: date, "Z" or with its offset. */
static json_t *same_form(struct call *call, int64_t at_us, int32_t offset_s)
{
    const char *given = json_string_value(call->self);
    char text[INSTANT_TEXT_MAX];
    if (at_us < INSTANT_US_MIN || at_us > INSTANT_US_MAX)
        return eval_fail(call->eval, STATUS_INVALID, "'%s' leaves the years 1 to 9999",
                         call->callable->name);
    if (strlen(given) == DATE_BYTES && at_us % US_PER_DAY == 0)
        return json_string(instant_format_date(at_us, text));
    bool zulu = str_ends_with(given, "Z") || str_ends_with(given, "z");
    return json_string(zulu ? instant_format(at_us, text)
                            : instant_format_at(at_us, offset_s, text));
}

static json_t *shifted(struct call *call, int64_t by_us)
{
    int64_t at_us = 0;
    struct instant_form form;
    if (!self_shown(call, &at_us, &form))
        return NULL;
    if (__builtin_add_overflow(at_us, by_us, &at_us))
        at_us = INT64_MAX; /* out of the years either way */
    return same_form(call, at_us, form.offset_s);
}

json_t *filter_date_add(struct call *call)
{
    int64_t days = 0;
    if (!call_integer(call, 0, 0, &days))
        return NULL;
    if (days < -4000000 || days > 4000000)
        return eval_fail(call->eval, STATUS_INVALID, "'%s' leaves the years 1 to 9999",
                         call->callable->name);
    return shifted(call, days * US_PER_DAY);
}

json_t *filter_add(struct call *call)
{
    const char *text = NULL;
    int64_t ms = 0;
    if (!call_text(call, 0, "", &text))
        return NULL;
    bool back = text[0] == '-';
    if (!duration_parse(text + back, &ms))
        return eval_fail(call->eval, STATUS_INVALID,
                         "'add' needs a duration such as '1d' or '-1h30m', not '%.60s'", text);
    return shifted(call, back ? -ms * 1000 : ms * 1000);
}

/* x.add(days=1, hours=2): the methods add and subtract. */
static json_t *shift_by_units(struct call *call, int64_t sign)
{
    static const int64_t SECONDS[CALL_ARGS_MAX] = {86400, 3600, 60, 1, 604800, 0};
    int64_t total = 0;
    for (size_t i = 0; i < CALL_ARGS_MAX - 1; i++) {
        int64_t number = 0;
        if (!call_integer(call, i, 0, &number))
            return NULL;
        if (number < -INT64_C(400000000000) || number > INT64_C(400000000000))
            return eval_fail(call->eval, STATUS_INVALID, "'%s' leaves the years 1 to 9999",
                             call->callable->name);
        total += number * SECONDS[i];
    }
    if (total < -INT64_C(400000000000) || total > INT64_C(400000000000))
        return eval_fail(call->eval, STATUS_INVALID, "'%s' leaves the years 1 to 9999",
                         call->callable->name);
    return shifted(call, sign * total * 1000000);
}

json_t *method_date_add(struct call *call)
{
    return shift_by_units(call, 1);
}

json_t *method_date_subtract(struct call *call)
{
    return shift_by_units(call, -1);
}
