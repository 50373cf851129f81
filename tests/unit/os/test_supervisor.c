/*
 * What a supervisor hears, on a socket of the test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "expect.h"
#include "os/knock.h"
#include "os/supervisor.h"

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

Test(supervisor, hears_lines_where_it_listens)
{
    char dir[] = "/tmp/eider-supervisor-XXXXXX";
    char path[64];
    char heard[64] = "";
    cr_assert_not_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/notify", dir);
    int fd = listen_at(path);
    cr_assert_eq(setenv("NOTIFY_SOCKET", path, 1), 0);
    supervisor_tell("READY=1\nSTATUS=fine");
    cr_assert_gt(recv(fd, heard, sizeof heard - 1, 0), 0);
    EXPECT_STR("READY=1\nSTATUS=fine", heard);
    (void)close(fd);
    (void)unlink(path);
    supervisor_tell("WATCHDOG=1"); /* nobody listens: nothing happens */
    cr_assert_eq(unsetenv("NOTIFY_SOCKET"), 0);
    supervisor_tell("WATCHDOG=1");
    (void)rmdir(dir);
}

Test(supervisor, says_how_often_it_wants_to_hear)
{
    char pid[32];
    cr_assert_eq(unsetenv("WATCHDOG_USEC"), 0);
    cr_expect_eq(supervisor_watchdog_ms(), 0);
    cr_assert_eq(setenv("WATCHDOG_USEC", "30000000", 1), 0);
    cr_expect_eq(supervisor_watchdog_ms(), 15000);
    cr_assert_eq(setenv("WATCHDOG_PID", "1", 1), 0);
    cr_expect_eq(supervisor_watchdog_ms(), 0);
    (void)snprintf(pid, sizeof pid, "%d", getpid());
    cr_assert_eq(setenv("WATCHDOG_PID", pid, 1), 0);
    cr_expect_eq(supervisor_watchdog_ms(), 15000);
    cr_assert_eq(setenv("WATCHDOG_USEC", "x", 1), 0);
    cr_expect_eq(supervisor_watchdog_ms(), 0);
}

Test(knock, ends_a_wait_and_is_forgotten, .timeout = 30)
{
    struct err err = {0};
    int fd = -1;
    EXPECT_OK(knock_open(&fd, &err), &err);
    knock_send(fd);
    knock_send(fd);
    knock_wait(fd, 3600000); /* returns at once, or the test takes too long */
    knock_clear(fd);
    knock_wait(fd, 1);
    knock_clear(fd);
    (void)close(fd);
}
