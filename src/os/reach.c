#include "os/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/attrs.h"
#include "base/clock.h"
#include "os/file.h"

/* 0, or an errno. */
static int connect_one(const struct addrinfo *address, int64_t until_us)
{
    CLEANUP(file_closep)
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
    int ready = 0;
    do {
        int64_t left_ms = (until_us - clock_mono_us() + 999) / 1000;
        ready = poll(&poll_fd, 1, (int)MAX(left_ms, (int64_t)0));
    } while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return ready == 0 ? ETIMEDOUT : errno;
    int problem = 0;
    socklen_t length = sizeof problem;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length) == 0 ? problem : errno;
}

enum status reach_tcp(const char *host, int64_t port, int64_t timeout_ms, struct err *err)
{
    char service[16];
    (void)snprintf(service, sizeof service, "%lld", (long long)port);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *all = NULL;
    int found = getaddrinfo(host, service, &hints, &all);
    if (found != 0)
        return err_set(err, STATUS_UNREACHABLE, "find '%.200s': %s", host, gai_strerror(found));
    int64_t until_us = clock_mono_us() + timeout_ms * 1000;
    int problem = ENOENT;
    for (const struct addrinfo *at = all; at != NULL && problem != 0; at = at->ai_next)
        problem = connect_one(at, until_us);
    freeaddrinfo(all);
    if (problem == 0)
        return STATUS_OK;
    return err_set(err, problem == ETIMEDOUT ? STATUS_TIMEOUT : STATUS_UNREACHABLE,
                   "connect to %.200s, port %s: %s", host, service, strerror(problem));
}
