#pragma once
/*
 * backoff: how long to wait before the same is tried again. Pure.
 */
#include <stdint.h>

struct backoff {
    int64_t least_ms;
    int64_t most_ms;
    int64_t tries; /* that failed, in a row; 0 starts over */
};

/*
 * After one more failure: doubled each time up to the most, and of that between a half and all,
 * by `chance` (any number), so that many that failed together do not come back together.
 */
int64_t backoff_next_ms(struct backoff *backoff, uint64_t chance);

/* `ms` made longer or shorter by at most a tenth. */
int64_t backoff_jitter_ms(int64_t ms, uint64_t chance);
