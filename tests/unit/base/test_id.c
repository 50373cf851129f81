#include "base/id.h"
#include "expect.h"

static const int64_t NOW_US = 1760000000000000;

static int64_t maker_of(int64_t id)
{
    return id >> 10 & 0xFFF;
}

Test(id, rises_whatever_the_clock_does_and_keeps_its_maker)
{
    static const uint32_t MAKERS[] = {0, 1, 4095};
    static const int64_t STEPS_US[] = {0, 0, 1000, -3600000000, 0, -NOW_US, 7200000000, 1, 999};
    for (size_t m = 0; m < ARRAY_LEN(MAKERS); m++) {
        struct id_source source = {.maker = MAKERS[m]};
        int64_t last = 0;
        int64_t now_us = NOW_US;
        for (size_t i = 0; i < ARRAY_LEN(STEPS_US); i++) {
            now_us += STEPS_US[i];
            /* More than the sequence of one millisecond holds. */
            for (int k = 0; k < 3000; k++) {
                int64_t id = id_next(&source, now_us);
                cr_assert_gt(id, last, "step %zu", i);
                cr_assert_eq(maker_of(id), MAKERS[m], "step %zu, id %d", i, k);
                last = id;
            }
        }
    }
}

Test(id, two_makers_never_give_the_same)
{
    struct id_source a = {.maker = 1};
    struct id_source b = {.maker = 2};
    for (int i = 0; i < 5000; i++)
        cr_assert_neq(id_next(&a, NOW_US), id_next(&b, NOW_US));
}

Test(id, tells_its_millisecond)
{
    struct id_source source = {.maker = 9};

    cr_assert_eq(id_time_us(id_next(&source, NOW_US + 1999)), NOW_US + 1000);
    cr_assert_gt(id_next(&(struct id_source){.maker = 0}, 0), 0);
    /* The last date that fits is far off, and still positive. */
    cr_assert_gt(id_next(&(struct id_source){.maker = 4095}, 1704067200000000 + 2199023255551000),
                 0);
}
