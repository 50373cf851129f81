/*
 * The child shares our memory until its exec (CLONE_VM) while this thread is stopped
 * (CLONE_VFORK), so no page tables are copied and the child writes the step it failed at
 * straight into `struct launch`. It runs on a stack of its own and makes raw system calls
 * only: wrappers of libc may take locks or, as setuid does, talk to our other threads.
 */
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/process_path.h"

enum { STACK_BYTES = 64 << 10, SIGNALS = 64, KERNEL_SIGSET_BYTES = 8 };

enum step {
    STEP_NONE,
    STEP_GROUP,
    STEP_DESCRIPTORS,
    STEP_LIMIT,
    STEP_USER,
    STEP_WORKDIR,
    STEP_EXEC
};

struct launch {
    const struct process_request *request;
    char *const *argv;
    char *const *env;
    struct process_path path;
    int fds[PROCESS_FDS];
    sigset_t no_signals;
    pid_t parent;
    struct report *report;
};

/* Written by the child. */
struct report {
    volatile enum step failed;
    volatile int failure;
};

static bool fail(struct launch *launch, enum step step)
{
    launch->report->failure = errno;
    launch->report->failed = step;
    return false;
}

static bool child_signals(struct launch *launch)
{
    /* Zeros are "default action, no flags" in every layout the kernel knows. SIGKILL, SIGSTOP
       refuse, which is as good. */
    static const char DEFAULT_ACTION[64] = {0};
    /* An exec ends handlers by itself; only what we ignore stays ignored. */
    uint64_t ignored = launch->request->ignored != 0 ? launch->request->ignored : UINT64_MAX;
    for (long signo = 1; signo <= SIGNALS; signo++)
        if (ignored >> (signo - 1) & 1)
            (void)syscall(SYS_rt_sigaction, signo, DEFAULT_ACTION, NULL, KERNEL_SIGSET_BYTES);
    if (syscall(SYS_setpgid, 0, 0) != 0)
        return fail(launch, STEP_GROUP);
    return true;
}

static bool child_descriptors(struct launch *launch)
{
    for (int target = 0; target < PROCESS_FDS; target++) {
        int fd = launch->fds[target];
        if (fd < 0)
            continue;
        if (syscall(SYS_dup3, fd, target, 0) < 0)
            return fail(launch, STEP_DESCRIPTORS);
    }
    for (int target = 3; target < PROCESS_FDS; target++)
        if (launch->fds[target] < 0)
            (void)syscall(SYS_close, target);
    if (syscall(SYS_close_range, PROCESS_FDS, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
        return fail(launch, STEP_DESCRIPTORS);
    return true;
}

static bool child_limits(struct launch *launch)
{
    const struct process_request *request = launch->request;
    struct rlimit none = {0, 0};
    (void)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
    for (size_t i = 0; i < request->limit_count; i++) {
        struct rlimit limit = {request->limits[i].soft, request->limits[i].hard};
        if (syscall(SYS_prlimit64, 0, request->limits[i].resource, &limit, NULL) != 0)
            return fail(launch, STEP_LIMIT);
    }
    if (request->umask_set)
        (void)syscall(SYS_umask, request->umask);
    return true;
}

static bool child_user(struct launch *launch)
{
    const struct process_user *user = launch->request->user;
    if (user != NULL && (syscall(SYS_setgroups, user->group_count, user->groups) != 0 ||
                         syscall(SYS_setresgid, user->gid, user->gid, user->gid) != 0 ||
                         syscall(SYS_setresuid, user->uid, user->uid, user->uid) != 0))
        return fail(launch, STEP_USER);
    /* A change of user clears it, so it comes after. The parent may be gone by now. */
    if (launch->request->die_with_parent &&
        (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
         syscall(SYS_getppid) != launch->parent))
        return fail(launch, STEP_USER);
    return true;
}

static bool child_exec(struct launch *launch)
{
    const char *workdir = launch->request->workdir;
    if (workdir != NULL && syscall(SYS_chdir, workdir) != 0)
        return fail(launch, STEP_WORKDIR);
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &launch->no_signals, NULL, KERNEL_SIGSET_BYTES) !=
        0)
        return fail(launch, STEP_EXEC);
    int seen = ENOENT;
    for (size_t i = 0; i < launch->path.count; i++) {
        (void)syscall(SYS_execve, launch->path.items[i], launch->argv, launch->env);
        if (errno == EACCES || errno == ENOENT || errno == ENOTDIR) {
            /* As shells do: a file that may not be run is passed over but remembered. */
            seen = errno == EACCES ? EACCES : seen;
            continue;
        }
        seen = errno;
        break;
    }
    errno = seen;
    return fail(launch, STEP_EXEC);
}

static int child_main(void *context)
{
    struct launch *launch = context;
    if (child_signals(launch) && child_descriptors(launch) && child_limits(launch) &&
        child_user(launch))
        (void)child_exec(launch);
    (void)syscall(SYS_exit_group, 127);
    return 127;
}

static enum status spawn_failure(const struct launch *launch, struct err *err)
{
    const struct process_request *request = launch->request;
    static const char *const STEPS[] = {
        [STEP_GROUP] = "make process group",
        [STEP_DESCRIPTORS] = "set up descriptors",
        [STEP_LIMIT] = "set resource limits",
        [STEP_USER] = "change user",
    };
    switch (launch->report->failed) {
    case STEP_WORKDIR:
        return err_errno(err, launch->report->failure, "enter working directory '%s'",
                         request->workdir);
    case STEP_EXEC:
        return process_path_explain(request, &launch->path, launch->report->failure, err);
    case STEP_NONE:
    case STEP_GROUP:
    case STEP_DESCRIPTORS:
    case STEP_LIMIT:
    case STEP_USER:
        break;
    }
    return err_errno(err, launch->report->failure, "%s", STEPS[launch->report->failed]);
}

/*
 * Sources below PROCESS_FDS could be overwritten while the child puts others into place, so
 * they are moved up; `moved` says which copies are ours to close.
 */
static enum status place_descriptors(struct launch *launch, int moved[static PROCESS_FDS],
                                     struct err *err)
{
    for (int i = 0; i < PROCESS_FDS; i++) {
        int fd = launch->request->fds[i];
        launch->fds[i] = fd > 0 ? fd : -1;
        if (fd <= 0 && i <= 2)
            launch->fds[i] = moved[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (fd <= 0 && i > 2)
            continue;
        if (launch->fds[i] >= 0 && launch->fds[i] < PROCESS_FDS) {
            int low = moved[i];
            launch->fds[i] = moved[i] = fcntl(launch->fds[i], F_DUPFD_CLOEXEC, PROCESS_FDS);
            file_closep(&low);
        }
        if (launch->fds[i] < 0)
            return err_errno(err, errno, "set up descriptors");
    }
    return STATUS_OK;
}

#if defined(__SANITIZE_THREAD__)

/*
 * ThreadSanitizer takes a child that shares our memory for a fork of us and ignores this thread
 * from then on, so its builds fork for real. The pipe closes with the exec.
 */
static pid_t start_child(struct launch *launch, int *out_pidfd)
{
    int ends[2];
    struct report *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    CHECK(pipe2(ends, O_CLOEXEC) == 0);
    struct report *own = launch->report;
    launch->report = shared;
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, PROCESS_FDS);
    pid_t pid = fork();
    if (pid == 0)
        (void)child_main(launch);
    (void)close(high);
    (void)close(ends[1]);
    char byte;
    while (pid > 0 && read(ends[0], &byte, 1) < 0 && errno == EINTR)
        ;
    (void)close(ends[0]);
    launch->report = own;
    *own = *shared;
    (void)munmap(shared, sizeof *shared);
    *out_pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    return pid;
}

#else

static pid_t start_child(struct launch *launch, int *out_pidfd)
{
    CLEANUP(mem_freep) char *stack = mem_alloc(STACK_BYTES);
    char *top = stack + STACK_BYTES - ((uintptr_t)(stack + STACK_BYTES) % 16);
    return clone(child_main, top, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, launch,
                 out_pidfd);
}

#endif

static enum status clone_child(struct launch *launch, struct process *out, struct err *err)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigemptyset(&launch->no_signals);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    int pidfd = -1;
    pid_t pid = start_child(launch, &pidfd);
    int failure = errno;
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);

    if (pid < 0 && (failure == EAGAIN || failure == ENOMEM))
        return err_set(err, STATUS_BUSY, "start process: %s", strerror(failure));
    if (pid < 0)
        return err_errno(err, failure, "start process");
    if (launch->report->failed != STEP_NONE) {
        struct process_end end;
        CHECK(process_wait(pidfd, -1, &end));
        (void)close(pidfd);
        return spawn_failure(launch, err);
    }
    *out = (struct process){.pid = pid, .pidfd = pidfd};
    return STATUS_OK;
}

enum status process_spawn(const struct process_request *request, struct process *out,
                          struct err *err)
{
    CHECK(request->argv != NULL);
    CHECK(request->env != NULL);
    if (request->argv[0] == NULL || request->argv[0][0] == '\0')
        return err_set(err, STATUS_INVALID, "exec: no command");

    struct report report = {.failed = STEP_NONE};
    struct launch launch = {.request = request, .parent = getpid(), .report = &report};
    /* execve promises to leave them alone; its prototype is older than const. */
    memcpy(&launch.argv, &request->argv, sizeof launch.argv);
    memcpy(&launch.env, &request->env, sizeof launch.env);
    int moved[PROCESS_FDS] = {-1, -1, -1, -1, -1};
    enum status status = place_descriptors(&launch, moved, err);
    if (status == STATUS_OK) {
        process_path_init(&launch.path, request);
        status = clone_child(&launch, out, err);
        process_path_fini(&launch.path);
    }
    for (int i = 0; i < PROCESS_FDS; i++)
        file_closep(&moved[i]);
    return status;
}

static int64_t microseconds(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

bool process_reap(int pidfd, struct process_end *out)
{
    siginfo_t info = {0};
    struct rusage usage = {0};
    long failure = 0;
    do
        failure = syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG, &usage);
    while (failure != 0 && errno == EINTR);
    CHECK(failure == 0); /* only our own children are reaped, and only once */
    if (info.si_pid == 0)
        return false;
    bool signalled = info.si_code != CLD_EXITED;
    *out = (struct process_end){
        .signalled = signalled,
        .code = signalled ? 0 : info.si_status,
        .signal = signalled ? info.si_status : 0,
        .user_us = microseconds(usage.ru_utime),
        .system_us = microseconds(usage.ru_stime),
        .rss_kb = usage.ru_maxrss,
    };
    return true;
}

bool process_wait(int pidfd, int64_t timeout_ms, struct process_end *out)
{
    int64_t end_us = clock_mono_us() + timeout_ms * 1000;
    for (;;) {
        if (process_reap(pidfd, out))
            return true;
        int64_t left_ms = timeout_ms < 0 ? -1 : (end_us - clock_mono_us() + 999) / 1000;
        if (timeout_ms >= 0 && left_ms <= 0)
            return false;
        struct pollfd watch = {.fd = pidfd, .events = POLLIN};
        (void)poll(&watch, 1, (int)MIN(left_ms, (int64_t)60000));
    }
}

bool process_wait_gone(int pidfd, int64_t timeout_ms)
{
    int64_t end_us = clock_mono_us() + timeout_ms * 1000;
    for (;;) {
        int64_t left_ms = (end_us - clock_mono_us() + 999) / 1000;
        struct pollfd watch = {.fd = pidfd, .events = POLLIN};
        if (poll(&watch, 1, (int)MAX(MIN(left_ms, (int64_t)60000), (int64_t)0)) > 0)
            return true;
        if (left_ms <= 0)
            return false;
    }
}

uint64_t process_ignored_signals(void)
{
    /* SIGKILL cannot be ignored: its bit tells that the others are known. */
    uint64_t ignored = UINT64_C(1) << (SIGKILL - 1);
    for (long signo = 1; signo <= SIGNALS; signo++) {
        /* The kernel's own form: its first word is the handler. libc hides signals 32 and 33. */
        uintptr_t action[8] = {0};
        if (syscall(SYS_rt_sigaction, signo, NULL, action, KERNEL_SIGSET_BYTES) == 0 &&
            action[0] == (uintptr_t)SIG_IGN)
            ignored |= UINT64_C(1) << (signo - 1);
    }
    return ignored;
}

enum status process_detach(struct err *err)
{
    /* The leader of a group cannot leave its session, but a child of it can. */
    pid_t pid = fork();
    if (pid < 0)
        return err_errno(err, errno, "start process");
    if (pid > 0)
        _exit(0);
    CHECK(setsid() > 0);
    return STATUS_OK;
}

enum status process_become_keeper(const char *name, struct err *err)
{
    static const int DEAF[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGTTOU, SIGTTIN};
    for (size_t i = 0; i < ARRAY_LEN(DEAF); i++)
        (void)signal(DEAF[i], SIG_IGN);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return err_errno(err, errno, "become subreaper");
    return STATUS_OK;
}

void process_raise_files(struct process_limit *out)
{
    struct rlimit limit = {0};
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    *out = (struct process_limit){RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max};
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

enum status process_open(pid_t pid, int *out_pidfd, struct err *err)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0)
        return err_errno(err, errno, "open process %d", (int)pid);
    *out_pidfd = pidfd;
    return STATUS_OK;
}

void process_reap_pid(pid_t pid)
{
    int status = 0;
    (void)waitpid(pid, &status, WNOHANG);
}

void process_signal(int pidfd, int signo)
{
    (void)syscall(SYS_pidfd_send_signal, pidfd, signo, NULL, 0);
}

void process_signal_group(pid_t leader, int signo)
{
    CHECK(leader > 1);
    (void)kill(-leader, signo);
}
