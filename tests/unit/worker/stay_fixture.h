#pragma once
/*
 * stay_fixture: keepers that stay, started from this very program, and daemons of theirs: the
 * test itself, and processes of their own that can be killed and stopped.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "keeper_fixture.h"

/* In the environment of every keeper that a test starts, and of nothing else. */
#define STAY_MARK "EIDER_STAY_TEST"

struct stay {
    struct fixture base; /* first: the callbacks get a pointer to it */
    char socket[96];
    char fifo[96];
    char mark[32];
    struct keeper_stay_options options;
    struct strbuf told; /* one line for each held task and end, and for the marker */
    bool all;
};

UNUSED static void stay_held(void *context, const struct keeper_held *held)
{
    struct stay *stay = context;
    strbuf_addf(&stay->told, "%d held %s\n", (int)held->id, held->context);
    stay->base.pids[held->id] = held->pid;
    cr_assert_eq(held->started_at_us > 0, held->pid > 0);
}

UNUSED static void stay_exited(void *context, int64_t id, const struct keeper_exit *exit)
{
    struct stay *stay = context;
    strbuf_addf(&stay->told, "%d %s %d\n", (int)id, keeper_exit_kind_name(exit->kind), exit->code);
    fixture_exited(context, id, exit);
}

UNUSED static void stay_all_told(void *context)
{
    struct stay *stay = context;
    strbuf_add(&stay->told, "all\n");
    stay->all = true;
    loop_stop(stay->base.loop);
}

UNUSED static void stay_make(struct stay *stay)
{
    fixture_make(&stay->base);
    strbuf_init(&stay->told, 1 << 20);
    (void)snprintf(stay->socket, sizeof stay->socket, "%s/keeper.sock", stay->base.dir);
    (void)snprintf(stay->fifo, sizeof stay->fifo, "%s/fifo", stay->base.dir);
    cr_assert_eq(mkfifo(stay->fifo, 0600), 0);
    (void)snprintf(stay->mark, sizeof stay->mark, "%d", (int)getpid());
    cr_assert_eq(setenv(STAY_MARK, stay->mark, 1), 0);
    /* With it this program runs a test, whatever its arguments are. */
    cr_assert_eq(unsetenv("BXFI_MAP"), 0);
    /* A failed test leaves a keeper behind that ends by itself. */
    stay->options = (struct keeper_stay_options){.exe = "/proc/self/exe",
                                                 .socket_path = stay->socket,
                                                 .log_fd = STDERR_FILENO,
                                                 .linger_ms = 20000,
                                                 .alone_ms_max = 60000};
}

UNUSED static void stay_close(struct stay *stay)
{
    fixture_close(&stay->base);
    strbuf_fini(&stay->told);
}

UNUSED static enum status stay_connect(struct stay *stay, struct err *err)
{
    struct keeper_events events = fixture_events(&stay->base);
    events.held = stay_held;
    events.all_told = stay_all_told;
    events.exited = stay_exited;
    stay->all = false;
    stay->base.wanted = stay->base.exited = 0;
    strbuf_clear(&stay->told);
    strbuf_clear(&stay->base.reports);
    return keeper_start_staying(stay->base.loop, &stay->options, &events, &stay->base.keeper, err);
}

/* Be the daemon, up to where everything from before is told. */
UNUSED static void stay_adopt(struct stay *stay)
{
    struct err err = {0};
    EXPECT_OK(stay_connect(stay, &err), &err);
    while (!stay->all && !stay->base.died)
        loop_run(stay->base.loop);
    cr_assert(stay->all);
}

UNUSED static void stay_leave(struct stay *stay)
{
    keeper_leave(stay->base.keeper);
    stay->base.keeper = NULL;
}

/* Until this many ends were told since the connection. */
UNUSED static void stay_wait(struct stay *stay, size_t ends)
{
    stay->base.wanted = ends;
    while (stay->base.exited < ends && !stay->base.died)
        loop_run(stay->base.loop);
    cr_assert_eq(stay->base.exited, ends);
}

/* Let a task that reads from the pipe go on. */
UNUSED static void stay_release(const struct stay *stay)
{
    int fd = open(stay->fifo, O_WRONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, "go\n", 3), 3);
    (void)close(fd);
}

/* The keepers of this test that live; *out_pid is one of them. */
UNUSED static size_t stay_keepers(const struct stay *stay, pid_t *out_pid)
{
    struct proc_list list = {0};
    proc_tree_find_env(STAY_MARK, stay->mark, &list);
    size_t count = list.count;
    if (count > 0)
        *out_pid = list.pids[0];
    proc_list_fini(&list);
    return count;
}

UNUSED static void stay_wait_for_no_keeper(const struct stay *stay)
{
    pid_t pid = 0;
    while (stay_keepers(stay, &pid) > 0)
        (void)poll(NULL, 0, 10);
}

/* --- a daemon as a process of its own -------------------------------------------------------- */

struct stay_daemon {
    const struct keeper_task *tasks;
    size_t task_count;
    size_t starts;  /* it is ready after so many starts ... */
    size_t reports; /* ... and so many reports */
    int64_t deadline_ms;
    struct stay *stay;
    struct keeper *keeper;
    int ready_fd;
};

UNUSED static void stay_daemon_say(void *context)
{
    const struct stay_daemon *daemon = context;
    (void)!write(daemon->ready_fd, "r", 1);
}

UNUSED static void stay_daemon_check(struct stay_daemon *daemon)
{
    if (daemon->starts > 0 || daemon->reports > 0)
        return;
    if (daemon->deadline_ms > 0)
        keeper_set_deadline(daemon->keeper, clock_mono_us() + daemon->deadline_ms * 1000);
    /* After the deadline has been sent. */
    loop_before_wait(daemon->stay->base.loop, stay_daemon_say, daemon);
}

UNUSED static void stay_daemon_started(void *context, int64_t id, pid_t pid, int64_t at_us)
{
    struct stay_daemon *daemon = context;
    (void)id, (void)pid, (void)at_us;
    daemon->starts--;
    stay_daemon_check(daemon);
}

UNUSED static void stay_daemon_report(void *context, int64_t id, const struct keeper_report *report)
{
    struct stay_daemon *daemon = context;
    (void)id, (void)report;
    daemon->reports--;
    stay_daemon_check(daemon);
}

UNUSED static void stay_daemon_exited(void *context, int64_t id, const struct keeper_exit *exit)
{
    (void)context, (void)id, (void)exit;
}

UNUSED static void stay_daemon_died(void *context, const char *why)
{
    (void)context, (void)why;
    _exit(3);
}

UNUSED static void stay_daemon_held(void *context, const struct keeper_held *held)
{
    (void)context, (void)held;
}

UNUSED static void stay_daemon_all(void *context)
{
    (void)context;
}

UNUSED static NORETURN void stay_daemon_main(struct stay_daemon *daemon)
{
    struct stay *stay = daemon->stay;
    struct err err = {0};
    struct keeper_events events = {.context = daemon,
                                   .started = stay_daemon_started,
                                   .report = stay_daemon_report,
                                   .exited = stay_daemon_exited,
                                   .died = stay_daemon_died,
                                   .held = stay_daemon_held,
                                   .all_told = stay_daemon_all};
    if (loop_new(&stay->base.loop, &err) != STATUS_OK ||
        keeper_start_staying(stay->base.loop, &stay->options, &events, &daemon->keeper, &err) !=
            STATUS_OK)
        _exit(1);
    for (size_t i = 0; i < daemon->task_count; i++)
        if (keeper_spawn(daemon->keeper, &daemon->tasks[i], &err) != STATUS_OK)
            _exit(2);
    loop_run(stay->base.loop);
    _exit(0);
}

/* It runs, and has come as far as it was asked to. */
UNUSED static pid_t stay_daemon_start(struct stay *stay, struct stay_daemon daemon)
{
    int fds[2];
    cr_assert_eq(pipe(fds), 0);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        (void)close(fds[0]);
        daemon.stay = stay;
        daemon.ready_fd = fds[1];
        stay_daemon_main(&daemon);
    }
    (void)close(fds[1]);
    char byte = 0;
    cr_assert_eq(read(fds[0], &byte, 1), 1, "the daemon has ended");
    (void)close(fds[0]);
    return pid;
}

UNUSED static void stay_daemon_kill(pid_t pid)
{
    cr_assert_eq(kill(pid, SIGKILL), 0);
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}
