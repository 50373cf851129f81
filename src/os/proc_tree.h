#pragma once
/*
 * proc_tree: who descends from whom, by /proc.
 *
 * A number alone never identifies a process, since numbers are used again: everything
 * here that signals checks the start time first.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attrs.h"

struct proc_info {
    pid_t pid;
    pid_t ppid;
    pid_t pgrp;
    pid_t session;
    char state;          /* 'R', 'S', 'Z', ... */
    int64_t start_ticks; /* since boot; with the pid it names a process for good */
};

struct proc_list {
    pid_t *pids; /* heap */
    size_t count;
    size_t capacity;
};

/* False if there is no such process. */
NODISCARD bool proc_tree_read(pid_t pid, struct proc_info *out);

/* Our direct children, zombies included; the list is emptied first and may be used again. */
void proc_tree_children(struct proc_list *list);

/* Whether the process was started with `entry` ("NAME=value") in its environment. */
bool proc_tree_has_env(pid_t pid, const char *entry);
/* Every process of the system that was, as far as we may look. Emptied first. */
void proc_tree_find_env(const char *entry, struct proc_list *list);

/* Signal the process if it is still the one that started then. False if it is not. */
bool proc_tree_signal(pid_t pid, int64_t start_ticks, int signo);

void proc_list_fini(struct proc_list *list);
