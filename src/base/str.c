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

const char *str_from_i64(int64_t value, char out[static INTEGER_TEXT_MAX])
{
    char *first = out + INTEGER_TEXT_MAX - 1;
    uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
    *first = '\0';
    do {
        *--first = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        *--first = '-';
    return first;
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
    unsigned extra = p[0] >= 0xF8 ? 0 : p[0] >= 0xF0 ? 3 : p[0] >= 0xE0 ? 2 : p[0] >= 0xC0 ? 1 : 0;
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

struct code_range {
    uint32_t first, last;
};

/* Combining marks, joiners and selectors: they are drawn with what stands before them. */
static const struct code_range ZERO_WIDTH[] = {
    {0x300, 0x36F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},   {0x2060, 0x2064},
    {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

/* East Asian scripts, and the pictures that Unicode calls wide. */
static const struct code_range WIDE[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F265}, {0x1F300, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0},
    {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC},
    {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5},
    {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF},
    {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool is_in(const struct code_range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count && ranges[i].first <= code; i++)
        if (code <= ranges[i].last)
            return true;
    return false;
}

static size_t columns_of(uint32_t code)
{
    if (code < 0x300)
        return 1;
    if (is_in(ZERO_WIDTH, ARRAY_LEN(ZERO_WIDTH), code))
        return 0;
    return is_in(WIDE, ARRAY_LEN(WIDE), code) ? 2 : 1;
}

size_t str_columns(const char *text)
{
    size_t columns = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0';)
        columns += columns_of(next_code_point(&p));
    return columns;
}
