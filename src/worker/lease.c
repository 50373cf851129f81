#include "worker/lease.h"

int64_t lease_deadline_us(const struct lease_times *times, int64_t sent_us)
{
    return times->lease_ms > 0 ? sent_us + (times->lease_ms - times->margin_ms) * 1000 : 0;
}

bool lease_may_judge(const struct lease_times *times, int64_t healthy_since_us, int64_t now_us)
{
    return healthy_since_us != 0 && now_us - healthy_since_us >= times->lease_ms * 1000;
}
