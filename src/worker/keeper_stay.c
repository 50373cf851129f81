#include "worker/keeper_stay.h"

#include "base/attrs.h"

void keeper_stay_init(struct keeper_stay *stay, int64_t now_us)
{
    *stay = (struct keeper_stay){.alone_us = now_us};
    keeper_stay_greeted(stay, 0, 0);
}

void keeper_stay_greeted(struct keeper_stay *stay, int64_t linger_ms, int64_t alone_ms_max)
{
    stay->linger_ms = linger_ms > 0 ? linger_ms : KEEPER_STAY_LINGER_MS;
    stay->alone_ms_max = alone_ms_max > 0 ? alone_ms_max : KEEPER_STAY_ALONE_MS_MAX;
    stay->outdated = false;
}

void keeper_stay_served(struct keeper_stay *stay)
{
    stay->alone_us = 0;
    stay->idle_us = 0;
}

void keeper_stay_alone(struct keeper_stay *stay, int64_t now_us)
{
    stay->alone_us = now_us;
    stay->idle_us = 0;
}

int64_t keeper_stay_until_us(struct keeper_stay *stay, const struct keeper_stay_load *load,
                             int64_t now_us)
{
    if (stay->alone_us == 0)
        return INT64_MAX;
    if (stay->outdated && load->tasks == 0)
        return now_us;
    int64_t bound_us = stay->alone_us + stay->alone_ms_max * 1000;
    if (load->tasks > 0 || load->ends > 0) {
        stay->idle_us = 0;
        return bound_us;
    }
    if (stay->idle_us == 0)
        stay->idle_us = now_us;
    return MIN(bound_us, stay->idle_us + stay->linger_ms * 1000);
}
