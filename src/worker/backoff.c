#include "worker/backoff.h"

#include "base/mem.h"

int64_t backoff_next_ms(struct backoff *backoff, uint64_t chance)
{
    int64_t wait_ms = backoff->least_ms;
    for (int64_t i = 0; i < backoff->tries && wait_ms < backoff->most_ms; i++)
        wait_ms *= 2;
    wait_ms = MIN(wait_ms, backoff->most_ms);
    backoff->tries++;
    int64_t half_ms = (wait_ms + 1) / 2;
    return half_ms + (int64_t)(chance % (uint64_t)(wait_ms - half_ms + 1));
}

int64_t backoff_jitter_ms(int64_t ms, uint64_t chance)
{
    int64_t spread_ms = ms / 10;
    return ms - spread_ms + (int64_t)(chance % (uint64_t)(2 * spread_ms + 1));
}
