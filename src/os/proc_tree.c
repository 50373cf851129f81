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

enum { STAT_BYTES = 1024, CHUNK_BYTES = 4096, VALUE_BYTES = 256 };

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

void proc_tree_children(struct proc_list *list)
{
    list->count = 0;
    CLEANUP(file_closep) int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        parse_children(fd, list);
    else /* a kernel without that file: look at everybody */
        for_each_number("/proc", add_if_ours, list);
}

/* Finding one variable in a stream of entries that end with NUL and may be cut anywhere. */
struct env_scan {
    const char *name;
    char *out;
    size_t size;
    size_t matched; /* how much of the name the entry at hand has shown */
    size_t copied;
    enum { IN_NAME, IN_VALUE, IN_OTHER } where;
};

/* True when the value is complete. */
static bool env_scan_byte(struct env_scan *scan, char byte)
{
    if (byte == '\0') {
        bool complete = scan->where == IN_VALUE;
        scan->matched = 0;
        scan->where = IN_NAME;
        return complete;
    }
    if (scan->where == IN_VALUE) {
        if (scan->copied + 1 < scan->size)
            scan->out[scan->copied++] = byte;
    } else if (scan->where == IN_NAME) {
        if (scan->name[scan->matched] == byte)
            scan->matched++;
        else
            scan->where = scan->name[scan->matched] == '\0' && byte == '=' ? IN_VALUE : IN_OTHER;
    }
    return false;
}

bool proc_tree_env(pid_t pid, const char *name, char *out, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    CLEANUP(file_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct env_scan scan = {.name = name, .out = out, .size = size};
    char chunk[CHUNK_BYTES];
    for (;;) {
        ssize_t got = read_some(fd, chunk, sizeof chunk);
        if (got <= 0)
            return false;
        for (ssize_t i = 0; i < got; i++) {
            if (!env_scan_byte(&scan, chunk[i]))
                continue;
            out[scan.copied] = '\0';
            return true;
        }
    }
}

struct search {
    const char *name;
    const char *value;
    struct proc_list *list;
};

static void add_if_marked(void *context, pid_t pid)
{
    const struct search *search = context;
    char value[VALUE_BYTES];
    if (proc_tree_env(pid, search->name, value, sizeof value) && strcmp(value, search->value) == 0)
        add(search->list, pid);
}

void proc_tree_find_env(const char *name, const char *value, struct proc_list *list)
{
    list->count = 0;
    struct search search = {.name = name, .value = value, .list = list};
    for_each_number("/proc", add_if_marked, &search);
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
