#pragma once
/*
 * alert_pace: when a message goes out: folding, rate and repetition. Pure.
 */
#include <stdbool.h>
#include <stdint.h>

#include "model/hook.h"

/* When the message that begins with an event of `first_at_us` is due. */
int64_t alert_due_us(const struct hook *hook, int64_t first_at_us);

/*
 * What a hook has used of its rate: one instant, 0 at first, to be kept between calls. A hook may
 * send `most` messages at once and then as time gives them back, one every per / most.
 */
struct alert_bucket {
    int64_t empty_at_us;
};

struct alert_admission {
    bool admitted;
    int64_t next_at_us; /* when not: when to ask again */
};

/* May a message go now? If so, *bucket counts it. */
struct alert_admission alert_admit(const struct hook_rate *rate, struct alert_bucket *bucket,
                                   int64_t now_us);

enum {
    ALERT_RETRY_FIRST_MS = 10 * 1000,
    ALERT_RETRY_MOST_MS = 60 * 60 * 1000,
    ALERT_GIVE_UP_MS = 24 * 60 * 60 * 1000,
};

/* A message that was tried and not taken. */
struct alert_tries {
    int64_t count; /* tries so far, at least 1 */
    int64_t first_at_us;
    int64_t now_us;
    int64_t asked_ms; /* what the receiver asked to wait; negative: it did not */
};

struct alert_retry {
    bool gives_up;
    int64_t at_us;  /* when to try again */
    char text[160]; /* why it gives up */
};

/*
 * The next try: 10 s after the first, then twice as long each time up to an hour, later by up to a
 * quarter by `chance` in [0, 1), and not before what the receiver asked for. The last try is a day
 * after the first; after that it gives up.
 */
struct alert_retry alert_retry_next(const struct alert_tries *tries, double chance);
