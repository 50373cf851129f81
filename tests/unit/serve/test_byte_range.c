/*
 * What part of a log a header asks for.
 */
#include "expect.h"
#include "serve/byte_range.h"

static const struct {
    const char *header;
    uint64_t size;
    enum byte_range_kind kind;
    uint64_t offset, length;
} ROWS[] = {
    {NULL, 10, BYTE_RANGE_ALL, 0, 10},
    {"", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes=0-0", 10, BYTE_RANGE_PART, 0, 1},
    {"bytes=0-9", 10, BYTE_RANGE_PART, 0, 10},
    {"bytes=0-10", 10, BYTE_RANGE_PART, 0, 10},
    {"Bytes=3-", 10, BYTE_RANGE_PART, 3, 7},
    {"bytes=9-", 10, BYTE_RANGE_PART, 9, 1},
    {"bytes=10-", 10, BYTE_RANGE_NONE, 0, 0},
    {"bytes=0-", 0, BYTE_RANGE_NONE, 0, 0},
    {"bytes=-3", 10, BYTE_RANGE_PART, 7, 3},
    {"bytes=-30", 10, BYTE_RANGE_PART, 0, 10},
    {"bytes=-0", 10, BYTE_RANGE_NONE, 0, 0},
    {"bytes=-5", 0, BYTE_RANGE_NONE, 0, 0},
    {"bytes=1-18446744073709551615", 10, BYTE_RANGE_PART, 1, 9},
    {"bytes=1-99999999999999999999999", 10, BYTE_RANGE_PART, 1, 9},
    {"bytes=99999999999999999999999-", 10, BYTE_RANGE_NONE, 0, 0},
    {"bytes=5-2", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes=0-1,3-4", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes=-", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes=", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes= 1-2", 10, BYTE_RANGE_ALL, 0, 10},
    {"bytes=1-2x", 10, BYTE_RANGE_ALL, 0, 10},
    {"lines=1-2", 10, BYTE_RANGE_ALL, 0, 10},
};

Test(byte_range, headers_mean_what_the_standard_says)
{
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        struct byte_range range = byte_range_parse(ROWS[i].header, ROWS[i].size);
        cr_expect_eq(range.kind, ROWS[i].kind, "%s", ROWS[i].header);
        cr_expect_eq(range.offset, ROWS[i].offset, "%s", ROWS[i].header);
        cr_expect_eq(range.length, ROWS[i].length, "%s", ROWS[i].header);
    }
}
