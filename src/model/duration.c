#include "model/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"

struct unit {
    const char *name;
    int64_t factor;
};

/* Largest first: the order in which the parts of a duration are written. */
static const struct unit TIME_UNITS[] = {
    {"w", 7 * 86400000LL}, {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};

/* Size units that are formatted come first, largest first; the rest are only read. */
static const struct unit SIZE_UNITS[] = {
    {"TiB", 1LL << 40},
    {"GiB", 1LL << 30},
    {"MiB", 1LL << 20},
    {"KiB", 1LL << 10},
    {"TB", 1000000000000LL},
    {"GB", 1000000000LL},
    {"MB", 1000000},
    {"kB", 1000},
    {"B", 1},
    {"KB", 1000},
    {"Ti", 1LL << 40},
    {"Gi", 1LL << 30},
    {"Mi", 1LL << 20},
    {"Ki", 1LL << 10},
    {"T", 1LL << 40},
    {"G", 1LL << 30},
    {"M", 1LL << 20},
    {"K", 1LL << 10},
    {"k", 1LL << 10},
    {"", 1},
};
enum { SIZE_UNITS_FORMATTED = 8 };

/* Digits at *cursor as a number; at least one. */
static bool take_number(const char **cursor, int64_t *out)
{
    const char *p = *cursor;
    int64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *p - '0', &value))
            return false;
    }
    if (p == *cursor)
        return false;
    *cursor = p;
    *out = value;
    return true;
}

/* The unit at *cursor, which ends at a digit or the end of the text. */
static const struct unit *take_unit(const char **cursor, const struct unit *units, size_t count)
{
    size_t length = strcspn(*cursor, "0123456789");
    for (size_t i = 0; i < count; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, *cursor, length) == 0) {
            *cursor += length;
            return &units[i];
        }
    }
    return NULL;
}

bool duration_parse(const char *text, int64_t *out_ms)
{
    int64_t total = 0;
    const struct unit *before = NULL;
    const char *cursor = text;
    do {
        int64_t number = 0;
        int64_t part = 0;
        if (!take_number(&cursor, &number))
            return false;
        const struct unit *unit = take_unit(&cursor, TIME_UNITS, ARRAY_LEN(TIME_UNITS));
        if (unit == NULL || (before != NULL && unit <= before))
            return false;
        if (__builtin_mul_overflow(number, unit->factor, &part) ||
            __builtin_add_overflow(total, part, &total) || total > DURATION_MS_MAX)
            return false;
        before = unit;
    } while (*cursor != '\0');
    *out_ms = total;
    return true;
}

bool duration_from_seconds(int64_t seconds, int64_t *out_ms)
{
    if (seconds < 0 || seconds > DURATION_MS_MAX / 1000)
        return false;
    *out_ms = seconds * 1000;
    return true;
}

const char *duration_format(int64_t ms, char out[static DURATION_TEXT_MAX])
{
    CHECK(ms >= 0);
    CHECK(ms <= DURATION_MS_MAX);
    if (ms == 0)
        return memcpy(out, "0s", sizeof "0s");
    size_t length = 0;
    for (size_t i = 0; i < ARRAY_LEN(TIME_UNITS); i++) {
        int64_t number = ms / TIME_UNITS[i].factor;
        if (number == 0)
            continue;
        ms -= number * TIME_UNITS[i].factor;
        int added = snprintf(out + length, DURATION_TEXT_MAX - length, "%" PRId64 "%s", number,
                             TIME_UNITS[i].name);
        CHECK(added > 0);
        length += (size_t)added;
        CHECK(length < DURATION_TEXT_MAX);
    }
    return out;
}

bool size_parse(const char *text, int64_t *out_bytes)
{
    const char *cursor = text;
    int64_t number = 0;
    int64_t bytes = 0;
    if (!take_number(&cursor, &number))
        return false;
    const struct unit *unit = take_unit(&cursor, SIZE_UNITS, ARRAY_LEN(SIZE_UNITS));
    if (unit == NULL || *cursor != '\0' || __builtin_mul_overflow(number, unit->factor, &bytes))
        return false;
    *out_bytes = bytes;
    return true;
}

const char *size_format(int64_t bytes, char out[static DURATION_TEXT_MAX])
{
    CHECK(bytes >= 0);
    const struct unit *best = &SIZE_UNITS[ARRAY_LEN(SIZE_UNITS) - 1];
    for (size_t i = 0; i < SIZE_UNITS_FORMATTED && bytes != 0; i++) {
        if (bytes % SIZE_UNITS[i].factor == 0) {
            best = &SIZE_UNITS[i];
            break;
        }
    }
    int length =
        snprintf(out, DURATION_TEXT_MAX, "%" PRId64 "%s", bytes / best->factor, best->name);
    CHECK(length > 0 && length < DURATION_TEXT_MAX);
    return out;
}
