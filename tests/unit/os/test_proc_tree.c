#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"
#include "os/proc_tree.h"
#include "os/process.h"

static struct process start(const char *const *env)
{
    struct err err = {0};
    const char *const argv[] = {"/bin/sleep", "999", NULL};
    struct process_request request = {.argv = argv, .env = env};
    struct process process;
    EXPECT_OK(process_spawn(&request, &process, &err), &err);
    return process;
}

Test(proc_tree, a_child_is_read_listed_found_and_signalled_only_as_itself)
{
    char mark[64];
    (void)snprintf(mark, sizeof mark, "MARK=%d", (int)getpid());
    struct process process = start((const char *const[]){"MARKED=x", "MAR=1", mark, "Z=2", NULL});
    struct proc_info info;
    char value[8];
    while (!proc_tree_env(process.pid, "Z", value, sizeof value))
        ; /* about to run its program */
    EXPECT_STR("2", value);

    cr_assert(proc_tree_read(process.pid, &info));
    cr_assert_eq(info.ppid, getpid());
    cr_assert_eq(info.pgrp, process.pid);
    cr_assert_gt(info.start_ticks, 0);

    struct proc_list list = {0};
    proc_tree_children(&list);
    cr_assert_eq(list.count, 1);
    cr_assert_eq(list.pids[0], process.pid);
    proc_tree_find_env("MARK", mark + 5, &list);
    cr_assert_eq(list.count, 1);
    cr_assert_eq(list.pids[0], process.pid);
    proc_tree_find_env("ARK", mark + 5, &list);
    cr_assert_eq(list.count, 0);
    proc_list_fini(&list);

    cr_assert(proc_tree_env(process.pid, "MARKED", value, sizeof value));
    EXPECT_STR("x", value);
    cr_assert_not(proc_tree_env(process.pid, "M", value, sizeof value));

    cr_assert_not(proc_tree_signal(process.pid, info.start_ticks + 1, SIGKILL));
    cr_assert(proc_tree_signal(process.pid, info.start_ticks, SIGTERM));
    struct process_end end;
    cr_assert(process_wait(process.pidfd, -1, &end));
    cr_assert_eq(end.signal, SIGTERM);
    cr_assert_not(proc_tree_read(process.pid, &info));
}
