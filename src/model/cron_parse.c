/*
 * cron_parse: the text of a cron expression to sets of numbers.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/str.h"
#include "model/cron.h"
#include "model/limits.h"

enum field_number { SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELD_COUNT };

struct field {
    const char *what; /* "'61' is not .." */
    unsigned least;
    unsigned most;
    const char *names; /* of three letters each, from `least` on; NULL: none */
};

static const struct field FIELDS[FIELD_COUNT] = {
    [SECOND] = {"a second", 0, 59, NULL},
    [MINUTE] = {"a minute", 0, 59, NULL},
    [HOUR] = {"an hour", 0, 23, NULL},
    [DAY] = {"a day of the month", 1, 31, NULL},
    [MONTH] = {"a month", 1, 12, "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"},
    [WEEKDAY] = {"a day of the week", 0, 7, "SUNMONTUEWEDTHUFRISAT"},
};

struct parser {
    const char *text;
    const char *at;
    const char *end; /* of the item: a part of a list */
    enum field_number field;
    struct cron *cron;
    size_t offset; /* of the problem */
    struct err *err;
};

/* ---- problems ---- */

PRINTF(2, 3) static bool fail(struct parser *p, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    int length = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    CHECK(length >= 0);
    p->offset = (size_t)(p->at - p->text);
    (void)err_set(p->err, STATUS_INVALID, "%s", text);
    return false;
}

/*
 * Letters and digits from here on: what one number or name can be made of, or
 * the one character that is not.
 */
static size_t word_length(const struct parser *p)
{
    size_t length = 0;
    while (p->at + length < p->end && isalnum((unsigned char)p->at[length]))
        length++;
    return length > 0 || p->at == p->end ? length : 1;
}

static bool fail_number(struct parser *p)
{
    const struct field *field = &FIELDS[p->field];
    const char *names = p->field == WEEKDAY ? " (0 and 7 are Sunday), or SUN to SAT"
                        : p->field == MONTH ? ", or JAN to DEC"
                                            : "";
    return fail(p, "'%.*s' is not %s: expected %u to %u%s", (int)MIN(word_length(p), (size_t)30),
                p->at, field->what, field->least, field->most, names);
}

/* ---- items ---- */

static bool take_name(struct parser *p, unsigned *out)
{
    const char *names = FIELDS[p->field].names;
    if (names == NULL || p->end - p->at < 3)
        return false;
    for (unsigned i = 0; names[(size_t)i * 3] != '\0'; i++) {
        if (strncasecmp(p->at, names + (size_t)i * 3, 3) == 0) {
            *out = FIELDS[p->field].least + i;
            p->at += 3;
            return true;
        }
    }
    return false;
}

/* Digits from here on, how many; a number that is far too large becomes 1000. */
static size_t peek_digits(const struct parser *p, unsigned *out)
{
    size_t count = 0;
    unsigned value = 0;
    for (; p->at + count < p->end && isdigit((unsigned char)p->at[count]); count++)
        value = MIN(value * 10 + (unsigned)(p->at[count] - '0'), 1000u);
    *out = value;
    return count;
}

/* A number or a name, within the bounds of the field. */
static bool take_value(struct parser *p, unsigned *out)
{
    unsigned value = 0;
    if (take_name(p, out))
        return true;
    size_t digits = peek_digits(p, &value);
    const struct field *field = &FIELDS[p->field];
    if (digits == 0 || value < field->least || value > field->most)
        return fail_number(p);
    p->at += digits;
    *out = value;
    return true;
}

static bool take_char(struct parser *p, char wanted)
{
    if (p->at >= p->end || *p->at != wanted)
        return false;
    p->at++;
    return true;
}

static bool at_letter(const struct parser *p, char letter)
{
    return p->at < p->end && toupper((unsigned char)*p->at) == letter;
}

static unsigned span_of(const struct parser *p)
{
    return p->field == WEEKDAY ? 7 : FIELDS[p->field].most - FIELDS[p->field].least + 1;
}

static bool take_step(struct parser *p, unsigned *out)
{
    unsigned span = span_of(p);
    unsigned step = 0;
    size_t digits = peek_digits(p, &step);
    if (digits == 0 || step < 1 || step > span)
        return fail(p, "a step such as */%u is a number from 1 to %u", MIN(span / 4, 15u), span);
    p->at += digits;
    *out = step;
    return true;
}

/* `first` to `last`, over the end if need be, in steps. */
static void add_range(struct parser *p, unsigned first, unsigned last, unsigned step)
{
    uint64_t *const sets[FIELD_COUNT] = {
        [SECOND] = &p->cron->seconds, [MINUTE] = &p->cron->minutes, [HOUR] = &p->cron->hours,
        [DAY] = &p->cron->days,       [MONTH] = &p->cron->months,   [WEEKDAY] = &p->cron->weekdays,
    };
    unsigned least = FIELDS[p->field].least;
    unsigned span = span_of(p);
    unsigned count = last >= first ? last - first + 1 : span - first + last + 1;
    for (unsigned i = 0; i < count; i += step)
        *sets[p->field] |= UINT64_C(1) << (least + (first - least + i) % span);
}

/* L, L-3, LW in the day of the month. */
static bool take_last_day(struct parser *p)
{
    p->at++;
    if (at_letter(p, 'W')) {
        p->at++;
        p->cron->last_weekday = true;
        return true;
    }
    unsigned before = 0;
    if (take_char(p, '-')) {
        size_t digits = peek_digits(p, &before);
        if (digits == 0 || before > 30)
            return fail(p, "L- takes a number of days from 0 to 30, as in L-3");
        p->at += digits;
    }
    p->cron->days_from_end |= UINT64_C(1) << before;
    return true;
}

/* What may follow one value: 15W; 5L, 1#2. True without any when there is nothing of it. */
static bool take_suffix(struct parser *p, unsigned value, bool *out_taken)
{
    CHECK(value <= 59);
    *out_taken = true;
    if (p->field == DAY && at_letter(p, 'W')) {
        p->at++;
        p->cron->days_near |= UINT64_C(1) << value;
    } else if (p->field == WEEKDAY && at_letter(p, 'L')) {
        p->at++;
        p->cron->weekdays_last |= UINT64_C(1) << value % 7;
    } else if (p->field == WEEKDAY && take_char(p, '#')) {
        if (p->at >= p->end || *p->at < '1' || *p->at > '5')
            return fail(p, "# takes a number from 1 to 5: 1#2 is the second Monday of the month");
        p->cron->weekdays_nth[*p->at++ - '1'] |= UINT64_C(1) << value % 7;
    } else {
        *out_taken = false;
    }
    return true;
}

static bool parse_range(struct parser *p)
{
    const struct field *field = &FIELDS[p->field];
    unsigned first = field->least;
    unsigned last = p->field == WEEKDAY ? 6 : field->most;
    unsigned step = 1;
    bool is_one = false;
    if (!take_char(p, '*')) {
        bool taken = false;
        if (!take_value(p, &first) || !take_suffix(p, first, &taken))
            return false;
        if (taken)
            return true;
        is_one = !take_char(p, '-');
        if (!is_one && !take_value(p, &last))
            return false;
        if (p->field == WEEKDAY && first == 7 && last != 7)
            first = 0;
    }
    bool has_step = take_char(p, '/');
    if (has_step && !take_step(p, &step))
        return false;
    if (is_one && !has_step)
        last = first;
    add_range(p, first, last, step);
    return true;
}

static bool parse_item(struct parser *p)
{
    if (p->at == p->end)
        return fail(p, "something is missing here: a list is written 1,15,30");
    bool is_fine = false;
    if (*p->at == '?' && p->field != DAY && p->field != WEEKDAY)
        return fail(p, "'?' is for days of the month and of the week: write '*'");
    if (at_letter(p, 'L') && p->field == DAY)
        is_fine = take_last_day(p);
    else if (at_letter(p, 'L') && p->field == WEEKDAY)
        return fail(p, "'L' needs a day here: 5L is the last Friday of the month");
    else
        is_fine = parse_range(p);
    if (is_fine && p->at < p->end)
        return fail(p, "'%.*s' does not belong here: expected ',' or a space",
                    (int)MIN(p->end - p->at, 30), p->at);
    return is_fine;
}

/* ---- fields ---- */

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* One field: items with commas between them. */
static bool parse_field(struct parser *p, const char *begin, const char *end)
{
    if (end - begin == 1 && *begin == '?' && (p->field == DAY || p->field == WEEKDAY)) {
        p->end = end;
        add_range(p, FIELDS[p->field].least, p->field == DAY ? 31 : 6, 1);
        return true;
    }
    for (const char *item = begin;; item = p->end + 1) {
        const char *comma = memchr(item, ',', (size_t)(end - item));
        p->at = item;
        p->end = comma != NULL ? comma : end;
        if (!parse_item(p))
            return false;
        if (comma == NULL)
            return true;
    }
}

struct word {
    const char *begin;
    const char *end;
};

/* The words of the text; more than there is room for are only counted. */
static size_t split(const char *text, struct word *out, size_t room)
{
    size_t count = 0;
    const char *p = text;
    for (;;) {
        while (is_space(*p))
            p++;
        if (*p == '\0')
            return count;
        struct word word = {.begin = p};
        while (*p != '\0' && !is_space(*p))
            p++;
        word.end = p;
        if (count < room)
            out[count] = word;
        count++;
    }
}

/* Four digits at the end of six fields: who wrote them put a year where there is none. */
static bool ends_with_year(const struct word *words, size_t count)
{
    const struct word *last = &words[count - 1];
    return count == 6 && last->end - last->begin == 4 && strspn(last->begin, "0123456789") == 4;
}

static bool parse_fields(struct parser *p)
{
    struct word words[FIELD_COUNT];
    size_t count = split(p->text, words, FIELD_COUNT);
    if (count != 5 && count != 6)
        return fail(p,
                    "a cron expression has 5 fields (minute hour day month weekday), or 6 with "
                    "seconds first; this one has %zu%s",
                    count,
                    count == 7   ? ": leave the year out"
                    : count <= 2 ? "; an interval is written every 15m"
                                 : "");
    if (ends_with_year(words, count)) {
        p->at = words[count - 1].begin;
        return fail(p,
                    "'%.4s' is a year, and a cron expression has none: leave it out; where "
                    "there are 6 fields, seconds come first",
                    p->at);
    }
    size_t skipped = FIELD_COUNT - count;
    for (size_t i = 0; i < count; i++) {
        p->field = (enum field_number)(i + skipped);
        if (!parse_field(p, words[i].begin, words[i].end))
            return false;
    }
    if (skipped > 0)
        p->cron->seconds = 1;
    return true;
}

/* ---- presets ---- */

static const struct preset {
    const char *name;
    const char *text;    /* NULL: refused */
    const char *instead; /* then what to do */
} PRESETS[] = {
    {"@hourly", "0 * * * *", NULL},
    {"@daily", "0 0 * * *", NULL},
    {"@midnight", "0 0 * * *", NULL},
    {"@weekly", "0 0 * * 0", NULL},
    {"@monthly", "0 0 1 * *", NULL},
    {"@quarterly", "0 0 1 */3 *", NULL},
    {"@yearly", "0 0 1 1 *", NULL},
    {"@annually", "0 0 1 1 *", NULL},
    {"@once", NULL, "write {at: [2026-01-31T06:00:00Z]}, or start the one run by hand"},
    {"@continuous", NULL, "write 'every 1m', or let the DAG start when another has finished"},
    {"@reboot", NULL, "runs do not depend on when a machine starts"},
};

static const char *preset_name(const void *context, size_t i)
{
    (void)context;
    return PRESETS[i].name;
}

static bool resolve_preset(struct parser *p)
{
    for (size_t i = 0; i < ARRAY_LEN(PRESETS); i++) {
        if (strcmp(PRESETS[i].name, p->text) != 0)
            continue;
        if (PRESETS[i].text == NULL)
            return fail(p, "'%s' is no timetable: %s", PRESETS[i].name, PRESETS[i].instead);
        p->text = PRESETS[i].text;
        return true;
    }
    const char *near = str_nearest(p->text, ARRAY_LEN(PRESETS), preset_name, NULL);
    if (near != NULL)
        return fail(p, "there is no preset '%.30s'; did you mean '%s'?", p->text, near);
    return fail(p,
                "there is no preset '%.30s': use @hourly, @daily, @weekly, @monthly, @quarterly "
                "or @yearly",
                p->text);
}

/* Twenty-eight years without an irregular one have every kind of year. */
static bool is_possible(const struct cron *cron)
{
    int64_t found = 0;
    int64_t from_us = civil_to_instant(&(struct civil){.year = 2001, .month = 1, .day = 1});
    int64_t to_us = civil_to_instant(&(struct civil){.year = 2029, .month = 1, .day = 1});
    return cron_first(cron, from_us / 1000000, to_us / 1000000, &found);
}

/* "daily" for "@daily". */
static const char *preset_without_sign(const char *text)
{
    for (size_t i = 0; i < ARRAY_LEN(PRESETS); i++)
        if (PRESETS[i].text != NULL && strcasecmp(PRESETS[i].name + 1, text) == 0)
            return PRESETS[i].name;
    return NULL;
}

static bool parse_text(struct parser *p)
{
    struct cron *cron = p->cron;
    const char *preset = preset_without_sign(p->text);
    if (preset != NULL)
        return fail(p, "'%s' is no cron expression; did you mean '%s'?", p->text, preset);
    if (strlen(p->text) > LIMIT_CRON_BYTES)
        return fail(p, "a cron expression has at most %d characters", LIMIT_CRON_BYTES);
    if (p->text[0] == '@' && !resolve_preset(p))
        return false;
    if (!parse_fields(p))
        return false;
    cron->days_any = cron->days == 0xFFFFFFFE;
    cron->weekdays_any = cron->weekdays == 0x7F;
    p->at = p->text;
    return is_possible(cron) ||
           fail(p, "it never comes: no year has such a day; look at the day of the month");
}

enum status cron_parse(const char *text, struct cron *out, size_t *out_offset, struct err *err)
{
    struct cron cron = {0};
    struct parser p = {.text = text, .at = text, .cron = &cron, .err = err};
    if (!parse_text(&p)) {
        *out_offset = p.offset;
        return err->code;
    }
    *out = cron;
    return STATUS_OK;
}
