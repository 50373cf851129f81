#include "os/proc_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/file.h"
#include "os/process.h"

enum { STAT_BYTES = 1024, CHUNK_BYTES = 4096 };

static ssize_t read_some(int fd, char *buffer, size_t size)
{
    ssize_t got = 0;
    do
        got = read(fd, buffer, size);
    while (got < 0 && errno == EINTR);
    return got;
}

bool proc_tree_read(pid_t pid, struct proc_info *out)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char text[STAT_BYTES];
    ssize_t got = read_some(fd, text, sizeof text - 1);
    if (got <= 0)
        return false;
    text[got] = '\0';
    /* The command in parentheses may hold anything, parentheses included: the last one ends it. */
    const char *rest = strrchr(text, ')');
    struct proc_info info = {.pid = pid};
    long long start = 0;
    if (rest == NULL ||
        sscanf(rest + 1, /* NOLINT(cert-err34-c): the kernel writes numbers that fit */
               " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lld",
               &info.state, &info.ppid, &info.pgrp, &info.session, &start) != 5)
        return false;
    info.start_ticks = start;
    *out = info;
    return true;
}

static void add(struct proc_list *list, pid_t pid)
{
    list->pids = mem_grow(list->pids, &list->capacity, list->count, sizeof *list->pids);
    list->pids[list->count++] = pid;
}

void proc_list_fini(struct proc_list *list)
{
    free(list->pids);
    *list = (struct proc_list){0};
}

/* Numbers separated by spaces; they may be cut between two reads. */
static void parse_children(int fd, struct proc_list *list)
{
    char chunk[CHUNK_BYTES];
    pid_t pid = 0;
    for (;;) {
        ssize_t got = read_some(fd, chunk, sizeof chunk);
        for (ssize_t i = 0; i < got; i++) {
            if (isdigit((unsigned char)chunk[i])) {
                pid = pid * 10 + (chunk[i] - '0');
            } else if (pid > 0) {
                add(list, pid);
                pid = 0;
            }
        }
        if (got <= 0)
            break;
    }
    if (pid > 0)
        add(list, pid);
}

static void for_each_number(const char *dir_path, void (*visit)(void *context, pid_t number),
                            void *context)
{
    DIR *dir = opendir(dir_path);
    if (dir == NULL)
        return;
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        int64_t number = 0;
        if (str_parse_i64(entry->d_name, 1, INT32_MAX, &number))
            visit(context, (pid_t)number);
    }
    (void)closedir(dir);
}

static void add_if_ours(void *context, pid_t pid)
{
    struct proc_info info;
    if (proc_tree_read(pid, &info) && info.ppid == getpid())
        add(context, pid);
}

static void add_children_of_thread(void *context, pid_t thread)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)thread);
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        parse_children(fd, context);
}

void proc_tree_children(struct proc_list *list)
{
    list->count = 0;
    if (access("/proc/thread-self/children", R_OK) == 0)
        for_each_number("/proc/self/task", add_children_of_thread, list);
    else /* a kernel without that file: look at everybody */
        for_each_number("/proc", add_if_ours, list);
}

bool proc_tree_has_env(pid_t pid, const char *entry)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* Entries end with NUL. `matched` is how much of the entry at hand equals ours; a mismatch
       makes it useless until the next NUL. */
    size_t length = strlen(entry);
    size_t matched = 0;
    bool mismatch = false;
    char chunk[CHUNK_BYTES];
    for (;;) {
        ssize_t got = read_some(fd, chunk, sizeof chunk);
        if (got <= 0)
            return false;
        for (ssize_t i = 0; i < got; i++) {
            if (chunk[i] == '\0') {
                if (!mismatch && matched == length)
                    return true;
                matched = 0;
                mismatch = false;
            } else if (!mismatch && matched < length && chunk[i] == entry[matched]) {
                matched++;
            } else {
                mismatch = true;
            }
        }
    }
}

struct search {
    const char *entry;
    struct proc_list *list;
};

static void add_if_marked(void *context, pid_t pid)
{
    const struct search *search = context;
    if (proc_tree_has_env(pid, search->entry))
        add(search->list, pid);
}

void proc_tree_find_env(const char *entry, struct proc_list *list)
{
    list->count = 0;
    for_each_number("/proc", add_if_marked, &(struct search){.entry = entry, .list = list});
}

bool proc_tree_signal(pid_t pid, int64_t start_ticks, int signo)
{
    /* The descriptor first: from then on it means one process, so the check stays true. */
    CLEANUP(file_closep) int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct proc_info info;
    if (pidfd < 0 || !proc_tree_read(pid, &info) || info.start_ticks != start_ticks)
        return false;
    process_signal(pidfd, signo);
    return true;
}
