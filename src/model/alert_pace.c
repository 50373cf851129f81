#include "model/alert_pace.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/attrs.h"
#include "base/check.h"
#include "model/duration.h"
#include "model/retry.h"

int64_t alert_due_us(const struct hook *hook, int64_t first_at_us)
{
    return first_at_us + hook->group_ms * 1000;
}

struct alert_admission alert_admit(const struct hook_rate *rate, struct alert_bucket *bucket,
                                   int64_t now_us)
{
    if (rate->most == 0)
        return (struct alert_admission){.admitted = true};
    int64_t window_us = rate->per_ms * 1000;
    int64_t share_us = MAX(window_us / rate->most, 1);
    /* A clock that was set back must not close the hook for longer than its window. */
    int64_t used_until_us = MIN(MAX(bucket->empty_at_us, now_us), now_us + window_us);
    int64_t next_at_us = used_until_us + share_us - window_us;
    if (next_at_us > now_us)
        return (struct alert_admission){.next_at_us = next_at_us};
    bucket->empty_at_us = used_until_us + share_us;
    return (struct alert_admission){.admitted = true};
}

struct alert_retry alert_retry_next(const struct alert_tries *tries, double chance)
{
    static const struct retry_policy POLICY = {
        .delay_ms = ALERT_RETRY_FIRST_MS,
        .backoff = 2.0,
        .max_delay_ms = ALERT_RETRY_MOST_MS,
        .jitter = 0.25,
    };
    CHECK(tries->count >= 1);
    struct alert_retry retry = {0};
    int64_t delay_ms = MAX(retry_delay_ms(&POLICY, tries->count, chance), tries->asked_ms);
    delay_ms = MIN(delay_ms, ALERT_GIVE_UP_MS);
    int64_t last_at_us = tries->first_at_us + (int64_t)ALERT_GIVE_UP_MS * 1000;
    retry.at_us = tries->now_us + delay_ms * 1000;
    retry.gives_up = tries->now_us >= last_at_us;
    if (!retry.gives_up)
        retry.at_us = MIN(retry.at_us, MAX(last_at_us, tries->now_us + 1));
    else
        CHECK(snprintf(retry.text, sizeof retry.text,
                       "given up after %" PRId64 " tries in a day: send it again by hand when the "
                       "receiver is back",
                       tries->count) > 0);
    return retry;
}
