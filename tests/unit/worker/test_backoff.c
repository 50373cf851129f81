/*
 * Waiting between tries, and how much may be claimed.
 */
#include "expect.h"
#include "worker/backoff.h"
#include "worker/claim_room.h"
#include "worker/lease.h"

Test(backoff, doubles_up_to_its_bound_and_spreads_over_the_upper_half)
{
    static const int64_t WHOLE_MS[] = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
    struct backoff backoff = {.least_ms = 50, .most_ms = 5000};
    for (size_t i = 0; i < ARRAY_LEN(WHOLE_MS); i++) {
        struct backoff least = backoff;
        struct backoff most = backoff;
        int64_t spread = WHOLE_MS[i] - (WHOLE_MS[i] + 1) / 2;
        cr_expect_eq(backoff_next_ms(&least, 0), (WHOLE_MS[i] + 1) / 2, "try %zu", i);
        cr_expect_eq(backoff_next_ms(&most, (uint64_t)spread), WHOLE_MS[i], "try %zu", i);
        for (uint64_t chance = 0; chance < 20000; chance += 77) {
            struct backoff any = backoff;
            int64_t ms = backoff_next_ms(&any, chance);
            cr_assert(ms >= (WHOLE_MS[i] + 1) / 2 && ms <= WHOLE_MS[i], "%lld", (long long)ms);
        }
        (void)backoff_next_ms(&backoff, 0);
    }
    backoff.tries = 0;
    cr_expect_eq(backoff_next_ms(&backoff, 0), 25);
    backoff.tries = INT64_MAX - 1;
    cr_expect_eq(backoff_next_ms(&backoff, 0), 2500);
}

Test(backoff, jitter_stays_within_a_tenth)
{
    for (uint64_t chance = 0; chance < 5000; chance += 3) {
        int64_t ms = backoff_jitter_ms(1000, chance);
        cr_assert(ms >= 900 && ms <= 1100);
    }
    cr_expect_eq(backoff_jitter_ms(1000, 0), 900);
    cr_expect_eq(backoff_jitter_ms(1000, 200), 1100);
    cr_expect_eq(backoff_jitter_ms(5, 12345), 5);
}

Test(claim_room, is_a_share_of_the_slots_less_what_is_held)
{
    static const struct {
        struct claim_room room;
        int64_t slots, left;
    } CASES[] = {
        {{.slots = 10, .percent = 80}, 8, 8},
        {{.slots = 8, .percent = 80}, 7, 7}, /* rounded up */
        {{.slots = 1, .percent = 1}, 1, 1},  /* never nothing */
        {{.slots = 10, .percent = 80, .held = 8}, 8, 0},
        {{.slots = 10, .percent = 80, .held = 20}, 8, 0}, /* adopted more than there is room for */
        {{.slots = 4, .percent = 100, .pace_us = 19999}, 4, 8}, /* short ones ahead */
        {{.slots = 4, .percent = 100, .pace_us = 20000}, 4, 4},
        {{.slots = 4, .percent = 100, .pace_us = 100, .held = 5}, 4, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        cr_expect_eq(claim_room_slots(&CASES[i].room), CASES[i].slots, "case %zu", i);
        cr_expect_eq(claim_room_left(&CASES[i].room), CASES[i].left, "case %zu", i);
    }
}

Test(lease, ends_before_the_store_may_give_the_tasks_away)
{
    struct lease_times times = {.lease_ms = 30000, .renew_ms = 10000, .margin_ms = 5000};
    struct lease_times none = {.lease_ms = 0, .renew_ms = 10000, .margin_ms = 5000};
    cr_expect_eq(lease_deadline_us(&times, 1000000), 26000000);
    cr_expect_eq(lease_deadline_us(&none, 1000000), 0);
    cr_expect(!lease_may_judge(&times, 0, 99000000));
    cr_expect(!lease_may_judge(&times, 1000000, 30999999));
    cr_expect(lease_may_judge(&times, 1000000, 31000000));
}
