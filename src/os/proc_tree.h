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

/*
 * Direct children of the calling thread, zombies and adopted ones included. The list is emptied
 * first and may be used again. A child may be missed while its siblings come and go.
 */
void proc_tree_children(struct proc_list *list);

/*
 * The value of a variable in the environment the process was started with, cut to `size` - 1
 * bytes. False without one, if we may not look, and for a moment while the process takes up its
 * program.
 */
NODISCARD bool proc_tree_env(pid_t pid, const char *name, char *out, size_t size);
/* Every process started with that variable and value, as far as we may look. Emptied first. */
void proc_tree_find_env(const char *name, const char *value, struct proc_list *list);

/* Signal the process if it is still the one that started then. False if it is not. */
bool proc_tree_signal(pid_t pid, int64_t start_ticks, int signo);

void proc_list_fini(struct proc_list *list);
