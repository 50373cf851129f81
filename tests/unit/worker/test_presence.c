#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "os/file_tree.h"
#include "worker/presence.h"

/* A process that is this host until it is killed. */
static pid_t hold_in_child(const char *home, int64_t host)
{
    int told[2];
    char byte = 0;
    cr_assert_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        struct err err = {0};
        struct presence held = {0};
        if (presence_begin(home, host, &held, &err) == STATUS_OK && write(told[1], "x", 1) == 1)
            (void)pause();
        _exit(1);
    }
    cr_assert_eq(read(told[0], &byte, 1), 1);
    (void)close(told[0]);
    (void)close(told[1]);
    return child;
}

Test(presence, a_host_is_alive_exactly_while_its_process_holds_the_lock)
{
    char home[] = "/tmp/eider-presence-XXXXXX";
    char hosts[64];
    struct err err = {0};
    struct presence own = {0};
    cr_assert_not_null(mkdtemp(home));
    (void)snprintf(hosts, sizeof hosts, "%s/hosts", home);
    cr_assert_eq(mkdir(hosts, 0700), 0);

    cr_assert(!presence_is_alive(home, 7));
    EXPECT_OK(presence_begin(home, 7, &own, &err), &err);
    cr_assert(presence_is_alive(home, 7));
    cr_assert(!presence_is_alive(home, 8));
    EXPECT_STATUS(STATUS_BUSY, presence_begin(home, 7, &(struct presence){0}, &err), &err);
    presence_end(&own);
    presence_end(&own);
    cr_assert(!presence_is_alive(home, 7));

    pid_t child = hold_in_child(home, 9);
    cr_assert(presence_is_alive(home, 9));
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_assert(!presence_is_alive(home, 9), "killed: the file is there, the lock is not");

    child = hold_in_child(home, 9);
    cr_assert_eq(kill(child, SIGKILL), 0);
    EXPECT_OK(presence_begin(home, 9, &own, &err), &err); /* while it dies, or afterwards */
    presence_end(&own);
    cr_assert_eq(waitpid(child, NULL, 0), child);

    int parent = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_OK(file_tree_remove(parent, home + 5, &err), &err);
    (void)close(parent);
}
