#include "expect.h"
#include "service/home_hours.h"

static const int64_t HOUR_US = INT64_C(3600) * 1000000;
static const int64_t NOW_US = 1700000000000000;

/* So many hours ago. */
static int64_t ago(double hours)
{
    return NOW_US - (int64_t)(hours * (double)HOUR_US);
}

Test(home_hours, a_run_counts_in_every_hour_that_it_waited_or_ran_in)
{
    struct home_hours hours = home_hours_until(NOW_US);
    home_hours_add_run(&hours, &(struct home_hours_run){.state = RUN_SUCCESS,
                                                        .created_at_us = ago(4.5),
                                                        .started_at_us = ago(3.5),
                                                        .ended_at_us = ago(1.5)});
    cr_expect_eq(hours.waited[HOME_HOURS - 5], 1);
    cr_expect_eq(hours.waited[HOME_HOURS - 4], 1);
    cr_expect_eq(hours.waited[HOME_HOURS - 3], 0);
    cr_expect_eq(hours.ran[HOME_HOURS - 5], 0);
    for (int i = 2; i <= 4; i++)
        cr_expect_eq(hours.ran[HOME_HOURS - i], 1, "%d hours ago", i);
    cr_expect_eq(hours.ran[HOME_HOURS - 1], 0);
    cr_expect_eq(hours.ended[RUN_SUCCESS][HOME_HOURS - 2], 1);
    cr_expect_eq(hours.ended[RUN_FAILED][HOME_HOURS - 2], 0);
}

Test(home_hours, what_goes_on_counts_until_now_and_what_began_before_from_the_first_hour)
{
    struct home_hours hours = home_hours_until(NOW_US);
    home_hours_add_run(&hours, &(struct home_hours_run){.state = RUN_RUNNING,
                                                        .created_at_us = ago(100),
                                                        .started_at_us = ago(99)});
    home_hours_add_run(&hours, &(struct home_hours_run){.created_at_us = ago(0)});
    for (int i = 0; i < HOME_HOURS; i++) {
        cr_expect_eq(hours.ran[i], 1);
        cr_expect_eq(hours.waited[i], 0, "what was made right now is in no hour that is over");
    }
}

Test(home_hours, an_end_right_now_belongs_to_the_last_hour_and_an_older_one_to_none)
{
    struct home_hours hours = home_hours_until(NOW_US);
    struct home_hours_run run = {.state = RUN_FAILED,
                                 .created_at_us = ago(30),
                                 .started_at_us = ago(30),
                                 .ended_at_us = NOW_US};
    home_hours_add_run(&hours, &run);
    run.ended_at_us = ago(25);
    home_hours_add_run(&hours, &run);
    home_hours_add_miss(&hours, ago(23.5));
    home_hours_add_miss(&hours, ago(24.5));
    int64_t failed = 0;
    for (int i = 0; i < HOME_HOURS; i++)
        failed += hours.ended[RUN_FAILED][i];
    cr_expect_eq(failed, 1);
    cr_expect_eq(hours.ended[RUN_FAILED][HOME_HOURS - 1], 1);
    cr_expect_eq(hours.late[0], 1);
    CLEANUP(json_decrefp) json_t *object = home_hours_json(&hours);
    cr_expect_eq(json_array_size(json_object_get(object, "late")), HOME_HOURS);
}
