/* Threads that have one thing in turn. */
#include <stdint.h>

#include "expect.h"
#include "os/thread.h"
#include "os/turns.h"

enum { THREADS = 4, ROUNDS = 2000 };

struct counting {
    struct turns *turns;
    int64_t sum; /* of whoever's turn it is */
};

TestSuite(turns, .timeout = 30);

static void count(void *context)
{
    struct counting *counting = context;
    for (int i = 0; i < ROUNDS; i++) {
        turns_take(counting->turns);
        int64_t before = counting->sum;
        counting->sum = before + 1;
        turns_give(counting->turns);
    }
}

Test(turns, one_thread_has_it_at_a_time)
{
    struct err err = {0};
    struct counting counting = {.turns = turns_new()};
    struct thread *threads[THREADS] = {0};
    for (size_t i = 0; i < THREADS; i++)
        EXPECT_OK(thread_start("count", count, &counting, &threads[i], &err), &err);
    for (size_t i = 0; i < THREADS; i++)
        thread_join(threads[i]);

    cr_assert_eq(counting.sum, (int64_t)THREADS * ROUNDS);
    turns_free(counting.turns);
}

static void come_once(void *context)
{
    struct counting *counting = context;
    turns_take(counting->turns);
    counting->sum = 1;
    turns_give(counting->turns);
}

Test(turns, who_waits_has_it_although_another_asks_again_and_again)
{
    struct err err = {0};
    struct counting counting = {.turns = turns_new()};
    struct thread *thread = NULL;
    turns_take(counting.turns);
    EXPECT_OK(thread_start("wait", come_once, &counting, &thread, &err), &err);
    while (counting.sum == 0) {
        turns_give(counting.turns);
        turns_take(counting.turns);
    }
    turns_give(counting.turns);
    thread_join(thread);
    turns_free(counting.turns);
}

Test(turns, trying_waits_for_nobody)
{
    struct turns *turns = turns_new();

    cr_assert(turns_try(turns));
    cr_assert_not(turns_try(turns));
    turns_give(turns);
    cr_assert(turns_try(turns));
    turns_give(turns);
    turns_free(turns);
}
