#pragma once
/*
 * log_index: the records beside a log that make its lines quick to find.
 *
 * A record says that line `line` (counted from 0) starts at `offset`. There is one after
 * every 1,024 lines or 64 KiB, whichever comes first, always at the start of a line; the
 * start of the log needs none. Records are in host byte order: a log is read where it
 * was written, or the index is made again from the log.
 */
#include <stdint.h>

enum { LOG_INDEX_LINES = 1024, LOG_INDEX_BYTES = 64 << 10 };

struct log_index_record {
    uint64_t line;
    uint64_t offset;
    int64_t at_us; /* wall clock when the line before it was complete */
};

_Static_assert(sizeof(struct log_index_record) == 24, "records are packed");
