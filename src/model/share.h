#pragma once
/*
 * share: how much of a host queues with a share may use. Pure.
 */
#include <stdint.h>

/*
 * Of `slots`, the part of so many percent, rounded down, but one at least on a host with several.
 * On a host with a single slot there is nothing to divide: it is left to queues without a share,
 * unless the share is all of it.
 */
static inline int64_t share_of_slots(int64_t slots, int64_t percent)
{
    int64_t part = slots * percent / 100;
    return part == 0 && slots > 1 && percent > 0 ? 1 : part;
}
