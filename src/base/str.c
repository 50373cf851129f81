#include "base/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { DISTANCE_MAX = 8, WORD_MAX = 64 };

bool str_equal(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return strcmp(a, b) == 0;
}

bool str_starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool str_ends_with(const char *text, const char *suffix)
{
    size_t length = strlen(text);
    size_t tail = strlen(suffix);
    return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

bool str_parse_i64(const char *text, int64_t least, int64_t most, int64_t *out)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    if (digits[0] < '0' || digits[0] > '9')
        return false;
    errno = 0;
    char *end = NULL;
    long long value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > most)
        return false;
    *out = value;
    return true;
}

unsigned str_distance(const char *a, const char *b)
{
    size_t la = strlen(a);
    size_t lb = strlen(b);
    if (la > WORD_MAX || lb > WORD_MAX)
        return DISTANCE_MAX;
    unsigned rows[3][WORD_MAX + 1];
    unsigned *before = rows[0];
    unsigned *above = rows[1];
    unsigned *here = rows[2];
    for (size_t j = 0; j <= lb; j++)
        above[j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        here[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            unsigned replace = above[j - 1] + (a[i - 1] != b[j - 1]);
            unsigned shift = MIN(above[j], here[j - 1]) + 1;
            unsigned best = MIN(replace, shift);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, before[j - 2] + 1);
            here[j] = best;
        }
        unsigned *oldest = before;
        before = above;
        above = here;
        here = oldest;
    }
    return MIN(above[lb], (unsigned)DISTANCE_MAX);
}

const char *str_nearest(const char *word, size_t count,
                        const char *(*candidate)(const void *context, size_t i),
                        const void *context)
{
    const char *best = NULL;
    unsigned least = (unsigned)strlen(word) / 3 + 1;
    least = MIN(least, 3u) + 1;
    for (size_t i = 0; i < count; i++) {
        const char *text = candidate(context, i);
        unsigned distance = str_distance(word, text);
        if (distance < least) {
            least = distance;
            best = text;
        }
    }
    return best;
}

/* One code point from valid or broken UTF-8; a broken byte counts as one character. */
static uint32_t next_code_point(const unsigned char **cursor)
{
    const unsigned char *p = *cursor;
    unsigned extra = p[0] >= 0xF0 ? 3 : p[0] >= 0xE0 ? 2 : p[0] >= 0xC0 ? 1 : 0;
    uint32_t code = extra == 0 ? p[0] : p[0] & (0x3Fu >> extra);
    for (unsigned i = 1; i <= extra; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            *cursor = p + 1;
            return p[0];
        }
        code = code << 6 | (p[i] & 0x3Fu);
    }
    *cursor = p + extra + 1;
    return code;
}

static size_t columns_of(uint32_t code)
{
    if ((code >= 0x300 && code <= 0x36F) || code == 0x200B || code == 0x200D ||
        (code >= 0xFE00 && code <= 0xFE0F))
        return 0;
    bool wide = (code >= 0x1100 && code <= 0x115F) || (code >= 0x2E80 && code <= 0xA4CF) ||
                (code >= 0xAC00 && code <= 0xD7A3) || (code >= 0xF900 && code <= 0xFAFF) ||
                (code >= 0xFE30 && code <= 0xFE6F) || (code >= 0xFF00 && code <= 0xFF60) ||
                (code >= 0x1F300 && code <= 0x1F64F) || (code >= 0x1F900 && code <= 0x1F9FF) ||
                (code >= 0x20000 && code <= 0x3FFFD);
    return wide ? 2 : 1;
}

size_t str_columns(const char *text)
{
    size_t columns = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';)
        columns += columns_of(next_code_point(&p));
    return columns;
}
