#include "base/rng.h"

#include <errno.h>
#include <sys/random.h>

#include "base/check.h"

void rng_bytes(void *out, size_t count)
{
    char *cursor = out;
    while (count > 0) {
        ssize_t got = getrandom(cursor, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        CHECK(got > 0);
        cursor += got;
        count -= (size_t)got;
    }
}

uint64_t rng_below(uint64_t bound)
{
    CHECK(bound > 0);
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value = 0;
    do
        rng_bytes(&value, sizeof value);
    while (value >= limit);
    return value % bound;
}
