#include "serve/byte_range.h"

#include <string.h>
#include <strings.h>

/* Digits, which may be too many to count; false: there are none. */
static bool take_number(const char **at, uint64_t *out)
{
    uint64_t number = 0;
    bool is_too_large = false;
    const char *from = *at;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        is_too_large |= __builtin_mul_overflow(number, 10, &number) ||
                        __builtin_add_overflow(number, (uint64_t)(**at - '0'), &number);
    *out = is_too_large ? UINT64_MAX : number;
    return *at != from;
}

struct byte_range byte_range_parse(const char *header, uint64_t size)
{
    static const char UNIT[] = "bytes=";
    const struct byte_range all = {.kind = BYTE_RANGE_ALL, .length = size};
    const struct byte_range none = {.kind = BYTE_RANGE_NONE};
    uint64_t first = 0;
    uint64_t last = 0;
    if (header == NULL || strncasecmp(header, UNIT, sizeof UNIT - 1) != 0)
        return all;
    const char *at = header + sizeof UNIT - 1;
    bool has_first = take_number(&at, &first);
    if (*at++ != '-')
        return all;
    bool has_last = take_number(&at, &last);
    if (*at != '\0' || (!has_first && !has_last) || (has_first && has_last && last < first))
        return all;
    if (!has_first) {
        uint64_t length = MIN(last, size);
        return length == 0 ? none : (struct byte_range){BYTE_RANGE_PART, size - length, length};
    }
    if (first >= size)
        return none;
    uint64_t end = has_last && last < size ? last + 1 : size;
    return (struct byte_range){BYTE_RANGE_PART, first, end - first};
}
