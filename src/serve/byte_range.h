#pragma once
/*
 * byte_range: what part of something a request wants (RFC 9110, 14.2). Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/attrs.h"

enum byte_range_kind {
    BYTE_RANGE_ALL, /* no range, several, or none that we understand: the whole is right then */
    BYTE_RANGE_PART,
    BYTE_RANGE_NONE, /* there is nothing in it */
};

struct byte_range {
    enum byte_range_kind kind;
    uint64_t offset;
    uint64_t length;
};

/* `header` is the value of Range, NULL when it was not sent; `size` is that of the whole. */
struct byte_range byte_range_parse(const char *header, uint64_t size);
