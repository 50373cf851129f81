#pragma once
/*
 * lease: what a host may conclude from renewing its lease. Pure; instants are of the steady clock.
 */
#include <stdbool.h>
#include <stdint.h>

struct lease_times {
    int64_t lease_ms; /* 0: none, a lock tells who lives */
    int64_t renew_ms;
    int64_t margin_ms; /* before its end everything must be dead */
};

/*
 * When tasks must be dead, after a renewal that was sent at `sent_us` and succeeded: counted from
 * before it was sent, since the store may have taken it at any moment after that. 0: never.
 */
int64_t lease_deadline_us(const struct lease_times *times, int64_t sent_us);

/* Judging others needs an own connection that was healthy for one whole lease. */
bool lease_may_judge(const struct lease_times *times, int64_t healthy_since_us, int64_t now_us);
