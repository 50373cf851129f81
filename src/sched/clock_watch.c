#include "sched/clock_watch.h"

#include "base/attrs.h"

int64_t clock_watch_look(struct clock_watch *watch, const struct clock_look *look)
{
    int64_t ahead_us = look->shown_us - look->before_us;
    int64_t step_us = ahead_us - watch->ahead_us;
    /* A process that was stopped in the middle of its look has not seen a step. */
    int64_t blur_us = look->after_us - look->before_us;
    bool is_step = watch->has_looked &&
                   (step_us >= CLOCK_STEP_US + blur_us || step_us <= -CLOCK_STEP_US - blur_us);
    if (is_step || blur_us < CLOCK_STEP_US)
        *watch = (struct clock_watch){.ahead_us = ahead_us, .has_looked = true};
    return is_step ? step_us : 0;
}
