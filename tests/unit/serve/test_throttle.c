#include <stdio.h>

#include "expect.h"
#include "serve/throttle.h"

enum { FREE = 5 };

static int64_t fail_times(struct throttle *throttle, const char *account, const char *address,
                          int times, int64_t now_ms)
{
    for (int i = 0; i < times; i++)
        (void)throttle_fail(throttle, account, address, now_ms);
    return throttle_wait_ms(throttle, account, address, now_ms);
}

Test(throttle, the_delay_doubles_up_to_a_bound)
{
    cr_expect_eq(throttle_delay_ms(4, 5, 60000), 0);
    cr_expect_eq(throttle_delay_ms(5, 5, 60000), 1000);
    cr_expect_eq(throttle_delay_ms(6, 5, 60000), 2000);
    cr_expect_eq(throttle_delay_ms(10, 5, 60000), 32000);
    cr_expect_eq(throttle_delay_ms(11, 5, 60000), 60000);
    cr_expect_eq(throttle_delay_ms(INT64_MAX, 5, 60000), 60000);
}

Test(throttle, whoever_fails_waits_and_others_do_not)
{
    struct throttle *throttle = throttle_new();
    cr_expect_eq(fail_times(throttle, "anna", "10.0.0.1", FREE - 1, 1000), 0);
    cr_expect(throttle_fail(throttle, "anna", "10.0.0.1", 1000), "waiting begins");
    cr_expect_not(throttle_fail(throttle, "anna", "10.0.0.1", 1000), "it has begun");
    cr_expect_eq(throttle_wait_ms(throttle, "anna", "10.0.0.1", 1000), 2000);
    cr_expect_eq(throttle_wait_ms(throttle, "anna", "10.0.0.1", 2500), 500);
    cr_expect_leq(throttle_wait_ms(throttle, "anna", "10.0.0.1", 3000), 0);
    cr_expect_eq(throttle_wait_ms(throttle, "anna", "10.0.0.2", 1000), 0);
    cr_expect_eq(throttle_wait_ms(throttle, "ben", "10.0.0.1", 1000), 0);
    throttle_free(throttle);
}

Test(throttle, one_address_cannot_try_many_names_nor_many_addresses_one_name)
{
    struct throttle *throttle = throttle_new();
    for (int i = 0; i < 20; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "user%d", i);
        cr_expect_leq(throttle_wait_ms(throttle, name, "10.0.0.1", 0), 0, "%s", name);
        (void)throttle_fail(throttle, name, "10.0.0.1", 0);
    }
    cr_expect_gt(throttle_wait_ms(throttle, "new", "10.0.0.1", 0), 0);
    for (int i = 0; i < 50; i++) {
        char address[32];
        (void)snprintf(address, sizeof address, "10.0.1.%d", i);
        (void)throttle_fail(throttle, "anna", address, 0);
    }
    int64_t wait_ms = throttle_wait_ms(throttle, "anna", "10.0.9.9", 0);
    cr_expect_gt(wait_ms, 0);
    cr_expect_leq(wait_ms, 30000, "nobody is locked out for long by others");
    throttle_free(throttle);
}

Test(throttle, it_forgives_and_forgets)
{
    struct throttle *throttle = throttle_new();
    cr_expect_gt(fail_times(throttle, "anna", "10.0.0.1", FREE, 0), 0);
    throttle_forgive(throttle, "anna", "10.0.0.1");
    cr_expect_leq(throttle_wait_ms(throttle, "anna", "10.0.0.1", 0), 0);
    cr_expect_gt(fail_times(throttle, "anna", "10.0.0.1", 12, 0), 0);
    cr_expect_leq(throttle_wait_ms(throttle, "anna", "10.0.0.1", 3600 * 1000), 0);
    cr_expect_eq(fail_times(throttle, "anna", "10.0.0.1", 1, 3600 * 1000), 0, "it begins anew");
    throttle_free(throttle);
}

Test(throttle, ten_thousand_tries_take_days)
{
    struct throttle *throttle = throttle_new();
    int64_t now_ms = 0;
    for (int i = 0; i < 10000; i++) {
        int64_t wait_ms = throttle_wait_ms(throttle, "anna", "10.0.0.1", now_ms);
        now_ms += wait_ms > 0 ? wait_ms : 0;
        (void)throttle_fail(throttle, "anna", "10.0.0.1", now_ms);
    }
    cr_expect_gt(now_ms, INT64_C(90) * 24 * 3600 * 1000);
    throttle_free(throttle);
}

/* Whatever others do, memory stays as it is, and who fails over and over is not forgotten soon. */
Test(throttle, many_names_do_not_push_one_out)
{
    struct throttle *throttle = throttle_new();
    for (int i = 0; i < 1000; i++) {
        char name[32];
        char address[32];
        (void)snprintf(name, sizeof name, "user%d", i);
        (void)snprintf(address, sizeof address, "10.1.%d.%d", i / 256, i % 256);
        (void)throttle_fail(throttle, name, address, i);
        (void)throttle_fail(throttle, "anna", "10.0.0.1", i);
    }
    cr_expect_gt(throttle_wait_ms(throttle, "anna", "10.0.0.1", 1000), 0);
    throttle_free(throttle);
}

Test(throttle, addresses_of_one_network_are_as_one)
{
    struct throttle *throttle = throttle_new();
    for (int i = 0; i < FREE; i++) {
        char address[64];
        (void)snprintf(address, sizeof address, "2001:db8:0:1::%x", i + 1);
        (void)throttle_fail(throttle, "anna", address, 0);
    }
    cr_expect_gt(throttle_wait_ms(throttle, "anna", "2001:db8:0:1:ffff:1:2:3", 0), 0);
    cr_expect_eq(throttle_wait_ms(throttle, "anna", "2001:db8:0:2::1", 0), 0);
    (void)fail_times(throttle, "ben", "::ffff:10.0.0.1", FREE, 0);
    cr_expect_eq(throttle_wait_ms(throttle, "ben", "::ffff:10.0.0.2", 0), 0, "that is no network");
    throttle_free(throttle);
}
