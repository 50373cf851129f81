/*
 * Throughput: what the answers tell of the last minute, put together second by second.
 */
#include <string.h>

#include "cli/top.h"

static void move_on(struct top_pace *pace, int64_t second)
{
    int64_t by = pace->last == 0 ? TOP_PACE_SECONDS : second - pace->last;
    if (by <= 0)
        return;
    if (by > TOP_PACE_SECONDS)
        by = TOP_PACE_SECONDS;
    memmove(pace->counts, pace->counts + by,
            (size_t)(TOP_PACE_SECONDS - by) * sizeof *pace->counts);
    memset(pace->counts + TOP_PACE_SECONDS - by, 0, (size_t)by * sizeof *pace->counts);
    pace->last = second;
}

void top_pace_add(struct top_pace *pace, int64_t first, const json_t *counts)
{
    size_t i;
    json_t *count;
    json_array_foreach(counts, i, count)
    {
        int64_t second = first + (int64_t)i;
        move_on(pace, second);
        int64_t place = TOP_PACE_SECONDS - 1 - (pace->last - second);
        if (place >= 0)
            pace->counts[place] = json_integer_value(count);
    }
}

double top_pace_mean(const struct top_pace *pace, int64_t seconds)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < seconds; i++)
        sum += pace->counts[TOP_PACE_SECONDS - 2 - i];
    return (double)sum / (double)seconds;
}
