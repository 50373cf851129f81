#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "expect.h"
#include "os/process.h"

static const char *const ENV[] = {"PATH=/usr/bin:/bin", NULL};

static struct process_end run(const char *command, int out_fd)
{
    struct err err = {0};
    struct process process;
    const char *const argv[] = {"sh", "-c", command, NULL};
    struct process_request request = {.argv = argv, .env = ENV, .fds = {0, out_fd, out_fd, 0, 0}};
    EXPECT_OK(process_spawn(&request, &process, &err), &err);
    struct process_end end = {0};
    cr_assert(process_wait(process.pidfd, -1, &end));
    (void)close(process.pidfd);
    return end;
}

/* What the command wrote, at most `size` - 1 bytes. */
static void run_and_read(const char *command, char *out, size_t size)
{
    int fds[2];
    cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
    struct process_end end = run(command, fds[1]);
    cr_assert_eq(end.code, 0, "%s", command);
    (void)close(fds[1]);
    ssize_t got = read(fds[0], out, size - 1);
    cr_assert_geq(got, 0);
    out[got] = '\0';
    (void)close(fds[0]);
}

Test(process, the_end_of_a_child_is_told_with_what_it_used)
{
    struct process_end exited = run("exit 42", 0);
    cr_assert_not(exited.signalled);
    cr_assert_eq(exited.code, 42);
    cr_assert_gt(exited.rss_kb, 0);
    struct process_end signalled = run("kill -USR1 $$", 0);
    cr_assert(signalled.signalled);
    cr_assert_eq(signalled.signal, SIGUSR1);
    struct process_end busy = run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", 0);
    cr_assert_gt(busy.user_us + busy.system_us, 1000);
}

Test(process, a_wait_ends_in_time_and_signals_reach_the_child)
{
    struct err err = {0};
    struct process process;
    const char *const argv[] = {"sleep", "999", NULL};
    struct process_request request = {.argv = argv, .env = ENV};
    EXPECT_OK(process_spawn(&request, &process, &err), &err);
    struct process_end end = {0};

    cr_assert_not(process_wait(process.pidfd, 10, &end));
    cr_assert_not(process_reap(process.pidfd, &end));
    process_signal(process.pidfd, SIGTERM);
    cr_assert(process_wait(process.pidfd, -1, &end));

    cr_assert_eq(end.signal, SIGTERM);
    process_signal(process.pidfd, SIGTERM); /* gone: no harm */
    (void)close(process.pidfd);
}

/* Run `body` in a process of its own and expect it to return true. */
static void in_child(bool (*body)(void))
{
    struct err err = {0};
    int pidfd = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(body() ? 0 : 1);
    EXPECT_OK(process_open(pid, &pidfd, &err), &err);
    struct process_end end = {0};
    cr_assert(process_wait(pidfd, -1, &end));
    (void)close(pidfd);
    cr_assert_eq(end.code, 0);
    cr_assert_not(end.signalled);
}

/* Sources that are each other's targets. */
static bool cross_descriptors(void)
{
    int first[2], second[2];
    if (pipe2(first, O_CLOEXEC) != 0 || pipe2(second, O_CLOEXEC) != 0)
        return false;
    int high = fcntl(first[0], F_DUPFD_CLOEXEC, 100);
    int other = fcntl(second[0], F_DUPFD_CLOEXEC, 100);
    int from = fcntl(first[1], F_DUPFD_CLOEXEC, 100);
    if (dup2(second[1], 4) != 4 || dup2(from, 3) != 3)
        return false;
    struct err err = {0};
    struct process process;
    const char *const argv[] = {"sh", "-c", "echo three >&3; echo four >&4; echo out", NULL};
    struct process_request request = {.argv = argv, .env = ENV, .fds = {0, 4, 4, 4, 3}};
    struct process_end end;
    if (process_spawn(&request, &process, &err) != STATUS_OK ||
        !process_wait(process.pidfd, -1, &end))
        return false;
    char text[64] = "", more[64] = "";
    return read(other, text, sizeof text - 1) == 10 && strcmp(text, "three\nout\n") == 0 &&
           read(high, more, sizeof more - 1) == 5 && strcmp(more, "four\n") == 0;
}

Test(process, low_descriptors_do_not_get_into_each_others_way)
{
    in_child(cross_descriptors);
}

static bool with_signals_blocked(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN);
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, NULL);
    char text[256];
    run_and_read("grep -E 'Sig(Blk|Ign)' /proc/self/status", text, sizeof text);
    return strcmp(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n") == 0;
}

Test(process, ignored_and_blocked_signals_are_not_inherited)
{
    in_child(with_signals_blocked);
}

Test(process, the_size_of_the_parent_does_not_matter_and_memory_stays_intact)
{
    size_t size = 64 << 20;
    char *large = mem_alloc(size);
    memset(large, 'z', size);
    char text[64];

    run_and_read("echo fine", text, sizeof text);

    EXPECT_STR("fine\n", text);
    for (size_t i = 0; i < size; i += 4096)
        cr_assert_eq(large[i], 'z');
    free(large);
}

Test(process, each_step_that_fails_is_named)
{
    struct process_limit impossible = {.resource = 999, .soft = 1, .hard = 1};
    const char *const nope[] = {"nope", NULL};
    const char *const true_argv[] = {"true", NULL};
    const char *const none[] = {NULL};
    struct process_request requests[] = {
        {.argv = nope, .env = ENV},
        {.argv = true_argv, .env = (const char *const[]){"PATH=/no/such::/x", NULL}},
        {.argv = true_argv, .env = ENV, .workdir = "/no/such"},
        {.argv = true_argv, .env = ENV, .limits = &impossible, .limit_count = 1},
        {.argv = none, .env = ENV},
    };
    static const char *const TEXTS[] = {
        "exec 'nope': No such file or directory",
        "exec 'true': No such file or directory",
        "enter working directory '/no/such': No such file or directory",
        "set resource limits: Invalid argument",
        "exec: no command",
    };
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct err err = {0};
        struct process process = {.pid = 77};
        cr_assert_neq(process_spawn(&requests[i], &process, &err), STATUS_OK);
        EXPECT_STR(TEXTS[i], err.text);
        cr_assert_eq(process.pid, 77);
    }
}

static bool spawn_beyond_the_limit(void)
{
    /* Root is not bound by the limit: become somebody who is. */
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return false;
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_NPROC, &none);
    const char *const argv[] = {"true", NULL};
    struct process_request request = {.argv = argv, .env = ENV};
    struct process process;
    struct err err = {0};
    return process_spawn(&request, &process, &err) == STATUS_BUSY &&
           strstr(err.text, "start process") != NULL;
}

Test(process, too_many_processes_are_called_busy)
{
    in_child(spawn_beyond_the_limit);
}

Test(process, users_are_found_with_their_groups_or_not_at_all)
{
    struct err err = {0};
    struct process_user user = {0};
    EXPECT_OK(process_user_find("root", &user, &err), &err);
    cr_assert_eq(user.uid, 0);
    cr_assert_geq(user.group_count, 1);
    process_user_fini(&user);
    EXPECT_STATUS(STATUS_NOT_FOUND, process_user_find("no-such-user", &user, &err), &err);
}

Test(process, what_we_ignore_is_known_even_where_libc_hides_it)
{
    uintptr_t ignore[8] = {(uintptr_t)SIG_IGN};
    cr_assert_eq(syscall(SYS_rt_sigaction, 32L, ignore, NULL, 8), 0);
    (void)signal(SIGUSR1, SIG_IGN);
    (void)signal(SIGUSR2, SIG_DFL);

    uint64_t ignored = process_ignored_signals();

    cr_assert(ignored >> 31 & 1);
    cr_assert(ignored >> (SIGUSR1 - 1) & 1);
    cr_assert(!(ignored >> (SIGUSR2 - 1) & 1));
}
