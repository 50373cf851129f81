#include "expect.h"
#include "model/alert_pace.h"

enum { SECOND_US = 1000000 };
#define MINUTE_US (INT64_C(60) * SECOND_US)
#define HOUR_US   (60 * MINUTE_US)

Test(alert_pace, a_group_waits_for_its_time)
{
    struct hook hook = {.group_ms = 5000};
    cr_expect_eq(alert_due_us(&hook, 1000), 5001000);
    hook.group_ms = 0;
    cr_expect_eq(alert_due_us(&hook, 1000), 1000);
}

Test(alert_pace, a_burst_is_let_through_and_then_as_time_gives_back)
{
    static const struct hook_rate RATE = {.most = 10, .per_ms = 60 * 60 * 1000};
    struct alert_bucket bucket = {0};
    int64_t now = 1000 * HOUR_US;
    for (int i = 0; i < 10; i++)
        cr_assert(alert_admit(&RATE, &bucket, now).admitted);

    struct alert_admission refused = alert_admit(&RATE, &bucket, now);
    cr_expect_not(refused.admitted);
    cr_expect_eq(refused.next_at_us, now + 6 * MINUTE_US);
    cr_expect_not(alert_admit(&RATE, &bucket, refused.next_at_us - 1).admitted);
    cr_expect(alert_admit(&RATE, &bucket, refused.next_at_us).admitted);
    cr_expect_not(alert_admit(&RATE, &bucket, refused.next_at_us).admitted);

    /* After a quiet hour all of it is there again. */
    now = refused.next_at_us + HOUR_US;
    for (int i = 0; i < 10; i++)
        cr_assert(alert_admit(&RATE, &bucket, now).admitted);
    cr_expect_not(alert_admit(&RATE, &bucket, now).admitted);
}

Test(alert_pace, in_the_long_run_the_rate_holds)
{
    static const struct hook_rate RATE = {.most = 7, .per_ms = 60 * 1000};
    struct alert_bucket bucket = {0};
    int admitted = 0;
    for (int64_t now = HOUR_US; now < 2 * HOUR_US; now += SECOND_US)
        admitted += alert_admit(&RATE, &bucket, now).admitted;
    cr_expect_leq(admitted, 7 * 60 + 7);
    cr_expect_geq(admitted, 7 * 60 - 7);
}

Test(alert_pace, no_rate_is_no_bound_and_a_clock_set_back_does_not_close_the_hook)
{
    static const struct hook_rate NONE = {0};
    static const struct hook_rate RATE = {.most = 1, .per_ms = 60 * 1000};
    struct alert_bucket bucket = {0};
    for (int i = 0; i < 100; i++)
        cr_assert(alert_admit(&NONE, &bucket, 5).admitted);
    cr_assert(alert_admit(&RATE, &bucket, 100 * HOUR_US).admitted);
    struct alert_admission back = alert_admit(&RATE, &bucket, HOUR_US);
    cr_expect_not(back.admitted);
    cr_expect_eq(back.next_at_us, HOUR_US + MINUTE_US);
}

Test(alert_pace, tries_are_farther_and_farther_apart)
{
    static const int64_t WAITS_S[] = {10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600};
    for (size_t i = 0; i < sizeof WAITS_S / sizeof WAITS_S[0]; i++) {
        struct alert_tries tries = {
            .count = (int64_t)i + 1, .first_at_us = HOUR_US, .now_us = 2 * HOUR_US, .asked_ms = -1};
        struct alert_retry least = alert_retry_next(&tries, 0.0);
        struct alert_retry most = alert_retry_next(&tries, 0.999999);
        cr_expect_not(least.gives_up);
        cr_expect_eq(least.at_us, 2 * HOUR_US + WAITS_S[i] * SECOND_US);
        cr_expect_gt(most.at_us, least.at_us);
        cr_expect_leq(most.at_us, 2 * HOUR_US + WAITS_S[i] * SECOND_US * 5 / 4);
    }
}

Test(alert_pace, a_receiver_that_asks_for_time_gets_it)
{
    struct alert_tries tries = {
        .count = 1, .first_at_us = 0, .now_us = SECOND_US, .asked_ms = 90000};
    cr_expect_eq(alert_retry_next(&tries, 0.5).at_us, 91 * SECOND_US);
    tries.asked_ms = 3;
    cr_expect_geq(alert_retry_next(&tries, 0.0).at_us, 11 * SECOND_US);
}

Test(alert_pace, after_a_day_it_gives_up_and_says_so)
{
    struct alert_tries tries = {
        .count = 30, .first_at_us = HOUR_US, .now_us = 24 * HOUR_US + HOUR_US / 2, .asked_ms = -1};
    struct alert_retry last = alert_retry_next(&tries, 0.0);
    cr_expect_not(last.gives_up);
    cr_expect_eq(last.at_us, 25 * HOUR_US);

    tries.now_us = last.at_us;
    struct alert_retry over = alert_retry_next(&tries, 0.0);
    cr_expect(over.gives_up);
    EXPECT_CONTAINS(over.text, "given up after 30 tries in a day");
}
