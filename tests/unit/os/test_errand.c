#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

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

/* Run a text that has a lock on descriptor 9, and wait until nobody that it started holds it. */
static struct errand_end run_locked(const char *text, int64_t timeout_ms)
{
    char path[] = "/tmp/eider-errand-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    cr_assert_geq(fd, 0);
    char whole[300];
    cr_assert_lt(snprintf(whole, sizeof whole, "exec 9>%s; flock 9; %s", path, text), 300);

    struct errand_end end = run(whole, "", timeout_ms);

    cr_expect_eq(flock(fd, LOCK_EX), 0);
    (void)close(fd);
    (void)unlink(path);
    return end;
}

Test(errand, what_takes_too_long_is_ended_with_all_it_started)
{
    struct errand_end end =
        run_locked("echo begun; trap '' TERM; sleep 999 & wait; sleep 999", 100);
    cr_expect(end.timed_out);
    cr_expect(end.end.signalled);
    cr_expect_eq(end.end.signal, SIGKILL);
}

Test(errand, what_is_left_running_is_ended_and_not_waited_for)
{
    struct errand_end end = run_locked("sleep 999 & echo done", 0);
    cr_expect_eq(end.end.code, 0);
    EXPECT_STR("done\n", end.tail);
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
