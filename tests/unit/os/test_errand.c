#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "expect.h"
#include "os/errand.h"

static const char *const ENV[] = {"PATH=/usr/bin:/bin", "A=b", NULL};

static struct errand_end run(const char *text, const char *input, int64_t timeout_ms)
{
    const char *const argv[] = {"/bin/sh", "-c", text, NULL};
    struct errand_request request = {.argv = argv,
                                     .env = ENV,
                                     .input = input,
                                     .input_length = strlen(input),
                                     .timeout_ms = timeout_ms,
                                     .grace_ms = 100};
    struct errand_end end;
    struct err err = {0};
    EXPECT_OK(errand_run(&request, &end, &err), &err);
    return end;
}

TestSuite(errand, .timeout = 30);

Test(errand, input_environment_output_and_end_are_passed)
{
    struct errand_end end = run("cat; echo \" $A $HOME\"; echo wrong >&2; exit 3", "hello", 0);
    EXPECT_STR("hello b \nwrong\n", end.tail);
    cr_expect_eq(end.end.code, 3);
    cr_expect_not(end.timed_out);
    end = run("kill -KILL $$", "", 0);
    cr_expect(end.end.signalled);
}

Test(errand, of_much_output_the_end_is_kept)
{
    struct errand_end end = run("head -c 300000 /dev/zero | tr '\\0' x; echo END", "", 0);
    cr_expect_eq(end.tail_length, ERRAND_TAIL_BYTES);
    EXPECT_STR("xxEND\n", end.tail + end.tail_length - 6);
    cr_expect_eq(end.tail[0], 'x');
}

Test(errand, input_that_nobody_reads_blocks_nobody)
{
    static char much[1 << 20];
    memset(much, 'x', sizeof much - 1);
    struct errand_end end = run("exit 0", much, 0);
    cr_expect_eq(end.end.code, 0);
}

Test(errand, what_takes_too_long_is_ended_with_all_it_started)
{
    struct errand_end end = run("echo begun; trap '' TERM; sleep 999 & wait; sleep 999", "", 100);
    cr_expect(end.timed_out);
    EXPECT_STR("begun\n", end.tail);
    cr_expect(end.end.signalled);
}

Test(errand, what_is_left_running_is_not_waited_for)
{
    int64_t before_us = clock_mono_us();
    struct errand_end end = run("sleep 999 & echo $!", "", 0);
    cr_expect_eq(end.end.code, 0);
    cr_expect_lt(clock_mono_us() - before_us, 20 * 1000000);
    cr_expect_gt(atol(end.tail), 0);
}

Test(errand, what_cannot_start_says_why)
{
    const char *const argv[] = {"/nowhere/x", NULL};
    struct errand_request request = {.argv = argv, .env = ENV, .input = "", .input_length = 0};
    struct errand_end end;
    struct err err = {0};
    cr_expect_neq(errand_run(&request, &end, &err), STATUS_OK);
    EXPECT_CONTAINS(err.text, "/nowhere/x");
}
