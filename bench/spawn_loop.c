/*
 * spawn_loop: how many `sh -c true` one supervising thread can run per second.
 *
 *   spawn_loop PARALLEL COUNT bare|captured
 *
 * Captured: standard output and error go to a pipe that the parent drains, each child has
 * a process group of its own and is waited for by pidfd, as a task's process is. Prints JSON.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PARALLEL_MAX = 64, COUNT_MAX = 1000000 };

struct child {
    int pidfd; /* -1: a free place */
    int pipe;  /* -1: output is not captured */
    double started;
};

static double now_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void die(const char *what)
{
    (void)fprintf(stderr, "spawn_loop: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void start(struct child *child, bool captured)
{
    char *const argv[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"true"}, NULL};
    char *const env[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int ends[2] = {-1, -1};
    pid_t pid;

    if (posix_spawn_file_actions_init(&actions) != 0 || posix_spawnattr_init(&attributes) != 0)
        die("prepare");
    if (captured) {
        if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
            die("pipe");
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        (void)posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    }
    child->started = now_seconds();
    errno = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, env);
    if (errno != 0)
        die("spawn");
    child->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (child->pidfd < 0)
        die("pidfd");
    child->pipe = ends[0];
    if (captured)
        (void)close(ends[1]);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
}

static void finish(struct child *child)
{
    static char sink[65536];
    siginfo_t info;
    if (waitid(P_PIDFD, (id_t)child->pidfd, &info, WEXITED) != 0 || info.si_status != 0)
        die("wait");
    (void)close(child->pidfd);
    if (child->pipe >= 0) {
        while (read(child->pipe, sink, sizeof sink) > 0)
            continue;
        (void)close(child->pipe);
    }
    child->pidfd = -1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run(int parallel, int count, bool captured, double *times)
{
    struct child children[PARALLEL_MAX];
    struct pollfd ready[PARALLEL_MAX];
    int started = 0;
    int ended = 0;
    for (int i = 0; i < parallel; i++)
        children[i].pidfd = -1;

    while (ended < count) {
        for (int i = 0; i < parallel && started < count; i++) {
            if (children[i].pidfd >= 0)
                continue;
            start(&children[i], captured);
            started++;
        }
        for (int i = 0; i < parallel; i++)
            ready[i] = (struct pollfd){.fd = children[i].pidfd, .events = POLLIN};
        if (poll(ready, (nfds_t)parallel, -1) < 0)
            die("poll");
        for (int i = 0; i < parallel; i++) {
            if (ready[i].fd < 0 || ready[i].revents == 0)
                continue;
            finish(&children[i]);
            times[ended++] = now_seconds() - children[i].started;
        }
    }
}

static int read_number(const char *text, int most)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > most) {
        (void)fprintf(stderr, "spawn_loop: '%s' is not a number from 1 to %d\n", text, most);
        exit(2);
    }
    return (int)value;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        (void)fprintf(stderr, "usage: spawn_loop PARALLEL COUNT bare|captured\n");
        return 2;
    }
    int parallel = read_number(argv[1], PARALLEL_MAX);
    int count = read_number(argv[2], COUNT_MAX);
    double *times = calloc((size_t)count, sizeof *times);
    if (times == NULL)
        die("memory");

    double begin = now_seconds();
    run(parallel, count, strcmp(argv[3], "captured") == 0, times);
    double seconds = now_seconds() - begin;

    qsort(times, (size_t)count, sizeof *times, compare);
    (void)printf("{\"parallel\": %d, \"count\": %d, \"seconds\": %.6f, \"rate\": %.1f, "
                 "\"median_ms\": %.4f}\n",
                 parallel, count, seconds, count / seconds, times[count / 2] * 1e3);
    free(times);
    return 0;
}
