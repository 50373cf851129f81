#include "model/retry.h"

#include <math.h>

#include "base/attrs.h"
#include "base/check.h"

const struct retry_policy RETRY_POLICY_DEFAULT = {
    .retries = 0,
    .delay_ms = INT64_C(2) * 60 * 1000,
    .backoff = 2.0,
    .max_delay_ms = INT64_C(60) * 60 * 1000,
    .jitter = 0.1,
};

static const double DELAY_MS_MAX = 1e15; /* far beyond any date, far below overflow */

int64_t retry_delay_ms(const struct retry_policy *policy, int64_t k, double chance)
{
    CHECK(k >= 1);
    CHECK(chance >= 0.0);
    CHECK(chance < 1.0);
    double delay = (double)policy->delay_ms * pow(policy->backoff, (double)(k - 1));
    double cap = policy->max_delay_ms > 0 ? (double)policy->max_delay_ms : DELAY_MS_MAX;
    delay = MIN(delay, cap);
    delay += delay * policy->jitter * chance;
    delay = MIN(delay, DELAY_MS_MAX);
    return (int64_t)MAX(delay, 0.0);
}
