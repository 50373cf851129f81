/* Steps of a clock against a steady one. */
#include "expect.h"
#include "sched/clock_watch.h"

enum { SECOND_US = 1000000 };

static int64_t look(struct clock_watch *watch, int64_t shown_s, int64_t steady_s, int64_t takes_s)
{
    const struct clock_look now = {.shown_us = shown_s * SECOND_US,
                                   .before_us = steady_s * SECOND_US,
                                   .after_us = (steady_s + takes_s) * SECOND_US};
    return clock_watch_look(watch, &now) / SECOND_US;
}

Test(clock_watch, a_step_is_told_once_in_either_direction)
{
    struct clock_watch watch = {0};
    cr_assert_eq(look(&watch, 1000, 10, 0), 0, "the first look has nothing to compare with");
    cr_assert_eq(look(&watch, 1090, 100, 0), 0);
    cr_assert_eq(look(&watch, 4700, 110, 0), 3600);
    cr_assert_eq(look(&watch, 4710, 120, 0), 0);
    cr_assert_eq(look(&watch, 1120, 130, 0), -3600);
    cr_assert_eq(look(&watch, 1130, 140, 0), 0);
}

Test(clock_watch, what_is_put_right_slowly_is_no_step)
{
    struct clock_watch watch = {0};
    for (int64_t i = 0; i < 100; i++)
        cr_assert_eq(look(&watch, 1000 + i * 11, i * 10, 0), 0);
    cr_assert_eq(look(&watch, 1000 + 99 * 11 + 9, 99 * 10, 0), 0);
    cr_assert_eq(look(&watch, 1000 + 99 * 11 + 19, 99 * 10, 0), 10);
}

Test(clock_watch, a_process_that_was_stopped_saw_no_step)
{
    struct clock_watch watch = {0};
    cr_assert_eq(look(&watch, 1000, 0, 0), 0);
    cr_assert_eq(look(&watch, 1310, 10, 300), 0, "stopped before the clock was read");
    cr_assert_eq(look(&watch, 1320, 320, 0), 0);
    cr_assert_eq(look(&watch, 1330, 330, 300), 0, "stopped after that");
    cr_assert_eq(look(&watch, 1640, 640, 0), 0);
    cr_assert_eq(look(&watch, 9650, 650, 300), 8000, "a step is one all the same");
}
