#include "base/rng.h"
#include "expect.h"

Test(rng, numbers_stay_below_their_bound_and_reach_it)
{
    static const uint64_t BOUNDS[] = {1, 2, 3, 7, 256, (UINT64_C(1) << 63) + 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(BOUNDS); i++)
        for (int k = 0; k < 200; k++)
            cr_assert_lt(rng_below(BOUNDS[i]), BOUNDS[i]);
    bool seen[7] = {false};
    for (int k = 0; k < 2000; k++)
        seen[rng_below(7)] = true;
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        cr_assert(seen[i], "%zu never came", i);
}

Test(rng, bytes_fill_what_was_asked_for_and_no_more)
{
    unsigned char bytes[66] = {0};
    unsigned char other[64] = {0};
    bytes[65] = 0x5A;

    rng_bytes(bytes, 0);
    cr_assert_eq(bytes[0], 0);
    rng_bytes(bytes + 1, 64);
    rng_bytes(other, sizeof other);

    cr_assert_eq(bytes[0], 0);
    cr_assert_eq(bytes[65], 0x5A);
    cr_assert_neq(memcmp(bytes + 1, other, sizeof other), 0);
}
