#include "base/id.h"

#include "base/check.h"

enum { SEQUENCE_BITS = 10, MAKER_BITS = 12, TIME_SHIFT = SEQUENCE_BITS + MAKER_BITS };

static const int64_t EPOCH_MS = 1704067200000; /* 2024-01-01 */

int64_t id_next(struct id_source *source, int64_t now_us)
{
    CHECK(source->maker < 1u << MAKER_BITS);
    int64_t now_ms = now_us / 1000 - EPOCH_MS;
    int64_t id = (now_ms > 0 ? now_ms : 0) << TIME_SHIFT | (int64_t)source->maker << SEQUENCE_BITS;
    if (id <= source->last) {
        /* The sequence is spent or the clock went back: go on from the last id, and when
           its millisecond is full, into the next one with our maker number. */
        id = source->last + 1;
        if ((id & ((1 << SEQUENCE_BITS) - 1)) == 0)
            id = ((source->last >> TIME_SHIFT) + 1) << TIME_SHIFT | (int64_t)source->maker
                                                                        << SEQUENCE_BITS;
    }
    source->last = id;
    return id;
}

int64_t id_time_us(int64_t id)
{
    return ((id >> TIME_SHIFT) + EPOCH_MS) * 1000;
}
