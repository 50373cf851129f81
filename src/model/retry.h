#pragma once
/*
 * retry: whether and when a failed attempt is tried again. Pure.
 *
 * The policy is stored with the task row, so that whoever ends the attempt, its
 * owner or a sweep, applies the same one.
 */
#include <stdbool.h>
#include <stdint.h>

struct retry_policy {
    int64_t retries;      /* after the first attempt; 0: none */
    int64_t delay_ms;     /* before the first retry */
    double backoff;       /* factor from one retry to the next */
    int64_t max_delay_ms; /* cap, before jitter */
    double jitter;        /* 0..1: part of the delay that chance may add */
};

/* SEMANTICS: retry k waits min(2^k minutes, 1 h). */
extern const struct retry_policy RETRY_POLICY_DEFAULT;

/*
 * Delay before retry number `k` (1 is the first). `chance` is uniform in [0, 1); jitter only
 * lengthens. Never negative, never overflows.
 */
int64_t retry_delay_ms(const struct retry_policy *policy, int64_t k, double chance);
